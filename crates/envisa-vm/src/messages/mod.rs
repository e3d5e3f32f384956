//! Memory messages: one module a family. Adding one: its descriptor in `envisa_lower::messages`, a module
//! here with a `Kernel`, and an arm of [`handler`].

mod atomic;
mod untyped;
pub(crate) mod window;

use envisa_lower::{Inst, Message, Program};

use crate::exec::{Handler, Level};

/// The handler of a message.
pub(crate) fn handler(l: Level, i: &Inst, p: &Program) -> Handler {
    match &p.messages[i.aux as usize] {
        Message::Simt(s) => untyped::simt(l, i, s),
        Message::Block(_) => l.handler::<untyped::BlockK>(),
        Message::Atomic(_) => l.handler::<atomic::AtomicK>(),
    }
}
