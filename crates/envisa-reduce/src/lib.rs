//! Makes an input that shows a failure small.
//!
//! A [`Language`] offers [passes](Language::passes): each cuts a text into pieces and says what may be left out or put in
//! their place. [`reduce`] tries that, largest pieces first and several at a time, and keeps what still [fails](Oracle). It
//! ends when no pass finds anything more: no single piece of any pass can then be left out (the text is minimal in that
//! sense, as of delta debugging; Zeller and Hildebrandt, 2002).
//!
//! This crate knows no engine and starts no process: whether a text still fails, its user says.

mod edits;
mod launch;
mod name_edits;
mod opencl;
mod source;
mod token_pairs;
mod tokens;
mod visa;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

pub use edits::Edit;
pub use launch::Launch;
pub use opencl::OpenClC;
pub use visa::Visa;

/// Says whether a text still shows the failure. It is asked from several threads at once.
pub trait Oracle: Sync {
    /// Does it? What cannot be compiled, hangs or fails otherwise does not.
    fn fails(&self, text: &str) -> bool;
}

impl<F: Fn(&str) -> bool + Sync> Oracle for F {
    fn fails(&self, text: &str) -> bool {
        self(text)
    }
}

/// How texts of a language are taken apart.
pub trait Language: Sync {
    /// Passes, coarse ones first.
    fn passes(&self) -> &[Pass];

    /// Can a text be refused without a test, because it lacks what it needs of the whole one?
    fn is_hopeless(&self, _text: &str, _whole: &str) -> bool {
        false
    }

    /// How large a text is. Each step of a reduction makes it smaller, so there is an end: shorter, or as long with less in
    /// it that is not a digit `0`.
    fn size(&self, text: &str) -> Size {
        (text.len() as u64, text.bytes().filter(|b| *b != b'0').count() as u64)
    }
}

/// How large a text is; the first number counts, and of those that are the same the second.
pub type Size = (u64, u64);

/// A way to make texts smaller.
#[derive(Clone, Copy)]
pub struct Pass {
    /// What it does, for people: `leave out statements`.
    pub name: &'static str,
    /// The edits that may be made to a text, each by itself.
    pub edits: fn(&str) -> Vec<Edit>,
    /// Most edits side by side that are tried together. Statements
    /// often go together; of tokens, hardly any two that are not a pair of brackets.
    pub most: usize,
}

/// Told of each text that still fails and is smaller.
pub trait Progress {
    /// A pass found a smaller text.
    fn smaller(&mut self, pass: &str, text: &str);
    /// Whether to stop with what there is.
    fn stop(&self) -> bool {
        false
    }
}

/// Bounds of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Texts that are tried at the same time.
    pub workers: usize,
    /// Most texts that are tried in all.
    pub tries: usize,
}

/// Why nothing was reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoesNotFail;

impl std::fmt::Display for DoesNotFail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the input does not show the failure: the test has to succeed on it")
    }
}

impl std::error::Error for DoesNotFail {}

/// The smallest text found that still fails.
///
/// # Errors
/// [`DoesNotFail`]: the text itself does not.
pub fn reduce(
    text: &str,
    language: &dyn Language,
    oracle: &dyn Oracle,
    bounds: Bounds,
    progress: &mut dyn Progress,
) -> Result<String, DoesNotFail> {
    if !oracle.fails(text) {
        return Err(DoesNotFail);
    }
    let tried = AtomicUsize::new(1);
    let asked = Asked::default();
    let mut search =
        Search { language, oracle, bounds, tried, asked, progress, input: text, text: text.to_owned() };
    loop {
        let before = search.text.clone();
        for pass in language.passes() {
            search.pass(pass);
        }
        if search.text == before || search.over() {
            return Ok(search.text);
        }
    }
}

struct Search<'a> {
    language: &'a dyn Language,
    oracle: &'a dyn Oracle,
    bounds: Bounds,
    tried: AtomicUsize,
    asked: Asked,
    progress: &'a mut dyn Progress,
    input: &'a str,
    text: String,
}

