//! The table holds together.

use std::collections::{HashMap, HashSet};

use super::{Op, RESERVED, TABLE, reserved};
use crate::InstDesc;
use crate::desc::*;

/// Names of the specification's instruction pages.
const PAGES: &str = "3D_LOAD 3D_SAMPLE 3D_SAMPLE4 ADD ADD3 ADD3O ADDC ADDR_ADD AND ASR AVG AVS BARRIER BFE BFI \
BFN BFREV CACHE_FLUSH CALL CBIT CMP COS DIV DIVM DP4A DPAS DPASW DWORD_ATOMIC EXP FADDR FBH FBL FCALL FCCALL \
FCVT FENCE FILE FRC FRET GATHER GATHER4_SCALED GATHER4_TYPED GATHER_SCALED GOTO IFCALL INFO INV INVM JMP LABEL \
LIFETIME LOC LOG LRP LSC_FENCE LSC_TYPED LSC_UNTYPED LZD MAD MADW MEDIA_LD MEDIA_ST MIN_MAX MOD MOV MOVS MUL \
MULH NBARRIER NOT OR OWORD_LD OWORD_LD_UNALIGNED OWORD_ST PLN POW QW_GATHER QW_SCATTER RAW_SEND RAW_SENDS RET \
RNDD RNDE RNDU RNDZ ROL ROR RSQRT RSQTM RT_READ RT_WRITE SAD2 SAD2ADD SAMPLE_UNORM SBARRIER SCATTER \
SCATTER4_SCALED SCATTER4_TYPED SCATTER_SCALED SEL SETP SHL SHR SIN SQRT SQRTM SRND SUBB SUBROUTINE SVM \
SVM_ATOMIC SVM_BLOCK_LD SVM_BLOCK_ST SVM_GATHER SVM_GATHER4_SCALED SVM_SCATTER SVM_SCATTER4_SCALED SWITCHJMP \
TYPED_ATOMIC URB_WRITE VME_FBR VME_IDM VME_IME VME_SIC WAIT XOR YIELD";

/// Slots (or parts) that a composite covers in this row.
fn composite(desc: &InstDesc, name: &str) -> Vec<String> {
    let data = || desc.slots[desc.lsc_data_slot().expect("a data register")].name;
    let list: String = match name {
        "paired" => return Vec::new(),
        "sendg_sfid" => "sfid".into(),
        "desc64" => "desc_lo desc_hi".into(),
        "lsc_cache" => "l1 l3 l2".into(),
        "lsc_data" => format!("{} data_size data_order data_elems ch_mask", data()),
        "lsc_data2d" => format!("{} data_size data_order blocks width height vnni", data()),
        "lsc_data2d_typed" => format!("{} width height", data()),
        "lsc_addr" => "addr_type surface imm_scale addr imm_offset addr_size surface_index".into(),
        "lsc_addr_strided" => {
            "addr_type surface imm_scale addr imm_offset addr_size stride surface_index".into()
        }
        "lsc_addr2d" => {
            "surface_base surface_width surface_height surface_pitch x y x_offset y_offset payload".into()
        }
        "lsc_typed_addr" => {
            "addr_type surface u v r lod addr_size u_offset v_offset r_offset surface_index".into()
        }
        "lsc_typed_addr2d" => "addr_type surface x y x_offset y_offset surface_index".into(),
        "lsc_addr_plain" => "addr_type addr addr_size".into(),
        "lsc_surface" => "addr_type surface surface_index".into(),
        "fence_flags" => {
            "mask.commit mask.instruction mask.sampler mask.constant mask.read_write mask.l1".into()
        }
        "lifetime_var" => "properties.class variable".into(),
        "rt_mode" => "mode".into(),
        _ => panic!("{}: unknown composite {name}", desc.name),
    };
    list.split(' ').map(str::to_owned).collect()
}

