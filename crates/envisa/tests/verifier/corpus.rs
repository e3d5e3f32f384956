//! No false alarm: nothing that the reference compiler produced has an error, on its own platform, nor a
//! finding of a lint that its output gives no reason for.

use envisa::diag::{Severity, TextOptions, render_text};
use envisa::isa::{Platform, Platforms};
use envisa::text::ParseOptions;
use envisa::verify::{Code, Kind, Options, check, rule};
use std::path::{Path, PathBuf};

fn zebins(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            zebins(&path, out);
        } else if path.extension().is_some_and(|e| e == "zebin") {
            out.push(path);
        }
    }
}

/// Lints that correct code gives no reason for. The compiler does leave variables unused, writes dead and
/// undefined values read.
fn silent(code: Code) -> bool {
    rule::get(code).is_some_and(|r| r.kind == Kind::Flow)
        && ![Code::UNUSED, Code::DEAD_WRITE, Code::READ_BEFORE_WRITE].contains(&code)
}

#[test]
fn no_false_alarm() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/corpus");
    let (mut files, mut checked) = (0, 0);
    let mut wrong = String::new();
    for (folder, platform) in
        [("skl", Platform::Skl), ("tgllp", Platform::Tgllp), ("dg2", Platform::Dg2), ("pvc", Platform::Pvc)]
    {
        let mut paths = Vec::new();
        zebins(&corpus.join(folder), &mut paths);
        assert!(!paths.is_empty(), "no zebins for {folder}");
        files += paths.len();
        for path in paths {
            let before = checked;
            let bytes = std::fs::read(&path).expect("a readable zebin");
            let zebin = envisa::zebin::ZebinFile::parse(&bytes).expect("a zebin");
            for kernel in zebin.kernels() {
                let visa = zebin.kernel_visa(&kernel.name).expect("its vISA is in it");
                let mut texts = vec![zebin.visa_text(visa).into_owned()];
                texts.extend(zebin.functions_visa().map(|f| zebin.visa_text(f).into_owned()));
                for text in texts {
                    let mut files = envisa::diag::Files::new();
                    let id = files.add_text(format!("{}:{}", path.display(), kernel.name), text.as_str());
                    let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
                    let parsed = envisa::text::parse(&text, id, &options);
                    assert!(
                        parsed.complete,
                        "{}",
                        render_text(&files, &parsed.diagnostics, &TextOptions::default())
                    );
                    let options = Options { platforms: Platforms::of(&[platform]), ..Options::default() };
                    let errors: Vec<_> = check(&parsed.module, &options)
                        .iter()
                        .filter(|f| f.severity == Severity::Error || silent(f.code))
                        .map(|f| f.diagnostic(id))
                        .collect();
                    if !errors.is_empty() && wrong.len() < 20_000 {
                        wrong.push_str(&render_text(&files, &errors[..1], &TextOptions::default()));
                    }
                    checked += 1;
                }
            }
            assert!(checked > before, "{}: no text", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(files >= 500, "only {files} zebins");
    println!("{files} zebins, {checked} texts");
}
