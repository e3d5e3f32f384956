//! Results as the interface numbers them.

/// A result that is not success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(pub u32);

/// The result of whatever a call does.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! errors {
    ($($name:ident = $value:literal,)*) => {
        #[allow(missing_docs, reason = "the interface's specification describes them")]
        impl Error {
            $(pub const $name: Error = Error($value);)*
            /// The specification's name, without its beginning.
            pub fn name(self) -> &'static str {
                match self {
                    $(Error::$name => stringify!($name),)*
                    Error(_) => "a result without a name",
                }
            }
        }
    };
}

errors! {
    NOT_READY = 1,
    DEVICE_LOST = 0x7000_0001,
    OUT_OF_HOST_MEMORY = 0x7000_0002,
    OUT_OF_DEVICE_MEMORY = 0x7000_0003,
    MODULE_BUILD_FAILURE = 0x7000_0004,
    MODULE_LINK_FAILURE = 0x7000_0005,
    DEPENDENCY_UNAVAILABLE = 0x7002_0000,
    UNINITIALIZED = 0x7800_0001,
    UNSUPPORTED_VERSION = 0x7800_0002,
    UNSUPPORTED_FEATURE = 0x7800_0003,
    INVALID_ARGUMENT = 0x7800_0004,
    INVALID_NULL_HANDLE = 0x7800_0005,
    HANDLE_OBJECT_IN_USE = 0x7800_0006,
    INVALID_NULL_POINTER = 0x7800_0007,
    INVALID_SIZE = 0x7800_0008,
    UNSUPPORTED_SIZE = 0x7800_0009,
    UNSUPPORTED_ALIGNMENT = 0x7800_000a,
    INVALID_SYNCHRONIZATION_OBJECT = 0x7800_000b,
    INVALID_ENUMERATION = 0x7800_000c,
    UNSUPPORTED_ENUMERATION = 0x7800_000d,
    UNSUPPORTED_IMAGE_FORMAT = 0x7800_000e,
    INVALID_NATIVE_BINARY = 0x7800_000f,
    INVALID_GLOBAL_NAME = 0x7800_0010,
    INVALID_KERNEL_NAME = 0x7800_0011,
    INVALID_FUNCTION_NAME = 0x7800_0012,
    INVALID_GROUP_SIZE_DIMENSION = 0x7800_0013,
    INVALID_GLOBAL_WIDTH_DIMENSION = 0x7800_0014,
    INVALID_KERNEL_ARGUMENT_INDEX = 0x7800_0015,
    INVALID_KERNEL_ARGUMENT_SIZE = 0x7800_0016,
    INVALID_KERNEL_HANDLE = 0x7800_001c,
    INVALID_MODULE_UNLINKED = 0x7800_0018,
    INVALID_COMMAND_LIST_TYPE = 0x7800_0019,
    OVERLAPPING_REGIONS = 0x7800_001a,
    DEVICE_IS_NOT_VERTEX = 0x7ff0_0001,
    UNKNOWN = 0x7fff_fffe,
}

impl envisa_runtime::queue::Failure for Error {
    // Commands wait for events of the application themselves: the queue has nothing to wait for.
    const OF_WHAT_IT_WAITED_FOR: Error = Error::UNKNOWN;
    const OF_A_PANIC: Error = Error::UNKNOWN;

    fn code(self) -> i32 {
        // Not negative as the interface has it; events of queues tell failures from success by the sign.
        -(self.0 as i32)
    }
}

impl Error {
    /// Of what a queue tells.
    pub fn of_code(code: i32) -> Error {
        Error(code.unsigned_abs())
    }
}
