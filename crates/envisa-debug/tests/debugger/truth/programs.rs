//! Random programs in OpenCL C, a statement a line, and what is to be seen at each.

use std::collections::BTreeMap;
use std::fmt::Write;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A program, a statement a line; variables by the line from which on they have a value. `#` is its name.
pub struct Program {
    pub lines: Vec<String>,
    /// Lines of statements, with the expressions that are seen there.
    pub seen: BTreeMap<usize, Vec<String>>,
    /// The kernel calls functions: the compiler treats others otherwise.
    calls: bool,
}

/// What all programs declare, in the first lines of a file.
pub const TYPES: &str =
    "typedef struct { int a; int n[2]; } S;\ntypedef struct { char c; S s[2]; short w; } T;\n";

impl Program {
    pub fn text(&self, prints: bool, name: &str) -> String {
        let mut text = String::new();
        for (i, line) in (1..).zip(&self.lines) {
            if let (true, Some(names)) = (prints, self.seen.get(&i)) {
                let formats = " %d".repeat(names.len());
                let _ = write!(text, "printf(\"@{i} %d{formats}\\n\", (int)get_global_id(0)");
                for n in names {
                    let _ = write!(text, ", {n}");
                }
                text.push_str("); ");
            }
            text.push_str(&line.replace('#', name));
            text.push('\n');
        }
        text
    }

    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// A statement where some of what is known is seen.
    fn statement(&mut self, r: &mut Random, text: impl Into<String>, known: &[String]) {
        self.line(text);
        let first = r.below(known.len() as u64) as usize;
        let some = known.iter().cycle().skip(first).take(known.len().min(6)).cloned();
        self.seen.insert(self.lines.len(), some.collect());
    }

    /// A function, whose whole parameters and variables are seen at each statement.
    fn function(&mut self, head: &str, parameters: &[&str], body: &[(&str, &[&str])], end: &str) {
        self.line(head);
        let mut known: Vec<String> = parameters.iter().map(|n| (*n).to_owned()).collect();
        for (text, names) in body.iter().chain([&(end, &[][..])]) {
            self.line(*text);
            self.seen.insert(self.lines.len(), known.clone());
            known.extend(names.iter().map(|n| (*n).to_owned()));
        }
        self.line("}");
    }
}

/// Statements over variables of all kinds, read as `int`s.
pub fn program(seed: u64) -> Program {
    let mut r = Random(seed.wrapping_mul(77).wrapping_add(5));
    let mut p = Program { lines: Vec::new(), seen: BTreeMap::new(), calls: !seed.is_multiple_of(3) };
    if p.calls {
        // What nothing calls has no code.
        let body: &[(&str, &[&str])] = &[("  int t = x * 3;", &["t"]), ("  t = t ^ y;", &[])];
        p.function("int f#(int x, int y) {", &["x", "y"], body, "  return t + 1;");
        let seen = ["p[0]", "s.a", "s.n[1]", "v.y", "v.w"];
        let body: &[(&str, &[&str])] =
            &[("  int t = f#(p[0], s.n[1]);", &["t"]), ("  p[0] = t ^ v.y;", &[]), ("  s.a = t + 1;", &[])];
        p.function("int g#(int *p, S s, int4 v) {", &seen, body, "  return t + s.a;");
    }
    p.line("kernel void k#(global int *out, int n, local int *shared) {");
    p.line("  local int own[12];");
    p.line("  int i = get_global_id(0);");
    p.line("  int l = get_local_id(0);");
    let mut known: Vec<String> = vec!["i".into(), "l".into(), "n".into()];
    let declared: [(&str, &[&str]); 12] = [
        ("  S s = { i + 1, { 2, n } };", &["s.a", "s.n[0]", "s.n[1]"]),
        ("  int4 v = (int4)(i, 7, n, l);", &["v.x", "v.y", "v.z", "v.w"]),
        ("  int q[3] = { 1, i, 3 };", &["q[0]", "q[1]", "q[2]"]),
        (
            "  T t = { i, { { l, { 2, 3 } }, { n, { i, 5 } } }, n };",
            &["(int)t.c", "t.s[0].a", "t.s[1].n[0]", "(int)t.w"],
        ),
        ("  int m[2][2] = { { i, 2 }, { n, l } };", &["m[0][1]", "m[1][0]"]),
        ("  uint u = i * 3u;", &["(int)(u >> 1)"]),
        ("  long g = (long)n << 33 | i;", &["(int)(g >> 20)"]),
        ("  float h = i * 0.5f;", &["*(int *)&h"]),
        ("  short2 w = (short2)(i, 4);", &["(int)w.x", "(int)w.y"]),
        ("  int *p = &q[1];", &["*p"]),
        ("  S *e = &t.s[1];", &["e->a", "e->n[1]"]),
        ("  int b = 5;", &["b"]),
    ];
    for (text, names) in declared {
        p.statement(&mut r, text, &known);
        known.extend(names.iter().map(|n| (*n).to_owned()));
    }
    if p.calls {
        p.statement(&mut r, "  b = g#(&q[1], s, v);", &known);
    }
    block(&mut r, &mut p, &mut known, (0, false));
    let rounds = r.below(3);
    if rounds > 0 {
        p.line(format!("  for (int round = 0; round < {rounds}; round++) {{"));
        known.push("round".into());
    }
    p.statement(&mut r, "  shared[l] = b;", &known);
    p.statement(&mut r, "  own[11 - l] = b ^ i;", &known);
    p.line("  barrier(CLK_LOCAL_MEM_FENCE);");
    known.extend(["shared[l]".into(), "own[l]".into()]);
    p.statement(&mut r, "  b = b + shared[l ^ 1] + own[l];", &known);
    if rounds > 0 {
        p.line("  barrier(CLK_LOCAL_MEM_FENCE);");
        known.truncate(known.len() - 3);
        p.line("  }");
    }
    block(&mut r, &mut p, &mut known, (0, false));
    p.statement(&mut r, "  out[i] = b ^ s.a ^ v.x ^ q[1] ^ t.s[1].a ^ (int)g;", &known);
    known.push("out[i]".into());
    p.statement(&mut r, "  b = 0;", &known);
    p.line("}");
    p
}

