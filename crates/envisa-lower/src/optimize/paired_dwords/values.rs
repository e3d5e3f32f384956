//! Numbers for what vectors of dwords hold, so that those with one number are the same, and what is known of each.
//!
//! A register is named by its place and by what wrote it last: an instruction of the same block, or one of a block that every
//! channel has run before and that alone writes it. Its value at two places where that is the same is one, as in a program
//! where every variable is written once.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use envisa_isa::{Combine, Modifier, Type};

use super::super::dominators::Dominators;
use super::super::fold_addresses::constant;
use super::super::{Blocks, Uses, chunks_of_range};
use super::{Edits, LEAST};
use crate::program::*;

/// The number of a value.
pub(super) type Id = u32;

/// What wrote a register last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Version {
    /// Nothing does.
    Given,
    Written(Pc),
    /// Somebody before the block.
    Entry(u32),
    /// It is one that is put in before this instruction, and nothing else writes it.
    PutIn(Pc),
}

/// Channels of an instruction: how many, and the first one.
pub(super) type Channels = (u8, u8);

/// Registers that quads are in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub offset: RegOffset,
    /// `None`: one for all channels.
    pub of: Option<Channels>,
    pub version: Version,
}

/// Registers that dwords are in.
type DwordPlace = (RegOffset, Channels, Version);

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Unknown,
    Constant(u32),
    /// Made by an instruction of these.
    Made(Pc, [Id; 3]),
}

pub(super) struct Values<'a> {
    pub p: &'a ProgramParts,
    pub blocks: &'a Blocks,
    uses: &'a Uses,
    dominators: &'a Dominators,
    pub edits: Edits,
    all: Vec<Value>,
    constants: HashMap<u32, Id>,
    dwords: HashMap<DwordPlace, Id>,
    /// Where each value is.
    homes: HashMap<Id, Vec<DwordPlace>>,
    /// The halves of quads, and the quads of which two values are the halves.
    halves: HashMap<Place, [Id; 2]>,
    pub quads_of: HashMap<[Id; 2], Vec<Place>>,
    /// Quads that have a value as their lower half, whatever the upper one is.
    pub above: HashMap<Id, Vec<Place>>,
    /// Scalars that have a value for all channels: the quads, and whether it is their upper half.
    scalars: HashMap<Id, (Place, bool)>,
    /// Halves of which no quads can be made.
    pub hopeless: HashSet<[Id; 2]>,
    /// Scalars that hold constants of 64 bits.
    pub wide_constants: HashMap<[u32; 2], RegOffset>,
}

