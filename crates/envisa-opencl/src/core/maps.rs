//! Mappings of memory objects, and what is to be kept to while they last: looked at only while mistakes are looked for.

use std::ops::Range;
use std::sync::Mutex;

use envisa_runtime::{guarded_host_memory, host_changes, memory_in_use, undefined_content};

use super::host_memory::Region;
use crate::report::{is_checking, report_host_mistake};

/// What is said of memory that the application changes although it is to leave it alone.
const MAPPED_FOR_READING: &str = "is mapped for reading only, and was written";
const MAPPING_ENDED: &str = "was written through a mapping that had ended";
const BESIDE_MAPPING: &str = "was written by a pointer to another part of its buffer, which alone is mapped";
const LENT: &str =
    "was changed without being mapped; the program has lent it to the buffer (CL_MEM_USE_HOST_PTR)";

/// A mapping that has not ended.
#[derive(Debug)]
struct Mapping {
    address: usize,
    /// May the application write there?
    writes: bool,
    /// Its command ran: commands before it are over.
    began: bool,
    /// What is there when it begins is of no interest.
    discards: bool,
    /// What was there, if it is known what the application writes.
    before: Option<Vec<u8>>,
    region: Region,
}

/// All that is mapped.
static OPEN: Mutex<Vec<Range<u64>>> = Mutex::new(Vec::new());

impl Mapping {
    /// What the application did not write is as it was before, and has no content.
    fn restore(&self) {
        let (Some(before), Some(backing)) = (&self.before, self.region.backing()) else { return };
        let start = self.region.address() as u64;
        for hole in undefined_content::unwritten_ranges(&self.region).within(&self.region.range()) {
            let bytes = (hole.start - start) as usize..(hole.end - start) as usize;
            if let Some(part) = self.region.part(bytes.start, bytes.len()) {
                part.write(&before[bytes]);
            }
            backing.note_content_lost(&hole);
        }
    }
}

/// The mappings of an object.
#[derive(Debug, Default)]
pub struct Maps {
    open: Mutex<Vec<Mapping>>,
}

impl Maps {
    /// A mapping at an address is enqueued; whether it is for writing, and discards what is there.
    pub fn note_map_enqueued(&self, address: usize, region: &Region, writes: bool, discards: bool) {
        if is_checking() {
            OPEN.lock().unwrap().push(region.range());
        }
        if is_checking() && writes {
            guarded_host_memory::allow_writes(region.range());
        }
        let region = region.clone();
        let mapping = Mapping { address, writes, began: false, discards, before: None, region };
        self.open.lock().unwrap().push(mapping);
    }

    /// The command of the mapping at an address runs, of an object with these bytes.
    pub fn note_map_started(&self, address: usize, bytes: &Region) {
        let mut open = self.open.lock().unwrap();
        if let Some(mapping) = open.iter_mut().find(|m| m.address == address && !m.began) {
            mapping.began = true;
            // Of memory that was lent it is not known what was written.
            if is_checking() && mapping.discards && mapping.region.backing().is_some_and(|b| !b.is_lent()) {
                let before = mapping.region.to_vec();
                mapping.before = undefined_content::fill_with_pattern(&mapping.region).then_some(before);
            }
            if is_checking() && !mapping.writes {
                host_changes::watch_for_changes(&mapping.region, MAPPED_FOR_READING);
            }
            if is_checking() && mapping.writes {
                for rest in rest_of_object(bytes, &mapping.region) {
                    host_changes::watch_for_changes(&rest, BESIDE_MAPPING);
                }
            }
        }
    }

    /// Is something mapped for reading alone, by commands that ran?
    pub fn all_read_only(&self) -> bool {
        let open = self.open.lock().unwrap();
        open.iter().any(|m| m.began) && !open.iter().any(|m| m.writes)
    }

