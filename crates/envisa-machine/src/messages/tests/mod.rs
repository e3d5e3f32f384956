//! Messages against slow models written from their pages.
//!
//! A case has a register file and memory of random bytes; the model computes from copies of them what
//! both are afterwards, element by element, and what is told to an observer plays no part in it. Every case
//! runs with an observer and without, and with the code for each level of the CPU, as different code may run.

mod atomics;
mod blocks;
mod hostile;
mod rectangles;
mod scattered;
mod texels;

use envisa_lower::{Message, Space, Src, Touched};

use super::atomic::Sum;
use super::channel_addresses::Reach;
use super::simt::Plan;
use super::{Access, Fault, Ports, execute, simt};
use crate::cpu::Isa;
use crate::memory::{AllocationId, Block, BufferSurface, Hint, Memory, Surface, SurfaceTable};
use crate::register_file::Registers;

/// Deterministic random numbers.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Bytes of the register file.
pub const FILE: u32 = 8192;
/// Where tests put addresses, data, further operands and scalars.
pub const ADDRESS: u32 = 256;
pub const DATA: u32 = 1024;
pub const MORE: u32 = 4096;
pub const SCALAR: u32 = 64;
pub const HANDLE: u32 = 128;

/// Everything a message can reach, as plain bytes too.
pub struct Rig {
    pub memory: Memory,
    pub ids: [AllocationId; 2],
    pub slm: Block,
    pub window: Block,
    pub surfaces: SurfaceTable,
    pub regs: Registers,
    pub layout: envisa_lower::Registers,
    pub scratch: u32,
    pub implicit: u32,
    pub grf: u32,
}

/// What a case leaves behind.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub regs: Vec<u8>,
    pub allocations: [Vec<u8>; 2],
    pub slm: Vec<u8>,
    pub window: Vec<u8>,
}

/// The surface used: bytes 64 to 64 + 300 of the first allocation.
pub const BTI: u32 = 2;
pub const SURFACE_START: usize = 64;
pub const SURFACE_LEN: usize = 300;

/// Random bytes, a word at a time: Miri takes long for each.
fn fill(bytes: &mut [u8], rng: &mut Rng) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&rng.next().to_le_bytes()[..chunk.len()]);
    }
}

impl Rig {
    pub fn new(rng: &mut Rng) -> Rig {
        let mut memory = Memory::new(1 << 20);
        let ids = [memory.allocate("a", 1000).unwrap(), memory.allocate("b", 2000).unwrap()];
        for id in ids {
            fill(memory.bytes(id).unwrap(), rng);
        }
        let mut blocks = [512, 4096].map(|n| Block::zeroed(n).unwrap());
        for b in &mut blocks {
            fill(b.bytes(), rng);
        }
        let [slm, window] = blocks;
        let mut surfaces = SurfaceTable::default();
        let surface = BufferSurface { allocation: ids[0], start: SURFACE_START, len: SURFACE_LEN };
        surfaces.bind_surface(&memory, BTI, Surface::Buffer(surface));
        let mut regs = Registers::new(FILE);
        fill(regs.bytes_mut(), rng);
        regs.set(HANDLE, BTI);
        Rig {
            memory,
            ids,
            slm,
            window,
            surfaces,
            regs,
            layout: envisa_lower::Registers::default(),
            scratch: 0x400,
            implicit: 0x40,
            grf: 32,
        }
    }

    /// First address of an allocation.
    pub fn base(&self, i: usize) -> u64 {
        self.memory.get(self.ids[i]).unwrap().base
    }

    pub fn state(&mut self) -> State {
        State {
            regs: self.regs.bytes().to_vec(),
            allocations: self.ids.map(|id| self.memory.get(id).unwrap().block.to_vec()),
            slm: self.slm.bytes().to_vec(),
            window: self.window.bytes().to_vec(),
        }
    }

    pub fn restore(&mut self, s: &State) {
        self.regs.bytes_mut().copy_from_slice(&s.regs);
        for (id, bytes) in self.ids.into_iter().zip(&s.allocations) {
            self.memory.get(id).unwrap().block.copy_in(0, bytes);
        }
        self.slm.bytes().copy_from_slice(&s.slm);
        self.window.bytes().copy_from_slice(&s.window);
    }

