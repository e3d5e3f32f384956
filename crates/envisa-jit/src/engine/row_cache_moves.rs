//! Brings rows of memory to the caches of native code, and back: see [`crate::emit::row_caches`].
#![allow(unsafe_code)]

use std::arch::x86_64::{__m128, _MM_HINT_T0, _MM_TRANSPOSE4_PS, _mm_loadu_ps, _mm_prefetch, _mm_storeu_ps};

use super::thread_context::Context;
use crate::context_layout::{ROW_CACHE, Site};
use crate::emit::row_caches::{
    BEFORE, CACHE, CACHES, CLOSE, COLUMNS, DATA, DIRTY, HITS, LIMIT, OPEN, PAUSE, PLACES, POINTER, ROWS,
    RowCache, RowCaches, SOME_CHANNELS, USELESS,
};

/// Accesses that have to find their places in a cache before it is closed, for it to have been of use.
const USEFUL: u32 = 16;
/// How often in a row caches may be of no use before they are not asked for any more, at first for so many accesses.
const PATIENCE: u32 = 4;
const SHORTEST_PAUSE: u32 = 64;
const LONGEST_PAUSE: u32 = 1 << 16;
/// Bytes of a line of the CPU's caches.
const LINE: u64 = 64;

/// The caches in a context.
struct Rows<'a> {
    words: &'a mut [u32],
    plan: &'a RowCaches,
}

/// Serves native code that calls for its caches: 0 if the access is to be tried again, 1 if it is to be done without.
///
/// # Safety
/// `context` is that of a thread whose code has these caches, at `at`, and waits for this; what the sites let pass is
/// memory that it may touch.
pub(super) unsafe fn serve(
    context: *mut u8,
    (plan, at): (&RowCaches, u32),
    sites: &[Site],
    number: u32,
) -> u32 {
    // SAFETY: the context has so many bytes there.
    let words = unsafe {
        std::slice::from_raw_parts_mut(context.add(at as usize).cast::<u32>(), plan.bytes() as usize / 4)
    };
    let mut rows = Rows { words, plan };
    if number & CLOSE != 0 {
        rows.close_all();
        return 0;
    }
    let access = (number & !(ROW_CACHE | SOME_CHANNELS)) as usize;
    match rows.bring(access, sites, number & SOME_CHANNELS == 0) {
        true => 0,
        false => {
            rows.goes_without(access);
            1
        }
    }
}

/// Closes the caches in a context whose code calls for something else.
///
/// # Safety
/// As for [`serve`].
pub(super) unsafe fn close(context: *mut u8, caches: (&RowCaches, u32)) {
    if !caches.0.caches.is_empty() {
        // SAFETY: as the caller says.
        unsafe { serve(context, caches, &[], ROW_CACHE | CLOSE) };
    }
}

/// Closes the caches of a thread whose code has returned.
pub(super) fn close_returned(context: &mut Context, caches: (&RowCaches, u32)) {
    // SAFETY: the context is that of this code, which has returned and let nothing else be in the caches than what its
    // sites let pass, in memory that the launch still has.
    unsafe { close(context.lines.as_mut_ptr().cast(), caches) };
}

