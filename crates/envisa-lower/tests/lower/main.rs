//! Programs that are lowered: what they are, as text, and what they touch.

mod lowering;
mod text;
mod touched;
