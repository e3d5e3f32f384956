//! Files of older versions: the same module in the layouts that the reference reader describes.

use envisa_binary::{WriteOptions, read, write};
use envisa_isa::{
    Align, AttrRange, Exec, ExecMask, GeneralVar, Inst, Module, Object, Op, Operand, Pred, Region, SimpleVar,
    Span, Type, fixed_strings,
};

/// Little-endian bytes of a file in the making.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8(&mut self, n: u8) {
        self.0.push(n);
    }
    fn u16(&mut self, n: u16) {
        self.0.extend(n.to_le_bytes());
    }
    fn u32(&mut self, n: u32) {
        self.0.extend(n.to_le_bytes());
    }
    /// An index: 32 bits from 3.4 on.
    fn id(&mut self, version: (u8, u8), n: u32) {
        if version >= (3, 4) { self.u32(n) } else { self.u16(n as u16) }
    }
    fn raw(&mut self, version: (u8, u8), var: u32, offset: u16) {
        self.id(version, var);
        self.u16(offset);
    }
    fn general(&mut self, version: (u8, u8), var: u32, region: Region) {
        self.u8(0);
        self.id(version, var);
        self.u16(0);
        self.u16(region.0);
    }
}

/// The file of [`module`] in an older version, by hand.
fn old(version: (u8, u8)) -> Vec<u8> {
    let (object, input_offset) = old_object(version);

    let mut file = Bytes(b"CISA".to_vec());
    file.u8(version.0);
    file.u8(version.1);
    file.u16(1);
    if version >= (3, 7) {
        file.u16(1)
    } else {
        file.u8(1)
    }
    file.u8(b'k');
    let start = file.0.len() as u32 + 12 + 4 + 1 + 4;
    file.u32(start);
    file.u32(object.0.len() as u32);
    file.u32(start + input_offset as u32);
    file.u32(0);
    file.u8(0);
    file.u16(0);
    file.u16(0);
    file.0.extend(&object.0);
    file.0
}

/// The instructions of the same.
fn old_code(version: (u8, u8)) -> Bytes {
    let mut code = Bytes::default();
    // ADD (M1_NM, 8) V32 V32 V32; 3.0 has one mask that is not of 4.1's numbering: 9 is the default, M1.
    code.u8(0x01);
    code.u8(if version == (3, 0) { 0x93 } else { 0x03 });
    code.u16(0);
    code.general(version, 32, Region::DST1);
    code.general(version, 32, Region::CONTIGUOUS);
    code.general(version, 32, Region::CONTIGUOUS);
    // GATHER4_TYPED.R (M2, 8) T6 V32 V32 V32 %null V32: another order before 3.2, and an inverted mask.
    code.u8(0x4b);
    if version >= (3, 2) {
        code.u8(0x13);
        code.u16(0);
        code.u8(0x1);
    } else {
        code.u8(0xfe);
        code.u8(0x10);
    }
    code.u8(6);
    for _ in 0..3 {
        code.raw(version, 32, 0);
    }
    if version >= (3, 2) {
        code.raw(version, 0, 0);
    }
    code.raw(version, 32, 0);
    // WAIT 0:uw; no operand before 3.1.
    code.u8(0x5b);
    if version >= (3, 1) {
        code.u8(5);
        code.u8(Type::Uw as u8);
        code.u32(0);
    }
    // RAW_SENDS; without a function id up to 3.5.
    code.u8(0x7a);
    code.u8(0);
    code.u8(0x03);
    code.u16(0);
    for n in [1, 2, 3] {
        code.u8(n);
    }
    if version > (3, 5) {
        code.u8(0);
    }
    for _ in 0..2 {
        code.u8(5);
        code.u8(0);
        code.u32(7);
    }
    for _ in 0..3 {
        code.raw(version, 32, 0);
    }
    // SAMPLE_3D with a null mask; the sub-opcode was a byte before 4.0, and the offsets a word before 3.4.
    code.u8(0x6d);
    if version >= (4, 0) {
        code.u16(0x100)
    } else {
        code.u8(0x20)
    }
    code.u8(0x03);
    code.u16(0);
    code.u8(0xf);
    if version >= (3, 4) {
        code.u8(5);
        code.u8(Type::Uw as u8);
        code.u32(5);
    } else {
        code.u16(5);
    }
    code.u8(0);
    code.u8(6);
    code.raw(version, 32, 0);
    code.u8(1);
    code.raw(version, 32, 64);
    // FILE "k", then LIFETIME of V32: indices.
    code.u8(0x51);
    code.id(version, 0);
    code.u8(0x7b);
    code.u8(0);
    code.id(version, 32);
    code.u8(0x34);
    code.u8(0);
    code.u16(0);
    code
}