impl Rows<'_> {
    fn field(&mut self, cache: usize, field: u32) -> &mut u32 {
        &mut self.words[((CACHES + CACHE * cache as u32 + field) / 4) as usize]
    }

    fn places(&self, at: u32, rows: u32) -> [u32; ROWS as usize] {
        let mut all = [0; ROWS as usize];
        let first = at as usize / 4;
        all[..rows as usize].copy_from_slice(&self.words[first..first + rows as usize]);
        all
    }

    fn begins(&self, cache: usize) -> [u32; ROWS as usize] {
        self.places(CACHES + CACHE * cache as u32, self.plan.caches[cache].rows)
    }

    fn set_begins(&mut self, cache: usize, all: &[u32]) {
        let first = (CACHES as usize + CACHE as usize * cache) / 4;
        self.words[first..first + all.len()].copy_from_slice(all);
    }

    fn pointer(&mut self, cache: usize) -> u64 {
        let low = u64::from(*self.field(cache, POINTER));
        low | u64::from(*self.field(cache, POINTER + 4)) << 32
    }

    /// The cache's columns, of as many dwords as rows at most.
    fn columns(&mut self, cache: usize) -> &mut [u32] {
        let first = ((CACHES + CACHE * cache as u32 + DATA) / 4) as usize;
        &mut self.words[first..first + (2 * COLUMNS * ROWS) as usize]
    }

    fn close_all(&mut self) {
        let open = std::mem::take(&mut self.words[OPEN as usize / 4]);
        for cache in 0..self.plan.caches.len() {
            if open >> cache & 1 != 0 {
                self.close(cache);
            }
        }
    }

    fn close(&mut self, cache: usize) {
        self.write_back(cache);
        *self.field(cache, LIMIT) = 0;
        self.words[OPEN as usize / 4] &= !(1 << cache);
        let useful = std::mem::take(self.field(cache, HITS)) >= USEFUL;
        self.was_useful(cache, useful);
    }

    /// Code does without a cache for longer and longer that is of no use.
    fn was_useful(&mut self, cache: usize, useful: bool) {
        let useless = self.field(cache, USELESS);
        *useless = if useful { 0 } else { useless.saturating_add(1) };
        if let Some(more) = useless.checked_sub(PATIENCE) {
            *self.field(cache, PAUSE) = (SHORTEST_PAUSE << more.min(16)).min(LONGEST_PAUSE);
        }
    }

    /// Writes back what was stored; the cache stays open.
    fn write_back(&mut self, cache: usize) {
        (0..2).for_each(|half| self.write_back_half(cache, half));
    }

    fn write_back_half(&mut self, cache: usize, half: u32) {
        let dirty = self.field(cache, DIRTY);
        let of = *dirty >> (COLUMNS * half) & 0xffff;
        *dirty &= !(0xffff << (COLUMNS * half));
        if of == 0 {
            return;
        }
        let (plan, begins, pointer) = (&self.plan.caches[cache], self.begins(cache), self.pointer(cache));
        let rows = plan.rows as usize;
        let columns = &self.columns(cache)[(half * COLUMNS * ROWS) as usize..];
        let place = |row: usize| {
            let first = begins[row] + half * COLUMNS * plan.step;
            (pointer + u64::from(first) * u64::from(plan.scale)) as *mut u32
        };
        if of == 0xffff {
            for row in (0..rows).step_by(4) {
                // SAFETY: the places of all columns passed the site when they were brought.
                unsafe { lines_from_columns(columns, row, std::array::from_fn(|k| place(row + k))) };
            }
            return;
        }
        for column in (0..COLUMNS as usize).filter(|c| of >> c & 1 != 0) {
            for row in 0..rows {
                let x = columns[column * ROWS as usize + row];
                // SAFETY: as above.
                unsafe { place(row).add(column).write_unaligned(x) };
            }
        }
    }

    /// Brings `n` columns of a half from memory, whose places have passed.
    fn fill(&mut self, cache: usize, half: u32, n: u32) {
        let (plan, begins, pointer) = (&self.plan.caches[cache], self.begins(cache), self.pointer(cache));
        let rows = plan.rows as usize;
        let columns = &mut self.columns(cache)[(half * COLUMNS * ROWS) as usize..];
        let place = |row: usize| {
            let first = begins[row] + half * COLUMNS * plan.step;
            (pointer + u64::from(first) * u64::from(plan.scale)) as *const u32
        };
        if n == COLUMNS {
            for row in (0..rows).step_by(4) {
                // SAFETY: so the caller says.
                unsafe { columns_from_lines(columns, row, std::array::from_fn(|k| place(row + k))) };
            }
            return;
        }
        for row in 0..rows {
            for column in 0..n as usize {
                // SAFETY: so the caller says.
                columns[column * ROWS as usize + row] = unsafe { place(row).add(column).read_unaligned() };
            }
        }
    }

    /// How many columns that far behind these places are inside the surface, up to a line of them.
    fn inside(plan: &RowCache, sites: &[Site], places: &[u32], behind: u32) -> u32 {
        let farthest = places.iter().max().map_or(u32::MAX, |p| p.saturating_add(behind));
        end(plan, sites, 0).saturating_sub(farthest).div_ceil(plan.step).min(COLUMNS)
    }

    /// An access is done without its cache: of what is stored to memory then, a cache would have what was there before.
    fn goes_without(&mut self, access: usize) {
        let of = self.plan.accesses[access];
        if of.write && self.words[OPEN as usize / 4] >> of.cache & 1 != 0 {
            self.close(of.cache);
        }
    }

    /// Brings the places of an access to its cache; whether they are there.
    fn bring(&mut self, access: usize, sites: &[Site], whole: bool) -> bool {
        let cache = self.plan.accesses[access].cache;
        let plan = &self.plan.caches[cache];
        if !whole {
            // Memory is what the program made it, for what is done without the cache.
            self.write_back(cache);
            return false;
        }
        let places = self.places(PLACES, plan.rows);
        let places = &places[..plan.rows as usize];
        let before = &mut self.words[BEFORE as usize / 4 + access];
        let moved = places[0].wrapping_sub(std::mem::replace(before, places[0])) as i32;
        let more = (self.plan.accesses[access].elements - 1) * plan.step;
        if *self.field(cache, LIMIT) != 0 {
            match self.move_columns(cache, sites, places, more) {
                Some(true) => return true,
                Some(false) => {
                    self.write_back(cache);
                    return false;
                }
                None => self.close(cache),
            }
        }
        let by = moved.unsigned_abs();
        let goes_on = by != 0 && by.is_multiple_of(plan.step) && by <= plan.step * COLUMNS;
        if !goes_on {
            self.was_useful(cache, false);
            return false;
        }
        // Accesses that have not been done yet lead nowhere.
        let aimed = plan.sites.iter().all(|(site, _)| sites[*site as usize].pointer != 0);
        if !aimed || *self.field(cache, PAUSE) != 0 {
            return false;
        }
        let opened = self.open(cache, sites, places);
        if !opened {
            *self.field(cache, PAUSE) = LONGEST_PAUSE;
        }
        opened
    }

    /// Moves on to these places, and those that are so much farther, of the rows that are in a cache; whether that is
    /// possible, if they are of these rows and near.
    fn move_columns(&mut self, cache: usize, sites: &[Site], places: &[u32], more: u32) -> Option<bool> {
        let plan = &self.plan.caches[cache];
        let (mut begins, half) = (self.begins(cache), COLUMNS * plan.step);
        let distance = places[0].wrapping_sub(begins[0]);
        if places.iter().zip(&begins).any(|(p, b)| p.wrapping_sub(*b) != distance) {
            return None;
        }
        let begins = &mut begins[..places.len()];
        let limit = *self.field(cache, LIMIT);
        let (distance, line) = (distance as i32, (COLUMNS * ROWS) as usize);
        let last = distance.wrapping_add(more as i32);
        if distance >= 0 && last >= limit as i32 && last < limit as i32 + half as i32 {
            if !limit.is_multiple_of(half) {
                return Some(false);
            }
            let n = Self::inside(plan, sites, begins, limit);
            if (last as u32 - limit) / plan.step >= n {
                return Some(false);
            }
            let mut kept = half;
            if limit == 2 * half {
                self.write_back_half(cache, 0);
                *self.field(cache, DIRTY) >>= COLUMNS;
                self.columns(cache).copy_within(line..2 * line, 0);
                begins.iter_mut().for_each(|b| *b += half);
                self.set_begins(cache, begins);
            } else {
                kept = limit;
            }
            *self.field(cache, LIMIT) = kept + n * plan.step;
            self.fill(cache, 1, n);
            self.fetch(cache, 2);
            return Some(true);
        }
        if distance < 0 && distance >= -(half as i32) {
            if begins.iter().any(|b| *b < half) {
                return Some(false);
            }
            self.write_back_half(cache, 1);
            *self.field(cache, DIRTY) <<= COLUMNS;
            self.columns(cache).copy_within(0..line, line);
            begins.iter_mut().for_each(|b| *b -= half);
            self.set_begins(cache, begins);
            *self.field(cache, LIMIT) = limit.min(half) + half;
            self.fill(cache, 0, COLUMNS);
            self.fetch(cache, -1);
            return Some(true);
        }
        None
    }

    /// Has the CPU fetch the lines of all rows that are so many halves behind the first one's.
    fn fetch(&mut self, cache: usize, halves: i64) {
        let (plan, begins, pointer) = (&self.plan.caches[cache], self.begins(cache), self.pointer(cache));
        for b in &begins[..plan.rows as usize] {
            let at = pointer + u64::from(*b) * u64::from(plan.scale);
            // What is fetched is not touched: it may be anywhere.
            let line = at.wrapping_add_signed(halves * 4 * i64::from(COLUMNS));
            // SAFETY: a hint.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line as *const i8) };
        }
    }

    /// Opens a cache at these places, if they are of rows that it can hold and nothing else of the loop reaches them.
    fn open(&mut self, cache: usize, sites: &[Site], places: &[u32]) -> bool {
        let plan = &self.plan.caches[cache];
        let site = sites[plan.sites[0].0 as usize];
        let alike = |k: usize| {
            let s = &sites[plan.sites[k].0 as usize];
            s.pointer == site.pointer && end(plan, sites, k) == end(plan, sites, 0)
        };
        if !(0..plan.sites.len()).all(alike) || !apart(plan, sites, &site) {
            return false;
        }
        let scale = u64::from(plan.scale);
        let address = |p: u32| site.pointer + u64::from(p) * scale;
        if places.iter().any(|p| address(*p) % 4 != 0) {
            return false;
        }
        // From where the first row's line begins: rows that are whole lines apart then take one each.
        let behind = (address(places[0]) % LINE / scale) as u32;
        let behind = if places.iter().all(|p| *p >= behind) { behind } else { 0 };
        let begins: Vec<u32> = places.iter().map(|p| p - behind).collect();
        let n = Self::inside(plan, sites, &begins, 0);
        let mut sorted = begins.clone();
        sorted.sort_unstable();
        let far = sorted.windows(2).all(|w| w[1] - w[0] >= 2 * COLUMNS * plan.step);
        if !far || n * plan.step <= behind {
            return false;
        }
        self.set_begins(cache, &begins);
        *self.field(cache, POINTER) = site.pointer as u32;
        *self.field(cache, POINTER + 4) = (site.pointer >> 32) as u32;
        *self.field(cache, LIMIT) = n * plan.step;
        *self.field(cache, DIRTY) = 0;
        *self.field(cache, HITS) = 0;
        self.words[OPEN as usize / 4] |= 1 << cache;
        self.fill(cache, 0, n);
        self.fetch(cache, 1);
        true
    }
}

