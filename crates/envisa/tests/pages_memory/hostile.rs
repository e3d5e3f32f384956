//! Messages with any field at all: whatever can be loaded runs to its end or to a fault, and touches nothing
//! else.

use crate::harness::{A, Rng};
use envisa::diag::{FileId, Files};
use envisa::isa::desc::Family;
use envisa::isa::{Exec, ExecMask, Input, Inst, Module, Op, Operand, Platform};
use envisa::{
    Arg, ArgKey, ChannelOrder, ChannelType, Config, Device, ImageDesc, ImageFormat, ImageShape, Launch,
    LoadOptions, internals,
};
use envisa_lower::InputClass;
use envisa_machine::trap::Cause;
use envisa_smith::generate;
use std::collections::BTreeMap;

/// One field or operand becomes something else; what is left is still well-formed or is refused.
fn break_one(op: Operand, rng: &mut Rng, vars: u32) -> Operand {
    match op {
        Operand::Int(n) => Operand::Int(match rng.below(5) {
            0 => rng.next() as u32,
            1 => n ^ 1 << rng.below(32),
            2 => n.wrapping_add(1),
            _ => rng.below(16) as u32,
        }),
        Operand::Exec(_) => {
            Operand::Exec(Exec { log2: rng.below(6) as u8, mask: ExecMask(rng.below(16) as u8) })
        }
        Operand::Surface(_) => Operand::Surface(rng.below(10) as u8),
        Operand::Raw { var, .. } if rng.below(2) == 0 => Operand::Raw { var, offset: rng.next() as u16 },
        Operand::Raw { .. } => {
            Operand::Raw { var: rng.below(vars as u64 + 8) as u32, offset: rng.below(64) as u16 }
        }
        Operand::Imm { ty, .. } => Operand::Imm { ty, bits: rng.next() },
        Operand::General { var, region, modifier, .. } => {
            Operand::General { var, row: rng.below(40) as u8, col: rng.below(64) as u8, region, modifier }
        }
        other => other,
    }
}

/// A module of this instruction alone, whose registers are all given.
fn alone(module: &Module, inst: &Inst) -> Module {
    let mut small = module.clone();
    small.objects.truncate(1);
    let o = &mut small.objects[0];
    o.operands = module.objects[0].ops(inst).to_vec();
    o.operand_spans.clear();
    o.insts = vec![Inst { first: 0, ..*inst }];
    o.inputs.clear();
    let mut offset = 64i16;
    for (k, _) in o.vars.iter().enumerate().take(120) {
        let id = envisa::isa::predefined::FIRST_VAR + k as u32;
        o.inputs.push(Input { kind: 0, id, offset, size: 64, span: inst.span });
        offset += 64;
    }
    small
}

#[test]
fn messages_with_any_fields() {
    let mut rng = Rng(1);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for (version, platform, seeds) in
        [((4, 1), Platform::Tgllp, 0..6), ((4, 1), Platform::Pvc, 6..12), ((4, 2), Platform::Xe3p, 12..18)]
    {
        for seed in seeds {
            let options =
                generate::Options { version, insts: 400, in_turn: true, ..generate::Options::default() };
            let module = generate::module(seed, &options);
            let o = &module.objects[0];
            let messages = o.insts.iter().filter(|i| {
                matches!(
                    i.desc().family,
                    Family::DataPort | Family::Svm | Family::Lsc | Family::Sampler | Family::RenderTarget
                ) && i.op != Op::RawSends
            });
            for inst in messages.copied().collect::<Vec<_>>() {
                for round in 0..6 {
                    let mut small = alone(&module, &inst);
                    let vars = o.vars.len() as u32;
                    let operands = &mut small.objects[0].operands;
                    for _ in 0..round.min(3) {
                        let k = rng.below(operands.len() as u64) as usize;
                        operands[k] = break_one(operands[k], &mut rng, vars);
                    }
                    *ends.entry(run(small, platform, &mut rng)).or_default() += 1;
                }
            }
        }
    }
    // It is not a test if nothing runs.
    let of = |what| ends.get(what).copied().unwrap_or(0);
    assert!(of("ended") > 500 && of("a fault of memory") > 200 && of("not supported") > 50, "{ends:?}");
}

/// Runs it with random registers and says how it ended.
fn run(module: Module, platform: Platform, rng: &mut Rng) -> &'static str {
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    let device = Device::new(Config::new(platform).memory(1 << 20).threads(1));
    let loaded = internals::load(&device, "hostile", module, vec![FileId(0)], Files::new(), &options);
    let Ok(kernel) = loaded.and_then(|m| m.kernel("")) else { return "refused" };
    let content = rng.bytes(1000);
    let a = device.buffer_from("a", &content).expect("memory");
    let texels = device.buffer_from("texels", &rng.bytes(1000)).expect("memory");
    let other = device.buffer_from("other", &content).expect("memory");
    let mut args: Vec<(&str, Arg)> = Vec::new();
    for i in internals::program(&kernel).inputs() {
        if i.class == InputClass::General && i.image >= 32 && args.iter().all(|(n, _)| *n != i.name) {
            let words = (0..i.bytes / 8).flat_map(|_| {
                let near = [A, A + 0x20000][rng.below(2) as usize] + rng.below(1100);
                let small = rng.below(300) | rng.below(300) << 32;
                [near, near & !15, small, small & !0xf_0000_000f, 0x40, rng.next()][rng.below(6) as usize]
                    .to_le_bytes()
            });
            args.push((&i.name, Arg::Bytes(words.collect())));
        }
    }
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8).expect("a format");
    let (samples, levels) = [(1, 1), (2, 1), (1, 3)][rng.below(3) as usize];
    let desc = ImageDesc { samples, levels, ..ImageDesc::packed(ImageShape::D2, [8, 8, 1], format) };
    let image = device.image(&desc, &texels).expect("it fits");
    let mut launch = Launch::threads(&[1], 1).limit(10_000);
    for (name, arg) in args {
        launch = launch.arg(name, arg);
    }
    launch =
        launch.arg(ArgKey::Surface(0), a.slice(64..1000).expect("a part")).arg(ArgKey::Surface(1), image);
    launch = launch.arg(ArgKey::Counter(0), a.slice(8..64).expect("a part"));
    launch = launch.arg(ArgKey::ReturnBuffer(16), a.slice(64..1000).expect("a part"));
    let trap = match internals::run(&device, &kernel, &launch) {
        Ok((_, trap)) => trap,
        Err(_) => return "not launched",
    };
    // Nothing was told where this is.
    assert_eq!(other.to_vec(), content);
    match trap.map(|t| t.cause) {
        None | Some(Cause::FellOff) => "ended",
        Some(Cause::Memory { .. } | Cause::Misaligned { .. }) => "a fault of memory",
        Some(Cause::Unsupported { .. }) => "not supported",
        Some(_) => "another fault",
    }
}
