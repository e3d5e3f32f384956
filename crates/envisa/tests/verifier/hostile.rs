//! Modules from nowhere: the verifier neither panics nor takes more than linear time, whatever is in one.

use envisa::isa::{
    Align, Attr, AttrRange, Exec, ExecMask, Input, LabelUse, Modifier, Module, Op, Operand, Platform,
    Platforms, Pred, Region, Span, StateClass, Type,
};
use envisa::verify::{Allowance, Options, check, parse_allow_comments, rule, structure, verify};
use envisa_smith::generate::{self, Rng};
use std::time::{Duration, Instant};

const TYPES: [Type; 16] = [
    Type::Ud,
    Type::D,
    Type::Uw,
    Type::W,
    Type::Ub,
    Type::B,
    Type::Df,
    Type::F,
    Type::V,
    Type::Vf,
    Type::Bool,
    Type::Uq,
    Type::Uv,
    Type::Q,
    Type::Hf,
    Type::Bf,
];

/// Mostly small numbers, now and then one at the edge.
fn number(r: &mut Rng) -> u32 {
    match r.below(8) {
        0 => r.bits() as u32,
        1 => u32::MAX - r.below(3),
        2 => 1 << r.below(32),
        _ => r.below(70),
    }
}

fn operand(r: &mut Rng) -> Operand {
    let n = number(r);
    let region = Region(if r.one_in(3) { n as u16 } else { 0x0223 });
    let modifier = *r.pick(&[Modifier::None, Modifier::Neg, Modifier::Sat, Modifier::Not]);
    let (byte, ty) = (number(r) as u8, *r.pick(&TYPES));
    let pred = Pred { id: n as u16, ..Pred::NONE };
    match r.below(17) {
        0 => Operand::Exec(Exec { log2: byte, mask: ExecMask(n as u8) }),
        1 => Operand::Pred(pred),
        2 => Operand::Predicate(pred),
        3 | 4 => Operand::General { var: n, row: byte, col: number(r) as u8, region, modifier },
        5 => Operand::Indirect {
            addr: n as u16,
            offset: byte,
            byte_offset: number(r) as i16,
            ty,
            region,
            modifier,
        },
        6 => Operand::Address { id: n as u16, offset: byte, width_log2: number(r) as u8, modifier },
        7 => Operand::AddressOf { var: n, offset: number(r) as u16 },
        8 => Operand::Imm { ty, bits: r.bits() },
        9 => Operand::State { class: StateClass::Surface, id: n as u16, offset: byte },
        10 => Operand::State { class: StateClass::Sampler, id: n as u16, offset: byte },
        11 => Operand::Raw { var: n, offset: number(r) as u16 },
        12 => Operand::Surface(n as u8),
        13 => Operand::Sampler(n as u8),
        14 => Operand::Label(n as u16),
        15 => Operand::Str(n),
        _ => Operand::Int(n),
    }
}

fn span(r: &mut Rng) -> Span {
    Span::new(number(r), number(r))
}

