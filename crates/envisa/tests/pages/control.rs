//! Pages GOTO, JMP, CALL, RET, FCALL, IFCALL, FRET, FADDR, SWITCHJMP, and the barriers.

use crate::harness::{Bench, Case, Program};
use crate::model::Rng;
use crate::model::T::*;
use envisa::isa::Platform;
use std::fmt::Write as _;

/// A statement of a random program; each channel has a value `x` and its own way.
#[derive(Clone, Debug)]
enum Stmt {
    /// `x = x * 3 + k`.
    Step(i32),
    /// By bit `k` of `x`.
    If(u32, Vec<Stmt>, Vec<Stmt>),
    /// `(x >> k & 3) + 1` times.
    Loop(u32, Vec<Stmt>),
    /// Leaves the innermost loop where bit `k` is set.
    Break(u32),
    /// Next round of the innermost loop where bit `k` is set.
    Continue(u32),
    /// A subroutine, where bit `k` is set.
    Call(u32, usize),
    /// Leaves the subroutine early where bit `k` is set.
    Return(u32),
}

fn random(r: &mut Rng, depth: usize, in_loop: bool, subs: std::ops::Range<usize>, sub: bool) -> Vec<Stmt> {
    (0..1 + r.below(4))
        .map(|_| {
            let k = r.below(20) as u32;
            match r.below(8) {
                0 | 1 if depth > 0 => Stmt::If(
                    k,
                    random(r, depth - 1, in_loop, subs.clone(), sub),
                    random(r, depth - 1, in_loop, subs.clone(), sub),
                ),
                2 if depth > 0 => Stmt::Loop(k, random(r, depth - 1, true, subs.clone(), sub)),
                3 if in_loop => Stmt::Break(k),
                4 if in_loop => Stmt::Continue(k),
                5 if !subs.is_empty() => Stmt::Call(k, subs.start + r.below(subs.len())),
                6 if sub => Stmt::Return(k),
                _ => Stmt::Step(r.below(1000) as i32 - 500),
            }
        })
        .collect()
}

/// How a statement ended for a channel.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
    Return,
}

/// One channel by itself: what SIMT promises is the same.
fn execute(list: &[Stmt], subs: &[Vec<Stmt>], x: &mut i32) -> Flow {
    let bit = |x: i32, k: u32| x >> k & 1 != 0;
    for s in list {
        match s {
            Stmt::Step(k) => *x = x.wrapping_mul(3).wrapping_add(*k),
            Stmt::If(k, a, b) => {
                let flow = execute(if bit(*x, *k) { a } else { b }, subs, x);
                if flow != Flow::On {
                    return flow;
                }
            }
            Stmt::Loop(k, body) => {
                for _ in 0..(*x >> k & 3) + 1 {
                    match execute(body, subs, x) {
                        Flow::Break => break,
                        Flow::Return => return Flow::Return,
                        _ => {}
                    }
                }
            }
            Stmt::Break(k) if bit(*x, *k) => return Flow::Break,
            Stmt::Continue(k) if bit(*x, *k) => return Flow::Continue,
            Stmt::Return(k) if bit(*x, *k) => return Flow::Return,
            Stmt::Call(k, which) if bit(*x, *k) => {
                execute(&subs[*which], subs, x);
            }
            _ => {}
        }
    }
    Flow::On
}

/// Text of a program; `n` channels.
struct Writer {
    out: String,
    decl: String,
    labels: usize,
    n: usize,
}

