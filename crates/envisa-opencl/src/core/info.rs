//! Answers to queries: values as the bytes that a call hands out.

use std::ffi::c_void;

/// What a query gives.
pub struct Answer(pub Vec<u8>);

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Answer {
            fn from(value: $ty) -> Answer {
                Answer(value.to_ne_bytes().to_vec())
            }
        }

        impl From<&[$ty]> for Answer {
            fn from(values: &[$ty]) -> Answer {
                Answer(values.iter().flat_map(|v| v.to_ne_bytes()).collect())
            }
        }

        impl<const N: usize> From<[$ty; N]> for Answer {
            fn from(values: [$ty; N]) -> Answer {
                Answer::from(&values[..])
            }
        }

        impl From<Vec<$ty>> for Answer {
            fn from(values: Vec<$ty>) -> Answer {
                Answer::from(&values[..])
            }
        }
    )*};
}
plain!(u8, u32, i32, u64, usize, isize);

impl From<&str> for Answer {
    /// With the zero at the end.
    fn from(text: &str) -> Answer {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        Answer(bytes)
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Answer {
        Answer::from(text.as_str())
    }
}

impl From<bool> for Answer {
    /// A `cl_bool`.
    fn from(value: bool) -> Answer {
        Answer::from(u32::from(value))
    }
}

impl From<*mut c_void> for Answer {
    fn from(handle: *mut c_void) -> Answer {
        Answer::from(handle as usize)
    }
}

impl From<Vec<*mut c_void>> for Answer {
    fn from(handles: Vec<*mut c_void>) -> Answer {
        Answer(handles.iter().flat_map(|h| (*h as usize).to_ne_bytes()).collect())
    }
}

/// A version as the standard packs it.
pub const fn version(major: u32, minor: u32, patch: u32) -> u32 {
    major << 22 | minor << 12 | patch
}

/// Pairs of version and name: `cl_name_version`.
pub fn name_version_pairs(pairs: &[(u32, &str)]) -> Answer {
    let mut bytes = Vec::with_capacity(pairs.len() * 68);
    for (version, name) in pairs {
        bytes.extend(version.to_ne_bytes());
        let mut text = [0; 64];
        let n = name.len().min(63);
        text[..n].copy_from_slice(&name.as_bytes()[..n]);
        bytes.extend(text);
    }
    Answer(bytes)
}
