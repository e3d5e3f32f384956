//! The math unit's functions of one single from native code: the bits that `envisa-sem` computes, whose distance from
//! the exact results docs/MATH.md tells. Every value by `cargo test --release -p envisa --test native -- --ignored math_unit`
//! (minutes a function; `SINGLES=rsqrt,log` visits these alone); one of some thousand always. `ENVISA_LEVEL=avx2`
//! holds it to AVX2.

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::sem::lanes::Host;
use envisa::sem::math::Function;
use envisa::{Config, Device, Engine, Launch};

/// Values that a thread of 32 channels computes.
const EACH: u32 = 2048;

/// Element `n` becomes the function of the single whose bits are `Base + n Step`.
const TEXT: &str = r#"
.version 3.6
.kernel "unit"
.kernel_attr Target="cm"
.kernel_attr SimdSize=32
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl N v_type=G type=ud num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=32 align=wordx32
.decl F v_type=G type=f num_elts=32 align=wordx32 alias=<X, 0>
.decl Y v_type=G type=f num_elts=32 align=wordx32
.decl To v_type=G type=uq num_elts=32 align=wordx32
.decl I v_type=G type=ud num_elts=1
.decl P v_type=P num_elts=1
.decl Q v_type=P num_elts=32
.decl A v_type=G type=uq num_elts=1 align=qword
.decl Base v_type=G type=ud num_elts=1
.decl Step v_type=G type=ud num_elts=1
.input A offset=64 size=8
.input Base offset=72 size=4
.input Step offset=76 size=4
.function "unit_main"
or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
mul (M1, 1) I(0,0)<1> %r0(0,1)<0;1,0> EACH:ud
add (M1, 32) N(0,0)<1> Lane(0,0)<1;1,0> I(0,0)<0;1,0>
mov (M1, 1) I(0,0)<1> 0x0:ud
again:
mul (M1, 32) X(0,0)<1> N(0,0)<1;1,0> Step(0,0)<0;1,0>
add (M1, 32) X(0,0)<1> X(0,0)<1;1,0> Base(0,0)<0;1,0>
FUNCTION (M1, 32) Y(0,0)<1> F(0,0)<1;1,0>
shl (M1, 32) At(0,0)<1> N(0,0)<1;1,0> 0x2:ud
add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_store.ugm (M1, 32) flat[To]:a64 Y:d32
add (M1, 32) N(0,0)<1> N(0,0)<1;1,0> 0x20:ud
add (M1, 1) I(0,0)<1> I(0,0)<0;1,0> 0x20:ud
cmp.lt (M1, 1) P I(0,0)<0;1,0> EACH:ud
(P) jmp (M1, 1) again
ret (M1, 1)
"#;

/// The functions that vISA has instructions for, with one source.
const FUNCTIONS: [Function; 6] =
    [Function::Inv, Function::Rsqrt, Function::Exp, Function::Log, Function::Sin, Function::Cos];

/// One of `step` values, all of them computed by native code, `count` at once.
fn visit(f: Function, step: u32, count: u32) {
    let host = Host::all().pop().expect("there is one");
    visit_with(f.name(), f.name(), (step, count), |x, want| f.map(host, x, x, want));
}

/// The same of what `call`, up to its operands, makes of the singles, where `wanted` gives the bits.
fn visit_with(name: &str, call: &str, (step, count): (u32, u32), wanted: impl Fn(&[u32], &mut [u32])) {
    let device = Device::new(Config::new(Platform::Pvc).memory(u64::from(count) * 4 + (1 << 20)));
    let text = TEXT.replace("FUNCTION", call).replace("EACH", &format!("{EACH:#x}"));
    let kernel = only_kernel(&device, &text);
    match kernel.native_listing() {
        Ok(listing) => assert!(!listing.contains("by the interpreter"), "{listing}"),
        Err(why) => {
            assert!(why.contains("native code needs"), "{why}");
            return;
        }
    }
    let buffer = device.buffer("a", u64::from(count) * 4).expect("there is memory");
    let (mut x, mut want) = (vec![0; count as usize], vec![0; count as usize]);
    let mut base = 0u64;
    while base < 1 << 32 {
        let launch = Launch::threads(&[count / EACH, 1, 1], 1)
            .arg("A", &buffer)
            .arg("Base", (base as u32).to_le_bytes().to_vec())
            .arg("Step", step.to_le_bytes().to_vec())
            .engine(Engine::Native);
        let outcome = device.run(&kernel, &launch).expect("it is launched");
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        for (n, x) in (0u32..).zip(&mut x) {
            *x = (base as u32).wrapping_add(n.wrapping_mul(step));
        }
        wanted(&x, &mut want);
        let got = buffer.to_vec();
        for ((x, want), got) in x.iter().zip(&want).zip(got.chunks_exact(4)) {
            let got = u32::from_le_bytes(got.try_into().expect("four bytes"));
            assert_eq!(*want, got, "{name}({x:#x}): {want:#x}, {got:#x} from native code");
        }
        base += u64::from(count) * u64::from(step);
    }
}

