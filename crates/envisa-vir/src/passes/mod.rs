//! Passes: each takes a function to one that does the same.

pub mod access;
pub mod facts;
pub mod forward;
pub mod hoist;
pub mod params;
pub mod simplify;

use crate::func::Func;

/// A pass.
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub run: fn(&mut Func),
}

/// All passes, in the order in which they are run.
pub const ALL: &[Pass] = &[
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "hoist", run: hoist::run },
    Pass { name: "access", run: access::run },
    Pass { name: "forward", run: forward::run },
    // What forwarding leaves.
    Pass { name: "simplify again", run: simplify::run },
    // For back ends.
    Pass { name: "facts", run: facts::run },
];

/// Runs all of them; in debug builds the verifier looks at what each leaves.
///
/// # Panics
/// In debug builds, if a pass leaves what the verifier refuses.
pub fn run(f: &mut Func) {
    for pass in ALL {
        (pass.run)(f);
        if cfg!(debug_assertions)
            && let Err(e) = crate::verify(f)
        {
            panic!("after {}: {e}", pass.name);
        }
    }
}