    /// The mapping at an address ends, of an object with these bytes; false if there is none.
    pub fn end(&self, address: usize, bytes: &Region) -> bool {
        let mut open = self.open.lock().unwrap();
        let Some(at) = open.iter().position(|m| m.address == address) else { return false };
        let mapping = open.swap_remove(at);
        if is_checking() {
            let range = mapping.region.range();
            mapping.restore();
            if mapping.writes {
                guarded_host_memory::end_allowed_writes(&range);
            }
            report_changes(&range);
            if mapping.writes {
                for rest in rest_of_object(bytes, &mapping.region) {
                    report_changes(&rest.range());
                }
            }
            host_changes::watch_for_changes(&mapping.region, MAPPING_ENDED);
            let mut all = OPEN.lock().unwrap();
            if let Some(at) = all.iter().position(|r| *r == range) {
                all.swap_remove(at);
            }
            let is_lent = mapping.region.backing().is_none_or(|b| b.is_lent());
            if !is_lent && !all.iter().any(|r| r.start < range.end && range.start < r.end) {
                memory_in_use::mapping_ended(range);
            }
        }
        true
    }

    /// How many have not ended.
    pub fn count(&self) -> usize {
        self.open.lock().unwrap().len()
    }

    /// May the application write somewhere now? None if nothing is mapped.
    pub fn writes(&self) -> Option<bool> {
        let open = self.open.lock().unwrap();
        (!open.is_empty()).then(|| open.iter().any(|m| m.writes))
    }

    /// The object, which has these bytes, is gone. What the application then has in memory of its own is nobody else's
    /// matter.
    pub fn close(&self, bytes: &Region) {
        if !is_checking() {
            return;
        }
        if bytes.backing().is_some_and(|b| b.is_lent()) {
            guarded_host_memory::forget_range(&bytes.range());
        }
        report_mapped_changes(bytes);
        for mapping in self.open.lock().unwrap().iter() {
            let range = mapping.region.range();
            if mapping.writes {
                guarded_host_memory::end_allowed_writes(&range);
            }
            OPEN.lock().unwrap().retain(|r| *r != range);
        }
        self.never_ended();
    }

    /// Nobody ends what is mapped now.
    pub fn never_ended(&self) {
        for mapping in self.open.lock().unwrap().iter() {
            report_host_mistake(
                "map",
                &format!("{} was mapped and never unmapped", name_region(&mapping.region)),
            );
        }
    }

    /// A command is enqueued that reads some of the bytes, or writes them.
    pub fn check_command_access(&self, bytes: &Region, writes: bool, what: &str) {
        let (a, open) = (bytes.range(), self.open.lock().unwrap());
        let meets = |m: &&Mapping| m.region.range().start < a.end && a.start < m.region.range().end;
        for mapping in open.iter().filter(meets).filter(|m| writes || m.writes) {
            let (does, mode) =
                (if writes { "writes" } else { "reads" }, if mapping.writes { " for writing" } else { "" });
            report_host_mistake(
                "map",
                &format!(
                    "{what} {does} {} which is mapped{mode} and not unmapped",
                    name_region(&mapping.region)
                ),
            );
        }
    }
}

/// A command uses these bytes: by now the application must have left alone what it had mapped.
pub fn report_mapped_changes(bytes: &Region) {
    if is_checking() {
        report_changes(&bytes.range());
    }
}

/// The application lends memory to an object: from now on it changes that by mappings.
pub fn note_lent(bytes: &Region) {
    if is_checking() {
        host_changes::watch_for_changes(bytes, LENT);
    }
}

/// Tells of what the application has changed among these addresses.
fn report_changes(range: &std::ops::Range<u64>) {
    for (region, why) in host_changes::take_changed(range) {
        report_host_mistake("map", &format!("{} {why}", name_region(&region)));
        memory_in_use::note_reported(&region.range());
    }
}

/// What an object has before and behind a part of it.
fn rest_of_object(bytes: &Region, part: &Region) -> Vec<Region> {
    let (start, end) = (bytes.address(), bytes.address() + bytes.len());
    let (first, last) = (part.address().clamp(start, end), (part.address() + part.len()).clamp(start, end));
    let rest = [(0, first - start), (last - start, end - last)];
    rest.into_iter().filter(|r| r.1 > 0).filter_map(|(from, len)| bytes.part(from, len)).collect()
}

fn name_region(region: &Region) -> String {
    let bytes = region.len();
    match region.backing() {
        Some(backing) => {
            format!(
                "memory of {bytes} bytes, from byte {} of its buffer on,",
                region.address() - backing.address()
            )
        }
        None => format!("memory of {bytes} bytes"),
    }
}
