//! Vector code, in parts or in one, against the general code of the same instruction, which goes by its
//! description channel by channel: random types, regions, modifiers, masks and modes.

use envisa_isa::{Combine, Modifier, Platform, Span, Type};
use envisa_lower::{Dst, ExecType, Facts, Inst, Op, Pred, Program, ProgramParts, Src, Strides, exec_type};
use envisa_sem::FpMode;
use envisa_smith::generate::Rng;

use envisa_interp::Code;
use envisa_machine::cpu::Level;
use envisa_machine::memory::{AddressMap, Block, SurfaceTable};
use envisa_machine::thread::{Env, Group, Machine, Status, Thread};

const INTS: [Type; 8] = [Type::Ub, Type::B, Type::Uw, Type::W, Type::Ud, Type::D, Type::Uq, Type::Q];
const SMALL: [Type; 6] = [Type::Ub, Type::B, Type::Uw, Type::W, Type::Ud, Type::D];
/// Sources lie in a first part, the destination anywhere, predicates and a second destination behind.
const SOURCES: u32 = 4096;
const PREDICATES: u32 = 8192;
const SECOND: u32 = 8448;
const FILE: u32 = 9216;

fn source(r: &mut Rng, types: &[Type], modifiers: &[Modifier], n: u8) -> Src {
    let ty = *r.pick(types);
    let strides = match r.below(8) {
        0 | 1 => Strides::SCALAR,
        2..=4 => Strides::CONTIGUOUS,
        5 => Strides { vertical: 2, width_log2: 0, horizontal: 2 },
        6 => Strides { vertical: 4, width_log2: 0, horizontal: 4 },
        _ => Strides { vertical: *r.pick(&[3, 8]), width_log2: 0, horizontal: 1 },
    };
    let offset = 64 + r.below((SOURCES - 64 - 2304) / 8) * 8 + ty.size() * r.below(2);
    let modifier = if r.below(4) == 0 { *r.pick(modifiers) } else { Modifier::None };
    Src::Reg { offset, ty, strides, shape: strides.shape(n as u32), modifier, constant: false }
}

/// Operations on floats, with the number of their sources.
const FLOAT_OPS: &[(Op, usize)] = &[
    (Op::Mov, 1),
    (Op::Add, 2),
    (Op::Mul, 2),
    (Op::Mad, 3),
    (Op::Min, 2),
    (Op::Max, 2),
    (Op::Sel, 2),
    (Op::Cmp, 2),
];
/// The same on integers.
const INT_OPS: &[(Op, usize)] = &[
    (Op::Mov, 1),
    (Op::Mov, 1),
    (Op::Add, 2),
    (Op::Add3, 3),
    (Op::Mul, 2),
    (Op::Mad, 3),
    (Op::Min, 2),
    (Op::Max, 2),
    (Op::Avg, 2),
    (Op::Div, 2),
    (Op::And, 2),
    (Op::Shl, 2),
    (Op::Sel, 2),
    (Op::Cmp, 2),
    (Op::Mulh, 2),
    (Op::Madw, 3),
    (Op::Dp4a, 3),
    (Op::Addc, 2),
    (Op::Subb, 2),
];