/// Edits from the end of a text to its beginning, and outer ones before those inside of them: what uses a name stands behind what
/// declares it, and has to go first.
fn sort_backwards(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|e| (std::cmp::Reverse(e.end()), e.start()));
    edits
}

/// Texts that were tried already, by their hashes: passes come to the same text in several ways, and the last round to all of
/// them.
#[derive(Default)]
struct Asked {
    hasher: RandomState,
    hashes: Mutex<HashSet<u64>>,
}

impl Asked {
    /// Is a text tried for the first time?
    fn is_new(&self, text: &str) -> bool {
        let hash = self.hasher.hash_one(text);
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }
}

impl Search<'_> {
    fn over(&self) -> bool {
        self.tried.load(Ordering::Relaxed) >= self.bounds.tries || self.progress.stop()
    }

    /// Tries all edits of a pass, in runs that halve from the most to one, until none is left that helps.
    fn pass(&mut self, pass: &Pass) {
        let mut run = (pass.edits)(&self.text).len().clamp(1, pass.most);
        loop {
            self.runs(pass, run);
            if run == 1 || self.over() {
                return;
            }
            run /= 2;
        }
    }

    /// Tries each run of so many edits side by side. After one that helps, the edits before it are made anew.
    fn runs(&mut self, pass: &Pass, run: usize) {
        let mut edits = sort_backwards((pass.edits)(&self.text));
        let mut at = 0;
        while at < edits.len() && !self.over() {
            let workers = self.bounds.workers.max(1);
            let starts: Vec<usize> =
                (0..workers).map(|w| at + w * run).filter(|s| *s < edits.len()).collect();
            let candidates: Vec<Option<String>> = starts
                .iter()
                .map(|s| edits::apply(&self.text, &edits[*s..(*s + run).min(edits.len())]))
                .collect();
            match self.first(&candidates) {
                None => at += run * starts.len(),
                Some(found) => {
                    let smaller = candidates.into_iter().nth(found).flatten();
                    self.text = smaller.unwrap_or_else(|| self.text.clone());
                    self.progress.smaller(pass.name, &self.text);
                    // What stands behind is tried already.
                    at += found * run;
                    edits = sort_backwards((pass.edits)(&self.text));
                }
            }
        }
    }

    /// The first of these texts that fails; all are tried side by side.
    fn first(&self, candidates: &[Option<String>]) -> Option<usize> {
        let (language, oracle, tried, asked) = (self.language, self.oracle, &self.tried, &self.asked);
        let input = self.input;
        let whole = language.size(&self.text);
        let fails = |text: &Option<String>| {
            let smaller = text.as_ref().filter(|t| language.size(t) < whole);
            // What fails becomes the text at once, and is not met again.
            let asked_for = smaller.filter(|t| asked.is_new(t) && !language.is_hopeless(t, input));
            let Some(text) = asked_for else { return false };
            tried.fetch_add(1, Ordering::Relaxed);
            oracle.fails(text)
        };
        if let [one] = candidates {
            return fails(one).then_some(0);
        }
        let fails = &fails;
        std::thread::scope(|scope| {
            let asked: Vec<_> = candidates.iter().map(|c| scope.spawn(move || fails(c))).collect();
            // A test that panics has not shown the failure.
            let said: Vec<bool> = asked.into_iter().map(|a| a.join().unwrap_or(false)).collect();
            said.iter().position(|f| *f)
        })
    }
}

/// A piece of a text.
pub(crate) type Piece = Range<usize>;

#[cfg(test)]
mod tests {
    use super::*;

    struct Quiet(usize);

    impl Progress for Quiet {
        fn smaller(&mut self, _: &str, _: &str) {
            self.0 += 1;
        }
    }