#[test]
fn native_code_has_the_bits_that_are_documented() {
    // An odd step, so that all low bits occur.
    for f in FUNCTIONS {
        visit(f, 4099, 1 << 18);
    }
}

/// Powers of two of what has just been rounded, and of what only looks so.
#[test]
fn powers_of_integral_numbers() {
    type Rounds = fn(f32) -> f32;
    let line = |text: &str| format!("{text}\n");
    let all = |op: &str| line(&format!("{op} (M1, 32) F(0,0)<1> F(0,0)<1;1,0>"));
    let odd = "and (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x1:ud\ncmp.eq (M1, 32) Q At(0,0)<1;1,0> 0x0:ud\n";
    let quarter = "add (M1, 32) F(0,0)<1> F(0,0)<1;1,0> 0.25:f\n";
    let half = "rndz (M1, 16) F(0,0)<1> F(0,0)<1;1,0>\n";
    let cases: [(String, [Rounds; 2]); 9] = [
        (all("rndz"), [f32::trunc; 2]),
        (all("rndd"), [f32::floor; 2]),
        (all("rndu"), [f32::ceil; 2]),
        (all("rnde"), [f32::round_ties_even; 2]),
        // Behind it something else writes the number, or a part of it.
        (all("rndz") + quarter, [|x| x.trunc() + 0.25; 2]),
        // Not all channels are rounded.
        (format!("{odd}(Q) {}", all("rndz")), [f32::trunc, |x| x]),
        (half.to_owned(), [f32::trunc; 2]),
        // A sign, and nothing of the kind.
        (all("frc"), [|x| x - x.floor(); 2]),
        (String::new(), [|x| x; 2]),
    ];
    for (before, rounds) in cases {
        let call = format!("{before}exp");
        let by_half = before == half;
        visit_with(&call, &call, (4099, 1 << 18), |x, want| {
            for ((n, x), want) in (0..).zip(x).zip(want) {
                let x = f32::from_bits(*x);
                let rounded = if by_half && n % 32 >= 16 { x } else { rounds[n % 2](x) };
                *want = Function::Exp.of(if x.is_nan() { x } else { rounded }.to_bits(), 0);
            }
        });
    }
}

/// The lesser and the greater of each single and an immediate, which is the second or the first: pages MIN and MAX give the
/// other one for a NaN, and the second of two that are equal.
#[test]
fn extrema_with_an_immediate() {
    for bits in
        [0x4000_0000u32, 0, 0x8000_0000, 1, 0x8000_0001, 0x0080_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000]
    {
        for (op, least) in [("min", true), ("max", false)] {
            for first in [false, true] {
                let (x, c) = ("F(0,0)<1;1,0>", format!("{bits:#x}:f"));
                let sources = if first { format!("{c} {x}") } else { format!("{x} {c}") };
                let call = format!("{op} (M1, 32) F(0,0)<1> {sources}\nmov");
                visit_with(&call, &call, (65521, 1 << 16), |x, want| {
                    for (x, want) in x.iter().zip(want) {
                        let [a, b] = if first { [bits, *x] } else { [*x, bits] };
                        let [fa, fb] = [a, b].map(f32::from_bits);
                        let takes_first = if least { fa < fb } else { fa > fb };
                        *want = if takes_first || (fb.is_nan() && !fa.is_nan()) { a } else { b };
                    }
                });
            }
        }
    }
}

#[test]
#[ignore = "visits all 2^32 singles of each function: minutes, in a release build"]
fn of_every_value() {
    let only = std::env::var("SINGLES").unwrap_or_default();
    for f in FUNCTIONS.into_iter().filter(|f| only.is_empty() || only.split(',').any(|n| n == f.name())) {
        visit(f, 1, 1 << 24);
    }
}
