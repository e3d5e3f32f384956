//! Facts about variables, by number, that are forgotten at the end of a block.

/// A value for some of the numbers from 0 on.
pub(crate) struct Recent<T> {
    /// Values, and the era in which each was kept.
    entries: Vec<Option<(u32, T)>>,
    /// Entries of former eras are forgotten.
    era: u32,
}

impl<T> Recent<T> {
    /// For this many numbers.
    pub fn new(numbers: usize) -> Recent<T> {
        Recent { entries: (0..numbers).map(|_| None).collect(), era: 0 }
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        match self.entries.get(number as usize)? {
            Some((era, value)) if *era == self.era => Some(value),
            _ => None,
        }
    }

    /// Keeps a value, of a number that there is.
    #[inline]
    pub fn insert(&mut self, number: u32, value: T) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            *entry = Some((self.era, value));
        }
    }

    #[inline]
    pub fn remove(&mut self, number: u32) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            *entry = None;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        match self.era.checked_add(1) {
            Some(era) => self.era = era,
            None => {
                self.entries.fill_with(|| None);
                self.era = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn what_was_cleared_is_not_found_again() {
        let mut r = Recent::new(3);
        r.insert(1, 'a');
        r.insert(7, 'x');
        assert_eq!((r.get(0), r.get(1), r.get(7)), (None, Some(&'a'), None));
        r.clear();
        assert_eq!(r.get(1), None);
        r.insert(1, 'b');
        r.remove(2);
        assert_eq!(r.get(1), Some(&'b'));
        r.remove(1);
        assert_eq!(r.get(1), None);
        r.insert(2, 'c');
        r.era = u32::MAX;
        r.clear();
        assert_eq!((r.era, r.get(2)), (0, None));
    }
}
