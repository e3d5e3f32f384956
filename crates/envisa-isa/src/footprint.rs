//! How many bytes of a raw operand an instruction reads or writes.

use crate::desc::{Enc, SlotKind, Value};
use crate::{InstDesc, Op, Operand};

/// Fields of one instruction, by the names of its slots.
struct Fields<'a> {
    desc: &'static InstDesc,
    operands: &'a [Operand],
    grf: u32,
}

impl Fields<'_> {
    /// The code of a field, or of a part of a packed one (`slot.part`).
    fn code(&self, name: &str) -> Option<u32> {
        let (slot, part) = name.split_once('.').map_or((name, None), |(s, p)| (s, Some(p)));
        let i = self.desc.slot_index(slot)?;
        let value = self.operands.get(i)?.int()?;
        match (part, &self.desc.slots[i].kind) {
            (None, _) => Some(value),
            (Some(p), SlotKind::Packed { parts, .. }) => Some(parts.iter().find(|q| q.name == p)?.get(value)),
            _ => None,
        }
    }

    /// What the text of a field's value says as a number: `"16"` for code 4 of the oword counts.
    fn number(&self, name: &str) -> Option<u32> {
        let code = self.code(name)?;
        let (slot, part) = name.split_once('.').map_or((name, None), |(s, p)| (s, Some(p)));
        let values = match (part, &self.desc.slots[self.desc.slot_index(slot)?].kind) {
            (None, SlotKind::Field { enc: Enc::Values(v), .. }) => *v,
            (Some(p), SlotKind::Packed { parts, .. }) => match parts.iter().find(|q| q.name == p)?.enc {
                Enc::Values(v) => v,
                _ => return Some(code),
            },
            _ => return Some(code),
        };
        text(values, code)?.parse().ok()
    }

    /// Number of channels.
    fn lanes(&self) -> Option<u32> {
        match self.operands.get(self.desc.exec_slot()?)? {
            Operand::Exec(e) if e.log2 <= 5 => Some(e.channels()),
            _ => None,
        }
    }

    /// Registers of one row of dwords (or `bytes`-wide elements) over all channels, in bytes: whole ones.
    fn rows(&self, bytes: u32) -> Option<u32> {
        Some((self.lanes()? * bytes).next_multiple_of(self.grf))
    }

    /// Bytes up to the last element of the last of `rows` rows: rows start at registers.
    fn last_row(&self, rows: u32, bytes: u32) -> Option<u32> {
        let rows = rows.checked_sub(1)?;
        self.rows(bytes)?.checked_mul(rows)?.checked_add(self.lanes()? * bytes)
    }
}

fn text(values: &[Value], code: u32) -> Option<&'static str> {
    values.iter().find(|v| v.code == code).map(|v| v.text)
}