impl Writer {
    fn line(&mut self, s: String) {
        self.out += &s;
        self.out.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A predicate of bit `k`.
    fn bit(&mut self, k: u32) -> String {
        self.labels += 1;
        let (p, n) = (format!("P{}", self.labels), self.n);
        writeln!(self.decl, ".decl {p} v_type=P num_elts=32").unwrap();
        self.line(format!("and (M1,{n}) T(0,0)<1> X(0,0)<1;1,0> 0x{:x}:d", 1u32 << k));
        self.line(format!("cmp.ne (M1,{n}) {p} T(0,0)<1;1,0> 0x0:d"));
        p
    }

    fn list(&mut self, list: &[Stmt], around: Option<(&str, &str)>) {
        let n = self.n;
        for s in list {
            match s {
                Stmt::Step(k) => self.line(format!("mad (M1,{n}) X(0,0)<1> X(0,0)<1;1,0> 0x3:w {k}:d")),
                Stmt::If(k, a, b) => {
                    let p = self.bit(*k);
                    let (no, end) = (self.label(), self.label());
                    self.line(format!("(!{p}) goto (M1,{n}) {no}"));
                    self.list(a, around);
                    self.line(format!("goto (M1,{n}) {end}"));
                    self.line(format!("{no}:"));
                    self.list(b, around);
                    self.line(format!("{end}:"));
                }
                Stmt::Loop(k, body) => {
                    let (top, next, end) = (self.label(), self.label(), self.label());
                    let (c, p) = (format!("C{}", self.labels), format!("Q{}", self.labels));
                    writeln!(self.decl, ".decl {c} v_type=G type=d num_elts={n} align=GRF").unwrap();
                    writeln!(self.decl, ".decl {p} v_type=P num_elts=32").unwrap();
                    self.line(format!("asr (M1,{n}) {c}(0,0)<1> X(0,0)<1;1,0> {k}:d"));
                    self.line(format!("and (M1,{n}) {c}(0,0)<1> {c}(0,0)<1;1,0> 0x3:d"));
                    self.line(format!("{top}:"));
                    self.list(body, Some((&next, &end)));
                    self.line(format!("{next}:"));
                    self.line(format!("add (M1,{n}) {c}(0,0)<1> {c}(0,0)<1;1,0> -1:d"));
                    self.line(format!("cmp.ge (M1,{n}) {p} {c}(0,0)<1;1,0> 0x0:d"));
                    self.line(format!("({p}) goto (M1,{n}) {top}"));
                    self.line(format!("{end}:"));
                }
                Stmt::Break(k) | Stmt::Continue(k) => {
                    let p = self.bit(*k);
                    let (next, end) = around.expect("in a loop");
                    let to = if matches!(s, Stmt::Break(_)) { end } else { next };
                    self.line(format!("({p}) goto (M1,{n}) {to}"));
                }
                Stmt::Call(k, which) => {
                    let p = self.bit(*k);
                    self.line(format!("({p}) call (M1,{n}) sub{which}"));
                }
                Stmt::Return(k) => {
                    let p = self.bit(*k);
                    self.line(format!("({p}) ret (M1,{n})"));
                }
            }
        }
    }
}

/// The text of a random program, and what each channel of each thread ends with.
pub fn random_program(seed: u64, n: usize, threads: u32) -> (String, Vec<u32>) {
    let mut r = Rng(seed);
    // A subroutine calls those after it only: there is no recursion.
    let mut subs: Vec<Vec<Stmt>> = Vec::new();
    let count = r.below(3);
    for i in 0..count {
        subs.push(random(&mut r, 2, false, i + 1..count, true));
    }
    let main = random(&mut r, 4, false, 0..count, false);
    let mut w = Writer { out: String::new(), decl: String::new(), labels: 0, n };
    w.list(&main, None);
    let parts = n * 4 / 16;
    // A thread's own place: r0.1 is the group's number.
    w.line(format!("mul (M1_NM,1) O(0,0)<1> %r0(0,1)<0;1,0> {}:ud", parts));
    for (k, at) in (0..parts).step_by(2).enumerate() {
        w.line(format!("oword_st (2) T6 O(0,0)<0;1,0> X.{}", 32 * k));
        let _ = at;
        w.line("add (M1_NM,1) O(0,0)<1> O(0,0)<0;1,0> 0x2:ud".into());
    }
    w.line(format!("ret (M1,{n})"));
    for (i, s) in subs.iter().enumerate() {
        w.line(format!(".function \"sub{i}\"\nsub{i}:"));
        w.list(s, None);
        w.line(format!("ret (M1,{n})"));
    }
    let text = format!(
        ".version 4.1\n.kernel \"flow\"\n.decl X v_type=G type=d num_elts={n} align=GRF\n\
         .decl T v_type=G type=d num_elts={n} align=GRF\n.decl O v_type=G type=ud num_elts=1\n{}\
         .decl Z v_type=G type=d num_elts=32 align=GRF\n\
         .decl T6 v_type=T num_elts=1\n.input Z offset=64 size=128\n.kernel_attr SimdSize={n}\n.kernel_attr Target=\"cm\"\n\
         mul (M1,{n}) X(0,0)<1> Z(0,0)<1;1,0> 0x1:d\n\
         add (M1,{n}) X(0,0)<1> X(0,0)<1;1,0> %r0(0,1)<0;1,0>\n{}",
        w.decl, w.out
    );
    let mut want = Vec::new();
    for thread in 0..threads {
        for i in 0..n {
            let mut x = (start(i) as i32).wrapping_add(thread as i32);
            execute(&main, &subs, &mut x);
            want.push(x as u32);
        }
    }
    (text, want)
}

/// What channel `i` starts with.
fn start(i: usize) -> u32 {
    (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x1234_5678
}

/// The starting values of all channels.
pub fn starts() -> Vec<u8> {
    (0..32).flat_map(|i| start(i).to_le_bytes()).collect()
}

/// Structured programs with breaks, continues and early returns, nested at random: each channel goes its own
/// way, and meets the others.
fn divergent_flow() {
    for seed in 0..120 {
        let n = [8, 16, 32][seed as usize % 3];
        let (text, want) = random_program(seed * 7 + 1, n, 1);
        let p =
            Program { args: vec![("Z", starts())], buffer: vec![0; want.len() * 4], ..Program::new(&text) };
        let (got, trap) = p.run();
        assert!(trap.is_none(), "{trap:?}\n{text}");
        assert_eq!(got, want, "\n{text}");
    }
}

/// `goto` of one channel: all go, or none, by the first element of the predicate. `jmp` likewise.
fn uniform_branches() {
    let mut b = Bench::new(Platform::Skl);
    for (bits, go) in [(1u32, true), (0xffff_fffe, false), (0, false), (u32::MAX, true)] {
        for form in ["($p)", "(!$p)"] {
            for text in ["goto (M1,1)", "jmp (M1,1)"] {
                let goes = go == (form == "($p)");
                let c = Case::new(format!("{form} {text} @Lout\nmov (M1,8) $d(0,0)<1> 0x7:d\n@Lout:"));
                b.run(c.pred("p", bits).bits("d", D, &[1; 8], &[if goes { 1 } else { 7 }; 8]));
            }
        }
    }
    // Backwards: four rounds.
    for text in ["goto (M1,1)", "jmp (M1,1)"] {
        let c = Case::new(format!(
            "@Ltop:\nadd (M1,8) $d(0,0)<1> $d(0,0)<1;1,0> 0x5:d\ncmp.lt (M1,1) $p $d(0,0)<0;1,0> 0x14:d\n($p) {text} @Ltop"
        ));
        b.run(c.pred_out("p", 0, 0).bits("d", D, &[0; 8], &[20; 8]));
    }
}

/// Any and all, at every offset of the mask.
fn predicated_branches() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(3);
    for round in 0..60 {
        let (n, first) = [(8usize, 0usize), (8, 8), (8, 16), (8, 24), (16, 0), (16, 16), (32, 0)][round % 7];
        let bits = crate::shapes::pred_bits(&mut r, n, first);
        let em = r.next() as u32 | 1 << first;
        for form in crate::shapes::PRED_FORMS {
            // The channels of the instruction's part of the mask go; the rest stay, unless all of them are.
            let go = crate::shapes::enabled(n, first, false, em, Some((bits, form)));
            let m = crate::shapes::mask_text(n, first, false);
            let out: Vec<u64> =
                (0..n).map(|i| if em >> (first + i) & 1 != 0 && !go[i] { 9 } else { 1 }).collect();
            let c = Case::new(format!("{form} goto {m} @Lout\nmov {m} $d(0,0)<1> 0x9:d\n@Lout:"));
            b.run(c.pred("p", bits).bits("d", D, &vec![1; n], &out).em(em));
        }
    }
}

fn switchjmp() {
    let mut b = Bench::new(Platform::Skl);
    for index in 0..5u64 {
        let c = Case::new(
            "switchjmp (M1,1) $i(0,0)<0;1,0> (@La, @Lb, @Lc, @Lb, @Ld)\n@La:\nadd (M1,8) $d(0,0)<1> $d(0,0)<1;1,0> 0x1:d\n\
             @Lb:\nadd (M1,8) $d(0,0)<1> $d(0,0)<1;1,0> 0xa:d\n@Lc:\nadd (M1,8) $d(0,0)<1> $d(0,0)<1;1,0> 0x64:d\n@Ld:",
        );
        let want = [111, 110, 100, 110, 0][index as usize];
        b.run(c.var("i", Ub, &[index]).bits("d", D, &[0; 8], &[want; 8]));
    }
}

/// A table has no entry for an index: a fault that says so.
fn switchjmp_outside() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl I v_type=G type=ub num_elts=1\n.kernel_attr SimdSize=8\n.kernel_attr Target=\"cm\"\n\
                mov (M1_NM,1) I(0,0)<1> 0x2:ub\nswitchjmp (M1,1) I(0,0)<0;1,0> (a, b)\na:\nb:\nret (M1,8)\n";
    let (_, trap) = Program::new(text).run();
    assert_eq!(trap.expect("a fault").cause, envisa_machine::Cause::BadIndex(2));
}

