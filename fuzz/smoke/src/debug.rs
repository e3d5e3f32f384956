//! The debugger: messages of its protocol, expressions, and debug information. The kernel is that of `debugged.cl`, as `envisa build
//! --device dg2 --options "-g -cl-opt-disable -s /debugged.cl"` compiles it, without machine code and SPIR-V.

use envisa::{Config, Device, Kernel, Launch, LoadOptions, Module, Source, SourceText};
use envisa_debug::dap;
use envisa_debug::session::{Focus, Options, Session};
use envisa_debug::symbols::Symbols;
use std::io::{Cursor, Write};

const ZEBIN: &[u8] = include_bytes!("debugged.zebin");
const TEXT: &str = include_str!("debugged.cl");

/// Instructions after which variables are looked at: in the loop.
const CLOCK: u64 = 150;

thread_local! {
    /// It is loaded once.
    static LOADED: (Device, Kernel) = loaded();
}

fn loaded() -> (Device, Kernel) {
    let source = Source::Zebin(ZEBIN);
    let platform = source.platform().expect("it is one").expect("zebins say what they are for");
    let device = Device::new(Config::new(platform).memory(1 << 26).threads(1));
    let sources = vec![SourceText { name: "debugged.cl".into(), text: TEXT.as_bytes().to_vec() }];
    let options = LoadOptions { sources, ..LoadOptions::default() };
    let module = Module::load_with(&device, "debugged.zebin", source, &options).expect("it loads");
    let kernel = module.kernel("k").expect("its kernel");
    (device, kernel)
}

fn run() -> envisa::Run {
    LOADED.with(|(device, kernel)| {
        let out = device.buffer("out", 64).expect("memory");
        // Variables that are set may make its loop longer.
        let launch = Launch::range(&[16], &[16]).arg("out", &out).arg("n", 9i32).limit(20_000);
        device.launch(kernel, &launch).expect("a launch")
    })
}

fn options() -> Options {
    Options { history: 1 << 16, ..Options::default() }
}

fn session(look: impl FnOnce(&mut Session<'_, '_>)) {
    let staged = run().stage(|stage| {
        let mut s = Session::new(stage, options()).expect("a session");
        s.run_to_clock(CLOCK);
        look(&mut s);
    });
    staged.expect("it runs");
}

/// Keeps the end of what is written.
#[derive(Default)]
struct End(Vec<u8>);

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend(bytes);
        let more = self.0.len().saturating_sub(1 << 16);
        self.0.drain(..more);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Messages, one a line: each becomes one of the protocol; or, behind a `!`, the bytes as they are. Whatever they say, a session