/// Bytes that an instruction reads or writes of the raw operand in `slot`, counted from the operand's
/// offset, with registers of `grf_bytes`; every channel counts as active.
///
/// For parameters of a variadic slot `slot` may be past the last slot. `None` where the operand is not
/// raw, where the row gives no size (raw messages with descriptors that are not constants, VA and VME
/// results), or where a field has no meaning. A `%null` operand takes 0 bytes.
pub fn raw_bytes(op: Op, operands: &[Operand], slot: usize, grf_bytes: u32) -> Option<u32> {
    let Operand::Raw { var, .. } = *operands.get(slot)? else { return None };
    if var == 0 {
        return Some(0);
    }
    let desc = op.desc();
    let f = Fields { desc, operands, grf: grf_bytes };
    let name = desc.slots.get(slot).or(desc.slots.last())?.name;
    match desc.opcode {
        // OWORD_LD, OWORD_ST, OWORD_LD_UNALIGNED
        0x35 | 0x36 | 0x3c => Some(16 * f.number("size")?),
        // MEDIA_LD, MEDIA_ST
        0x37 | 0x38 => {
            let (w, h) = (f.code("width")?, f.code("height")?);
            let pitch = w.max(4).checked_next_power_of_two()?;
            pitch.checked_mul(h.checked_sub(1)?)?.checked_add(w)
        }
        // GATHER, SCATTER: a dword for each element, whatever its size
        0x39 | 0x3a => {
            let n = match f.code("num_elts")? & 15 {
                0 => 8,
                1 => 16,
                2 => 1,
                _ => return None,
            };
            Some(4 * n)
        }
        // GATHER4_TYPED, SCATTER4_TYPED, GATHER4_SCALED, SCATTER4_SCALED
        0x4b | 0x4c | 0x74 | 0x75 => match name {
            "dst" | "src" => f.last_row(f.code("channels")?.count_ones(), 4),
            _ => Some(4 * f.lanes()?),
        },
        // GATHER_SCALED, SCATTER_SCALED
        0x78 | 0x79 => Some(4 * f.lanes()?),
        // TYPED_ATOMIC, DWORD_ATOMIC: 16-bit operations work on dwords too
        0x73 | 0x7d => Some(4 * f.lanes()?),
        // QW_GATHER, QW_SCATTER
        0x86 | 0x87 => match name {
            "offset" => Some(4 * f.lanes()?),
            _ => f.lanes()?.checked_mul(8 * f.number("num_blocks")?),
        },
        0x4e => svm(desc.sub?, name, &f),
        0x89 | 0x8a => lsc(op, name, &f),
        0x83 | 0x1c => dpas(name, &f),
        0x5d | 0x7a => message(name, &f),
        0x93 => f.code(match name {
            "dst" => "dst_len",
            "src0" => "src0_len",
            _ => "src1_len",
        }),
        0x6d..=0x70 => sampler(desc, name, operands, &f),
        // SAMPLE, LOAD: simd pixels a channel
        0x40 | 0x42 => {
            let pixels = f.number("mode.simd")?;
            let row = (4 * pixels).next_multiple_of(grf_bytes);
            match name {
                "dst" => Some(row.checked_mul(f.code("mode.channels")?.count_ones())?),
                _ => Some(4 * pixels),
            }
        }
        // RT_WRITE, URB_WRITE: a dword (half of it, for hf) a channel
        0x71 | 0x72 => match name {
            "vertex_data" => f.rows(4)?.checked_mul(f.code("num_out")?),
            "header" => Some(2 * grf_bytes.min(32)),
            "omask" => Some(2 * f.lanes()?),
            "stencil" => Some(f.lanes()?),
            _ => None,
        },
        // VME
        0x54..=0x57 => vme(desc.opcode, name, &f),
        _ => None,
    }
}

/// SVM messages.
fn svm(sub: u8, name: &str, f: &Fields) -> Option<u32> {
    match (sub, name) {
        (1 | 2, _) => Some(16 * f.number("properties.size")?),
        (3..=5, "addresses") => Some(8 * f.lanes()?),
        (3 | 4, _) => {
            let blocks = f.number("num_blocks")?;
            let lane = match f.number("block_size")? {
                1 => blocks.max(4),
                n => n * blocks,
            };
            f.lanes()?.checked_mul(lane)
        }
        (5, _) => match f.number("op.width")? {
            64 => Some(8 * f.lanes()?),
            _ => Some(4 * f.lanes()?),
        },
        (6 | 7, "element_offset") => Some(8 * f.lanes()?),
        (6 | 7, _) => f.last_row(f.code("channels")?.count_ones(), 4),
        _ => None,
    }
}

/// Bytes an element takes in memory and in a register.
pub fn lsc_element(data_size: u32) -> Option<(u32, u32)> {
    Some(match data_size {
        1 => (1, 1),
        2 => (2, 2),
        3 => (4, 4),
        4 => (8, 8),
        5 => (1, 4),
        6 | 7 => (2, 4),
        _ => return None,
    })
}

/// Elements at each address, from the code of `data_elems`.
pub fn lsc_elements(code: u32) -> Option<u32> {
    [1, 2, 3, 4, 8, 16, 32, 64].get((code as usize).checked_sub(1)?).copied()
}

/// Shape of a block of an LSC block2d message in registers, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block2d {
    /// Bytes of an element.
    pub element: u32,
    /// Elements of a row of registers' memory, padding included: a power of two.
    pub row_pitch: u32,
    /// Bytes from one block to the next: whole registers.
    pub block_pitch: u32,
    /// Bytes of all blocks: whole registers.
    pub bytes: u32,
}

/// The shape of a block2d message's data; `None` where the fields have no meaning.
///
/// Rows are padded to powers of two, blocks to registers; with `transpose` a row of registers is a
/// column of the block; with `vnni` as many rows as fit a dword share a row of dwords.
pub fn block2d(
    data_size: u32,
    transpose: bool,
    vnni: bool,
    blocks: u32,
    width: u32,
    height: u32,
    grf_bytes: u32,
) -> Option<Block2d> {
    let (element, _) = lsc_element(data_size)?;
    if width == 0 || height == 0 || blocks == 0 || grf_bytes == 0 {
        return None;
    }
    let (row, mut rows) = if transpose { (height, width) } else { (width, height) };
    let row_pitch = row.checked_next_power_of_two()?;
    if vnni {
        rows = rows.checked_next_multiple_of(4u32.checked_div(element)?.max(1))?;
    }
    let block = row_pitch.checked_mul(rows)?.checked_mul(element)?;
    let block_pitch = block.checked_next_multiple_of(grf_bytes)?;
    Some(Block2d { element, row_pitch, block_pitch, bytes: block_pitch.checked_mul(blocks)? })
}

