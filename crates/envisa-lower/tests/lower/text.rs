//! Programs as text: what is printed reads back as the same program, for every row of the table and for whole random
//! kernels; what is no program is refused with the line and what was expected there.

use envisa_isa::{Op, Platform, Span};
use envisa_lower::{Inst, Message, Op as Lowered, Options, Program, ReadError, lower, optimize};
use envisa_smith::generate;
use envisa_verify::Verified;

/// Is it the same program, whatever the order in which its messages are kept? Text has no places of the vISA source.
fn assert_same(a: &Program, b: &Program, what: &str) {
    let message = |p: &Program, i: &Inst| -> Option<Message> {
        (i.op == Lowered::Message).then(|| p.messages()[i.aux as usize].clone())
    };
    let indexed =
        [Lowered::Message, Lowered::SwitchJmp, Lowered::Faddr, Lowered::Unsupported].map(|op| (op, 0));
    let plain = |i: &Inst| {
        let aux = indexed.iter().find(|(op, _)| *op == i.op).map_or(i.aux, |(_, aux)| *aux);
        Inst { span: Span::NONE, aux, ..*i }
    };
    assert_eq!(a.code().len(), b.code().len(), "{what}");
    for (pc, (x, y)) in a.code().iter().zip(b.code()).enumerate() {
        assert_eq!(plain(x), plain(y), "{what}: instruction {pc}");
        assert_eq!(message(a, x), message(b, y), "{what}: instruction {pc}");
    }
    assert_eq!(a.registers(), b.registers(), "{what}");
    assert_eq!(a.inputs(), b.inputs(), "{what}");
    let without_empty = |p: &Program| {
        let mut functions = p.functions().to_vec();
        functions.iter_mut().for_each(|f| f.locals.retain(|l| !l.is_empty()));
        functions
    };
    assert_eq!(without_empty(a), without_empty(b), "{what}");
    assert_eq!(
        (a.name(), a.platform(), a.simd(), a.has_barrier(), a.source_files()),
        (b.name(), b.platform(), b.simd(), b.has_barrier(), b.source_files()),
        "{what}"
    );
}

fn round_trip(p: &Program, what: &str) {
    let text = p.to_string();
    let read = Program::read(&text).unwrap_or_else(|e| {
        let line = match &e {
            ReadError::Line { line, .. } => text.lines().nth(line - 1).unwrap_or_default(),
            ReadError::Damaged(_) => "",
        };
        panic!("{what}: {e}\n{line}")
    });
    assert_eq!(read.to_string(), text, "{what}");
    assert_same(p, &read, what);
}

/// Lowers a random module; how many instructions went through.
fn random(seed: u64, options: &generate::Options, platform: Platform) -> usize {
    let Ok(verified) = Verified::assume(generate::module(seed, options)) else { return 0 };
    let lowered = match lower(&verified, "", &Options { platform, simd: Some(32), private: None }) {
        Ok(lowered) => lowered,
        Err(e) => {
            assert!(!matches!(e, envisa_lower::LowerError::Damaged(_)), "seed {seed}: {e}");
            return 0;
        }
    };
    let what = format!("seed {seed}, {}", platform.name());
    round_trip(&lowered, &what);
    let optimized = optimize(&lowered).unwrap_or_else(|e| panic!("{what}: {e}"));
    round_trip(&optimized, &what);
    lowered.code().len()
}

#[test]
fn every_row_reads_back() {
    let mut rows = 0;
    for op in Op::ALL {
        let desc = op.desc();
        let Some(platform) = [Platform::Skl, Platform::Dg2, Platform::Pvc, Platform::Xe3p]
            .into_iter()
            .find(|p| desc.platforms.contains(*p))
        else {
            continue;
        };
        let version = if desc.versions.contains((4, 1)) { (4, 1) } else { (4, 2) };
        let options = generate::Options {
            version,
            platform: Some(platform),
            insts: 3,
            ops: Some(vec![*op]),
            ..generate::Options::default()
        };
        let went: usize = (0..12).map(|seed| random(seed * 13 + 3, &options, platform)).sum();
        rows += usize::from(went > 0);
    }
    assert!(rows > 150, "{rows} rows were lowered");
}

#[test]
fn random_kernels_read_back() {
    let mut went = 0;
    for platform in [Platform::Skl, Platform::Tgllp, Platform::Dg2, Platform::Pvc, Platform::Xe2] {
        for seed in 0..100 {
            let options = generate::Options {
                platform: Some(platform),
                insts: 1 + seed as usize % 40,
                functions: seed as usize % 3,
                ..generate::Options::default()
            };
            went += usize::from(random(seed + 5000, &options, platform) > 0);
        }
    }
    assert!(went > 100, "{went} kernels were lowered");
}