impl<'a> Values<'a> {
    pub fn new(
        p: &'a ProgramParts,
        blocks: &'a Blocks,
        uses: &'a Uses,
        dominators: &'a Dominators,
        edits: Edits,
    ) -> Values<'a> {
        Values {
            p,
            blocks,
            uses,
            dominators,
            edits,
            all: Vec::new(),
            constants: HashMap::new(),
            dwords: HashMap::new(),
            homes: HashMap::new(),
            halves: HashMap::new(),
            quads_of: HashMap::new(),
            above: HashMap::new(),
            scalars: HashMap::new(),
            hopeless: HashSet::new(),
            wide_constants: HashMap::new(),
        }
    }

    pub fn get(&self, id: Id) -> Value {
        self.all[id as usize]
    }

    fn add(&mut self, v: Value) -> Id {
        self.all.push(v);
        self.all.len() as Id - 1
    }

    pub fn constant(&mut self, x: u32) -> Id {
        if let Some(id) = self.constants.get(&x) {
            return *id;
        }
        let id = self.add(Value::Constant(x));
        self.constants.insert(x, id);
        id
    }

    /// What wrote a register last before an instruction; `None` where that is several.
    fn version(&self, range: Range<RegOffset>, pc: Pc) -> Option<Version> {
        let mut all = chunks_of_range(range).map(|c| self.version_of_chunk(c, pc));
        let first = all.next()?;
        all.all(|v| v == first).then_some(first)
    }

    fn version_of_chunk(&self, chunk: u32, pc: Pc) -> Version {
        let w = self.uses.writers(chunk);
        let before = w[..w.partition_point(|w| w.1 < pc)].last();
        if let Some((_, last)) = before.filter(|w| self.blocks.same(w.1, pc)) {
            return Version::Written(*last);
        }
        // What ignores the mask writes for channels that are elsewhere.
        let masked = || w.iter().all(|w| !self.p.code[w.1 as usize].no_mask);
        match w {
            [] => Version::Given,
            [first, .., last] | [first @ last]
                if self.blocks.same(first.1, last.1) && self.has_run(last.1, pc) && masked() =>
            {
                Version::Written(last.1)
            }
            _ => Version::Entry(self.blocks.of[pc as usize]),
        }
    }

    /// Has every channel that comes to an instruction run another one before?
    pub fn has_run(&self, a: Pc, at: Pc) -> bool {
        self.dominators.dominates(self.blocks, a, at)
    }

    /// Are the quads there at an instruction?
    pub fn holds(&self, place: &Place, pc: Pc) -> bool {
        match place.version {
            Version::PutIn(at) => self.has_run(at, pc),
            v => self.version(place.range(), pc) == Some(v),
        }
    }

    /// A register that has dwords at an instruction, one for each of its channels.
    pub fn home(&self, id: Id, of: Channels, pc: Pc) -> Option<RegOffset> {
        let there = |(offset, channels, v): &&DwordPlace| {
            let range = *offset..*offset + 4 * u32::from(of.0);
            *channels == of && self.version(range, pc) == Some(*v)
        };
        self.homes.get(&id)?.iter().find(there).map(|h| h.0)
    }

    /// Is there a register, at any place, that has a value for each channel or for all?
    pub fn is_anywhere(&self, id: Id) -> bool {
        self.homes.contains_key(&id) || self.scalars.contains_key(&id)
    }

    /// The number of what an instruction reads: dwords as they are.
    pub fn of_source(&mut self, s: &Src, pc: Pc) -> Option<Id> {
        let i = &self.p.code[pc as usize];
        let Src::Reg { offset, ty, strides, modifier: Modifier::None, constant: is_constant, .. } = *s else {
            return None;
        };
        if is_constant {
            let x = constant(self.p, s).filter(|_| ty.size() <= 4)?;
            return Some(self.constant(x as u32));
        }
        let (n, channels) = (u32::from(i.channels), (i.channels, i.first));
        if !ty.is_int() || ty.size() != 4 || n < 2 || !offset.is_multiple_of(4) {
            return None;
        }
        let quads = offset - offset % 8;
        let upper = usize::from(quads != offset);
        match strides.step(n)? {
            0 => {
                let version = self.version(quads..quads + 8, pc)?;
                Some(self.halves_of(Place { offset: quads, of: None, version })[upper])
            }
            1 => {
                let version = self.version(offset..offset + 4 * n, pc)?;
                Some(self.of_dwords((offset, channels, version)))
            }
            2 => {
                let version = self.version(quads..quads + 8 * n, pc)?;
                Some(self.halves_of(Place { offset: quads, of: Some(channels), version })[upper])
            }
            _ => None,
        }
    }

    fn of_dwords(&mut self, place: DwordPlace) -> Id {
        if let Some(id) = self.dwords.get(&place) {
            return *id;
        }
        let id = self.add(Value::Unknown);
        self.put(place, id);
        id
    }

    fn put(&mut self, place: DwordPlace, id: Id) {
        self.dwords.insert(place, id);
        self.homes.entry(id).or_default().push(place);
    }

    /// Where a source has quads, one for each channel or one for all.
    fn quads_of_source(&self, s: &Src, pc: Pc) -> Option<Place> {
        let i = &self.p.code[pc as usize];
        let Src::Reg { offset, ty, strides, modifier: Modifier::None, constant: false, .. } = *s else {
            return None;
        };
        let n = u32::from(i.channels);
        let of = match strides.step(n)? {
            0 => None,
            1 => Some((i.channels, i.first)),
            _ => return None,
        };
        let place = Place { offset, of, version: Version::Given };
        let quads = matches!(ty, Type::Q | Type::Uq) && n > 1 && offset.is_multiple_of(8);
        let version = self.version(place.range(), pc).filter(|_| quads)?;
        Some(Place { version, ..place })
    }

    fn halves_of(&mut self, place: Place) -> [Id; 2] {
        if let Some(halves) = self.halves.get(&place) {
            return *halves;
        }
        let halves = [(); 2].map(|()| self.add(Value::Unknown));
        self.note_quads(place, halves);
        halves
    }

    fn note_quads(&mut self, place: Place, halves: [Id; 2]) {
        self.halves.insert(place, halves);
        self.note_place(place, halves);
    }

    /// Two halves are those of the quads there, too.
    pub fn note_place(&mut self, place: Place, halves: [Id; 2]) {
        self.quads_of.entry(halves).or_default().push(place);
        self.above.entry(halves[0]).or_default().push(place);
        if place.of.is_none() {
            self.scalars.insert(halves[0], (place, false));
            self.scalars.insert(halves[1], (place, true));
        }
    }

    /// The scalar that has a value for all channels, as an instruction finds it.
    pub fn scalar(&self, id: Id, pc: Pc) -> Option<RegOffset> {
        let (place, upper) = self.scalars.get(&id).filter(|s| self.holds(&s.0, pc))?;
        Some(place.offset + 4 * u32::from(*upper))
    }

    /// Quads that were joined of two halves.
    pub fn note_joined(&mut self, pc: Pc, offset: RegOffset, halves: [Id; 2]) {
        let i = &self.p.code[pc as usize];
        let place = Place { offset, of: Some((i.channels, i.first)), version: Version::Written(pc) };
        self.note_quads(place, halves);
    }

    /// Notes what an instruction makes, if it makes all dwords or quads of a vector.
    pub fn note(&mut self, pc: Pc) {
        let i = &self.p.code[pc as usize];
        let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return };
        let chooses = i.op == Op::Sel && i.pred.combine == Combine::None;
        let plain = i.pred == Pred::default() || chooses;
        if i.channels < LEAST || i.no_mask || !plain || i.dst2 != 0 || !ty.is_int() {
            return;
        }
        let channels = (i.channels, i.first);
        match ty.size() {
            4 => {
                if let Some(id) = self.dwords_made(pc) {
                    self.put((offset, channels, Version::Written(pc)), id);
                }
            }
            8 if offset.is_multiple_of(8) => {
                if let Some(halves) = self.quads_made(pc) {
                    let place = Place { offset, of: Some(channels), version: Version::Written(pc) };
                    self.note_quads(place, halves);
                }
            }
            _ => {}
        }
    }

    fn dwords_made(&mut self, pc: Pc) -> Option<Id> {
        let i = self.p.code[pc as usize];
        match i.exec {
            ExecType::I64 | ExecType::U64 if i.op == Op::Mov => {
                let place = self.quads_of_source(&i.src[0], pc)?;
                Some(self.halves_of(place)[0])
            }
            ExecType::I32 | ExecType::U32 => {
                if i.op == Op::Mov {
                    return self.of_source(&i.src[0], pc);
                }
                let count = super::expressions::sources(i.op)?;
                let mut src = [0; 3];
                for (id, s) in src.iter_mut().zip(&i.src).take(count) {
                    *id = self.of_source(s, pc)?;
                }
                Some(self.add(Value::Made(pc, src)))
            }
            _ => None,
        }
    }

    /// The halves of quads that an instruction makes, where they are those of others, or extended dwords.
    fn quads_made(&mut self, pc: Pc) -> Option<[Id; 2]> {
        let i = self.p.code[pc as usize];
        let wide = matches!(i.exec, ExecType::I64 | ExecType::U64);
        let zero = self.constant(0);
        match (i.op, &i.src[0]) {
            (Op::Mov, Src::Reg { ty: Type::Ud, .. }) => Some([self.of_source(&i.src[0], pc)?, zero]),
            (Op::Mov, s) if wide => {
                let place = self.quads_of_source(s, pc)?;
                Some(self.halves_of(place))
            }
            (Op::Shr, s) if wide && constant(self.p, &i.src[1]) == Some(32) => {
                let place = self.quads_of_source(s, pc)?;
                Some([self.halves_of(place)[1], zero])
            }
            (Op::Shl, s) if wide && constant(self.p, &i.src[1]) == Some(32) => {
                let place = self.quads_of_source(s, pc)?;
                Some([zero, self.halves_of(place)[0]])
            }
            _ => None,
        }
    }

    /// The instruction that wrote a predicate last before another one, in the same block.
    pub fn predicate_writer(&self, at: RegOffset, before: Pc) -> Option<Pc> {
        self.blocks.before(before).rev().find(|pc| {
            let i = &self.p.code[*pc as usize];
            let mut writes = false;
            i.writes(self.p, &mut |t| {
                let r = super::super::range_of_access(&t, i.channels, self.p);
                writes |= r.start < at + 4 && at < r.end;
            });
            writes
        })
    }
}

impl Place {
    fn range(&self) -> Range<RegOffset> {
        self.offset..self.offset + 8 * self.of.map_or(1, |of| u32::from(of.0))
    }
}