/// A random instruction, as lowering might make it.
fn instruction(r: &mut Rng) -> Inst {
    let n = *r.pick(&[1u8, 8, 16, 32, 32]);
    let float = r.below(3) == 0;
    let halves: [&[Type]; 3] = [&[Type::Hf], &[Type::Bf], &[Type::Hf, Type::F]];
    let own: &[Type] = match (float, r.below(4)) {
        (true, 0 | 1) => &[Type::F, Type::F, Type::Hf, Type::W, Type::Ub, Type::D],
        (true, 2) => &[Type::Df, Type::Df, Type::F, Type::D],
        (true, _) => halves[r.below(3) as usize],
        (false, 0) => &INTS,
        (false, _) => &SMALL,
    };
    let numbers = [Modifier::Neg, Modifier::Abs, Modifier::NegAbs];
    let ops = if float { FLOAT_OPS } else { INT_OPS };
    let (op, count) = *r.pick(ops);
    let logic = [Modifier::Not];
    let modifiers: &[Modifier] = match op {
        Op::And => &logic,
        Op::Addc | Op::Subb | Op::Mulh | Op::Madw | Op::Dp4a => &[Modifier::None],
        _ => &numbers,
    };
    let mut sat = r.below(5) == 0 && !matches!(op, Op::Shl | Op::Madw | Op::And);
    let mut own = own;
    match op {
        Op::Mulh => (own, sat) = (&SMALL, false),
        Op::Madw => own = &SMALL,
        Op::Dp4a => own = &[Type::D, Type::Ud],
        Op::Addc | Op::Subb => (own, sat) = (&[Type::Ud, Type::Uw, Type::Ub], false),
        _ => {}
    }
    let mut src = [Src::None; 4];
    for (k, s) in src[..count].iter_mut().enumerate() {
        // Arithmetic with a result of a float type has a source of one.
        let types = if float && k == 0 { &own[..1] } else { own };
        *s = source(r, types, modifiers, n);
    }
    let pred = Pred {
        offset: if r.below(3) == 0 || op == Op::Sel { PREDICATES + 4 * r.below(4) } else { 0 },
        combine: *r.pick(&[Combine::None, Combine::None, Combine::Any, Combine::All]),
        invert: r.below(2) == 0,
    };
    let ty = match op {
        Op::Mulh | Op::Madw | Op::Dp4a | Op::Addc | Op::Subb => *r.pick(&[Type::D, Type::Ud]),
        _ if float => {
            *r.pick(&[Type::F, Type::F, Type::Df, Type::Hf, Type::D, Type::Uw, Type::Ub, Type::B, own[0]])
        }
        _ if r.below(6) == 0 && op == Op::Mov => *r.pick(&[Type::F, Type::Df, Type::Hf]),
        _ => *r.pick(&INTS),
    };
    let stride = if matches!(op, Op::Madw) { 1 } else { *r.pick(&[1u8, 1, 1, 2, 4, 3]) };
    let offset = 64 + r.below((PREDICATES - 64 - 2304) / 8) * 8 + ty.size() * r.below(2);
    let dst = if op == Op::Cmp && r.below(2) == 0 {
        Dst::Pred { offset: PREDICATES + 4 * r.below(4) }
    } else {
        Dst::Reg { offset, ty, stride, sat: sat && op != Op::Cmp }
    };
    let mut i = Inst {
        op,
        channels: n,
        first: if n == 32 { 0 } else { *r.pick(&[0, 8, 16]) },
        no_mask: r.below(3) == 0,
        pred,
        exec: ExecType::None,
        dst,
        src,
        aux: if op == Op::Cmp { r.below(6) } else { 0 },
        dst2: if matches!(op, Op::Addc | Op::Subb | Op::Madw) { SECOND } else { 0 },
        span: Span::NONE,
        source: 0,
        function: 0,
        depth: 0,
        facts: Facts::default(),
    };
    i.exec = exec_type(&i);
    i
}

/// Random bytes, of which many are small numbers of some type.
fn fill(r: &mut Rng, file: &mut [u8]) {
    for chunk in file.chunks_mut(8) {
        let x = match r.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => ((r.below(200) as f64 - 100.0) * 0.75).to_bits(),
            3 => {
                let f = ((r.below(700) as f32 - 300.0) * 0.37).to_bits() as u64;
                f << 32 | f
            }
            4 => r.below(300) as u64,
            5 => r.bits() & 0x3cff_3cff_3cff_3cff,
            _ => r.bits(),
        };
        chunk.copy_from_slice(&x.to_le_bytes()[..chunk.len()]);
    }
}

/// Are the files the same but for NaN in the destination's elements?
fn same(i: &Inst, a: &[u8], b: &[u8]) -> bool {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    if let Dst::Reg { offset, ty, stride, .. } = i.dst
        && ty.is_float()
    {
        let size = ty.size() as usize;
        let nan = |x: &[u8]| {
            let bits = x.iter().rev().fold(0u64, |v, b| v << 8 | *b as u64);
            let infinity = match ty {
                Type::Df => 0x7ff0_0000_0000_0000,
                Type::F => 0x7f80_0000,
                Type::Hf => 0x7c00,
                _ => 0x7f80,
            };
            bits & (u64::MAX >> (65 - 8 * size)) > infinity
        };
        for k in 0..i.channels as usize {
            let at = offset as usize + k * stride as usize * size..;
            let at = at.start..at.start + size;
            if nan(&a[at.clone()]) && nan(&b[at.clone()]) {
                a[at.clone()].fill(0);
                b[at].fill(0);
            }
        }
    }
    a == b
}

