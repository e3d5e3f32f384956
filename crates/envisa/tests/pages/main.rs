//! The pages, held by execution: every instruction against values worked out from its page.

mod arith;
mod harness;
mod model;
mod shapes;