    /// Runs a message from the present state, without and with an observer, and leaves the state it leads
    /// to.
    pub fn run(&mut self, m: &Message, mask: u32, channels: u32) -> (Result<(), Fault>, Vec<Access>) {
        let before = self.state();
        let mut told = Vec::new();
        let mut results = Vec::new();
        let mut after = Vec::new();
        for way in Way::all() {
            self.restore(&before);
            let ports = Ports {
                memory: &self.memory.map(),
                slm: &self.slm,
                window: &self.window,
                surfaces: &self.surfaces,
                samplers: &[],
                scratch: self.scratch,
                scratch_bytes: 0x400,
                implicit: self.implicit,
                grf_bytes: self.grf,
                layout: &self.layout,
            };
            let mut site = Hint::default();
            let regs = &mut self.regs;
            results.push(match way {
                Way::Observed => execute(m, &mut site, regs, mask, channels, &ports, &mut told),
                Way::Plain => execute(m, &mut site, regs, mask, channels, &ports, &mut ()),
                Way::Base => at_level(Isa::BASE, m, &mut site, regs, mask, channels, &ports),
                #[cfg(target_arch = "x86_64")]
                Way::Avx2(isa) => at_level(isa, m, &mut site, regs, mask, channels, &ports),
            });
            after.push(self.state());
        }
        assert!(results.iter().all(|r| *r == results[0]), "the results of {m:?} are not all the same");
        assert!(
            results[0].is_err() || after.iter().all(|a| *a == after[0]),
            "not all code for {m:?} does the same"
        );
        if results[0].is_ok() {
            self.scrambled(m, mask, channels, &before, &after[0]);
        }
        (results[0], told)
    }

    /// Runs a message with other bytes in all registers that it is not said to read: it does the same, and
    /// changes no register that it is not said to write.
    fn scrambled(&mut self, m: &Message, mask: u32, channels: u32, before: &State, after: &State) {
        let mask = mask & crate::register_file::all_channels(channels as usize);
        let told = |f: &dyn Fn(envisa_lower::Visit<'_>)| {
            let mut bytes = vec![false; before.regs.len()];
            f(&mut |t: Touched| {
                let one = matches!(t, Touched::Whole { .. });
                for k in (0..32).filter(|k| if one { *k == 0 } else { mask >> k & 1 != 0 }) {
                    let at = t.channel(k).expect("no address registers here");
                    bytes[at.start as usize..at.end as usize].fill(true);
                }
            });
            bytes
        };
        let reads = told(&|tell| m.reads(&self.layout, tell));
        let writes = told(&|tell| m.writes(tell));
        let mut start = before.clone();
        for (b, read) in start.regs.iter_mut().zip(&reads) {
            if !read {
                *b = !*b;
            }
        }
        self.restore(&start);
        let ports = Ports {
            memory: &self.memory.map(),
            slm: &self.slm,
            window: &self.window,
            surfaces: &self.surfaces,
            samplers: &[],
            scratch: self.scratch,
            scratch_bytes: 0x400,
            implicit: self.implicit,
            grf_bytes: self.grf,
            layout: &self.layout,
        };
        let done = execute(m, &mut Hint::default(), &mut self.regs, mask, channels, &ports, &mut ());
        assert!(done.is_ok(), "{m:?} reads more than it says: {done:?}");
        let end = self.state();
        for (i, written) in writes.iter().enumerate() {
            let changed = after.regs[i] != before.regs[i] || end.regs[i] != start.regs[i];
            assert!(*written || !changed, "{m:?} writes register byte {i}, mask {mask:#x}");
            let same = end.regs[i] == after.regs[i] || end.regs[i] == start.regs[i];
            assert!(!*written || same, "{m:?} reads more than it says, byte {i}, mask {mask:#x}");
        }
        let memory = |s: &State| (s.allocations.clone(), s.slm.clone(), s.window.clone());
        assert_eq!(memory(&end), memory(after), "{m:?} reads more than it says, mask {mask:#x}");
        self.restore(after);
    }
}

/// Code that executes messages.
#[derive(Clone, Copy)]
enum Way {
    Observed,
    Plain,
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2(Isa<1>),
}

impl Way {
    fn all() -> Vec<Way> {
        let mut out = vec![Way::Observed, Way::Plain, Way::Base];
        #[cfg(target_arch = "x86_64")]
        out.extend(crate::cpu::avx2_isa().map(Way::Avx2));
        out
    }
}

/// Executes a message with the instructions of a level, where there is code for it.
fn at_level<const L: u8>(
    isa: Isa<L>,
    m: &Message,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let mask = mask & crate::register_file::all_channels(channels as usize);
    match m {
        Message::Simt(s) if let Some(p) = Plan::new(s, regs.len()) => {
            assert!(m.is_inside(channels, regs.len()));
            simt::at_level(isa, &p, s, site, regs, mask, channels, ports)
        }
        Message::Atomic(a) if let Some(sum) = Sum::new(a, regs.len()) => {
            assert!(m.is_inside(channels, regs.len()));
            let near = Reach { memory: ports.memory, slm: ports.slm };
            let far = |_: &Registers| (&a.space, *ports);
            let done = match channels {
                _ if mask == 0 => true,
                1 => sum.run::<1, L>(isa, near, far, regs, mask, site),
                8 => sum.run::<8, L>(isa, near, far, regs, mask, site),
                16 => sum.run::<16, L>(isa, near, far, regs, mask, site),
                32 => sum.run::<32, L>(isa, near, far, regs, mask, site),
                _ => false,
            };
            if done { Ok(()) } else { execute(m, site, regs, mask, channels, ports, &mut ()) }
        }
        _ => execute(m, site, regs, mask, channels, ports, &mut ()),
    }
}