const TEXT: &str = include_str!("../lowering/images.lowered");

#[test]
fn errors_name_the_line_and_what_is_expected() {
    for (from, to, line, message) in [
        ("program \"k\" for SKL", "program \"k\" for ZX80", 1, "a platform is expected, not `ZX80, simd 8"),
        ("program \"k\"", "program k", 1, "a string in quotes is expected"),
        ("simd 8", "simd x", 1, "a number is expected, not `x"),
        ("constants 256", "constants 9999999", 2, "9999999 bytes of constants"),
        ("constants 256 bytes\n", "constants 256 bytes\n  @250 00112233445566778899\n", 3, "the row passes"),
        ("constants 256 bytes\n", "constants 256 bytes\n  @0 001\n", 3, "a row has 1 to 32 bytes"),
        ("cleared", "clear", 4, "`cleared` is expected"),
        ("@640*6", "@640*255", 5, "predefined variables"),
        ("0..64*1", "0..64*65535", 6, "homes of register addresses"),
        ("\" surface", "\" surfaces", 7, "a class of inputs is expected, not `surfaces"),
        ("function 0", "function 1", 9, "function 0 is expected"),
        ("\"U\" @960", "\"U\\x\" @960", 11, "`\\x` is no escape"),
        ("    1  message", "    2  message", 15, "instruction 1 is expected"),
        ("typed bti", "texel bti", 14, "a family of messages is expected, not `texel bti"),
        ("(@448:ud<0;1,0>) u=U", "(@448:ue<0;1,0>) u=U", 14, "a type is expected, not `ue<0;1,0>"),
        ("(@448:ud<0;1,0>) u=U", "(@448:ud<0;3,0>) u=U", 14, "1, 2, 4, 8, 16 or 32 is expected"),
        ("u=U", "u=W", 14, "there is no variable `W`"),
        ("u=U v", "u=U+99999999999 v", 14, "99999999999 is too large here"),
        ("channels=3 component-stride=32 outside=alpha-one", "channels=300", 14, "300 does not fit here"),
        ("outside=alpha-one", "outside=beta", 14, "one of the field's values is expected"),
        ("u=U v=U", "v=U u=U", 14, "`; $` is expected, not `u=U"),
        ("x=#0:ud", "x=#7:ud", 17, "no constant has the value `7`"),
        ("x=#0:ud", "x=#1.5:ud", 17, "`1.5` is no value of type ud"),
        ("ret (1)", "ret (3)", 18, "1, 2, 4, 8, 16 or 32 channels are expected"),
        ("ret (1)", "retire (1)", 18, "an operation is expected, not `retire (1)"),
        ("$5 converged", "$5 converged twice", 19, "the end of the line is expected, not `twice`"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        match Program::read(&TEXT.replacen(from, to, 1)) {
            Err(ReadError::Line { line: at, message: said, .. }) => {
                assert_eq!(at, line, "{to}: {said}");
                assert!(said.contains(message), "{to}: {said}");
            }
            other => panic!("{to}: {:?}", other.map(|p| p.to_string())),
        }
    }
}

#[test]
fn what_reads_but_is_no_program_is_refused() {
    for (from, to, message) in [
        ("1536 bytes of registers", "1530 bytes of registers", "a register file of 1530 bytes"),
        (
            "data=V channels=3",
            "data=V+4000 channels=3",
            "instruction 0 (Message): an operand of the message ends",
        ),
        ("ret (1)", "goto (1) to 99", "instruction 4 (Goto): instruction 99 of 6"),
        ("end (1 nm)", "ret (1)", "it has no end"),
        ("to @448", "to @4294967295", "input `T6` is outside"),
        ("data=V channels=3", "data=@0 channels=3", "it writes an immediate"),
        ("ret (1)", "mov.u32 (8) V+500:ud<4> = V:ud<1;1,0>", "the destination ends beyond the register file"),
        ("ret (1)", "fcall (8) function 3", "function 3 of 1"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        match Program::read(&TEXT.replacen(from, to, 1)) {
            Err(e @ ReadError::Damaged(_)) => assert!(e.to_string().contains(message), "{to}: {e}"),
            other => panic!("{to}: {:?}", other.map(|p| p.to_string())),
        }
    }
}
