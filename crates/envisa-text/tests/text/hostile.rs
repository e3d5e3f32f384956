//! Texts made to hurt: nothing panics, hangs, or takes memory beyond a small multiple of the text.

use std::time::{Duration, Instant};

use envisa_diag::{FileId, Files, TextOptions, render_json, render_text};
use envisa_text::{ParseOptions, ParseResult, PrintOptions, canonical, format, parse, print};

const HEAD: &str = ".version 4.1\n.kernel \"k\"\n.decl V32 v_type=G type=d num_elts=32 align=GRF\n\
                    .decl V33 v_type=G type=ud num_elts=32 align=GRF\n.decl P1 v_type=P num_elts=16\n\
                    .decl A0 v_type=A num_elts=8\n.decl T6 v_type=T num_elts=1\n.decl S0 v_type=S num_elts=1\n";

/// Without optimisation, smaller texts do.
const SCALE: usize = if cfg!(debug_assertions) { 10 } else { 1 };

/// Reads, renders and formats a text in bounded time.
fn survive(name: &str, text: &str) -> ParseResult {
    let start = Instant::now();
    let r = parse(text, FileId(0), &ParseOptions::default());
    let mut files = Files::new();
    files.add_text(name, text);
    let shown: Vec<_> = r.diagnostics.iter().take(20).cloned().collect();
    let said = render_text(&files, &shown, &TextOptions::default());
    let json = render_json(&files, &shown);
    assert!(said.len() < 200_000 && json.len() < 600_000, "{name}: {} bytes are said", said.len());
    if r.complete {
        let printed = print(&r.module, &PrintOptions::default()).expect("prints");
        let again = parse(&printed, FileId(0), &ParseOptions::default());
        assert!(again.complete, "{name}: what is printed reads");
        assert_eq!(canonical(&r.module).first_difference(&canonical(&again.module)), None, "{name}");
    }
    let tidy = format(text);
    assert_eq!(format(&tidy), tidy, "{name}: formatting twice differs");
    // Seconds here, in a build without optimisation on a busy machine, are milliseconds otherwise.
    assert!(start.elapsed() < Duration::from_secs(40), "{name}: took {:?}", start.elapsed());
    r
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut s = String::from(HEAD);
    for i in 0..n / SCALE {
        s.push_str(&line(i));
        s.push('\n');
    }
    s
}

#[test]
fn one_endless_line() {
    const N: usize = 2_000_000 / SCALE;
    let mov = "    mov (M1, 1) V32(0,0)<1> ";
    for (name, part) in [
        ("letters", "a"),
        ("digits", "1"),
        ("blanks", " "),
        ("parentheses", "("),
        ("minus", "-"),
        ("not", "!"),
        ("comments", "/**/"),
        ("comment starts", "/*/"),
        ("quotes", "\""),
        ("escapes", "\\\""),
        ("backslashes", "\\"),
        ("colons", ":"),
        ("dots", "."),
        ("percent", "%a"),
        ("names", "x "),
        ("names with tails", "x(0,0)<0;1,0> "),
        ("variables", "V32(0,0)<0;1,0> "),
        ("sums", "1+"),
        ("choices", "1?1:"),
        ("carriage returns", "\r"),
        ("nul", "\0"),
        ("umlauts", "ä"),
        ("braces", "{"),
        ("closing braces", "}"),
        ("annotation", "//@a=1 "),
    ] {
        let tail = part.repeat(N / part.len());
        for start in [
            "",
            "    ",
            mov,
            "    mov (M1, 1) V32(0,0)<1> 0x",
            "    switchjmp (M1, 1) V32(0,0)<0;1,0> (",
            ".decl X v_type=G type=d num_elts=1 attrs={",
            ".kernel \"",
            "    FILE \"",
            "//@ ",
            "    yield //@ ",
        ] {
            // Many starts, so a shorter text each.
            let n = if start.is_empty() || start == mov { tail.len() } else { tail.len() / 16 };
            let n = (0..=n).rev().find(|n| tail.is_char_boundary(*n)).unwrap_or(0);
            survive(
                &format!("{name} after `{start}`"),
                &format!("{HEAD}{start}{}\n    ret (M1, 1)\n", &tail[..n]),
            );
        }
    }
}

#[test]
fn a_million_errors_are_capped() {
    let r = survive("unknown instructions", &lines(1_000_000, |_| "x".to_owned()));
    let errors = r.diagnostics.iter().filter(|d| d.is_error()).count();
    assert_eq!(errors, ParseOptions::default().max_errors + 1);
    assert_eq!(r.diagnostics.last().expect("one").code, "E0107");
    let r = survive("warnings", &lines(200_000, |_| "    mov (M1, 1) V33(0,0)<1> -1:ud".to_owned()));
    assert!(r.complete);
    assert_eq!(r.diagnostics.len(), ParseOptions::default().max_errors + 1);
    assert_eq!(r.diagnostics.last().expect("one").code, "W0107");
}

