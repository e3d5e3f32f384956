//! Files by hand: what is written, and that it reads back.

use envisa_binary::{WriteOptions, read, write};
use envisa_isa::{
    Align, Attr, AttrRange, Exec, ExecMask, GeneralVar, Input, Inst, Label, LabelUse, Modifier, Module,
    Native, Object, ObjectKind, Op, Operand, Pred, Region, SimpleVar, Span, Type, fixed_strings,
};

fn module() -> Module {
    let mut o = Object { name: "k".into(), ..Object::default() };
    o.strings.push("k");
    for s in fixed_strings((4, 1)) {
        o.strings.push(s);
    }
    for (name, ty) in [("V32", Type::Ud), ("V33", Type::Ud), ("V34", Type::Uq)] {
        let name = o.strings.push(name);
        o.vars.push(GeneralVar {
            name,
            ty,
            align: Align::Grf,
            elems: 64,
            alias: 0,
            alias_offset: 0,
            attrs: AttrRange::default(),
            span: Span::NONE,
        });
    }
    let simple = |name| SimpleVar { name, elems: 16, attrs: AttrRange::default(), span: Span::NONE };
    let name = o.strings.push("P1");
    o.predicates.push(simple(name));
    let name = o.strings.push("T6");
    o.surfaces.push(SimpleVar { elems: 1, ..simple(name) });
    let name = o.strings.push("Target");
    o.attrs.push(Attr { name, value: vec![0], span: Span::NONE });
    let name = o.strings.push("L");
    o.labels.push(Label { name, kind: LabelUse::Block, span: Span::NONE });
    o.inputs.push(Input { kind: 0, id: 32, offset: 32, size: 32, span: Span::NONE });

    let exec = |channels| Operand::Exec(Exec::from_channels(channels, ExecMask::M1).unwrap());
    let none = Operand::Pred(Pred::NONE);
    let general = |var, region| Operand::General { var, row: 0, col: 0, region, modifier: Modifier::None };
    let raw = |var| Operand::Raw { var, offset: 0 };
    let p1 = Pred { id: 1, ..Pred::NONE };
    push(&mut o, Op::Mov, &[exec(8), none, general(32, Region::DST1), general(33, Region::CONTIGUOUS)]);
    push(
        &mut o,
        Op::Cmp,
        &[
            exec(8),
            Operand::Int(4),
            Operand::Predicate(p1),
            general(32, Region::CONTIGUOUS),
            Operand::Imm { ty: Type::Ud, bits: 5 },
        ],
    );
    let offset = Operand::Imm { ty: Type::Ud, bits: 0 };
    push(
        &mut o,
        Op::Scatter,
        &[Operand::Int(1), Operand::Int(0xc0), Operand::Surface(6), offset, raw(32), raw(33)],
    );
    push(
        &mut o,
        Op::SvmGather,
        &[exec(8), Operand::Pred(p1), Operand::Int(1), Operand::Int(0), raw(34), raw(33)],
    );
    let not_p1 = Operand::Pred(Pred { invert: true, ..p1 });
    push(&mut o, Op::Goto, &[exec(8), not_p1, Operand::Label(0)]);
    push(&mut o, Op::Label, &[Operand::Label(0)]);
    push(&mut o, Op::Ret, &[exec(1), none]);
    Module { version: (4, 1), objects: vec![o] }
}

fn push(o: &mut Object, op: Op, operands: &[Operand]) {
    let first = o.operands.len() as u32;
    o.operands.extend_from_slice(operands);
    o.insts.push(Inst { op, len: operands.len() as u16, first, span: Span::NONE });
}

/// Bytes of the instruction area of the only kernel.
fn code(bytes: &[u8]) -> &[u8] {
    let header = envisa_binary::read_header(bytes).unwrap();
    let k = &header.kernels[0];
    let end = (k.offset + k.size) as usize;
    let module = read(bytes).unwrap();
    let first = module.objects[0].insts[0].span.start as usize;
    &bytes[first..end]
}