/// Factorials by recursion: each call has variables of its own; channels stop at different depths.
const FACTORIAL: &str = "\
.version 4.1
.kernel \"main\"
.decl N v_type=G type=d num_elts=16 align=GRF
.decl F v_type=G type=uq num_elts=1
.decl A v_type=G type=d num_elts=16 align=GRF alias=<%arg, 0>
.decl R v_type=G type=d num_elts=16 align=GRF alias=<%retval, 0>
.decl D v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
.input N offset=64 size=64
.kernel_attr SimdSize=16
.kernel_attr Target=\"cm\"
mov (M1,16) D(0,0)<1> -1:d
mov (M1,16) A(0,0)<1> N(0,0)<1;1,0>
cmp.ne (M1,16) P1 N(0,0)<1;1,0> 0x3:d
CALL
(P1) mov (M1,16) D(0,0)<1> R(0,0)<1;1,0>
oword_st (4) T6 0x0:ud D.0
ret (M1,16)
.global_function \"fact\"
.decl A v_type=G type=d num_elts=16 align=GRF alias=<%arg, 0>
.decl R v_type=G type=d num_elts=16 align=GRF alias=<%retval, 0>
.decl M v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
mov (M1,16) M(0,0)<1> A(0,0)<1;1,0>
mov (M1,16) R(0,0)<1> 0x1:d
cmp.le (M1,16) P1 M(0,0)<1;1,0> 0x1:d
(P1) fret (M1,16)
add (M1,16) A(0,0)<1> M(0,0)<1;1,0> -1:d
fcall (M1,16) fact 2 2
mul (M1,16) R(0,0)<1> R(0,0)<1;1,0> M(0,0)<1;1,0>
fret (M1,16)
";

