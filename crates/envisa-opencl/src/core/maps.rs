//! Mappings of memory objects, and what is to be kept to while they last: looked at only while mistakes are looked for.

use std::sync::Mutex;

use super::host_memory::Region;
use crate::report::{checking, mistake};

/// A mapping that has not ended.
#[derive(Debug)]
struct Mapping {
    address: usize,
    /// May the application write there?
    writes: bool,
    /// Its command ran: commands before it are over.
    began: bool,
    /// The bytes as they were then, of a mapping for reading.
    before: Option<u64>,
    region: Region,
}

/// The mappings of an object.
#[derive(Debug, Default)]
pub struct Maps {
    open: Mutex<Vec<Mapping>>,
    /// The last one that ended, and the bytes as they were then.
    ended: Mutex<Option<(Region, u64)>>,
}

impl Maps {
    /// A mapping is enqueued.
    pub fn begin(&self, region: &Region, writes: bool) {
        self.ended.lock().unwrap().take();
        let address = region.address();
        let mapping = Mapping { address, writes, began: false, before: None, region: region.clone() };
        self.open.lock().unwrap().push(mapping);
    }

    /// The command of the mapping at an address runs.
    pub fn began(&self, address: usize) {
        let mut open = self.open.lock().unwrap();
        if let Some(mapping) = open.iter_mut().find(|m| m.address == address && !m.began) {
            mapping.began = true;
            mapping.before = if mapping.writes { None } else { mapping.region.digest() };
        }
    }

    /// Is something mapped for reading alone, by commands that ran?
    pub fn only_reads(&self) -> bool {
        let open = self.open.lock().unwrap();
        open.iter().any(|m| m.began) && !open.iter().any(|m| m.writes)
    }

    /// The mapping at an address ends; false if there is none.
    pub fn end(&self, address: usize) -> bool {
        let mut open = self.open.lock().unwrap();
        let Some(at) = open.iter().position(|m| m.address == address) else { return false };
        let mapping = open.swap_remove(at);
        if checking() {
            let now = mapping.region.digest();
            if mapping.before.is_some() && mapping.before != now {
                mistake(
                    "map",
                    &format!("{} is mapped for reading only, and was written", named(&mapping.region)),
                );
            }
            *self.ended.lock().unwrap() = now.map(|now| (mapping.region, now));
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

    /// A command is about to use the object: by now the application must have left alone what it had mapped.
    pub fn look(&self) {
        let ended = self.ended.lock().unwrap().take();
        if let Some((region, then)) = ended
            && region.digest() != Some(then)
        {
            mistake("map", &format!("{} was written through a mapping that had ended", named(&region)));
        }
    }

    /// The object is gone. What the application then has in memory of its own is nobody else's matter.
    pub fn close(&self) {
        if !checking() {
            return;
        }
        let is_own = |ended: &(Region, u64)| ended.0.backing().is_some_and(|b| b.is_lent());
        self.ended.lock().unwrap().take_if(|ended| is_own(ended));
        self.look();
        for mapping in self.open.lock().unwrap().iter() {
            mistake("map", &format!("{} was mapped and never unmapped", named(&mapping.region)));
        }
    }
}

fn named(region: &Region) -> String {
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
