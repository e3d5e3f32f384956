//! What decoding by the table relies on.

use envisa_isa::Op;
use envisa_isa::desc::{InstDesc, SlotKind};

fn encoding(kind: &SlotKind) -> String {
    match kind {
        SlotKind::Vector(_) => "vector".into(),
        SlotKind::Raw { .. } => "raw".into(),
        SlotKind::Field { width, .. } | SlotKind::Packed { width, .. } => format!("field {width}"),
        SlotKind::Count { width, .. } => format!("count {width}"),
        SlotKind::Many(kind) => format!("many {}", encoding(kind)),
        SlotKind::If { slot, bit, kind } => format!("if {slot} {bit} {}", encoding(kind)),
        other => other.wants().into(),
    }
}

/// Rows under one opcode are told apart by their fields only after decoding, so they must decode alike,
/// and no opcode may have both a sub-opcode byte and none.
#[test]
fn rows_that_share_an_opcode_share_their_encoding() {
    for version in [(4, 1), (4, 2)] {
        for op in Op::ALL.iter().copied().filter(|op| op.desc().versions.contains(version)) {
            let d = op.desc();
            for other in Op::ALL.iter().copied().filter(|o| o.desc().versions.contains(version)) {
                let o = other.desc();
                if o.opcode != d.opcode {
                    continue;
                }
                assert_eq!(o.sub.is_some(), d.sub.is_some(), "{} and {}", d.name, o.name);
                if o.sub == d.sub {
                    let list = |d: &InstDesc| d.slots.iter().map(|s| encoding(&s.kind)).collect::<Vec<_>>();
                    assert_eq!(list(d), list(o), "{} and {}", d.name, o.name);
                    assert!(
                        op == other || !d.forms.iter().all(|f| f.fixed.is_empty()) || !d.forms.is_empty(),
                        "{} and {} cannot be told apart",
                        d.name,
                        o.name
                    );
                }
            }
        }
    }
}