const TARGETS: [&str; 22] = [
    "b",
    "b",
    "b",
    "s.a",
    "s.n[0]",
    "s.n[1]",
    "v.x",
    "v.y",
    "v.z",
    "v.w",
    "q[0]",
    "q[1]",
    "t.c",
    "t.s[1].n[0]",
    "t.w",
    "m[1][0]",
    "u",
    "g",
    "h",
    "w.x",
    "*p",
    "e->a",
];

/// Statements at a depth, in a loop or not.
fn block(r: &mut Random, p: &mut Program, known: &mut Vec<String>, at: (usize, bool)) {
    let length = known.len();
    let (depth, in_loop) = at;
    for _ in 0..1 + r.below(3) {
        let pick = |r: &mut Random, known: &[String]| known[r.below(known.len() as u64) as usize].clone();
        let (x, y) = (pick(r, known), pick(r, known));
        let to = TARGETS[r.below(TARGETS.len() as u64) as usize];
        match r.below(if depth < 2 { 10 } else { 5 }) {
            0 if p.calls => p.statement(r, format!("  {to} = f#({x}, {y});"), known),
            1 if p.calls => p.statement(r, format!("  {to} = g#(&q[1], s, v) + {x};"), known),
            0..=2 => p.statement(r, format!("  {to} = {x} * 5 - {y};"), known),
            3 if in_loop => p.statement(r, format!("  if (({x} & 3) == 1) continue;"), known),
            3 | 4 => p.statement(r, format!("  {to} = ({x} & 255) + ({y} >> 3);"), known),
            5 | 6 => {
                let bit = 1 << r.below(3);
                p.statement(r, format!("  if (({x} & {bit}) != 0) {{"), known);
                block(r, p, known, (depth + 1, in_loop));
                if bit == 2 {
                    p.line("  } else {");
                    block(r, p, known, (depth + 1, in_loop));
                }
                p.line("  }");
            }
            7 => {
                p.statement(r, format!("  switch ({x} & 3) {{"), known);
                p.line("  case 0: ;");
                block(r, p, known, (depth + 1, in_loop));
                p.line("  case 1: break;");
                p.line("  default: ;");
                block(r, p, known, (depth + 1, in_loop));
                p.line("  }");
            }
            8 => {
                let name = format!("w{depth}_{}", p.lines.len());
                p.statement(r, format!("  int {name} = {x} & 3;"), known);
                p.line(format!("  while ({name} > 0) {{"));
                known.push(name.clone());
                p.statement(r, format!("  {name} = {name} - 1;"), known);
                block(r, p, known, (depth + 1, true));
                p.line("  }");
            }
            _ => {
                let name = format!("j{depth}_{}", p.lines.len());
                p.line(format!("  for (int {name} = 0; {name} < ({x} & 3); {name}++) {{"));
                known.push(name);
                block(r, p, known, (depth + 1, true));
                known.pop();
                p.line("  }");
            }
        }
    }
    known.truncate(length);
}
