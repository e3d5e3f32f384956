//! Addresses that are reserved, and physical memory that is mapped to them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use envisa_runtime::host_memory::{Backing, PAGE};
use envisa_runtime::pages::{Pages, Reservation};

use super::device::Device;
use super::error::{Error, Result};
use super::memory::{Context, Kind, Origin};

/// Physical memory: pages without an address.
pub struct Physical {
    /// The pages.
    pub pages: Arc<Pages>,
    /// Bytes asked for.
    pub size: usize,
    /// Its device; none of the host's.
    pub device: Option<Arc<Device>>,
    /// What tells it from others.
    pub id: u64,
}

/// What may be done at addresses: `ZE_MEMORY_ACCESS_ATTRIBUTE_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access(u32);

impl Access {
    const NONE: Access = Access(0);

    /// By its number.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(number: u32) -> Result<Access> {
        if number > 2 { Err(Error::INVALID_ENUMERATION) } else { Ok(Access(number)) }
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A reservation.
pub struct Reserved {
    room: Arc<Reservation>,
    /// Its pieces in order and without gaps, by where they begin.
    pieces: Mutex<BTreeMap<usize, Piece>>,
}

/// Addresses with something in common.
#[derive(Clone)]
struct Piece {
    end: usize,
    access: Access,
    /// What is mapped there, and from where of it on.
    mapped: Option<(Arc<Physical>, usize)>,
}

impl Piece {
    fn is_seen(&self) -> bool {
        self.access != Access::NONE && self.mapped.is_some()
    }
}

/// A range of whole pages.
fn pages_of(start: usize, size: usize) -> Result<Range<usize>> {
    if start == 0 {
        return Err(Error::INVALID_NULL_POINTER);
    }
    if !start.is_multiple_of(PAGE) {
        return Err(Error::UNSUPPORTED_ALIGNMENT);
    }
    Ok(start..start.checked_add(whole_pages(size)?).ok_or(Error::UNSUPPORTED_SIZE)?)
}

/// A size that is one of whole pages.
fn whole_pages(size: usize) -> Result<usize> {
    if size == 0 || !size.is_multiple_of(PAGE) { Err(Error::UNSUPPORTED_SIZE) } else { Ok(size) }
}

impl Physical {
    /// New physical memory.
    ///
    /// # Errors
    /// If its size is none of whole pages, larger than the memory of devices, or the host has none left.
    pub fn new(device: Option<Arc<Device>>, size: usize, most: u64) -> Result<Arc<Physical>> {
        if whole_pages(size)? as u64 > most {
            return Err(Error::UNSUPPORTED_SIZE);
        }
        let pages = Pages::new(size).map_err(|_| match device {
            Some(_) => Error::OUT_OF_DEVICE_MEMORY,
            None => Error::OUT_OF_HOST_MEMORY,
        })?;
        Ok(Arc::new(Physical { pages, size, device, id: super::memory::next_id() }))
    }
}

impl Reserved {
    fn new(room: Arc<Reservation>) -> Reserved {
        let Range { start, end } = room.range();
        let all = Piece { end, access: Access::NONE, mapped: None };
        Reserved { room, pieces: Mutex::new(BTreeMap::from([(start, all)])) }
    }

    /// Changes pieces at some addresses; the context then knows what is there.
    fn change(
        &self,
        context: &Context,
        at: &Range<usize>,
        change: impl Fn(usize, &mut Piece) -> Result<()>,
    ) -> Result<()> {
        let mut pieces = self.pieces.lock().unwrap();
        // Those that are there in part become two.
        for cut in [at.start, at.end] {
            let Some((start, piece)) = pieces.range_mut(..cut).next_back() else { continue };
            if piece.end > cut {
                let mut rest = piece.clone();
                if let Some((_, offset)) = &mut rest.mapped {
                    *offset += cut - start;
                }
                piece.end = cut;
                let (start, first) = (*start, piece.clone());
                pieces.insert(cut, rest.clone());
                if first.is_seen() {
                    context.forget(start);
                    self.tell(context, start, &first);
                    self.tell(context, cut, &rest);
                }
            }
        }
        let mut result = Ok(());
        for (start, piece) in pieces.range_mut(at.clone()) {
            if piece.is_seen() {
                context.forget(*start);
                self.room.hide_from_devices(&(*start..piece.end));
            }
            result = result.and(change(*start, piece));
            if piece.is_seen() {
                self.room.show(*start..piece.end);
                self.tell(context, *start, piece);
            }
        }
        result
    }

    /// The context knows a piece.
    fn tell(&self, context: &Context, start: usize, piece: &Piece) {
        let Some((physical, _)) = &piece.mapped else { return };
        let Some(backing) = Backing::of_reservation(&self.room, start..piece.end) else { return };
        let kind = if physical.device.is_some() { Kind::Device } else { Kind::Host };
        context.add(kind, physical.device.clone(), backing, Origin::Mapped);
    }

