//! The arguments of the survey's kernels: what the parameters of OpenCL C take, from the numbers in a kernel's head.

use envisa_harness::values::{ElemType, HostValue, ValueSpec, parse_scalar};

use super::replay::element;
use crate::launch::ArgValue;

/// Most bytes of a buffer.
const MOST: u64 = 1 << 30;
/// Words of a declaration that say nothing of a value.
const QUALIFIERS: [&str; 3] = ["restrict", "volatile", "unsigned"];

/// Where a parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Space {
    /// Nowhere: it is a value.
    None,
    /// Buffers.
    Global,
    /// Local memory.
    Local,
}

/// A parameter of a kernel.
#[derive(Debug)]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    ty: String,
    space: Space,
    /// It points to what is not written.
    constant: bool,
}

/// The parameters of a list.
///
/// # Errors
/// Which has no type.
pub fn parameters(list: &str) -> Result<Vec<Parameter<'_>>, String> {
    list.split(',').map(parameter).collect()
}

fn parameter(text: &str) -> Result<Parameter<'_>, String> {
    let wrong = || format!("no parameter: `{text}`");
    let words = text.split([' ', '\n', '*']).filter(|w| !w.is_empty());
    let mut p = Parameter { name: "", ty: String::new(), space: Space::None, constant: false };
    let unsigned = text.contains("unsigned ");
    let mut types = Vec::new();
    for word in words {
        match word.trim_start_matches("__") {
            "global" => p.space = Space::Global,
            "constant" => (p.space, p.constant) = (Space::Global, true),
            "local" => p.space = Space::Local,
            "const" => p.constant = true,
            w if QUALIFIERS.contains(&w) => {}
            w => types.push(w),
        }
    }
    p.name = types.pop().ok_or_else(wrong)?;
    let ty = types.pop().or(unsigned.then_some("int")).ok_or_else(wrong)?;
    p.ty = format!("{}{ty}", if unsigned { "u" } else { "" });
    Ok(p)
}

impl Parameter<'_> {
    /// Its value: a number, or of a pointer as many elements as a number says, `of` what: a range, `iota`, or `rising` by
    /// random steps of a range. Behind the number stands what numbers structures have (`f32`). Of a buffer also the
    /// type of its numbers.
    ///
    /// # Errors
    /// What is wrong in the text.
    pub fn value(&self, text: &str, seed: usize) -> Result<(ArgValue, Option<ElemType>), String> {
        let (number, content) = text.split_once(" of ").unwrap_or((text, ""));
        let (number, own) = number.split_once(' ').unwrap_or((number, ""));
        let own = ElemType::from_name(own).map(|e| (e, 1));
        let (elem, each) =
            own.or_else(|| element(&self.ty)).ok_or_else(|| format!("no type `{}`", self.ty))?;
        if self.space == Space::None {
            let bytes = parse_scalar(elem, text).map_err(|e| e.to_string())?;
            return Ok((ArgValue::Scalar(bytes), None));
        }
        let n = each * number.parse::<u64>().map_err(|_| format!("no number `{number}`"))?;
        if self.space == Space::Local {
            return Ok((ArgValue::Local(n * elem.size() as u64), None));
        }
        let (range, rising) = content.strip_prefix("rising ").map_or((content, false), |r| (r, true));
        let spec = match (range, elem.is_float()) {
            ("", _) if !self.constant => format!("zeros:{elem}:{n}"),
            ("", true) => format!("rand:{elem}:{n}:{seed}:-1..1"),
            ("", false) => format!("rand:{elem}:{n}:{seed}"),
            ("iota", _) => format!("iota:{elem}:{n}"),
            (range, _) => format!("rand:{elem}:{n}:{seed}:{range}"),
        };
        let value = ValueSpec::parse(&spec).and_then(|s| s.materialize(MOST));
        let mut value = value.map_err(|e| format!("{spec}: {e}"))?;
        if rising {
            rise(&mut value)?;
        }
        Ok((ArgValue::Buffer(value), Some(elem)))
    }
}

/// Makes each number of 32 bits the sum of those before it.
fn rise(value: &mut HostValue) -> Result<(), String> {
    if value.elem.size() != 4 || value.elem.is_float() {
        return Err(format!("numbers of {} do not rise", value.elem));
    }
    let (words, _) = value.bytes.as_chunks_mut::<4>();
    let mut sum = 0u32;
    for word in words {
        let step = u32::from_le_bytes(*word);
        *word = sum.to_le_bytes();
        sum = sum.wrapping_add(step);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(declared: &str, text: &str) -> ArgValue {
        parameter(declared).and_then(|p| p.value(text, 0)).unwrap().0
    }

    #[test]
    fn parameters_are_read_as_they_are_declared() {
        let all = parameters("__global const uchar4* restrict a, const unsigned int n,\n    local float *t")
            .unwrap();
        let told: Vec<_> = all.iter().map(|p| (p.name, p.ty.as_str(), p.space, p.constant)).collect();
        let want = [
            ("a", "uchar4", Space::Global, true),
            ("n", "uint", Space::None, true),
            ("t", "float", Space::Local, false),
        ];
        assert_eq!(told, want);
        assert!(parameter("float").is_err());
    }

    #[test]
    fn values_are_what_the_text_says() {
        assert!(matches!(value("int n", "7"), ArgValue::Scalar(b) if b == [7, 0, 0, 0]));
        assert!(matches!(value("local float4 *t", "3"), ArgValue::Local(48)));
        assert!(matches!(value("global int *c", "2"), ArgValue::Buffer(v) if v.bytes == [0; 8]));
        let rising = value("global const int *c", "3 of rising 2..3");
        let want: Vec<u8> = [0i32, 2, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert!(matches!(rising, ArgValue::Buffer(v) if v.bytes == want));
        assert!(matches!(value("global struct s *c", "5 f32"), ArgValue::Buffer(v) if v.bytes.len() == 20));
        assert!(parameter("global half *c").unwrap().value("3 of rising 0..2", 0).is_err());
    }
}
