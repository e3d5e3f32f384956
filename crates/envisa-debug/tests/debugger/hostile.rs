//! Damaged messages, expressions and debug information: an error in words, and the session lives.

use envisa::{Config, Device, Launch, LoadOptions, Module, Run, Source, SourceText};
use envisa_debug::dap;
use envisa_debug::session::{Focus, Options, Session};
use envisa_debug::symbols::Symbols;
use envisa_ocloc::{Build, Lines};
use serde_json::{Value, json};
use std::io::Cursor;

const TEXT: &str = "typedef struct { int a; float f[3]; } S;\nint twice(int x) {\n  int r = x + x;\n  return r;\n}\nkernel void k(global int *out, int n) {\n  int i = get_global_id(0);\n  S s = { i, { 1, 2, 3 } };\n  int4 v = (int4)(i);\n  out[i] = twice(s.a) + v.y + n;\n}\n";

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A launch of the text; `None` without a compiler.
fn run() -> Option<Run> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("k.cl");
    std::fs::write(&file, TEXT).expect("written");
    let build = Build::new(&file, "dg2").options("-g -cl-opt-disable".to_owned()).lines(Lines::Path);
    let built = match build.rewrite(envisa_ocloc::Rewrite::Frames).run() {
        Ok(built) => built,
        Err(e) => {
            envisa_harness::testing::not_run(&format!("ocloc is not there: {e}"));
            return None;
        }
    };
    let family: envisa::zebin::DeviceFamily = "dg2".parse().expect("a device");
    let device = Device::new(Config::new(family.platform()).memory(1 << 26).threads(1));
    let sources = vec![SourceText { name: "k.cl".into(), text: TEXT.as_bytes().to_vec() }];
    let options = LoadOptions { sources, ..LoadOptions::default() };
    let module = Module::load_with(&device, "k.cl", Source::Zebin(&built.bytes), &options).expect("it loads");
    let kernel = module.kernel("k").expect("its kernel");
    let out = device.buffer("out", 64).expect("memory");
    let launch = Launch::range(&[16], &[16]).arg("out", &out).arg("n", 9i32);
    Some(device.launch(&kernel, &launch).expect("a launch"))
}

const NAMES: [&str; 22] = [
    "s",
    "s.f[2]",
    "v",
    "v.xy",
    "v.q",
    "out[3]",
    "n",
    "i",
    "*out",
    "&s",
    "nobody",
    "(S)i",
    "(int *)n",
    "*(int *)1",
    "get_global_id(7)",
    "f(1)",
    "1/0",
    "1 << 99",
    "out[1 << 40]",
    "0x",
    "$mask",
    "sizeof s",
];
const OPERATORS: [&str; 14] =
    [" + ", " / ", "[", "]", "(", ")", ".", "->", " ? ", " : ", "*", "&", " % ", " >> "];

fn expression(r: &mut Random) -> String {
    if r.below(3) == 0 {
        return format!(
            "({} {} {})",
            r.pick(&NAMES),
            r.pick(&["+", "==", "<", "&&", "/", "<<"]),
            r.pick(&NAMES)
        );
    }
    let n = r.below(6);
    let mut text: String = (0..n).map(|_| format!("{}{}", r.pick(&NAMES), r.pick(&OPERATORS))).collect();
    text += r.pick(&NAMES);
    if r.below(40) == 0 { text.repeat(60) } else { text }
}

#[test]
fn absurd_expressions_have_a_value_or_words() {
    let Some(run) = run() else { return };
    run.stage(|stage| {
        let mut s = Session::new(stage, Options::default()).expect("a session");
        while s.paused.clock() < 120 && s.paused.step() {}
        let mut r = Random(1);
        let mut values = 0;
        for _ in 0..4000 {
            let text = expression(&mut r);
            let focus = Focus { thread: r.below(3) / 2, lane: r.below(36) as u32 };
            match s.evaluate(&text, focus, r.below(3) / 2) {
                Ok(v) => values += usize::from(!s.types.borrow().show(v.ty, &v.bytes).is_empty()),
                Err(why) => assert!(!why.is_empty(), "{text}"),
            }
        }
        assert!(values > 50, "{values} have a value");
    })
    .expect("it runs");
}