/// Overwrites something somewhere.
fn mutate(r: &mut Rng, module: &mut Module) {
    let i = r.below(module.objects.len() as u32) as usize;
    let o = &mut module.objects[i];
    let any = |r: &mut Rng, n: usize| r.below(n.max(1) as u32) as usize;
    let n = number(r);
    match r.below(16) {
        0..=5 => {
            let k = any(r, o.operands.len());
            if let Some(op) = o.operands.get_mut(k) {
                *op = operand(r);
            }
        }
        6 => {
            let k = any(r, o.insts.len());
            if let Some(inst) = o.insts.get_mut(k) {
                match r.below(4) {
                    0 => inst.op = *r.pick(Op::ALL),
                    1 => inst.len = n as u16,
                    2 => inst.first = n,
                    _ => inst.span = span(r),
                }
            }
        }
        7 => {
            let k = any(r, o.vars.len());
            if let Some(v) = o.vars.get_mut(k) {
                match r.below(7) {
                    0 => v.alias = n,
                    1 => v.alias_offset = n as u16,
                    2 => v.elems = n as u16,
                    3 => v.ty = *r.pick(&TYPES),
                    4 => v.align = Align::from_code(n as u8 % 10).unwrap_or_default(),
                    5 => v.name = n,
                    _ => v.attrs = AttrRange { start: n, len: n as u8 },
                }
            }
        }
        8 => o.inputs.push(Input {
            kind: n as u8,
            id: number(r),
            offset: number(r) as i16,
            size: number(r) as u16,
            span: span(r),
        }),
        9 => {
            let value = (0..r.below(7)).map(|_| r.bits() as u8).collect();
            o.attrs.push(Attr { name: n, value, span: span(r) });
        }
        10 => {
            let k = any(r, o.labels.len());
            if let Some(l) = o.labels.get_mut(k) {
                (l.name, l.kind) = (n, *r.pick(&[LabelUse::Block, LabelUse::Subroutine, LabelUse::Fc]));
            }
        }
        11 => {
            let list = [&mut o.addresses, &mut o.predicates, &mut o.samplers, &mut o.surfaces];
            for v in list {
                let k = any(r, v.len());
                if let Some(v) = v.get_mut(k) {
                    v.elems = number(r) as u16;
                }
            }
        }
        12 => o.operand_spans.truncate(any(r, o.operand_spans.len())),
        13 => o.insts.truncate(any(r, o.insts.len() + 1)),
        14 => {
            let (a, b) = (any(r, o.insts.len()), any(r, o.insts.len()));
            if !o.insts.is_empty() {
                o.insts.swap(a, b);
            }
        }
        _ => module.version = (n as u8 % 5, n as u8 % 3),
    }
}

#[test]
fn whatever_is_in_a_module() {
    let mut r = Rng::new(7);
    let (mut sound, mut tried) = (0, 0);
    for seed in 0..120 {
        let version = if seed % 2 == 0 { (4, 1) } else { (4, 2) };
        let options = generate::Options { version, insts: 120, functions: 1, ..generate::Options::default() };
        let original = generate::module(seed, &options);
        for changes in [1, 1, 1, 2, 4, 16, 64] {
            let mut module = original.clone();
            for _ in 0..changes {
                mutate(&mut r, &mut module);
            }
            let platforms = match r.below(3) {
                0 => Platforms::ALL,
                1 => Platforms::of(&[*r.pick(&Platform::ALL)]),
                _ => Platforms(r.bits() as u32 & Platforms::ALL.0),
            };
            let options = Options { platforms, repeats: 1 + r.below(4) as usize, ..Options::default() };
            let found = check(&module, &options);
            for f in &found {
                // Each can be shown.
                f.diagnostic(Default::default());
                assert!(f.object < module.objects.len(), "{f:?}");
                assert!(f.inst.is_none_or(|i| i < module.objects[f.object].insts.len()), "{f:?}");
            }
            tried += 1;
            // Whoever skips the rules relies on the structure alone.
            if structure::check(&module).is_empty() {
                sound += 1;
                assert!(module.check_sound().is_ok(), "a structure that passes is sound");
            } else {
                let (_, verified) = verify(module, &options);
                assert!(verified.is_none(), "a broken structure is never verified");
            }
        }
    }
    assert!(sound > tried / 10 && sound < tried, "{sound} of {tried} stay sound");
}

