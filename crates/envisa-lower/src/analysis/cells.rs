//! The register file cut into cells: runs of bytes that instructions access as one.

use std::ops::Range;

use crate::program::{Dst, Inst, Op, Pc, ProgramParts, RegOffset, Src, Strides};
use crate::touched::Touched;

/// Index of a cell.
pub type CellId = u32;

/// What a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// One vector, which every instruction that touches it accesses whole, channel by channel: elements of 4
    /// or 8 bytes.
    Vector,
    /// The same of elements of 1 or 2 bytes, of all channels of the instructions: 16, 32 or 64 bytes.
    Narrow,
    /// A scalar of 1, 2, 4 or 8 bytes, always accessed whole.
    Scalar,
    /// A predicate.
    Predicate,
    /// Bytes accessed in several ways.
    Mixed,
}

/// Bytes of the register file that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// First byte.
    pub offset: RegOffset,
    /// How many.
    pub bytes: u32,
    /// What it is.
    pub kind: CellKind,
    /// The channel that a vector's first element is of; `None` if that differs, or the elements do.
    pub channel: Option<u8>,
    /// Of a predicate: the bits of all channels of the instructions that name it. The others stay as they are at the
    /// start.
    pub bits: u32,
    /// An instruction that ignores the execution mask, or reads across channels, reads it.
    pub read_across: bool,
    /// The launch puts its value there (some of it).
    pub input: bool,
    /// The program writes it.
    pub written: bool,
}

/// An instruction's access to a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The cell.
    pub cell: CellId,
    /// A write (else a read).
    pub write: bool,
    /// All of the cell's bytes, those of an active channel's element as those of the whole instruction; of a predicate
    /// all of its bits.
    pub whole: bool,
    /// Channel by channel: the mask decides.
    pub masked: bool,
}

/// The cells of a program.
#[derive(Clone, Debug)]
pub struct Cells {
    cells: Vec<Cell>,
    /// By so many bytes of the register file: how many cells begin before or at the first of them.
    begun: Vec<u32>,
    /// What instructions access, one after the other, and where that of each begins.
    accesses: Vec<Access>,
    from: Vec<u32>,
    /// Calls and returns access all of them.
    shared: bool,
}

/// How many bytes one number tells of where to look for a cell.
const STEP: u32 = 32;

/// An access before cells are known.
#[derive(Clone, Copy, Debug)]
struct Piece {
    offset: RegOffset,
    bytes: u32,
    kind: CellKind,
    channel: Option<u8>,
    /// Bytes of an element.
    element: u32,
    across: bool,
    write: bool,
    masked: bool,
    /// Those of a predicate that are of the instruction's channels.
    bits: u32,
}

impl Cells {
    /// Cuts a program's registers, vectors into pieces of at most `vector` bytes (a power of two).
    pub fn new(p: &ProgramParts, vector: u32) -> Cells {
        let mut predicates = Vec::new();
        p.code.iter().for_each(|i| predicates_of(i, &mut |at| predicates.push(at)));
        predicates.sort_unstable();
        predicates.dedup();
        let mut told: Vec<Piece> = Vec::with_capacity(4 * p.code.len());
        // Where those of each instruction begin.
        let mut begins = Vec::with_capacity(p.code.len() + 1);
        for pc in 0..p.code.len() {
            begins.push(told.len());
            for_each_piece(p, pc as Pc, vector, &mut |piece| told.push(piece));
        }
        begins.push(told.len());
        let mut all = told.clone();
        for piece in &mut all {
            if piece.kind == CellKind::Scalar
                && piece.bytes == 4
                && predicates.binary_search(&piece.offset).is_ok()
            {
                piece.kind = CellKind::Predicate;
                // Who reads a bit of all of them does so whatever channel is active.
                piece.across |= !piece.write && piece.bits.is_power_of_two();
            }
        }
        // Which of those that begin at the same byte comes first does not matter.
        let key = |(a, k): (&Piece, u32)| u64::from(a.offset) << 32 | u64::from(k);
        let mut order: Vec<u64> = all.iter().zip(0..).map(key).collect();
        order.sort_unstable();
        let mut cells: Vec<Cell> = Vec::new();
        let mut element = 0;
        for a in order.iter().map(|o| &all[*o as u32 as usize]) {
            match cells.last_mut() {
                Some(c) if a.offset < c.offset + c.bytes => {
                    if c.offset != a.offset || c.bytes != a.bytes || c.kind != a.kind || element != a.element
                    {
                        let end = (c.offset + c.bytes).max(a.offset + a.bytes);
                        c.bytes = end - c.offset;
                        c.kind = CellKind::Mixed;
                    }
                    if c.channel != a.channel {
                        c.channel = None;
                    }
                    c.bits |= a.bits;
                    c.read_across |= a.across;
                    c.written |= a.write;
                }
                _ => {
                    element = a.element;
                    cells.push(Cell {
                        offset: a.offset,
                        bytes: a.bytes,
                        kind: a.kind,
                        channel: a.channel,
                        bits: a.bits,
                        read_across: a.across,
                        input: false,
                        written: a.write,
                    });
                }
            }
        }
        let meets = |c: &Cell, r: Range<u32>| c.offset < r.end && r.start < c.offset + c.bytes;
        for c in &mut cells {
            c.input = p.inputs.iter().any(|i| meets(c, i.offset..i.offset + i.bytes))
                || (meets(c, 0..p.registers.locals_start) && c.kind != CellKind::Predicate);
        }
        let end = cells.last().map_or(0, |c| c.offset + c.bytes);
        let mut begun = Vec::with_capacity((end / STEP) as usize + 1);
        let mut next = 0;
        for at in (0..end).step_by(STEP as usize) {
            next += cells[next..].iter().take_while(|c| c.offset <= at).count();
            begun.push(next as u32);
        }
        let mut all = Cells { cells, begun, accesses: Vec::new(), from: Vec::new(), shared: false };
        all.accesses.reserve(told.len());
        all.from.reserve(begins.len());
        for w in begins.windows(2) {
            all.from.push(all.accesses.len() as u32);
            told[w[0]..w[1]].iter().for_each(|a| all.note_access(a));
        }
        all.from.push(all.accesses.len() as u32);
        all
    }