/// The object of the same, and where the number of inputs stands in it.
fn old_object(version: (u8, u8)) -> (Bytes, usize) {
    let code = old_code(version);
    let mut object = Bytes::default();
    let strings: Vec<&str> =
        ["k"].into_iter().chain(fixed_strings((4, 1))).chain(["V32", "S0", "T6"]).collect();
    object.id(version, strings.len() as u32);
    for s in &strings {
        object.0.extend(s.as_bytes());
        object.u8(0);
    }
    object.id(version, 0);
    object.id(version, 1);
    object.id(version, 29);
    object.u8(Type::Ud as u8 | (Align::Grf as u8) << 4);
    object.u16(64);
    object.id(version, 0);
    object.u16(0);
    object.u8(0);
    object.u8(0);
    object.u16(0);
    object.u16(0);
    object.u16(0);
    for name in [30, 31] {
        object.u8(1);
        object.id(version, name);
        object.u16(1);
        object.u8(0);
    }
    object.u8(0);
    if version >= (3, 5) {
        object.u32(0)
    } else {
        object.u8(0)
    }
    object.u32(code.0.len() as u32);
    object.u32(object.0.len() as u32 + 4 + 2);
    object.u16(0);
    let input_offset = object.0.len() - 2 - 8 - if version >= (3, 5) { 4 } else { 1 };
    object.0.extend(&code.0);
    (object, input_offset)
}

fn module(version: (u8, u8)) -> Module {
    let mut o = Object { name: "k".into(), ..Object::default() };
    for s in ["k"].into_iter().chain(fixed_strings((4, 1))).chain(["V32", "S0", "T6"]) {
        o.strings.push(s);
    }
    let (attrs, span) = (AttrRange::default(), Span::NONE);
    let (ty, align) = (Type::Ud, Align::Grf);
    o.vars.push(GeneralVar { name: 29, ty, align, elems: 64, alias: 0, alias_offset: 0, attrs, span });
    o.samplers.push(SimpleVar { name: 30, elems: 1, attrs, span });
    o.surfaces.push(SimpleVar { name: 31, elems: 1, attrs, span });
    let exec = |mask| Operand::Exec(Exec { log2: 3, mask: ExecMask(mask) });
    let none = Operand::Pred(Pred::NONE);
    let raw = Operand::Raw { var: 32, offset: 0 };
    let general = |region| Operand::General { var: 32, row: 0, col: 0, region, modifier: Default::default() };
    let imm = |ty, bits| Operand::Imm { ty, bits };
    let int = Operand::Int;
    let (dst, src) = (general(Region::DST1), general(Region::CONTIGUOUS));
    let ud = imm(Type::Ud, 7);
    let list: [(Op, Vec<Operand>); 8] = [
        (Op::Add, vec![exec(0), none, dst, src, src]),
        (
            Op::Gather4Typed,
            vec![exec(1), none, int(1), Operand::Surface(6), raw, raw, raw, Operand::RAW_NULL, raw],
        ),
        (Op::Wait, vec![imm(Type::Uw, 0)]),
        (Op::RawSends, vec![int(0), exec(0), none, int(1), int(2), int(3), int(0), ud, ud, raw, raw, raw]),
        (
            Op::Sample3d,
            vec![
                int(1),
                exec(0),
                none,
                int(15),
                imm(Type::Uw, 5),
                Operand::Sampler(0),
                Operand::Surface(6),
                raw,
                int(1),
                Operand::Raw { var: 32, offset: 64 },
            ],
        ),
        (Op::File, vec![Operand::Str(0)]),
        (Op::Lifetime, vec![int(0), int(32)]),
        (Op::Ret, vec![Operand::Exec(Exec { log2: 0, mask: ExecMask::M1 }), none]),
    ];
    for (op, operands) in list {
        let first = o.operands.len() as u32;
        o.operands.extend_from_slice(&operands);
        o.insts.push(Inst { op, len: operands.len() as u16, first, span });
    }
    Module { version, objects: vec![o] }
}

#[test]
fn older_layouts_read_as_the_same_module() {
    for version in [(3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (3, 6), (3, 7), (4, 0), (4, 1)] {
        let m = read(&old(version)).unwrap_or_else(|e| panic!("{version:?}: {e}"));
        m.check_sound().unwrap();
        assert_eq!(m.first_difference(&module(version)), None, "{version:?}");
        // Written, it is of 4.1.
        let again = read(&write(&m, &WriteOptions::default()).unwrap()).unwrap();
        assert_eq!(again.version, (4, 1));
        assert_eq!(again.objects[0].first_difference(&m.objects[0]), None, "{version:?}");
    }
}

#[test]
fn unknown_versions_are_refused() {
    for version in [(2, 9), (4, 3), (5, 0)] {
        let mut bytes = old((4, 1));
        bytes[4..6].copy_from_slice(&[version.0, version.1]);
        let e = read(&bytes).unwrap_err();
        assert!(e.to_string().contains("versions 3.0 to 4.2"), "{e}");
    }
}