fn stack_calls() {
    let direct = "(P1) fcall (M1,16) fact 2 2";
    let indirect = "faddr fact F(0,0)<1>\n(P1) ifcall (M1,16) F(0,0)<0;1,0> 2 2";
    for (version, call) in [("4.1", direct), ("4.1", indirect), ("4.2", indirect)] {
        let text = FACTORIAL.replace("CALL", call).replace("4.1", version);
        let args: Vec<i32> = (0..16).map(|i| i % 13).collect();
        let input = args.iter().flat_map(|x| x.to_le_bytes()).collect();
        let (got, trap) =
            Program { args: vec![("N", input)], buffer: vec![0; 64], ..Program::new(&text) }.run();
        assert!(trap.is_none(), "{trap:?}");
        let want: Vec<u32> =
            args.iter().map(|n| if *n == 3 { u32::MAX } else { (1..=*n as u32).product() }).collect();
        assert_eq!(got, want);
    }
}

/// A call of what is not a function, and calls without end, are faults.
fn calls_that_cannot_be() {
    let text =
        FACTORIAL.replace("CALL", "mov (M1_NM,1) F(0,0)<1> 0x40:uq\n(P1) ifcall (M1,16) F(0,0)<0;1,0> 2 2");
    let p = Program { args: vec![("N", vec![0; 64])], buffer: vec![0; 64], ..Program::new(&text) };
    assert_eq!(p.run().1.expect("a fault").cause, envisa_machine::Cause::BadCall(0x40));
    let text = FACTORIAL.replace("CALL", "fcall (M1,16) fact 2 2").replace("(P1) fret (M1,16)\n", "");
    let p = Program { args: vec![("N", vec![0; 64])], buffer: vec![0; 64], ..Program::new(&text) };
    let cause = p.run().1.expect("a fault").cause;
    assert!(matches!(cause, envisa_machine::Cause::CallDepth | envisa_machine::Cause::Limit), "{cause:?}");
}