/// LSC messages.
fn lsc(op: Op, name: &str, f: &Fields) -> Option<u32> {
    let desc = op.desc();
    let address = || match f.code("addr_size")? {
        1 => Some(2u32),
        2 => Some(4),
        3 => Some(8),
        _ => None,
    };
    if matches!(op, Op::LscTypedLoadBlock2d | Op::LscTypedStoreBlock2d) {
        let (w, h) = (f.code("width")?, f.code("height")?);
        return w.max(4).checked_next_power_of_two()?.checked_mul(h.checked_sub(1)?)?.checked_add(w);
    }
    if op == Op::LscExtendedCacheCtrl {
        return address()?.checked_mul(f.lanes()?);
    }
    if let Some(blocks) = f.code("blocks") {
        let order = f.code("data_order")? == 2;
        let vnni = f.code("vnni")? != 0;
        let (w, h) = (f.code("width")?, f.code("height")?);
        return Some(block2d(f.code("data_size")?, order, vnni, blocks, w, h, f.grf)?.bytes);
    }
    let transposed = f.code("data_order")? == 2;
    let strided = desc.slot_index("stride").is_some();
    match name {
        // One address for a transposed or strided access, else one a channel.
        "addr" if strided || transposed => address(),
        "addr" | "u" | "v" | "r" | "lod" => address()?.checked_mul(f.lanes()?),
        _ => {
            if op == Op::LscTypedReadStateInfo {
                return Some(f.grf);
            }
            if matches!(op, Op::LscLoadStatus | Op::LscTypedLoadStatus) {
                return Some(4);
            }
            let (_, register) = lsc_element(f.code("data_size")?)?;
            let quad = matches!(
                desc.slots[desc.slot_index("ch_mask")?].kind,
                SlotKind::Field { enc: Enc::Hex { .. }, .. }
            );
            let elements =
                if quad { f.code("ch_mask")?.count_ones() } else { lsc_elements(f.code("data_elems")?)? };
            // Narrow elements without extension are as wide in registers as in memory.
            if transposed { register.checked_mul(elements) } else { f.last_row(elements, register) }
        }
    }
}

/// DPAS and DPASW.
fn dpas(name: &str, f: &Fields) -> Option<u32> {
    let bits = |code: u32| {
        Some(match code {
            1 | 2 => 1,
            3 | 4 => 2,
            5 | 6 => 4,
            7 | 8 | 11 => 8,
            9 | 10 => 16,
            12 => 32,
            _ => return None,
        })
    };
    let b = bits(f.code("control.src1_precision")?)?;
    let a = bits(f.code("control.src2_precision")?)?;
    let ops = match a.max(b) {
        32 => 1,
        16 => 2,
        8 => 4,
        _ => 8,
    };
    let (depth, count, lanes) = (f.code("control.depth")?, f.code("control.count")?, f.lanes()?);
    Some(match name {
        // One row of dwords for each repetition; the verifier sees narrower destinations by their type.
        "dst" | "src0" => 4 * lanes * count,
        // Each channel holds its column in dwords: as many as depth * ops elements fill.
        "src1" => (depth * ops * b).div_ceil(32) * 4 * lanes,
        _ => return None,
    })
}

/// Raw messages: the lengths are fields, in registers.
fn message(name: &str, f: &Fields) -> Option<u32> {
    let regs = f.code(match (f.desc.opcode, name) {
        (_, "dst") => "num_dst",
        (0x5d, _) => "num_src",
        (_, "src0") => "num_src0",
        _ => "num_src1",
    })?;
    Some(regs * f.grf)
}

/// 3D sampler messages: 16-bit data takes half a row where the variable's type says so, which the
/// caller knows; here a channel has a dword.
fn sampler(desc: &'static InstDesc, name: &str, operands: &[Operand], f: &Fields) -> Option<u32> {
    if name != "dst" {
        return Some(4 * f.lanes()?);
    }
    let channels = match f.code("channels") {
        Some(mask) => mask.count_ones(),
        // Gathers return four texels of the one channel.
        None => 4,
    };
    let data = f.rows(4)?.checked_mul(channels)?;
    let flags = desc.slot_index("flags").and_then(|i| operands.get(i)?.int()).unwrap_or(0);
    // The pixel null mask is one more register.
    Some(if flags & 1 != 0 { data + f.grf } else { data })
}