#[track_caller]
fn round_trip(m: &Module) -> Vec<u8> {
    m.check_sound().unwrap();
    let bytes = write(m, &WriteOptions::default()).unwrap();
    let again = read(&bytes).unwrap();
    again.check_sound().unwrap();
    assert_eq!(m.first_difference(&again), None);
    assert_eq!(write(&again, &WriteOptions::default()).unwrap(), bytes);
    bytes
}

/// A kernel of 4.2 with one SAMPLEINFO, of this surface.
fn with_surface(version: (u8, u8), surface: Operand) -> Module {
    let mut m = Module { version, ..module() };
    let o = &mut m.objects[0];
    (o.insts, o.operands) = (Vec::new(), Vec::new());
    let exec = Operand::Exec(Exec::from_channels(16, ExecMask::M1).unwrap());
    push(o, Op::Sampleinfo, &[exec, Operand::Int(1), surface, Operand::Raw { var: 33, offset: 64 }]);
    m
}

/// A surface by its state's address: 255, the general operand, the index.
#[test]
fn the_address_of_a_state_reads_back() {
    let handle = Operand::Handle { var: 34, row: 1, col: 2, index: 0x0102_0304 };
    let bytes = round_trip(&with_surface((4, 2), handle));
    let hex: String = code(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, concat!("700b0401", "ff", "002200000001022101", "04030201", "210000004000"));
    // It came with 4.2.
    let early = with_surface((4, 1), handle);
    assert!(early.check_sound().is_err());
    assert!(
        write(&early, &WriteOptions::default())
            .unwrap_err()
            .to_string()
            .contains("which version 4.2 brought")
    );
    // Whatever stands behind the 255 in other files is not an address.
    let at = bytes.iter().rposition(|b| *b == 0xff).unwrap();
    for (i, byte) in [(1, 0x08), (1, 0x05), (2, 40), (8, 0x22), (9, 0x02)] {
        let mut other = bytes.clone();
        other[at + i] = byte;
        assert!(read(&other).is_err(), "byte {i} as {byte:#x}");
    }
    for cut in at..bytes.len() {
        assert!(read(&bytes[..cut]).is_err());
    }
}

/// The last surface that 4.1 can name is 255, which in 4.2 says that a register follows.
#[test]
fn surface_255_has_no_byte_in_4_2() {
    let full = |version| {
        let mut m = with_surface(version, Operand::Surface(255));
        let last = m.objects[0].surfaces[0];
        m.objects[0].surfaces.resize(250, last);
        m
    };
    round_trip(&full((4, 1)));
    let refused = write(&full((4, 2)), &WriteOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("255"), "{refused}");
}

/// `%scratchloc` came with 4.2, and so did its place among the strings.
#[test]
fn predefined_variables_go_by_the_version() {
    let reads = |version| {
        let mut m = with_surface(version, Operand::Surface(6));
        m.objects[0].vars[2].alias = 21;
        m
    };
    round_trip(&reads((4, 2)));
    assert!(reads((4, 1)).check_sound().is_err());
    assert!(write(&reads((4, 1)), &WriteOptions::default()).is_err());
    assert_eq!(fixed_strings((4, 1)).count() + 1, fixed_strings((4, 2)).count());
    assert_eq!(fixed_strings((3, 9)).count(), 28);
    assert!(
        fixed_strings((4, 2))
            .eq(fixed_strings((4, 1)).take(21).chain(["%scratchloc"]).chain(fixed_strings((4, 1)).skip(21)))
    );
}

#[test]
fn a_kernel_reads_back() {
    let bytes = round_trip(&module());
    let hex: String = code(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        hex,
        concat!(
            "29030000002000000000000002002100000000002201",
            "2c0304020100002000000000002201050005000000",
            "3a01c006050000000000200000000000210000000000",
            "4e030301000100220000000000210000000000",
            "6c0301800000",
            "310000",
            "34000000",
        )
    );
}