impl State {
    /// The element of `n` bytes of registers.
    pub fn reg(&self, at: usize, n: usize) -> u64 {
        little(&self.regs[at..at + n])
    }

    pub fn set_reg(&mut self, at: usize, n: usize, x: u64) {
        self.regs[at..at + n].copy_from_slice(&x.to_le_bytes()[..n]);
    }
}

pub fn little(b: &[u8]) -> u64 {
    b.iter().rev().fold(0, |x, &b| x << 8 | b as u64)
}

/// A scalar operand of type UD, or UQ.
pub fn scalar(offset: u32, ty: envisa_isa::Type) -> Src {
    Src::Reg {
        offset,
        ty,
        strides: envisa_lower::Strides::SCALAR,
        shape: envisa_lower::Shape::Scalar,
        modifier: envisa_isa::Modifier::None,
        constant: false,
    }
}

pub fn ud(offset: u32) -> Src {
    scalar(offset, envisa_isa::Type::Ud)
}

/// The spaces that are surfaces, with the bytes that model them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Bti,
    Unbound,
    Slm,
    General,
    Scratch,
    Arguments,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Bti, Kind::Unbound, Kind::Slm, Kind::General, Kind::Scratch, Kind::Arguments];

    pub fn space(self) -> Space {
        match self {
            Kind::Bti | Kind::Unbound => Space::Bti(ud(HANDLE)),
            Kind::Slm => Space::Slm,
            Kind::General => Space::GeneralState,
            Kind::Scratch => Space::Scratch(ud(HANDLE)),
            Kind::Arguments => Space::Arguments,
        }
    }

    /// Puts the handle where [`Kind::space`] looks.
    pub fn prepare(self, rig: &mut Rig) {
        let handle = match self {
            Kind::Unbound => 9,
            Kind::Scratch => rig.scratch >> 4,
            _ => BTI,
        };
        rig.regs.set(HANDLE, handle);
    }

    /// Length of the surface.
    pub fn len(self) -> usize {
        match self {
            Kind::Bti => SURFACE_LEN,
            Kind::Unbound => 0,
            Kind::Slm => 512,
            Kind::General => 4096,
            Kind::Scratch => 0x400,
            Kind::Arguments => 4096 - 0x40,
        }
    }

    /// The byte at an offset; `None` outside.
    pub fn byte(self, s: &mut State, offset: u64) -> Option<&mut u8> {
        let offset = usize::try_from(offset).ok().filter(|&o| o < self.len())?;
        Some(match self {
            Kind::Bti => &mut s.allocations[0][SURFACE_START + offset],
            Kind::Unbound => return None,
            Kind::Slm => &mut s.slm[offset],
            Kind::General => &mut s.window[offset],
            Kind::Scratch => &mut s.window[0x400 + offset],
            Kind::Arguments => &mut s.window[0x40 + offset],
        })
    }

    /// The element of `n` bytes at an offset, all of it or nothing.
    pub fn read(self, s: &mut State, offset: u64, n: usize) -> Option<u64> {
        let bytes: Option<Vec<u8>> =
            (0..n as u64).map(|i| self.byte(s, offset.checked_add(i)?).copied()).collect();
        bytes.map(|b| little(&b))
    }

    /// Writes the element of `n` bytes at an offset, all of it or nothing.
    pub fn write(self, s: &mut State, offset: u64, n: usize, x: u64) -> bool {
        if self.read(s, offset, n).is_none() {
            return false;
        }
        for (i, b) in x.to_le_bytes()[..n].iter().enumerate() {
            if let Some(place) = self.byte(s, offset + i as u64) {
                *place = *b;
            }
        }
        true
    }
}

/// Byte of a virtual address.
pub fn flat<'a>(rig: &Rig, s: &'a mut State, address: u64) -> Option<&'a mut u8> {
    for i in 0..2 {
        let offset = address.wrapping_sub(rig.base(i));
        if let Some(b) = usize::try_from(offset).ok().filter(|&o| o < s.allocations[i].len()) {
            return Some(&mut s.allocations[i][b]);
        }
    }
    None
}

/// Masks to try for this many channels: full, none, single ones, holes, random ones.
pub fn masks(rng: &mut Rng, channels: u32) -> Vec<u32> {
    let all = crate::register_file::all_channels(channels as usize);
    let mut out =
        vec![all, 0, 1, 1 << (channels - 1), 0x5555_5555, 0xaaaa_aaaa, 0xfff0, all & !1, rng.next() as u32];
    for m in &mut out {
        *m &= all;
    }
    out.dedup();
    out
}