/// How many places of dwords the surface has by one of a cache's sites.
fn end(plan: &RowCache, sites: &[Site], k: usize) -> u32 {
    let (site, elements) = plan.sites[k];
    let count = sites[site as usize].count;
    if count == 0 { 0 } else { count.saturating_add((elements - 1) * plan.step) }
}

/// Do the other messages of a cache's loop reach other memory, as far as they lead somewhere yet? (What leads them
/// elsewhere closes the cache.)
fn apart(plan: &RowCache, sites: &[Site], own: &Site) -> bool {
    let end = own.pointer + u64::from(end(plan, sites, 0)) * u64::from(plan.scale) + 4;
    plan.others.iter().all(|(site, reach)| {
        let of = reach.bytes_of(&sites[*site as usize]);
        of.is_none_or(|(first, last)| last <= own.pointer || end <= first)
    })
}

/// Four lines of memory to four rows of sixteen columns.
///
/// # Safety
/// Sixteen dwords can be read from each place.
unsafe fn columns_from_lines(columns: &mut [u32], row: usize, from: [*const u32; 4]) {
    let lines: [[__m128; 4]; 4] = std::array::from_fn(|k| {
        // SAFETY: so the caller says.
        std::array::from_fn(|q| unsafe { _mm_loadu_ps(from[k].add(4 * q).cast()) })
    });
    for q in 0..4 {
        let mut all = lines.map(|line| line[q]);
        transpose(&mut all);
        for (k, x) in all.iter().enumerate() {
            let to = &mut columns[(4 * q + k) * ROWS as usize + row..][..4];
            // SAFETY: there are four dwords.
            unsafe { _mm_storeu_ps(to.as_mut_ptr().cast(), *x) };
        }
    }
}

/// Four rows of sixteen columns to four lines of memory.
///
/// # Safety
/// Sixteen dwords can be written to each place.
unsafe fn lines_from_columns(columns: &[u32], row: usize, to: [*mut u32; 4]) {
    let quarters: [[__m128; 4]; 4] = std::array::from_fn(|q| {
        let mut all = std::array::from_fn(|k| {
            let from = &columns[(4 * q + k) * ROWS as usize + row..][..4];
            // SAFETY: there are four dwords.
            unsafe { _mm_loadu_ps(from.as_ptr().cast()) }
        });
        transpose(&mut all);
        all
    });
    // One line after the other: each is touched once.
    for (k, line) in to.into_iter().enumerate() {
        for (q, quarter) in quarters.iter().enumerate() {
            // SAFETY: so the caller says.
            unsafe { _mm_storeu_ps(line.add(4 * q).cast(), quarter[k]) };
        }
    }
}

fn transpose(all: &mut [__m128; 4]) {
    let [a, b, c, d] = all;
    // SAFETY: every x86-64 CPU has the instructions.
    unsafe { _MM_TRANSPOSE4_PS(a, b, c, d) };
}