#[test]
fn many_of_everything() {
    survive("undefined labels", &lines(60_000, |i| format!("    goto (M1, 8) some_label_{i:06}_x")));
    survive("undeclared names", &lines(60_000, |i| format!("    mov (M1, 1) some_name_{i}(0,0)<1> 0x1:d")));
    survive("declarations", &lines(100_000, |i| format!(".decl name_{i} v_type=G type=d num_elts=8")));
    survive(
        "declarations and a typo each",
        &lines(40_000, |i| {
            format!(".decl name_{i}_a v_type=G type=d num_elts=8\n    mov (M1, 1) name_{i}_ab(0,0)<1> 0x1:d")
        }),
    );
    survive("declared twice", &lines(60_000, |_| ".decl V32 v_type=G type=d num_elts=8".to_owned()));
    survive("labels", &lines(70_000, |i| format!("L{i}:")));
    survive("the same label", &lines(60_000, |_| "L:".to_owned()));
    survive("kernels", &lines(20_000, |i| format!(".kernel \"k{i}\"")));
    survive("the same kernel", &lines(20_000, |_| ".kernel \"k\"".to_owned()));
    survive("scopes", &lines(100_000, |_| "{".to_owned()));
    survive("scopes that hide", &lines(20_000, |_| "{\n.decl V32 v_type=G type=d num_elts=8\n}".to_owned()));
    survive("inputs", &lines(60_000, |_| ".input V32 offset=0 size=4".to_owned()));
    survive("attributes", &lines(70_000, |_| ".kernel_attr SLMSize=1".to_owned()));
    survive("predicates", &lines(10_000, |i| format!(".decl Q{i} v_type=P num_elts=8")));
    survive(
        "aliases",
        &lines(30_000, |i| {
            let of = if i == 0 { "V32".to_owned() } else { format!("B{}", i - 1) };
            format!(".decl B{i} v_type=G type=d num_elts=8 alias=<{of}, 0>\n.input B{i} offset=0")
        }),
    );
    survive(
        "switches",
        &lines(3_000, |_| format!("    switchjmp (M1, 1) V32(0,0)<0;1,0> ({}L)", "L, ".repeat(31))),
    );
    survive("annotations", &lines(60_000, |_| "//@ attr:A=00 pool=1:2 labels=1".to_owned()));
    survive("files", &lines(60_000, |i| format!("    FILE \"a{i}.c\"")));
}

#[test]
fn inputs_are_no_more_than_bytes_of_registers() {
    // Compilers write 265 for a kernel with arguments of 1024 bytes.
    let of = |n: usize| format!("{HEAD}{}", ".input V32 offset=0 size=4\n".repeat(n));
    for n in [265, 16384] {
        let r = survive("inputs", &of(n));
        assert!(r.complete && r.module.objects[0].inputs.len() == n, "{n}");
    }
    let r = survive("too many inputs", &of(16385));
    assert!(!r.complete);
    assert!(r.diagnostics.iter().any(|d| d.code == "E0307"), "{:?}", r.diagnostics.first());
}

#[test]
fn nesting_ends_in_an_error() {
    for (open, close) in [("(", ")"), ("-", ""), ("~", ""), ("!", ""), ("1?1:", "1"), ("(1+", ")")] {
        let n = 100_000;
        let text = format!(
            "{HEAD}    mov (M1, 1) V32(0,0)<1> ({}1{}):d\n    ret (M1, 1)\n",
            open.repeat(n),
            close.repeat(n)
        );
        let r = survive(open, &text);
        assert!(!r.complete, "{open}");
    }
}

/// What is kept of a text is a small multiple of it.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let peak = || -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("status");
        let line = status.lines().find(|l| l.starts_with("VmHWM:")).expect("the peak");
        let kib: usize = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("KiB");
        kib * 1024
    };
    // The smallest instructions, and texts that are all names.
    for part in ["yield\n", "ret(1)\n", "L:\n", "/**/", "\"a\" ", ".kernel a\n", "//@ a=1\n", "wait 0x1:d\n"]
    {
        let text = format!("{HEAD}{}", part.repeat(8_000_000 / SCALE / part.len()));
        let before = peak();
        let r = parse(&text, FileId(0), &ParseOptions::default());
        let grown = peak() - before;
        // Other tests of this program run beside it, and the most kernels that there may be take 90 MB.
        assert!(grown < 40 * text.len() + (150 << 20), "{part:?}: {grown} bytes for {}", text.len());
        drop(r);
    }
}
