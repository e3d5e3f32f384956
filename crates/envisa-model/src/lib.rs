//! A model of vISA's pages, to hold engines against.
//!
//! It shares nothing with them: no type, no table, no function. Numbers are exact ([`num`]: integers in 128
//! bits, floats as big integers with an exponent, rounded in one place), programs are trees of their own
//! ([`program`]), control flow is that of sets of channels through those trees ([`eval`]). What an engine is
//! given is the text that [`mod@print`] makes of a program. [`random`] makes programs, [`mod@shrink`] small
//! ones of those that fail.
//!
//! Nothing here ships: tests and the suite use it.

pub mod eval;
pub mod num;
pub mod print;
pub mod program;
pub mod random;
pub mod shrink;