/// Threads exchange dwords through shared memory: each reads what another wrote before the barrier.
fn exchange(platform: Platform, version: &str, barrier: &str) -> String {
    let _ = platform;
    format!(
        "\
.version {version}
.kernel \"exchange\"
.decl V v_type=G type=ud num_elts=16 align=wordx32
.decl I v_type=G type=ud num_elts=16 align=wordx32
.decl J v_type=G type=ud num_elts=16 align=wordx32
.decl O v_type=G type=ud num_elts=1
.decl P1 v_type=P num_elts=1
.decl T6 v_type=T num_elts=1
.kernel_attr SimdSize=16
.kernel_attr Target=\"cm\"
.kernel_attr NBarrierCnt=4
and (M1_NM,1) O(0,0)<1> %r0(0,2)<0;1,0> 0xff:ud
mov (M1,8) I(0,0)<1> 0x76543210:uv
add (M1,8) I(0,8)<1> I(0,0)<1;1,0> 0x8:ud
mul (M1,16) V(0,0)<1> I(0,0)<1;1,0> 0x100:ud
add (M1,16) V(0,0)<1> V(0,0)<1;1,0> O(0,0)<0;1,0>
mad (M1,16) J(0,0)<1> O(0,0)<0;1,0> 0x10:uw I(0,0)<1;1,0>
shl (M1,16) J(0,0)<1> J(0,0)<1;1,0> 0x2:ud
lsc_store.slm (M1,16) flat[J]:a32 V:d32
{barrier}
xor (M1,16) J(0,0)<1> J(0,0)<1;1,0> 0xc0:ud
lsc_load.slm (M1,16) V:d32 flat[J]:a32
shl (M1_NM,1) O(0,0)<1> O(0,0)<0;1,0> 0x2:ud
oword_st (4) T6 O(0,0)<0;1,0> V.0
ret (M1,16)
"
    )
    .replace("I(0,8)", if platform == Platform::Pvc { "I(0,8)" } else { "I(1,0)" })
}

fn barriers() {
    let kinds = [
        ("4.1", "lsc_fence.slm.none.group\nbarrier"),
        ("4.1", "lsc_fence.slm.none.group\nsbarrier.signal\nsbarrier.wait"),
        ("4.1", "nbarrier.signal 0x2:ub 0x4:ub\nnbarrier.wait 0x2:ub"),
        ("4.2", "nbarrier.signal 0x1:ub 0x0:uw 0x4:ub 0x4:ub\nnbarrier.wait 0x1:ub"),
        ("4.2", "nbarrier.signal 0x1:ub 0x4:ub\nnbarrier.wait 0x1:ub"),
        // Over and over.
        (
            "4.1",
            "barrier\nbarrier\nsbarrier.signal\nadd (M1,16) V(0,0)<1> V(0,0)<1;1,0> 0x0:ud\nsbarrier.wait\nbarrier",
        ),
        (
            "4.1",
            "nbarrier.signal 0x2:ub 0x4:ub\nnbarrier.wait 0x2:ub\nnbarrier.signal 0x2:ub 0x4:ub\nnbarrier.wait 0x2:ub",
        ),
    ];
    for (version, barrier) in kinds {
        let text = exchange(Platform::Pvc, version, barrier);
        for groups in [1, 3] {
            let p = Program {
                platform: Platform::Pvc,
                threads: 4,
                groups: [groups, 1, 1],
                buffer: vec![0; 256],
                ..Program::new(&text)
            };
            let (got, trap) = p.run();
            assert!(trap.is_none(), "{trap:?}");
            // Byte 0xc0 of the address: the thread with both bits of its number turned.
            let want: Vec<u32> = (0..4).flat_map(|t| (0..16).map(move |i| i * 0x100 + (t ^ 3))).collect();
            assert_eq!(got, want, "{barrier}");
        }
    }
}

/// Producers that do not wait, and consumers that wait for them.
fn producers_and_consumers() {
    let barrier = "\
cmp.lt (M1_NM,1) P1 O(0,0)<0;1,0> 0x2:ud
(P1) jmp (M1,1) produce
nbarrier.signal 0x3:ub 0x2:uw 0x2:ub 0x2:ub
nbarrier.wait 0x3:ub
jmp (M1,1) done
produce:
nbarrier.signal 0x3:ub 0x1:uw 0x2:ub 0x2:ub
done:";
    let text = exchange(Platform::Pvc, "4.2", barrier);
    let p = Program { platform: Platform::Pvc, threads: 4, buffer: vec![0; 256], ..Program::new(&text) };
    let (got, trap) = p.run();
    assert!(trap.is_none(), "{trap:?}");
    // Consumers 2 and 3 see what producers 1 and 0 wrote.
    let want: Vec<u32> = (2..4).flat_map(|t| (0..16).map(move |i| i * 0x100 + (t ^ 3))).collect();
    assert_eq!(got[32..], want);
}

