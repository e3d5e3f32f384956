//! Tests of lane arithmetic.

#[path = "../common/mod.rs"]
mod common;

mod atomic;
mod convert;
mod dpas;
mod float;
mod image;
mod int;
mod math;
mod singles;