/// VME messages: fixed payloads, in bytes (page by page).
fn vme(opcode: u8, name: &str, f: &Fields) -> Option<u32> {
    Some(match (opcode, name) {
        (_, "uni_input") => 128,
        (0x54, "ime_input" | "dst") => {
            let extra = match (f.code("stream_mode")?, f.code("search_ctrl")?) {
                (0, _) => 0,
                (_, 3) => 128,
                _ => 64,
            };
            if name == "dst" { 224 + extra } else { 64 + extra }
        }
        (0x54, "ref0" | "ref1") => 4,
        (0x54, "cost_center") => 32,
        (0x55 | 0x56, "dst") => 224,
        (0x55 | 0x56, _) => 128,
        (0x57, "dst") => 512,
        (0x57, _) => 32,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exec, ExecMask, Pred};

    const V: Operand = Operand::Raw { var: 40, offset: 0 };

    fn exec(n: u32) -> Operand {
        Operand::Exec(Exec::from_channels(n, ExecMask::M1).expect("a size"))
    }

    #[test]
    fn svm_gather_of_bytes_spreads_over_dwords() {
        let ops = |size, blocks| {
            [exec(8), Operand::Pred(Pred::NONE), Operand::Int(size), Operand::Int(blocks), V, V]
        };
        assert_eq!(raw_bytes(Op::SvmGather, &ops(0, 0), 5, 32), Some(32));
        assert_eq!(raw_bytes(Op::SvmGather, &ops(0, 3), 5, 32), Some(64));
        assert_eq!(raw_bytes(Op::SvmGather, &ops(2, 1), 5, 32), Some(128));
        assert_eq!(raw_bytes(Op::SvmGather, &ops(2, 1), 4, 32), Some(64));
        assert_eq!(raw_bytes(Op::SvmGather, &ops(3, 0), 5, 32), None);
    }

    #[test]
    fn typed_channels_start_at_registers() {
        let ops = [
            exec(8),
            Operand::Pred(Pred::NONE),
            Operand::Int(0b1011),
            Operand::Surface(6),
            V,
            Operand::RAW_NULL,
            V,
            V,
            V,
        ];
        assert_eq!(raw_bytes(Op::Gather4Typed, &ops, 8, 32), Some(96));
        assert_eq!(raw_bytes(Op::Gather4Typed, &ops, 8, 64), Some(2 * 64 + 32));
        assert_eq!(raw_bytes(Op::Gather4Typed, &ops, 4, 64), Some(32));
        assert_eq!(raw_bytes(Op::Gather4Typed, &ops, 5, 64), Some(0));
    }

    #[test]
    fn owords_and_elements() {
        let ops = [Operand::Int(3), Operand::Int(0), Operand::Surface(6), Operand::Int(0), V];
        assert_eq!(raw_bytes(Op::OwordLdUnaligned, &ops, 4, 32), Some(128));
        let ops = [Operand::Int(0), Operand::Int(0x11), Operand::Surface(6), Operand::Int(0), V, V];
        assert_eq!(raw_bytes(Op::Scatter, &ops, 5, 32), Some(64));
    }

    #[test]
    fn blocks_are_padded() {
        let b = block2d(2, false, false, 2, 16, 8, 64).expect("a shape");
        assert_eq!((b.row_pitch, b.block_pitch, b.bytes), (16, 256, 512));
        let b = block2d(1, false, true, 1, 12, 6, 64).expect("a shape");
        assert_eq!((b.row_pitch, b.bytes), (16, 128));
        let b = block2d(3, true, false, 1, 8, 5, 64).expect("a shape");
        assert_eq!((b.row_pitch, b.bytes), (8, 256));
        assert_eq!(block2d(3, false, false, 0, 1, 1, 64), None);
        assert_eq!(block2d(4, false, false, u32::MAX, 64, 64, 64), None);
    }

    #[test]
    fn systolic_matrices() {
        // s8, s8, depth 8, 4 repetitions on 8 channels: B fills a dword for each depth.
        let control = Operand::Int(8 | 8 << 8 | 8 << 16 | 4 << 24);
        let ops = [exec(8), V, V, V, V, control];
        assert_eq!(raw_bytes(Op::Dpas, &ops, 1, 32), Some(128));
        assert_eq!(raw_bytes(Op::Dpas, &ops, 3, 32), Some(256));
        // 2 bits against 8: four depths share a dword.
        let control = Operand::Int(4 | 8 << 8 | 8 << 16 | 1 << 24);
        assert_eq!(raw_bytes(Op::Dpas, &[exec(8), V, V, V, V, control], 3, 32), Some(64));
    }
}
