//! The founding pages' fields, over all their values: what a page has, the verifier takes (and the other tests
//! execute); what it does not have, it refuses. (Raw operands are registers of any type, as compilers write them.)

use envisa::diag::{Files, Severity};
use envisa::isa::{Exec, ExecMask, Module, Operand, Platform, Platforms, SlotName};
use envisa::text::{ParseOptions, parse};

/// An instruction of a kernel, whose operands are replaced.
struct Bed {
    module: Module,
    platform: Platform,
    inst: usize,
}

impl Bed {
    fn new(platform: Platform, text: &str) -> Bed {
        let text = format!(
            "\
.version 4.1
.kernel \"k\"
.decl U v_type=G type=ud num_elts=64 align=GRF
.decl F v_type=G type=f num_elts=256 align=GRF
.decl Q v_type=G type=uq num_elts=64 align=GRF
.decl P1 v_type=P num_elts=32
.decl T6 v_type=T num_elts=1
.input T6 offset=32 size=4
.kernel_attr SimdSize=8
{text}
ret (M1,8)
"
        );
        let mut files = Files::new();
        let file = files.add_text("bed", text.as_str());
        let options = ParseOptions { platform: Some(platform), ..ParseOptions::default() };
        let parsed = parse(&text, file, &options);
        assert!(parsed.complete, "{:?}", parsed.diagnostics);
        let bed = Bed { module: parsed.module, platform, inst: 0 };
        assert!(bed.takes(), "{text}");
        bed
    }

    fn operand(&mut self, slot: &str) -> &mut Operand {
        let o = &mut self.module.objects[0];
        let inst = o.insts[self.inst];
        let i = SlotName::parse(slot)
            .and_then(|s| inst.desc().slot_index(s))
            .unwrap_or_else(|| panic!("no slot {slot}"));
        &mut o.operands[inst.first as usize + i]
    }

    /// Does the verifier find nothing wrong with it?
    fn takes(&self) -> bool {
        let options = envisa::verify::Options {
            platforms: Platforms::of(&[self.platform]),
            lints: false,
            ..Default::default()
        };
        let found = envisa::verify::check(&self.module, &options);
        !found.iter().any(|f| f.severity == Severity::Error && f.inst == Some(self.inst))
    }

    /// All values of a field of one byte; `page`: has the page this one?
    fn field(&mut self, slot: &str, page: impl Fn(u32) -> bool) {
        let was = *self.operand(slot);
        let mut wrong = Vec::new();
        for value in 0..=255 {
            *self.operand(slot) = Operand::Int(value);
            if self.takes() != page(value) {
                wrong.push(value);
            }
        }
        *self.operand(slot) = was;
        assert!(
            wrong.is_empty(),
            "{} {slot}: {wrong:?}",
            self.module.objects[0].insts[self.inst].desc().name
        );
    }

    /// All execution sizes and masks; `page`: has the page this number of channels?
    fn exec(&mut self, page: impl Fn(u32) -> bool) {
        let slot = *self.operand("exec");
        let mut wrong = Vec::new();
        for log2 in 0..16u8 {
            for mask in 0..16u8 {
                *self.operand("exec") = Operand::Exec(Exec { log2, mask: ExecMask(mask) });
                let channels = 1u32 << log2;
                let first = (mask as u32 & 7) * 4;
                let legal = channels <= 32 && page(channels) && first.is_multiple_of(channels);
                if self.takes() != legal {
                    wrong.push((channels, mask));
                }
            }
        }
        *self.operand("exec") = slot;
        assert!(wrong.is_empty(), "{}: {wrong:?}", self.module.objects[0].insts[self.inst].desc().name);
    }

    /// All surfaces; `page`: has the page this one? (T6 is the one declared.)
    fn surfaces(&mut self, page: impl Fn(u8) -> bool) {
        let was = *self.operand("surface");
        let mut wrong = Vec::new();
        for surface in 0..=255 {
            *self.operand("surface") = Operand::Surface(surface);
            if self.takes() != (surface == 6 || page(surface)) {
                wrong.push(surface);
            }
        }
        *self.operand("surface") = was;
        assert!(wrong.is_empty(), "{}: {wrong:?}", self.module.objects[0].insts[self.inst].desc().name);
    }
}

/// Shared local memory, stateless through T5, and the predefined ones in between, of which the page says nothing.
fn buffer(surface: u8) -> bool {
    surface <= 5
}

#[test]
fn scatter() {
    for platform in [Platform::Tgllp, Platform::Pvc] {
        let mut b = Bed::new(platform, "scatter.4 (M1, 8) T6 0x0:ud U.0 F.0");
        b.field("elt_size", |v| v <= 2);
        b.field("num_elts", |v| {
            let channels = [8, 16, 1, 0][v as usize & 3];
            v & 3 != 3 && v & 0xc == 0 && ((v >> 4 & 7) * 4).is_multiple_of(channels)
        });
        b.surfaces(buffer);
    }
}

#[test]
fn svm_gather() {
    for platform in [Platform::Tgllp, Platform::Pvc] {
        let mut b = Bed::new(platform, "(P1) svm_gather.4.1 (M1, 8) Q.0 F.0");
        b.exec(|n| n <= 16);
        b.field("num_blocks", |v| v <= 3);
        // 8 bytes are 3 on the page and 2 in what tools write; the tools are right.
        b.field("block_size", |v| v <= 2);
    }
}

#[test]
fn scatter_scaled() {
    for platform in [Platform::Tgllp, Platform::Pvc] {
        let mut b = Bed::new(platform, "(P1) scatter_scaled.4 (M1, 8) T6 0x0:ud U.0 F.0");
        b.exec(|_| true);
        b.field("num_blocks", |v| v <= 2);
        b.surfaces(buffer);
    }
}

#[test]
fn gather4_typed() {
    for platform in [Platform::Tgllp, Platform::Pvc] {
        let mut b = Bed::new(platform, "(P1) gather4_typed.RGBA (M1, 8) T6 U.0 U.0 U.0 %null.0 F.0");
        b.exec(|n| n == 8);
        b.field("channels", |v| (1..=15).contains(&v));
        // T0 and T5 are none; of the predefined ones in between the page says nothing.
        b.surfaces(|s| (1..=4).contains(&s));
    }
}

#[test]
fn oword_ld_unaligned() {
    for (platform, most) in [(Platform::Tgllp, 3), (Platform::Pvc, 4)] {
        let mut b = Bed::new(platform, "oword_ld_unaligned (2) T6 0x0:ud F.0");
        // 16 owords are of shared local memory only.
        b.field("size", |v| v <= 3);
        b.surfaces(buffer);
        *b.operand("surface") = Operand::Surface(0);
        b.field("size", |v| v <= most);
    }
}
