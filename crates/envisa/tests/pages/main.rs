//! The pages, held by execution: every instruction against values worked out from its page.

// A model's closures, and formulas as the pages write them.
#![allow(clippy::type_complexity, clippy::precedence)]

mod arith;
mod control;
#[macro_use]
mod coverage;
mod dpas;
mod harness;
mod logic;
mod math;
mod model;
mod mov;
mod shapes;
mod special;
#[path = "../told/mod.rs"]
mod told;