#[test]
fn functions_and_native_code_read_back() {
    let mut m = module();
    m.objects[0].native =
        vec![Native { platform: 5, code: vec![1, 2, 3] }, Native { platform: 12, code: vec![] }];
    let mut second = m.objects[0].clone();
    second.native.clear();
    second.name = "second".into();
    m.objects.push(second);
    let mut f = m.objects[0].clone();
    f.kind = ObjectKind::Function;
    f.name = "f".into();
    f.inputs.clear();
    f.native.clear();
    f.function_sizes = (3, 2);
    m.objects.push(f);
    round_trip(&m);
}

#[test]
fn attributes_read_back() {
    let mut m = module();
    let o = &mut m.objects[0];
    let name = o.strings.push("Input");
    for value in [vec![], vec![1], vec![1, 2, 3, 4], b"text".to_vec()] {
        o.var_attrs.push(Attr { name, value, span: Span::NONE });
    }
    o.vars[1].attrs = AttrRange { start: 0, len: 3 };
    o.surfaces[0].attrs = AttrRange { start: 3, len: 1 };
    round_trip(&m);
}

#[test]
fn an_unsound_module_is_refused() {
    let mut m = module();
    let o = &mut m.objects[0];
    o.operands[2] =
        Operand::General { var: 900, row: 0, col: 0, region: Region::DST1, modifier: Modifier::None };
    let e = write(&m, &WriteOptions::default()).unwrap_err();
    assert_eq!(e.to_string(), "object 0: instruction 0 (MOV): dst: 900 is not a variable");
    assert!(m.check_sound().is_err());
}

/// Every truncation of a file is an error, and none panics.
#[test]
fn truncations_are_errors() {
    let bytes = write(&module(), &WriteOptions::default()).unwrap();
    for n in 0..bytes.len() {
        let e = read(&bytes[..n]).unwrap_err();
        assert!(e.offset <= bytes.len(), "{e}");
        assert!(envisa_binary::recover(&bytes[..n]).is_err());
    }
}

#[test]
fn errors_name_offset_and_field() {
    let bytes = write(&module(), &WriteOptions::default()).unwrap();
    let m = read(&bytes).unwrap();
    let at = m.objects[0].vars[2].span.start as usize;
    let mut bad = bytes.clone();
    bad[at + 7] = 0x84;
    bad[at + 8] = 0x03;
    let e = read(&bad).unwrap_err();
    let text = format!(
        "offset 0x{:x}: kernel \"k\": variable 34: alias: 900 is not a variable declared before",
        at + 7
    );
    assert_eq!(e.to_string(), text);

    let at = m.objects[0].insts[5].span.start as usize;
    let mut bad = bytes;
    bad[at + 1] = 9;
    let e = read(&bad).unwrap_err();
    let text = format!("offset 0x{:x}: kernel \"k\": instruction 5: LABEL: label: 9 is not a label", at + 1);
    assert_eq!(e.to_string(), text);
}

/// Kernels that share one object would multiply work and memory: refused by the ranges.
#[test]
fn overlapping_objects_are_refused() {
    let mut m = module();
    m.objects.push(m.objects[0].clone());
    let mut bytes = write(&m, &WriteOptions::default()).unwrap();
    let header = envisa_binary::read_header(&bytes).unwrap();
    let (a, b) = (&header.kernels[0], &header.kernels[1]);
    let field = b.span.start as usize + 3;
    bytes[field..field + 4].copy_from_slice(&a.offset.to_le_bytes());
    let e = read(&bytes).unwrap_err();
    assert_eq!(e.problem, envisa_binary::Problem::Overlap, "{e}");
}

/// Counts are checked against the bytes that are left before anything is allocated for them.
#[test]
fn huge_counts_are_refused() {
    let bytes = write(&module(), &WriteOptions::default()).unwrap();
    let start = envisa_binary::read_header(&bytes).unwrap().kernels[0].offset as usize;
    let mut bad = bytes;
    bad[start..start + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let e = read(&bad).unwrap_err();
    assert!(matches!(e.problem, envisa_binary::Problem::Truncated { .. }), "{e}");
}
