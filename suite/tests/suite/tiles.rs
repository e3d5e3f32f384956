//! Random kernels of work-groups that are tiles, whose places are clamped to the tile, the group or the whole: native code,
//! which knows of such places that those of two rows are alike, and that two loads have the same, gives the interpreter's
//! bytes and faults.

use std::fmt::Write as _;

use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch, Module, Source};
use envisa_harness::values::SplitMix64;
use envisa_ocloc::{Build, BuildError};

const KERNELS: usize = 80;
const DEVICES: [(&str, Platform); 4] =
    [("pvc", Platform::Pvc), ("skl", Platform::Skl), ("dg2", Platform::Dg2), ("tgllp", Platform::Tgllp)];
/// Sizes of tiles, some of which leave threads without all of their channels.
const TILES: [(u32, u32); 8] = [(16, 16), (16, 4), (32, 4), (8, 8), (16, 2), (16, 3), (16, 1), (12, 5)];
/// Groups in x and y.
const GROUPS: (u32, u32) = (3, 2);

struct Dice(SplitMix64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Numbers that are the same for a whole group, or for all of them.
const UNIFORM: [&str; 12] =
    ["0", "1", "2", "W - 1", "H - 1", "3", "a", "b", "gx", "left", "-left", "width - 1 - left"];
/// Numbers of each work-item.
const OWN: [&str; 6] = ["x", "y", "left + x", "top + y", "x + y", "15 - x"];

/// A number of the tile: what was made before, or the work-item's own.
fn number(d: &mut Dice, made: u32) -> String {
    match d.below(3) {
        0 if made > 0 => format!("v{}", d.below(made.into())),
        _ => format!("({})", d.pick(&OWN)),
    }
}

/// Makes one more number of those that there are.
fn make(d: &mut Dice, made: u32) -> String {
    let (v, w, u, t) = (number(d, made), number(d, made), d.pick(&UNIFORM), d.pick(&UNIFORM));
    match d.below(12) {
        0 | 1 => format!("max({v} - {}, {u})", 1 + d.below(3)),
        2 | 3 => format!("min({v} + {}, {u})", 1 + d.below(3)),
        4 | 5 => format!("clamp({v} + ({u}), min({u}, {t}), max({u}, {t}))"),
        6 => format!("{v} + ({u})"),
        7 => format!("{v} * {}", 2 + d.below(3)),
        8 => format!("{v} + {w}"),
        9 => format!("max({v}, {w})"),
        10 => format!("({v} << 1) + ({u})"),
        _ => format!("{v} - ({t})"),
    }
}

/// Adds to the sum what is at some place.
fn load(d: &mut Dice, made: u32, tile: bool, text: &mut String) {
    let (v, w, k) = (number(d, made), number(d, made), 3 + 2 * d.below(40));
    let place = match d.below(4) {
        0 => format!("clamp({v}, 0, N - 1)"),
        1 => format!("clamp({v}, 0, height - 1) * width + clamp({w}, 0, width - 1)"),
        2 => format!("clamp(top + y, 0, height - 1) * width + clamp({w}, 0, width - 1)"),
        _ => format!("(top + y) * width + clamp({v}, 0, width - 1)"),
    };
    let _ = match d.below(if tile { 8 } else { 4 }) {
        0 | 1 => writeln!(text, "    i = {place}; sum += {k} * in[i] ^ other[i];"),
        2 => writeln!(text, "    i = {place}; sum ^= in[i]; if (sum & 1) sum += other[i] + in[i];"),
        3 => writeln!(text, "    sum += {k} * other[{place}];"),
        4 => writeln!(text, "    sum ^= {k} * t[y][clamp({v}, 0, W - 1)];"),
        5 => writeln!(text, "    sum += {k} * t[clamp({w}, 0, H - 1)][clamp({v}, 0, W - 1)];"),
        6 => writeln!(text, "    sum += {k} * t[clamp({w}, 0, H - 1)][x];"),
        _ => {
            let words =
                d.pick(&["x > 2 && y < H - 1", "x < 5", "x >= 3 && x < W - 2 && y >= 1", "x == y", "y & 1"]);
            writeln!(text, "    if ({words}) sum += {k} * t[y][clamp({v}, 0, W - 1)];")
        }
    };
}

fn kernel(d: &mut Dice, n: usize, (w, h): (u32, u32)) -> String {
    let mut text = format!(
        "#define W {w}\n#define H {h}\nkernel __attribute__((reqd_work_group_size(W, H, 1)))\n\
         void k{n}(global const uint *in, global const uint *other, global uint *out, int width, int height, int a, int b)\n\
         {{\n    local uint t[H][W];\n    int x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0);\n\
         \x20   int left = gx * W, top = (int)get_group_id(1) * H, N = width * height, i = 0;\n    uint sum = x + 16 * y;\n"
    );
    let mut made = 0;
    for _ in 0..2 + d.below(4) {
        let _ = writeln!(text, "    int v{made} = {};", make(d, made));
        made += 1;
    }
    for _ in 0..1 + d.below(3) {
        load(d, made, false, &mut text);
    }
    text.push_str("    t[y][x] = sum;\n    barrier(CLK_LOCAL_MEM_FENCE);\n");
    let loops = d.below(2) == 0;
    if loops {
        text.push_str("    for (int k = 0; k < a; k++) {\n");
        let _ = writeln!(text, "    int v{made} = min({} + k, W - 1);", number(d, made));
        made += 1;
    }
    for _ in 0..2 + d.below(4) {
        load(d, made, true, &mut text);
    }
    if loops {
        made -= 1;
        text.push_str("    barrier(CLK_LOCAL_MEM_FENCE);\n    t[y][x] = sum;\n    barrier(CLK_LOCAL_MEM_FENCE);\n    }\n");
    }
    for _ in 0..1 + d.below(2) {
        let _ = writeln!(text, "    sum = sum * 5 + {};", number(d, made));
    }
    text.push_str("    out[(top + y) * width + left + x] = sum;\n}\n#undef W\n#undef H\n");
    text
}

#[test]
fn clamped_places_of_tiles() {
    let mut d = Dice(SplitMix64::new(13));
    let tiles: Vec<_> = (0..KERNELS).map(|_| TILES[d.below(TILES.len() as u64) as usize]).collect();
    let all: Vec<String> = tiles.iter().enumerate().map(|(n, tile)| kernel(&mut d, n, *tile)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tiles.cl");
    std::fs::write(&path, all.concat()).expect("it is written");
    let (mut faults, mut runs, mut wrong) = (0, 0, Vec::new());
    for (name, platform) in DEVICES {
        let built = match Build::new(&path, name).run() {
            Ok(built) => built,
            Err(BuildError::NoOcloc { program }) => {
                return envisa_harness::testing::not_run(&format!("there is no `{program}`"));
            }
            Err(e) => panic!("{name}: {e}"),
        };
        let device = Device::new(Config::new(platform).memory(1 << 22));
        let module = Module::load(&device, "tiles", Source::Zebin(&built.bytes)).expect("it loads");
        for (n, (w, h)) in tiles.iter().enumerate() {
            let kernel = module.kernel(&format!("k{n}")).expect("it is there");
            let (width, height) = (w * GROUPS.0, h * GROUPS.1);
            let bytes = u64::from(4 * width * height);
            let content: Vec<u8> = (0..bytes).map(|k| ((k * k * 37 + k) >> 5) as u8).collect();
            // The second memory ends too early in some.
            for (short, a, b) in [(0, 2, 1), (0, 3, 7), (bytes / 4, 1, -3), (bytes - 64, 2, 20)] {
                let run = |engine| {
                    let input = device.buffer_from("in", &content).expect("there is memory");
                    let other = &content[..(bytes - short) as usize];
                    let other = device.buffer_from("other", other).expect("there is memory");
                    let out = device.buffer("out", bytes).expect("there is memory");
                    let global = [u64::from(width), u64::from(height)];
                    let launch = Launch::range(&global, &[u64::from(*w), u64::from(*h)])
                        .arg("in", &input)
                        .arg("other", &other)
                        .arg("out", &out)
                        .arg("width", width as i32)
                        .arg("height", height as i32)
                        .arg("a", a)
                        .arg("b", b)
                        .engine(engine)
                        .host_threads(1);
                    let outcome = device.run(&kernel, &launch).expect("it is launched");
                    let fault = outcome.fault.map(|f| (f.code, f.place, f.channel, f.thread, f.group));
                    (out.to_vec(), fault)
                };
                let (want, got) = (run(Engine::Interpreter), run(Engine::Native));
                runs += 1;
                faults += usize::from(want.1.is_some());
                if want != got {
                    wrong.push(format!("k{n} on {name}, {short} bytes short, a = {a}, b = {b}\n{}", all[n]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {runs} runs differ, the first is {}", wrong.len(), wrong[0]);
    assert!(faults > runs / 20 && faults < runs / 2, "{faults} of {runs} runs fault");
}