#[test]
fn damaged_debug_information_costs_variables_at_most() {
    let Some(run) = run() else { return };
    run.stage(|stage| {
        let sections = &stage.kernel().module().zebin().expect("a zebin").elf.sections;
        let section = |name: &str| sections.iter().find(|s| s.name == name).map_or(&[][..], |s| &s.data);
        let parts = [section(".debug_info").to_vec(), section(".debug_abbrev").to_vec()];
        assert!(parts.iter().all(|p| p.len() > 100), "there is debug information");
        let mut s = Session::new(stage, Options::default()).expect("a session");
        while s.paused.clock() < 120 && s.paused.step() {}
        let mut r = Random(2);
        let mut told = 0;
        for _ in 0..4000 {
            let mut damaged = parts.clone();
            for _ in 0..1 + r.below(8) {
                let which = r.below(2);
                let (at, byte) = (r.below(damaged[which].len()), r.below(256) as u8);
                damaged[which][at] = byte;
            }
            if r.below(10) == 0 {
                let length = r.below(damaged[0].len());
                damaged[0].truncate(length);
            }
            s.symbols = Symbols::read(&damaged[0], &damaged[1], b"", "k");
            told += usize::from(s.symbols.trouble.is_some());
            *s.types.borrow_mut() = s.symbols.types.clone();
            for frame in s.frames(0) {
                for v in s.variables(&frame) {
                    match s.value_of(&v, &frame, 3, &s.types.borrow()) {
                        Ok(value) => assert!(s.types.borrow().show(value.ty, &value.bytes).len() < 1 << 24),
                        Err(why) => assert!(!why.is_empty()),
                    }
                }
            }
        }
        assert!(told > 100, "{told} damages are told");
    })
    .expect("it runs");
}

/// A value as arguments have them, or as they should not.
fn argument(r: &mut Random) -> Value {
    let numbers = [0i64, 1, 2, 7, 1000, -1, i64::MAX, 4_000_000];
    match r.below(9) {
        0 => json!(r.pick(&numbers)),
        1 => json!(expression(r)),
        2 => json!([{ "line": r.pick(&numbers), "condition": expression(r), "hitCondition": "% 0" }]),
        3 => json!({ "path": "k.cl", "name": "\u{0}" }),
        4 => json!([r.pick(&numbers), "x", null]),
        5 => json!("0x100000000"),
        6 => Value::Null,
        7 => json!(1e300),
        _ => json!([{ "name": r.pick(&NAMES), "dataId": expression(r), "instructionReference": "0x10" }]),
    }
}

#[test]
fn damaged_messages_are_answered_and_the_session_lives() {
    const COMMANDS: [&str; 26] = [
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "setVariable",
        "setExpression",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "dataBreakpointInfo",
        "setDataBreakpoints",
        "setExceptionBreakpoints",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "readMemory",
        "writeMemory",
        "disassemble",
        "exceptionInfo",
        "source",
        "loadedSources",
        "breakpointLocations",
        "envisa/focus",
        "envisa/lanes",
    ];
    const KEYS: [&str; 18] = [
        "threadId",
        "frameId",
        "variablesReference",
        "expression",
        "name",
        "value",
        "source",
        "breakpoints",
        "context",
        "memoryReference",
        "count",
        "offset",
        "data",
        "instructionCount",
        "instructionOffset",
        "filters",
        "command",
        "granularity",
    ];
    let mut r = Random(3);
    let mut input = Vec::new();
    let mut seq = 0;
    let mut requests = 0;
    let mut put = |input: &mut Vec<u8>, command: &str, arguments: Value| {
        seq += 1;
        let body =
            json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments }).to_string();
        input.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).bytes());
        seq
    };
    put(&mut input, "initialize", json!({}));
    put(&mut input, "launch", json!({ "stopOnEntry": true, "stopAtEnd": true }));
    put(&mut input, "configurationDone", json!({}));
    for _ in 0..1500 {
        match r.below(20) {
            0 => input.extend(b"Content-Length: 5\r\n\r\n{]}{]"),
            1 => input.extend(b"Content-Length: -7\r\n"),
            2 => input.extend(b"Content-Length: 12\r\n\r\n[1,2,3,4,5,6"),
            _ => {
                let keys = 1 + r.below(6);
                let all = (0..keys).map(|_| (r.pick(&KEYS).to_owned(), argument(&mut r))).collect();
                put(&mut input, r.pick(&COMMANDS), Value::Object(all));
                requests += 1;
            }
        }
    }
    let last = put(&mut input, "evaluate", json!({ "expression": "40 + 2", "context": "watch" }));
    let mut output = Vec::new();
    let Some(_) = run() else { return };
    dap::serve(Cursor::new(input), &mut output, &mut |_| {
        Ok((run().ok_or("there is no compiler")?, Options::default()))
    });
    let text = String::from_utf8(output).expect("text");
    let messages: Vec<Value> = text
        .split("Content-Length: ")
        .filter_map(|part| serde_json::from_str(part.split_once("\r\n\r\n")?.1).ok())
        .collect();
    let answers: Vec<&Value> = messages.iter().filter(|m| m["type"] == "response").collect();
    assert_eq!(answers.len(), requests + 4, "each request is answered");
    for a in &answers {
        assert!(a["success"] == true || a["message"].as_str().is_some_and(|why| why.len() > 5), "{a}");
    }
    let end = answers.iter().find(|a| a["request_seq"] == last).expect("an answer to the last");
    assert_eq!(end["body"]["result"], "42", "{end}");
}
