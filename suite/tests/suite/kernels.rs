//! Every kernel reads, its launches are sound, and the committed corpus holds exactly its products.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use envisa::Source;
use envisa::zebin::ZebinFile;
use envisa_suite::corpus::{corpus_folder, corpus_path, dumps};
use envisa_suite::kernel::{KernelFile, discover, kernel_folder};
use envisa_suite::launch::SizeSet;

fn all() -> Vec<KernelFile> {
    discover(&kernel_folder()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn headers_make_launches() {
    let kernels = all();
    assert!(kernels.len() >= 90, "only {} kernels", kernels.len());
    for k in &kernels {
        for peer in [false, true] {
            let launch = envisa_suite::launch::launch(k, SizeSet::Conformance, peer)
                .unwrap_or_else(|e| panic!("{}: {e}", k.id));
            assert!(launch.work_items() > 0, "{}", k.id);
            assert_eq!(
                launch,
                envisa_suite::launch::launch(k, SizeSet::Conformance, peer).unwrap(),
                "{} is not deterministic",
                k.id
            );
        }
    }
}

#[test]
fn sizes_for_slow_peers_make_launches() {
    let kernels: Vec<KernelFile> = all().into_iter().filter(|k| k.header.slow.is_some()).collect();
    assert!(kernels.len() >= 20, "only {} kernels", kernels.len());
    for k in &kernels {
        let launch =
            envisa_suite::launch::launch(k, SizeSet::Slow, true).unwrap_or_else(|e| panic!("{}: {e}", k.id));
        let least = envisa_suite::launch::launch(k, SizeSet::Conformance, true)
            .unwrap_or_else(|e| panic!("{}: {e}", k.id));
        assert!(launch.work_items() > least.work_items(), "{}", k.id);
    }
}

#[test]
fn bad_headers_are_named() {
    let good = std::fs::read_to_string(kernel_folder().join("bench/triad.cl")).unwrap();
    let parse = |text: String| KernelFile::parse("bench/triad", Path::new("triad.cl"), text);
    parse(good.clone()).unwrap();
    for (from, to, says) in [
        ("/* envisa", "/* kernel", "header"),
        ("about =", "abuot =", "abuot"),
        ("check = \"exact\"", "check = \"exat\"", "exat"),
        (", why = \"", ", wy = \"", "wy"),
        ("local = [50]", "local = [50, 1]", "same number"),
        ("bench = { N = ", "bench = { M = ", "same sizes"),
        ("slow = { N = ", "slow = { M = ", "same sizes"),
        ("bench = { N = 4194304 }\n", "", "`slow` needs `bench`"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = parse(good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let unknown = parse(good.replace("rand:f32:N:1", "rand:f32:Q:1")).unwrap();
    assert!(envisa_suite::launch::launch(&unknown, SizeSet::Conformance, false).unwrap_err().contains("`Q`"));
}

#[test]
fn the_corpus_is_complete() {
    let folder = corpus_folder();
    let mut expected = BTreeSet::new();
    for k in &all() {
        for d in k.devices() {
            let path = corpus_path(&folder, *d, k);
            let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let zebin = ZebinFile::parse(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            if k.header.vector {
                // Its vISA lies beside it where the compiler left it out.
                let texts = dumps(&path, Source::Zebin(&bytes)).unwrap_or_else(|e| panic!("{e}"));
                assert!(!texts.is_empty(), "{}: no text", path.display());
                continue;
            }
            zebin.kernel_visa(k.function()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            expected.insert(path);
        }
    }
    let mut found = BTreeSet::new();
    let mut folders = vec![folder];
    while let Some(f) = folders.pop() {
        for entry in std::fs::read_dir(f).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.insert(path);
            }
        }
    }
    assert_eq!(found, expected, "the corpus holds other files than the kernels' products");
}