#[test]
fn vector_code_does_what_general_code_does() {
    const COUNT: usize = if cfg!(miri) { 24 } else { 12_000 };
    let mut r = Rng::new(7);
    let mut code: Vec<Inst> = (0..COUNT).map(|_| instruction(&mut r)).collect();
    // A function ends; that is not executed here.
    code.push(Inst { op: Op::End, dst: Dst::None, src: [Src::None; 4], pred: Pred::default(), ..code[0] });
    let program = ProgramParts {
        name: "k".into(),
        platform: Platform::Skl,
        grf_bytes: Platform::Skl.grf_bytes(),
        registers: envisa_lower::Registers { bytes: FILE, ..Default::default() },
        ..ProgramParts::default()
    };
    let program = program.with_code(code);
    let program = Program::new(program).expect("its operands are inside");
    let l = Level::detect();
    let (fast, slow) = (Code::new(&program, l, false), Code::with_general_handlers(&program, l));
    let (memory, surfaces) = (AddressMap::default(), SurfaceTable::default());
    let block = Block::zeroed(64).unwrap();
    let dropped = envisa_machine::dropped_accesses::Dropped::default();
    let names = envisa_machine::memory::Names::default();
    let mut thread = Thread::new(&program);
    let mut group = Group { id: [0; 3], named: [(0, 0); 32], fused: Vec::new() };
    let modes = [0x4c0, 0x4c0, 0, 0x440, 0x80, 0x4f0, 0x4d0, 1].map(FpMode::from_cr0);
    let mut vector = 0;
    for (pc, i) in program.code()[..COUNT].iter().enumerate() {
        vector += usize::from(fast.uses_other_handler(&slow, pc as u32));
        for round in 0..if cfg!(miri) { 1 } else { 4 } {
            let mut file = vec![0; FILE as usize];
            fill(&mut r, &mut file);
            let some = r.bits() as u32;
            let mask = *r.pick(&[u32::MAX, u32::MAX, some, some >> 9 & 0xff_ff00, 1, 0]);
            let mode = if round == 0 { FpMode::OPENCL } else { *r.pick(&modes) };
            let results = [&fast, &slow].map(|code| {
                let env = Env {
                    program: &program,
                    memory: &memory,
                    surfaces: &surfaces,
                    samplers: &[],
                    state: &block,
                    scratch_bytes: 0,
                    symbols: &[],
                    function_addresses: &[],
                    groups: [1; 3],
                    observed: false,
                    interest: std::sync::OnceLock::new(),
                    dropped: &dropped,
                    regrouped: None,
                    stray_reads: false,
                    asked: None,
                    local_regions: &[],
                    private: None,
                    names: &names,
                    inputs: envisa_machine::thread_inputs::Inputs::default(),
                };
                thread.reset(u32::MAX, 1);
                thread.regs.bytes_mut().copy_from_slice(&file);
                (thread.mask, thread.mode, thread.ieee) = (mask, mode, mode.is_ieee());
                let mut m = Machine {
                    t: &mut thread,
                    group: &mut group,
                    slm: &block,
                    env: &env,
                    hints: &mut [],
                    trap: None,
                    accesses: envisa_machine::thread::Accesses::default(),
                };
                assert_eq!(code.execute_one(&mut m, pc as u32), pc as u32 + 1, "{i:?}");
                assert!(m.trap.is_none() && m.t.status == Status::Ready);
                m.t.regs.bytes().to_vec()
            });
            let [fast, slow] = &results;
            if !same(i, fast, slow) {
                let at = fast.iter().zip(slow).position(|(a, b)| a != b).unwrap_or(0);
                panic!(
                    "byte {at} is {:#x}, not {:#x}, mode {:#x}, mask {mask:#x}: {:?} {:?} {:?} {:?} {} {:?}",
                    fast[at], slow[at], mode.0, i.op, i.exec, i.dst, i.src, i.channels, i.pred
                );
            }
        }
    }
    // Most have it.
    assert!(vector > COUNT * 3 / 4, "{vector} of {COUNT}");
}