/// What a template mentions, in order.
fn mentions(desc: &InstDesc, template: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '[']) {
        if rest.as_bytes()[at] == b'[' && !rest[at..].starts_with("[.{") {
            let end = at + rest[at..].find(']').expect("`[` is closed");
            if let Some((_, field)) = rest[at + 1..end].split_once('?') {
                found.push(field.to_owned());
            } else {
                let whole = &rest[at..=end];
                assert!(whole == "[.sat]" || whole.ends_with("!]"), "{}: {whole}", desc.name);
            }
            rest = &rest[end + 1..];
            continue;
        }
        let start = at + rest[at..].find('{').expect("a slot");
        let end = start + rest[start..].find('}').expect("`{` is closed");
        let name = &rest[start + 1..end];
        match name.strip_prefix('@') {
            Some(c) => found.extend(composite(desc, c)),
            None => found.push(name.trim_end_matches("...").to_owned()),
        }
        rest = &rest[end + 1..];
    }
    found
}

fn parts(slot: &Slot) -> &'static [Part] {
    match slot.kind {
        SlotKind::Packed { parts, .. } => parts,
        _ => &[],
    }
}

fn ignored(enc: &Enc) -> bool {
    matches!(enc, Enc::Ignored(_))
}

#[test]
fn every_form_covers_every_slot_once() {
    for desc in TABLE {
        for form in desc.forms {
            let what = format!("{}: `{}`", desc.name, form.template);
            let mut seen = HashSet::new();
            let all = mentions(desc, form.template)
                .into_iter()
                .chain(form.fixed.iter().map(|f| f.0.to_string()))
                .chain(form.copies.iter().map(|c| c.0.to_string()));
            for m in all {
                let field = FieldName::parse(&m).unwrap_or_else(|| panic!("{what}: no field is called {m}"));
                let i = desc.slot_index(field.slot).unwrap_or_else(|| panic!("{what}: no slot {m}"));
                if let Some(p) = field.part {
                    assert!(parts(&desc.slots[i]).iter().any(|q| q.name == p), "{what}: no part {m}");
                }
                assert!(seen.insert(m.clone()), "{what}: {m} twice");
            }
            for slot in desc.slots {
                // What a later version brings says nothing where it is zero.
                let plain = matches!(slot.kind, SlotKind::Field { .. });
                assert!(plain || slot.since == (0, 0), "{what}: {} is not a field", slot.name);
                let whole = seen.contains(slot.name.as_str());
                match slot.kind {
                    SlotKind::Count { .. } => {}
                    SlotKind::Field { enc, .. } if ignored(&enc) => {}
                    _ if slot.name.is_unused() => {}
                    // A form without text for predicates leaves none.
                    SlotKind::Pred => assert!(whole || desc.opcode == 0x8b, "{what}: no {{pred}}"),
                    SlotKind::Packed { parts, .. } if !whole => {
                        for p in parts.iter().filter(|p| !ignored(&p.enc)) {
                            let name = format!("{}.{}", slot.name, p.name);
                            assert!(seen.contains(&name), "{what}: {name} is not covered");
                        }
                    }
                    _ => assert!(whole, "{what}: {} is not covered", slot.name),
                }
            }
            assert!(form.template.trim_start_matches("{pred}").trim_start().starts_with(form.head), "{what}");
        }
    }
}

#[test]
fn bytes_tell_rows_apart() {
    let mut rows: HashMap<(u8, Option<u8>, bool), Vec<&InstDesc>> = HashMap::new();
    for desc in TABLE {
        assert!(reserved(desc.opcode).is_none() || desc.name == "RT_READ", "{} is reserved", desc.name);
        for (new, version) in [(false, (4, 1)), (true, (4, 2))] {
            if desc.versions.contains(version) {
                rows.entry((desc.opcode, desc.sub, new)).or_default().push(desc);
            }
        }
    }
    for list in rows.values().filter(|l| l.len() > 1) {
        let fixed: HashSet<_> = list.iter().map(|d| d.forms[0].fixed).collect();
        assert_eq!(fixed.len(), list.len(), "{} and others", list[0].name);
        assert!(list.iter().all(|d| d.forms.iter().all(|f| !f.fixed.is_empty())));
    }
}