/// that nobody ended answers what it is asked then.
pub fn protocol(input: &[u8]) {
    let mut stream = Vec::new();
    let put = |stream: &mut Vec<u8>, body: &[u8]| {
        let _ = write!(stream, "Content-Length: {}\r\n\r\n", body.len());
        stream.extend(body);
    };
    let request = |seq: u32, command: &str, arguments: &str| {
        format!(r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#)
    };
    put(&mut stream, request(1, "initialize", "{}").as_bytes());
    put(&mut stream, request(2, "launch", r#"{"stopOnEntry":true,"stopAtEnd":true}"#).as_bytes());
    put(&mut stream, request(3, "configurationDone", "{}").as_bytes());
    let mut lives = true;
    match input.strip_prefix(b"!") {
        Some(raw) => {
            stream.extend(raw);
            // It may say that it has more bytes.
            lives = false;
        }
        None => {
            for line in input.split(|b| *b == b'\n') {
                lives &= !line.windows(10).any(|w| w == b"disconnect");
                put(&mut stream, line);
            }
        }
    }
    let arguments = r#"{"expression":"4000 + 217","context":"watch"}"#;
    put(&mut stream, request(1 << 20, "evaluate", arguments).as_bytes());
    let mut end = End::default();
    dap::serve(Cursor::new(stream), &mut end, &mut |_| Ok((run(), options())));
    let answered = end.0.windows(15).any(|w| w == br#""result":"4217""#);
    assert!(answered || !lives, "the session died: {}", String::from_utf8_lossy(&end.0));
}

/// Expressions: a value or words, for a lane in the midst of a loop.
pub fn expression(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    session(|s| match s.evaluate(&text, Focus { thread: 0, lane: 3 }, 0) {
        Ok(v) => {
            let shown = s.types.borrow().show(v.ty, &v.bytes);
            assert!(!shown.is_empty());
        }
        Err(why) => assert!(!why.is_empty()),
    });
}

/// Debug information: the length of `.debug_info` in two bytes, that, and `.debug_abbrev`. It costs variables at most.
pub fn dwarf(input: &[u8]) {
    let Some((length, rest)) = input.split_first_chunk::<2>() else { return };
    let (info, abbrev) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let symbols = Symbols::read(info, abbrev, b"", "k");
    session(|s| {
        *s.types.borrow_mut() = symbols.types.clone();
        s.symbols = symbols;
        for frame in s.frames(0) {
            for v in s.variables(&frame) {
                match s.value_of(&v, &frame, 3, &s.types.borrow()) {
                    Ok(value) => drop(s.types.borrow().show(value.ty, &value.bytes)),
                    Err(why) => assert!(!why.is_empty()),
                }
            }
        }
    });
}

/// Seeds of [`dwarf`]: what the compiler makes.
pub fn dwarf_seed() -> Vec<u8> {
    let file = envisa::zebin::ZebinFile::parse(ZEBIN).expect("it is one");
    let section = |name: &str| {
        let found = file.elf.sections.iter().find(|s| s.name == name);
        found.map_or(&[][..], |s| &s.data)
    };
    let info = section(".debug_info");
    let length = (info.len() as u16).to_le_bytes();
    [&length, info, section(".debug_abbrev")].concat()
}

/// Seeds of [`expression`].
pub const EXPRESSIONS: [&str; 16] = [
    "s",
    "s.f[2] * 1.5f",
    "v.xy",
    "v.s3 + v.w",
    "out[i]",
    "*out",
    "&s",
    "(&s)->f[1]",
    "(float)i / 3",
    "shared[15]",
    "get_global_id(0) == i && j < 3",
    "i ? j : -1",
    "(uint)v.x >> 3 & 0xff",
    "$mask | ~$lane",
    "isnan(s.f[0])",
    "*(int *)0x1000",
];

/// Seeds of [`protocol`].
pub fn protocol_seeds() -> Vec<Vec<u8>> {
    let requests = [
        r#""setBreakpoints","arguments":{"source":{"path":"/debugged.cl"},"breakpoints":[{"line":15,"condition":"i == 3","hitCondition":">= 2"}]}"#,
        r#""setFunctionBreakpoints","arguments":{"breakpoints":[{"name":"twice"}]}"#,
        r#""setInstructionBreakpoints","arguments":{"breakpoints":[{"instructionReference":"0x10","offset":4}]}"#,
        r#""setExceptionBreakpoints","arguments":{"filters":["nan","F0004","F0006"]}"#,
        r#""dataBreakpointInfo","arguments":{"name":"out[3]"}"#,
        r#""setDataBreakpoints","arguments":{"breakpoints":[{"dataId":"1:4294967312:4:0:x","accessType":"write"}]}"#,
        r#""continue","arguments":{"threadId":1}"#,
        r#""next","arguments":{"threadId":1,"granularity":"instruction"}"#,
        r#""stepIn","arguments":{"threadId":2}"#,
        r#""stepOut","arguments":{"threadId":1}"#,
        r#""stepBack","arguments":{"threadId":1}"#,
        r#""reverseContinue","arguments":{"threadId":1}"#,
        r#""restart","arguments":{}"#,
        r#""threads""#,
        r#""stackTrace","arguments":{"threadId":1,"levels":20}"#,
        r#""scopes","arguments":{"frameId":1}"#,
        r#""variables","arguments":{"variablesReference":1,"start":0,"count":10}"#,
        r#""setVariable","arguments":{"variablesReference":1,"name":"i","value":"7"}"#,
        r#""evaluate","arguments":{"expression":"origin s.a","context":"repl","frameId":1}"#,
        r#""evaluate","arguments":{"expression":"lanes i,v.y","context":"repl"}"#,
        r#""readMemory","arguments":{"memoryReference":"0x100010000","count":16}"#,
        r#""writeMemory","arguments":{"memoryReference":"0x100010000","data":"AAAA"}"#,
        r#""disassemble","arguments":{"memoryReference":"0x10","instructionCount":20,"instructionOffset":-5}"#,
        r#""envisa/lanes","arguments":{"expressions":["i","s.f"]}"#,
        r#""exceptionInfo","arguments":{"threadId":1}"#,
        r#""source","arguments":{"sourceReference":1}"#,
        r#""breakpointLocations","arguments":{"source":{"path":"debugged.cl"},"line":1,"endLine":40}"#,
    ];
    let line = |(seq, rest): (usize, &&str)| format!(r#"{{"seq":{seq},"type":"request","command":{rest}}}"#);
    let lines: Vec<String> = requests.iter().enumerate().map(line).collect();
    let mut seeds: Vec<Vec<u8>> = lines.windows(4).step_by(2).map(|w| w.join("\n").into_bytes()).collect();
    seeds.push(b"!Content-Length: 12\r\n\r\n{\"seq\": 1}\r\nContent-Length: 2\r\n\r\n{}".to_vec());
    seeds
}