/// A barrier that cannot complete ends in a report of where every thread stands.
fn a_barrier_that_cannot_complete() {
    for barrier in
        ["barrier", "sbarrier.signal\nsbarrier.wait", "nbarrier.signal 0x2:ub 0x4:ub\nnbarrier.wait 0x2:ub"]
    {
        let skip =
            format!("cmp.eq (M1_NM,1) P1 O(0,0)<0;1,0> 0x1:ud\n(P1) jmp (M1,1) over\n{barrier}\nover:");
        let text = exchange(Platform::Pvc, "4.1", &skip);
        let p = Program { platform: Platform::Pvc, threads: 4, buffer: vec![0; 256], ..Program::new(&text) };
        let trap = p.run().1.expect("a fault");
        assert_eq!(trap.cause, envisa_machine::Cause::Deadlock, "{barrier}");
        assert_eq!(trap.threads.len(), 4);
        for (i, t) in trap.threads.iter().enumerate() {
            assert_eq!(t.thread, i as u32);
            use envisa_machine::thread::Status;
            let waits = matches!(t.status, Status::Barrier | Status::SplitWait | Status::Named(2));
            assert_eq!((waits, t.status == Status::Done), (i != 1, i == 1), "{barrier}: {:?}", t.status);
            if i != 1 {
                let line = &text[t.span.start as usize..t.span.end as usize];
                assert!(line.contains("barrier"), "thread {i} stands at {line}");
            }
        }
    }
}

/// A run past its limit ends in such a report too.
fn a_run_past_its_limit() {
    let forever = "cmp.eq (M1_NM,1) P1 O(0,0)<0;1,0> 0x2:ud\ntop:\n(P1) jmp (M1,1) top\nbarrier";
    let text = exchange(Platform::Pvc, "4.1", forever);
    for jobs in 1..=3 {
        let p = Program {
            platform: Platform::Pvc,
            threads: 4,
            jobs,
            groups: [2, 1, 1],
            limit: 10_000,
            buffer: vec![0; 256],
            ..Program::new(&text)
        };
        let trap = p.run().1.expect("a fault");
        assert_eq!((&trap.cause, trap.group, trap.thread), (&envisa_machine::Cause::Limit, [0; 3], 2));
        assert_eq!(trap.threads.len(), 4);
        let line = &text[trap.span.start as usize..trap.span.end as usize];
        assert!(line.contains("jmp"), "{line}");
    }
}

/// The same on one, two and three host threads, observed or not.
fn any_number_of_jobs() {
    for seed in 0..10 {
        let n = [8, 16, 32][seed as usize % 3];
        let groups = 41;
        let (text, want) = random_program(1000 + seed, n, groups);
        for jobs in 1..=3 {
            let p = Program {
                jobs,
                groups: [groups, 1, 1],
                args: vec![("Z", starts())],
                buffer: vec![0; want.len() * 4],
                ..Program::new(&text)
            };
            let (got, trap) = p.run_plain();
            assert!(trap.is_none(), "{trap:?}\n{text}");
            assert!(got == want, "with {jobs} jobs\n{text}");
            assert!(p.run().0 == want, "observed, with {jobs} jobs\n{text}");
        }
    }
    let text = exchange(Platform::Pvc, "4.1", "barrier");
    for jobs in 1..=3 {
        let p = Program {
            platform: Platform::Pvc,
            jobs,
            threads: 4,
            groups: [9, 2, 1],
            buffer: vec![0; 256],
            ..Program::new(&text)
        };
        let want: Vec<u32> = (0..4).flat_map(|t| (0..16).map(move |i| i * 0x100 + (t ^ 3))).collect();
        assert_eq!(p.run_plain().0, want);
    }
}

crate::coverage::pages! {
    divergent_flow uniform_branches predicated_branches switchjmp switchjmp_outside stack_calls calls_that_cannot_be barriers producers_and_consumers a_barrier_that_cannot_complete a_run_past_its_limit any_number_of_jobs
}