/// Time of a check, the best of a few.
fn time(module: &Module, options: &Options) -> Duration {
    (0..3)
        .map(|_| {
            let start = Instant::now();
            check(module, options);
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// A kernel of `n` of one kind of thing that a careless pass would compare with each other.
fn crowd(kind: &str, n: usize) -> (Module, Options) {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n.decl V v_type=G type=ud num_elts=64 align=GRF\n.decl P v_type=P num_elts=16\n.decl A v_type=A num_elts=16\n.kernel_attr SLMSize=0\n",
    );
    let mut options = Options::default();
    match kind {
        "labels" => (0..n).for_each(|i| text += &format!("l{i}:\n")),
        "subroutines" => (0..n).for_each(|i| text += &format!(".function \"f{i}\"\n")),
        "calls" => (0..n).for_each(|i| {
            text +=
                &format!("call (M1_NM,1) f{}\nret (M1_NM,1)\n.function \"f{i}\"\nret (M1_NM,1)\n", n - 1 - i);
        }),
        "jumps" => {
            (0..n).for_each(|i| text += &format!("(P) goto (M1,16) l{i}\njmp (M1,1) end\n"));
            (0..n).for_each(|i| text += &format!("l{i}:\n"));
            text += "end:\n";
        }
        "loops" => {
            (0..n).for_each(|i| text += &format!("l{i}:\n"));
            (0..n).for_each(|i| text += &format!("(P) goto (M1,16) l{i}\nbarrier\n"));
        }
        "findings" => {
            (0..n).for_each(|_| text += "mov (M2,8) V(0,0)<0> 0x0:ud\n");
            let code = rule::find("dst-stride-zero").expect("a rule").code;
            options.allowances =
                (0..n as u32).map(|i| Allowance { span: Span::new(i, i + 1), code }).collect();
        }
        "slm" => {
            (0..n).for_each(|i| text += &format!(".kernel_attr a{i}=1\n"));
            (0..n).for_each(|_| text += "gather_scaled.4 (M1,16) %slm 0x0:ud V.0 V.64\nbarrier\n");
        }
        "variables" => (0..n).for_each(|i| {
            text += &format!(
                ".decl X{i} v_type=G type=ud num_elts=8 align=GRF\nmov (M1,8) X{i}(0,0)<1> X{}(0,0)<8;8,1>\n",
                i.saturating_sub(1)
            );
        }),
        "aliases" => (0..n).for_each(|i| {
            let base = if i == 0 { "V".to_string() } else { format!("X{}", i - 1) };
            text += &format!(".decl X{i} v_type=G type=ud num_elts=1 alias=<{base},0>\n");
        }),
        "inputs" => (0..n).for_each(|i| {
            text += &format!(".decl X{i} v_type=G type=ud num_elts=1\n.input X{i} offset=32 size=4\n");
        }),
        "predicates" => (0..n).for_each(|i| {
            text += &format!(
                ".decl Q{i} v_type=P num_elts=16\nnot (M1,16) Q{i} {}\n",
                if i == 0 { "P".into() } else { format!("Q{}", i - 1) }
            );
        }),
        _ => unreachable!("{kind}"),
    }
    text += "ret (M1_NM,1)\n";
    let parsed = envisa::text::parse(&text, Default::default(), &Default::default());
    assert!(!parsed.module.objects.is_empty(), "{kind}");
    (parsed.module, options)
}

/// Eight times as much takes about eight times as long, not sixty-four.
#[test]
fn time_is_linear() {
    for kind in [
        "labels",
        "subroutines",
        "calls",
        "jumps",
        "loops",
        "findings",
        "slm",
        "variables",
        "aliases",
        "inputs",
        "predicates",
    ] {
        // Tables of predicates and inputs have few entries.
        let n = if matches!(kind, "predicates" | "inputs") { 400 } else { 2000 };
        let (small, options) = crowd(kind, n);
        let few = time(&small, &options);
        let (large, options) = crowd(kind, 8 * n);
        let many = time(&large, &options);
        let limit = few.max(Duration::from_millis(4)) * 32;
        assert!(many < limit, "{kind}: {few:?} for {n}, {many:?} for {}", 8 * n);
    }
}

/// Comments that allow rules: many, and odd ones.
#[test]
fn odd_allowances() {
    for text in [
        "// envisa: allow(",
        "// envisa: allow(,,)",
        "x // envisa:allow(V0001",
        "//envisa: allow-file()",
        "// envisa: allow(é)\r\n",
    ] {
        parse_allow_comments(text);
    }
    let text = "// envisa: allow(V0207)\n".repeat(20_000);
    let start = Instant::now();
    parse_allow_comments(&text);
    assert!(start.elapsed() < Duration::from_secs(5));
}