#[test]
fn rows_are_complete() {
    let pages: HashSet<&str> = PAGES.split(' ').collect();
    let mut used = HashSet::new();
    for desc in TABLE {
        assert!(desc.platforms.0 != 0, "{}: no platform", desc.name);
        assert!(desc.exec_sizes != 0, "{}: no size", desc.name);
        assert!(!desc.brief.is_empty() && !desc.semantics.is_empty(), "{}: no prose", desc.name);
        assert!(
            desc.page.is_empty() || pages.contains(desc.page),
            "{}: PAGES lacks its page {}",
            desc.name,
            desc.page
        );
        assert!(!desc.page.is_empty() || !desc.note.is_empty(), "{}: neither page nor note", desc.name);
        used.insert(desc.page);
        let names: HashSet<_> = desc.slots.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), desc.slots.len(), "{}: a slot's name twice", desc.name);
        for slot in desc.slots {
            if matches!(slot.kind, SlotKind::Field { .. } | SlotKind::Packed { .. } | SlotKind::Count { .. })
            {
                assert!(!slot.doc.is_empty(), "{}: {} has no doc", desc.name, slot.name);
            }
            let encs = match slot.kind {
                SlotKind::Field { enc, .. } => vec![enc],
                _ => parts(slot).iter().map(|p| p.enc).collect(),
            };
            for enc in encs {
                if let Enc::Values(values) | Enc::ExecLike(values) = enc {
                    let codes: HashSet<_> = values.iter().map(|v| v.code).collect();
                    let texts: HashSet<_> = values.iter().map(|v| v.text).collect();
                    let first = values.iter().filter(|v| !v.is_other_name()).count();
                    assert_eq!((codes.len(), texts.len()), (first, values.len()), "{}", desc.name);
                }
            }
            let bits = parts(slot).iter().fold(0u64, |bits, p| {
                let mask = ((1u64 << p.bits) - 1) << p.lo;
                assert_eq!(bits & mask, 0, "{}: parts of {} overlap", desc.name, slot.name);
                bits | mask
            });
            if let SlotKind::Packed { width, .. } = slot.kind {
                assert!(bits < 1u64 << (8 * width), "{}: {} is wider than its field", desc.name, slot.name);
            }
        }
    }
    // SVM is the family's page; FCCALL is a spelling of CALL.
    for page in pages {
        assert!(used.contains(page) || matches!(page, "SVM" | "FCCALL"), "no row for {page}");
    }
}

#[test]
fn every_opcode_is_a_row_or_reserved() {
    for opcode in 0..=0x9cu8 {
        let row = TABLE.iter().any(|d| d.opcode == opcode);
        assert!(row || reserved(opcode).is_some(), "opcode {opcode:#x} is neither a row nor reserved");
    }
    assert!(RESERVED.is_sorted());
    assert_eq!(reserved(0x9d), None);
    let order: Vec<_> = TABLE.iter().map(|d| (d.opcode, d.sub)).collect();
    assert!(order.is_sorted(), "the list is in opcode order");
}

#[test]
fn lookups_find_every_row() {
    for &op in Op::ALL {
        let d = op.desc();
        let version = if d.versions.contains((4, 1)) { (4, 1) } else { (4, 2) };
        let first = Op::from_binary(d.opcode, d.sub, version).expect("a row");
        assert!(first.siblings().any(|o| o == op), "{}", d.name);
        assert_eq!(Op::has_sub(d.opcode), d.sub.is_some(), "{}", d.name);
        for (i, form) in d.forms.iter().enumerate() {
            assert!(Op::candidates(form.head).contains(&(op, i as u8)), "{}", d.name);
        }
    }
    assert_eq!(Op::from_binary(0x4f, None, (4, 1)), Some(Op::Ifcall));
    assert_eq!(Op::from_binary(0x4f, None, (4, 2)), Some(Op::Ifcall42));
    assert_eq!(Op::from_binary(0x96, None, (4, 1)), None);
    assert_eq!(Op::from_binary(0x89, Some(0xff), (4, 1)), None);
    assert_eq!(Op::candidates("no such"), &[]);
}