    pub(crate) fn reduced(
        text: &str,
        language: &dyn Language,
        fails: impl Fn(&str) -> bool + Sync,
    ) -> String {
        let bounds = Bounds { workers: 2, tries: 100_000 };
        reduce(text, language, &fails, bounds, &mut Quiet(0)).expect("it fails")
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        let source = "
            typedef struct { int x; float y; } pair;
            int helper(int v) { for (int i = 0; i < 4; i++) { v += i * 3; } return v; }
            kernel void other(global int *o) { o[0] = helper(3); }
            kernel void k(global int *out, global const int *in, int n) {
                int i = get_global_id(0); /* a comment */
                if (i < n) { int t = in[i]; t = (t << 4) | (t >> 28); out[i] = t + helper(t); } else { out[i] = 7; }
            }";
        // A compiler that fails at a shift by 28.
        let left = reduced(source, &OpenClC, |t| t.contains(">> 28") && t.contains("kernel"));
        assert!(left.contains(">> 28") && left.len() < 40, "{left}");
    }

    #[test]
    fn no_text_is_tried_twice() {
        let tried = Mutex::new(Vec::new());
        let source = "int a; int b; kernel void k(global int *p) { int i = 3; if (i < 4) { p[i] = i + 1; } }";
        let left = reduced(source, &OpenClC, |t| {
            tried.lock().expect("no panic").push(t.to_owned());
            t.contains("p[")
        });
        assert!(left.len() < 20, "{left}");
        let mut tried = tried.into_inner().expect("no panic");
        let all = tried.len();
        tried.sort();
        tried.dedup();
        assert!(all > 10 && tried.len() == all, "{} of {all} are different", tried.len());
    }

    #[test]
    fn lines_and_operands_of_visa_are_left_out() {
        let text = "\
.version 4.1
.kernel \"k\"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl V33 v_type=G type=d num_elts=16 align=GRF
.input V32 offset=32 size=64
.kernel_attr SimdSize=16
    add (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> 0x7:d
    (P1) mul (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x3:d
    ret (M1, 1)
";
        let left = reduced(text, &Visa, |t| t.contains("mul"));
        assert!(left.len() < 60 && !left.contains("add"), "{left}");
    }

    #[test]
    fn a_label_goes_with_the_jumps_to_it() {
        let text = "\
.decl V33 v_type=G type=d num_elts=16 align=GRF
    (P1) goto (M1, 16) L1
    mul (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x3:d
L1:
    mul (M1, 16) V34(0,0)<1> V34(0,0)<1;1,0> 0x3:d
    ret (M1, 1)
";
        let uses = |t: &str, name: &str| t.lines().filter(|l| l.contains(name)).count();
        // As where a text is legal: what is used is declared, and what is declared is used.
        let legal = |t: &str| {
            let both = |n: usize| n == 0 || n >= 2;
            both(uses(t, "L1")) && both(uses(t, "V33")) && t.contains("V34")
        };
        let left = reduced(text, &Visa, legal);
        assert!(!left.contains("L1") && !left.contains("V33"), "{left}");
    }

    #[test]
    fn an_input_that_does_not_fail_is_an_error() {
        let bounds = Bounds { workers: 1, tries: 10 };
        assert_eq!(reduce("int x;", &OpenClC, &|_: &str| false, bounds, &mut Quiet(0)), Err(DoesNotFail));
    }

    /// Whatever stands in a text, passes give edits inside of it, and a search comes to an end.
    #[test]
    fn any_text_is_taken_apart() {
        for text in [
            "",
            "{",
            "}",
            "((",
            "\"",
            "'",
            "/*",
            "#",
            "a ? b : c;",
            "if (",
            "\u{fc}{\u{fc};}",
            ".decl",
            "((",
            "a = \"u8:1",
            "a = \"u8:\"",
            "[[o",
        ] {
            for language in [&OpenClC as &dyn Language, &Visa, &Launch] {
                for pass in language.passes() {
                    for edit in (pass.edits)(text) {
                        assert!(edits::apply(text, &[edit]).is_some(), "{text:?}: {}", pass.name);
                    }
                }
                assert!(reduced(text, language, |_| true).len() <= text.len());
            }
        }
    }
}
