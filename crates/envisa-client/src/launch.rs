//! What is launched: arguments, sizes, and what is read back.

pub use envisa::{Addressing, ImageDesc, ImageShape, Sampler};
use envisa_harness::compare::Check;
use envisa_harness::values::HostValue;

/// What is passed for an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// A global or constant buffer with its initial content.
    Buffer(HostValue),
    /// A value's bytes.
    Scalar(Vec<u8>),
    /// Local memory of so many bytes.
    Local(u64),
    /// An image with its initial texels.
    Image(ImageDesc, HostValue),
    /// A sampler.
    Sampler(Sampler),
}

/// An argument ready to be passed.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchArg {
    /// Name in the source.
    pub name: String,
    /// What is passed.
    pub value: ArgValue,
    /// For outputs: how the final content is compared.
    pub check: Option<Check>,
}

/// Everything needed to run a kernel once.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Number of dimensions, 1 to 3.
    pub dims: u32,
    /// Work-items; ones beyond `dims`.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u64; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Arguments in order.
    pub args: Vec<LaunchArg>,
}

/// A run's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// Final content of the arguments that have a check: index and value.
    pub values: Vec<(usize, HostValue)>,
    /// What `printf` wrote.
    pub printed: String,
}

impl Launch {
    /// Number of work-items.
    pub fn work_items(&self) -> u64 {
        self.global.iter().product()
    }
}
