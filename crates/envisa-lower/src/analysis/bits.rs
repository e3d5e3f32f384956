//! Sets of small numbers.

/// A set of numbers below a bound fixed at its making.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set of numbers below `n`.
    pub fn new(n: usize) -> Bits {
        Bits { words: vec![0; n.div_ceil(64)] }
    }

    /// Is it in the set? (Numbers past the bound are not.)
    #[inline]
    pub fn has(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 != 0)
    }

    /// Puts a number in; numbers past the bound are ignored.
    #[inline]
    pub fn add(&mut self, i: usize) {
        if let Some(w) = self.words.get_mut(i / 64) {
            *w |= 1 << (i % 64);
        }
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, i: usize) {
        if let Some(w) = self.words.get_mut(i / 64) {
            *w &= !(1 << (i % 64));
        }
    }

    /// Adds all of another set of the same bound; did any come new?
    pub fn join(&mut self, other: &Bits) -> bool {
        let mut new = false;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            new |= *b & !*a != 0;
            *a |= *b;
        }
        new
    }

    /// Adds the numbers of a set that is these words, and tells which come new.
    pub(super) fn put(&mut self, words: &[u64], tell: &mut dyn FnMut(usize)) {
        for (k, (a, b)) in self.words.iter_mut().zip(words).enumerate() {
            let new = b & !*a;
            *a |= b;
            of(&[new]).for_each(|bit| tell(64 * k + bit));
        }
    }

    /// Has it no numbers?
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// Its numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        of(&self.words)
    }
}

/// The numbers of a set that is these words, ascending.
pub(super) fn of(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(k, w)| {
        let mut w = *w;
        std::iter::from_fn(move || {
            let bit = (w != 0).then(|| w.trailing_zeros() as usize)?;
            w &= w - 1;
            Some(k * 64 + bit)
        })
    })
}