    /// Notes an access to what lies in one cell, or in several: each of them in part.
    fn note_access(&mut self, a: &Piece) {
        let Some(first) = self.at(a.offset) else { return };
        let c = self.get(first);
        // Of a part of a predicate, the rest stays.
        let all = c.kind != CellKind::Predicate || c.bits & !a.bits == 0;
        let whole = c.offset == a.offset && c.bytes == a.bytes && all;
        let meets = self.cells[first as usize..].iter().take_while(|c| c.offset < a.offset + a.bytes);
        for (c, cell) in meets.zip(first..) {
            debug_assert!(c.offset + c.bytes > a.offset);
            self.accesses.push(Access { cell, write: a.write, whole, masked: a.masked });
        }
    }

    /// The same of one function of several: what it finds in registers is its caller's, which wants all of them back,
    /// with what its inactive channels had there; and a function that is called may do anything to them.
    pub fn shared(p: &ProgramParts, vector: u32) -> Cells {
        let mut all = Cells::new(p, vector);
        all.shared = true;
        for c in &mut all.cells {
            (c.input, c.read_across) = (true, true);
        }
        all
    }

    /// Are they those of one function of several?
    pub fn are_shared(&self) -> bool {
        self.shared
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A cell.
    ///
    /// # Panics
    /// With an id of other cells.
    pub fn get(&self, id: CellId) -> &Cell {
        &self.cells[id as usize]
    }

    /// All cells, by offset.
    pub fn iter(&self) -> impl Iterator<Item = (CellId, &Cell)> {
        self.cells.iter().enumerate().map(|(i, c)| (i as CellId, c))
    }

    /// The cell that a byte of the register file belongs to.
    pub fn at(&self, offset: RegOffset) -> Option<CellId> {
        let before = *self.begun.get((offset / STEP) as usize)? as usize;
        let more = self.cells[before..].iter().take_while(|c| c.offset <= offset).count();
        let i = (before + more).checked_sub(1)?;
        (offset < self.cells[i].offset + self.cells[i].bytes).then_some(i as CellId)
    }

    /// What an instruction accesses.
    pub fn accesses(&self, p: &ProgramParts, pc: Pc, tell: &mut dyn FnMut(Access)) {
        let op = p.code[pc as usize].op;
        let calls = matches!(op, Op::Call | Op::Fcall | Op::Ifcall);
        if self.shared && (calls || op == Op::Ret) {
            for cell in 0..self.cells.len() as CellId {
                let read = Access { cell, write: false, whole: false, masked: false };
                tell(read);
                if calls {
                    tell(Access { write: true, ..read });
                }
            }
        }
        self.operand_accesses(pc).iter().for_each(|a| tell(*a));
    }

    /// What an instruction accesses by its operands alone.
    fn operand_accesses(&self, pc: Pc) -> &[Access] {
        let pc = pc as usize;
        match self.from.get(pc..pc + 2) {
            Some(w) => &self.accesses[w[0] as usize..w[1] as usize],
            None => &[],
        }
    }
}

/// The predicates that an instruction names.
fn predicates_of(i: &Inst, tell: &mut dyn FnMut(RegOffset)) {
    if i.pred.offset != 0 {
        tell(i.pred.offset);
    }
    if let Dst::Pred { offset } = i.dst {
        tell(offset);
    }
    for s in &i.src {
        if let Src::Pred { offset, .. } = *s {
            tell(offset);
        }
    }
    if i.dst2 != 0 && matches!(i.op, Op::Add3o | Op::Invm | Op::Rsqtm) {
        tell(i.dst2);
    }
}

/// Where the dwords begin of which bytes or words are touched, one of each, by eight channels or more.
fn first_dword_offset(t: Touched, n: u32) -> Option<RegOffset> {
    let (offset, bytes, step) = match t {
        Touched::Lanes { offset, bytes, step } => (offset, bytes, step),
        Touched::Region { offset, bytes, strides, together: 1 } => (offset, bytes, strides.step(n)? * bytes),
        _ => return None,
    };
    (n >= 8 && bytes < 4 && step == 4 && offset % 4 + bytes <= 4).then(|| offset - offset % 4)
}

/// Where the quads begin of which the lower or the upper dwords are read, by eight channels or more.
fn first_quad_offset(t: Touched, n: u32) -> Option<RegOffset> {
    match t {
        Touched::Region { offset, bytes: 4, strides, together: 1 }
            if n >= 8 && strides.step(n) == Some(2) && offset.is_multiple_of(4) =>
        {
            Some(offset - offset % 8)
        }
        _ => None,
    }
}

/// Who reads a half of quads reads vectors of these. `false`: that is something else.
fn quads_of_halves(p: &ProgramParts, i: &Inst, t: Touched, vector: u32, tell: &mut dyn FnMut(Piece)) -> bool {
    let n = u32::from(i.channels);
    let size = vector.min(8 * n);
    let quads = first_quad_offset(t, n).filter(|at| at + 8 * n <= p.registers.bytes);
    let Some(first) = quads.filter(|_| (8 * n).is_multiple_of(size)) else { return false };
    for k in 0..8 * n / size {
        tell(Piece {
            offset: first + k * size,
            bytes: size,
            kind: CellKind::Vector,
            channel: Some((u32::from(i.first) + k * (size / 8)) as u8),
            element: 8,
            across: i.no_mask || i.op == Op::Pick,
            write: false,
            masked: false,
            bits: 0,
        });
    }
    true
}

fn for_each_piece(p: &ProgramParts, pc: Pc, vector: u32, tell: &mut dyn FnMut(Piece)) {
    let i = &p.code[pc as usize];
    let n = i.channels as u32;
    let constants = p.registers.constants.len() as u32;
    let anywhere = p.registers.addressable();
    let mut piece = |t: Touched, write: bool| {
        let one = Strides::SCALAR;
        let (offset, bytes, contiguous) = match t {
            Touched::Whole { offset, bytes } => (offset, bytes, false),
            Touched::Lanes { offset, bytes, step } => (offset, bytes, step == bytes),
            Touched::Region { offset, bytes, strides, together: 1 } => {
                (offset, bytes, strides.shape(n) == crate::Shape::Contiguous)
            }
            Touched::Region { offset, bytes, strides, together } => {
                // Who looks at any channel's looks at vectors.
                (offset, bytes, n >= 8 && together == n && strides == Strides::CONTIGUOUS)
            }
            Touched::Indirect { .. } => (anywhere.start, 0, false),
        };
        let range = t.range(n).unwrap_or(anywhere.clone());
        if range.end <= constants || range.is_empty() {
            return;
        }
        // Bytes or words of dwords: those are read, and written with the other bytes as they were.
        if let Some(first) = first_dword_offset(t, n)
            && first + 4 * n <= p.registers.bytes
            && (4 * n).is_multiple_of(vector.min(4 * n))
        {
            let size = vector.min(4 * n);
            for k in 0..4 * n / size {
                let channel = Some((i.first as u32 + k * (size / 4)) as u8);
                let read = Piece {
                    offset: first + k * size,
                    bytes: size,
                    kind: CellKind::Vector,
                    channel,
                    element: 4,
                    across: i.no_mask,
                    write: false,
                    masked: false,
                    bits: 0,
                };
                tell(read);
                if write {
                    tell(Piece { across: false, write, masked: !i.no_mask, ..read });
                }
            }
            return;
        }
        if !write && quads_of_halves(p, i, t, vector, tell) {
            return;
        }
        let scalar = match t {
            Touched::Whole { .. } => true,
            Touched::Lanes { .. } => n == 1,
            Touched::Region { strides, .. } => {
                n == 1 || strides == one || strides.shape(n) == crate::Shape::Scalar
            }
            Touched::Indirect { .. } => false,
        };
        let masked = write && !matches!(t, Touched::Whole { .. }) && !i.no_mask;
        let all = range.end - range.start;
        let base = Piece {
            offset: range.start,
            bytes: all,
            kind: CellKind::Mixed,
            channel: None,
            element: bytes,
            across: !write && (i.no_mask || i.op == Op::Pick),
            write,
            masked,
            bits: i.channel_bits(),
        };
        if scalar && matches!(all, 1 | 2 | 4 | 8) {
            tell(Piece { kind: CellKind::Scalar, element: all, ..base });
        } else if contiguous && n > 1 && bytes >= 4 && all.is_multiple_of(vector.min(all)) && all >= 32 {
            let size = vector.min(all);
            for k in 0..all / size {
                let channel = Some((i.first as u32 + k * (size / bytes)) as u8);
                let offset = offset + k * size;
                tell(Piece { offset, bytes: size, kind: CellKind::Vector, channel, ..base });
            }
        } else if contiguous && n >= 8 && bytes < 4 && matches!(all, 16 | 32 | 64) && all <= vector {
            tell(Piece { kind: CellKind::Narrow, channel: Some(i.first), ..base });
        } else {
            tell(Piece { across: !write, ..base });
        }
    };
    i.reads(p, &mut |t| piece(t, false));
    i.writes(p, &mut |t| piece(t, true));
}