    /// The pages at an address, where the address is in them, and how many bytes follow there.
    fn pages_at(&self, address: usize) -> Option<(Arc<Pages>, usize, usize)> {
        let pieces = self.pieces.lock().unwrap();
        let (start, piece) = pieces.range(..=address).next_back().filter(|(_, p)| p.end > address)?;
        let (physical, offset) = piece.mapped.as_ref()?;
        Some((physical.pages.clone(), offset + (address - start), piece.end - address))
    }
}

impl Context {
    /// Reserves addresses, at `wanted` if they are free; gives the first.
    ///
    /// # Errors
    /// If there are not so many, or the size is none of whole pages.
    pub fn reserve(&self, wanted: usize, size: usize, align: usize) -> Result<usize> {
        let size = whole_pages(size)?;
        if !wanted.is_multiple_of(PAGE) {
            return Err(Error::UNSUPPORTED_ALIGNMENT);
        }
        let room = Reservation::new(wanted, size, align).ok_or(Error::OUT_OF_HOST_MEMORY)?;
        let start = room.range().start;
        self.reservations.lock().unwrap().insert(start, Arc::new(Reserved::new(room)));
        Ok(start)
    }

    /// Ends a reservation, and what is mapped there.
    ///
    /// # Errors
    /// If there is none of this start and size.
    pub fn end_reservation(&self, start: usize, size: usize) -> Result<()> {
        let at = pages_of(start, size)?;
        let mut all = self.reservations.lock().unwrap();
        let reserved = all.get(&start).filter(|r| r.room.range() == at).cloned();
        let reserved = reserved.ok_or(Error::INVALID_ARGUMENT)?;
        all.remove(&start);
        drop(all);
        reserved.unmap(self, &at)
    }

    /// The reservation that has these addresses.
    fn reserved(&self, at: &Range<usize>) -> Result<Arc<Reserved>> {
        let all = self.reservations.lock().unwrap();
        let found = all.range(..=at.start).next_back().filter(|(_, r)| at.end <= r.room.range().end);
        found.map(|(_, r)| r.clone()).ok_or(Error::INVALID_ARGUMENT)
    }

    /// Maps physical memory to reserved addresses.
    ///
    /// # Errors
    /// If something is mapped there, the addresses are not reserved, or there is not so much physical memory.
    pub fn map(
        &self,
        (start, size): (usize, usize),
        physical: &Arc<Physical>,
        offset: usize,
        access: Access,
    ) -> Result<()> {
        let at = pages_of(start, size)?;
        if !offset.is_multiple_of(PAGE) {
            return Err(Error::UNSUPPORTED_ALIGNMENT);
        }
        if offset.checked_add(size).is_none_or(|end| end > physical.pages.len()) {
            return Err(Error::INVALID_ARGUMENT);
        }
        let reserved = self.reserved(&at)?;
        if reserved.is_mapped(&at) {
            return Err(Error::INVALID_ARGUMENT);
        }
        reserved.change(self, &at, |from, piece| {
            let offset = offset + (from - start);
            let put = reserved.room.put(from..piece.end, &physical.pages, offset);
            put.map_err(|_| Error::OUT_OF_HOST_MEMORY)?;
            (piece.access, piece.mapped) = (access, Some((physical.clone(), offset)));
            Ok(())
        })
    }

    /// Unmaps what is mapped to addresses.
    ///
    /// # Errors
    /// If they are not reserved.
    pub fn unmap(&self, start: usize, size: usize) -> Result<()> {
        let at = pages_of(start, size)?;
        self.reserved(&at)?.unmap(self, &at)
    }

    /// Says what may be done at addresses.
    ///
    /// # Errors
    /// If they are not reserved.
    pub fn set_access(&self, start: usize, size: usize, access: Access) -> Result<()> {
        let at = pages_of(start, size)?;
        self.reserved(&at)?.change(self, &at, |_, piece| {
            piece.access = access;
            Ok(())
        })
    }

    /// What may be done at addresses, and for how many bytes that is the same.
    ///
    /// # Errors
    /// If they are not reserved.
    pub fn access(&self, start: usize, size: usize) -> Result<(Access, usize)> {
        let at = pages_of(start, size)?;
        let reserved = self.reserved(&at)?;
        let pieces = reserved.pieces.lock().unwrap();
        let first = pieces.range(..=start).next_back().map(|(_, p)| p).ok_or(Error::INVALID_ARGUMENT)?;
        let same = pieces.range(start..).take_while(|(_, p)| p.access == first.access);
        let end = same.map(|(_, p)| p.end).last().unwrap_or(first.end).max(first.end);
        Ok((first.access, end - start))
    }

    /// The pages that are mapped to an address, where they begin there, and how many bytes follow.
    pub fn mapped_pages(&self, address: usize) -> Option<(Arc<Pages>, usize, usize)> {
        let reserved = self.reserved(&(address..address + 1)).ok()?;
        reserved.pages_at(address)
    }
}

impl Reserved {
    fn is_mapped(&self, at: &Range<usize>) -> bool {
        let pieces = self.pieces.lock().unwrap();
        let before = pieces.range(..at.end).rev().take_while(|(_, p)| p.end > at.start);
        before.into_iter().any(|(_, p)| p.mapped.is_some())
    }

    fn unmap(&self, context: &Context, at: &Range<usize>) -> Result<()> {
        self.change(context, at, |start, piece| {
            piece.access = Access::NONE;
            if piece.mapped.take().is_none() {
                return Ok(());
            }
            if envisa_runtime::report::is_checking() {
                super::command::report_freed_if_in_use(start..piece.end);
            }
            self.room.take(start..piece.end).map_err(|_| Error::OUT_OF_HOST_MEMORY)
        })
    }
}
