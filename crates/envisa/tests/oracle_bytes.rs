//! Bytes against the reference assembler.

mod oracle;

use envisa::binary::{WriteOptions, write_as_reference};
use envisa::diag::{Files, TextOptions, render_text};
use envisa::isa::{Module, Platform};
use envisa::text::{ParseOptions, parse};

fn parsed(text: &str, platform: Platform) -> Result<Module, String> {
    let mut files = Files::new();
    let file = files.add_text("in.visaasm", text);
    let r = parse(text, file, &ParseOptions { platform: Some(platform), ..ParseOptions::default() });
    if r.complete {
        return Ok(r.module);
    }
    Err(render_text(&files, &r.diagnostics, &TextOptions::default()))
}

#[test]
fn quick() {
    if !oracle::available("quick") {
        return;
    }
    for f in std::env::var("QUICK").unwrap_or_default().split_whitespace() {
        let platform = Platform::from_name(
            ["skl", "tgllp", "dg2", "pvc"].iter().find(|d| f.contains(*d)).unwrap_or(&"skl"),
        )
        .unwrap();
        let text = std::fs::read_to_string(f).unwrap();
        let m = match parsed(&text, platform) {
            Ok(m) => m,
            Err(e) => {
                println!("{f}: PARSE {}", e.chars().take(600).collect::<String>());
                continue;
            }
        };
        let ours = match write_as_reference(&m, &WriteOptions::for_platform(platform)) {
            Ok(b) => b,
            Err(e) => {
                println!("{f}: WRITE {e}");
                continue;
            }
        };
        let theirs = match oracle::bytes(&text, platform) {
            Ok(b) => b,
            Err(e) => {
                println!("{f}: REF {e}");
                continue;
            }
        };
        if ours == theirs {
            println!("{f}: same {} bytes", ours.len());
            continue;
        }
        let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
        println!("{f}: DIFF at {at:#x} of {:#x} {:#x}", ours.len(), theirs.len());
        let r = envisa::binary::recover(&ours).unwrap();
        for o in &r.objects {
            for i in &o.insts {
                if (i.span.end as usize) + 20 > at && (i.span.start as usize) < at + 10 {
                    println!("   {:#x} {:?} {:?}", i.span.start, i.op, o.ops(i));
                }
            }
        }
        let w = |b: &[u8]| {
            b[at.saturating_sub(8)..(at + 24).min(b.len())]
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        };
        println!("   ours {}\n   refs {}", w(&ours), w(&theirs));
    }
}
