//! Comparison of results: exact, by units in the last place, by absolute and relative bounds, or as a set.

use std::fmt;

use crate::values::{ElemType, HostValue};
use half::f16;

/// How an output is compared. NaN equals NaN, whatever its sign and payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Check {
    /// Bit for bit.
    Exact,
    /// At most so many units in the last place apart (floats).
    Ulp(u64),
    /// `|got - want| <= abs + rel * |want|`.
    Bounds {
        /// Absolute part.
        abs: f64,
        /// Relative part.
        rel: f64,
    },
    /// The same elements bit for bit, in any order.
    Set,
    /// Not compared: the content is open.
    Any,
}

const FORMS: &str = "expected exact, ulp N, abs X, rel X, rel X abs Y, set or any";

impl Check {
    /// Reads `exact`, `ulp N`, `abs X`, `rel X`, `rel X abs Y`, `set`, `any`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Check, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["exact"] => return Ok(Check::Exact),
            ["set"] => return Ok(Check::Set),
            ["any"] => return Ok(Check::Any),
            ["ulp", n] => {
                return n.parse().map(Check::Ulp).map_err(|_| format!("`{n}` is not a number of ulp"));
            }
            _ => {}
        }
        let (mut abs, mut rel) = (None, None);
        for pair in words.chunks(2) {
            let [key, number] = pair else { return Err(format!("cannot read the bound `{text}`: {FORMS}")) };
            let number: f64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
            if !number.is_finite() || number < 0.0 {
                return Err(format!("`{number}` is not a bound"));
            }
            let slot = match *key {
                "abs" => &mut abs,
                "rel" => &mut rel,
                _ => return Err(format!("unknown bound `{key}`: {FORMS}")),
            };
            if slot.replace(number).is_some() {
                return Err(format!("`{key}` stands twice"));
            }
        }
        if abs.is_none() && rel.is_none() {
            return Err(format!("the bound is empty: {FORMS}"));
        }
        Ok(Check::Bounds { abs: abs.unwrap_or(0.0), rel: rel.unwrap_or(0.0) })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Exact => f.write_str("exact"),
            Check::Ulp(n) => write!(f, "{n} ulp"),
            Check::Bounds { abs, rel } if *rel == 0.0 => write!(f, "abs {abs}"),
            Check::Bounds { abs, rel } if *abs == 0.0 => write!(f, "rel {rel}"),
            Check::Bounds { abs, rel } => write!(f, "rel {rel} + abs {abs}"),
            Check::Set => f.write_str("as a set"),
            Check::Any => f.write_str("not compared"),
        }
    }
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements out of bounds.
    pub mismatches: usize,
    /// The first element out of bounds: index, wanted, got.
    pub first: Option<(usize, String, String)>,
    /// Largest distance seen among floats, in ulp, within bounds or not.
    pub worst_ulp: u64,
    /// Largest absolute difference seen.
    pub worst_abs: f64,
    /// Type or shape differ: a sentence.
    pub shape_error: Option<String>,
}

impl Comparison {
    /// True where everything lies within the bound.
    pub fn passed(&self) -> bool {
        self.mismatches == 0 && self.shape_error.is_none()
    }
}

/// Position of a float on the number line, neighbours differing by one; both zeros at 0. `None` for NaN.
fn float_ordinal(v: &HostValue, i: usize) -> Option<i128> {
    let b = v.element(i)?;
    let (sign, magnitude, nan) = match v.elem {
        ElemType::F16 => {
            let x = f16::from_le_bytes(b.try_into().ok()?);
            (x.is_sign_negative(), i128::from(x.to_bits() & 0x7fff), x.is_nan())
        }
        ElemType::F32 => {
            let x = f32::from_le_bytes(b.try_into().ok()?);
            (x.is_sign_negative(), i128::from(x.to_bits() & 0x7fff_ffff), x.is_nan())
        }
        ElemType::F64 => {
            let x = f64::from_le_bytes(b.try_into().ok()?);
            (x.is_sign_negative(), i128::from(x.to_bits() & !(1 << 63)), x.is_nan())
        }
        _ => return v.get_int(i),
    };
    if nan { None } else { Some(if sign { -magnitude } else { magnitude }) }
}

fn is_nan(v: &HostValue, i: usize) -> bool {
    v.elem.is_float() && v.get_f64(i).is_some_and(f64::is_nan)
}

/// Compares `got` with `want` under `check`.
pub fn compare(want: &HostValue, got: &HostValue, check: Check) -> Comparison {
    let mut c = Comparison::default();
    if want.elem != got.elem || want.bytes.len() != got.bytes.len() {
        c.shape_error = Some(format!(
            "{} elements of {} instead of {} of {}",
            got.len(),
            got.elem,
            want.len(),
            want.elem
        ));
        return c;
    }
    c.elements = want.len();
    match check {
        Check::Any => {}
        Check::Set => {
            let size = want.elem.size();
            let sorted = |v: &HostValue| {
                let mut e: Vec<Vec<u8>> =
                    v.bytes.chunks_exact(size).map(|e| e.iter().rev().copied().collect()).collect();
                e.sort_unstable();
                e
            };
            let (w, g) = (sorted(want), sorted(got));
            for (i, (a, b)) in w.iter().zip(&g).enumerate() {
                if a != b {
                    c.mismatches += 1;
                    c.first.get_or_insert_with(|| (i, format!("{a:02x?} (sorted)"), format!("{b:02x?}")));
                }
            }
        }
        Check::Exact | Check::Ulp(_) | Check::Bounds { .. } => {
            for i in 0..c.elements {
                compare_element(want, got, i, check, &mut c);
            }
        }
    }
    c
}

fn compare_element(want: &HostValue, got: &HostValue, i: usize, check: Check, c: &mut Comparison) {
    let same_bits = want.element(i) == got.element(i);
    let ok = if same_bits || (is_nan(want, i) && is_nan(got, i)) {
        true
    } else {
        let ulp = match (float_ordinal(want, i), float_ordinal(got, i)) {
            (Some(w), Some(g)) => u64::try_from(w.abs_diff(g)).unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        let (w, g) = (want.get_f64(i).unwrap_or(f64::NAN), got.get_f64(i).unwrap_or(f64::NAN));
        let abs = (w - g).abs();
        if want.elem.is_float() {
            c.worst_ulp = c.worst_ulp.max(ulp);
        }
        if abs > c.worst_abs {
            c.worst_abs = abs;
        }
        match check {
            Check::Ulp(bound) => ulp <= bound,
            // Infinities of one sign have equal bits; any other pair with one fails here.
            Check::Bounds { abs: a, rel } => abs <= a + rel * w.abs() && w.is_finite(),
            _ => false,
        }
    };
    if !ok {
        c.mismatches += 1;
        if c.first.is_none() {
            let show = |v: &HostValue| v.display(i).unwrap_or_default();
            c.first = Some((i, show(want), show(got)));
        }
    }
}

/// Compares printed text as lines in any order.
pub fn compare_lines(want: &str, got: &str) -> Comparison {
    let sorted = |s: &str| {
        let mut l: Vec<String> = s.lines().map(str::to_owned).collect();
        l.sort_unstable();
        l
    };
    let (w, g) = (sorted(want), sorted(got));
    let mut c = Comparison { elements: w.len(), ..Comparison::default() };
    if w.len() != g.len() {
        c.shape_error = Some(format!("{} lines instead of {}", g.len(), w.len()));
    }
    for (i, (a, b)) in w.into_iter().zip(g).enumerate() {
        if a != b {
            c.mismatches += 1;
            c.first.get_or_insert((i, a, b));
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(v: &[f32]) -> HostValue {
        let bytes = v.iter().flat_map(|x| x.to_le_bytes()).collect();
        HostValue { elem: ElemType::F32, shape: vec![v.len() as u64], bytes }
    }

    #[test]
    fn checks_read() {
        assert_eq!(Check::parse("ulp 4"), Ok(Check::Ulp(4)));
        assert_eq!(Check::parse("rel 1e-6 abs 2"), Ok(Check::Bounds { abs: 2.0, rel: 1e-6 }));
        for bad in ["", "ulp", "ulp -1", "abs", "abs -1", "abs nan", "foo 1", "abs 1 abs 2", "exact ulp"] {
            assert!(Check::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nan_equals_nan_only() {
        let odd_nan = f32::from_bits(0xffc0_1234);
        let c = compare(&floats(&[f32::NAN, 1.0]), &floats(&[odd_nan, 1.0]), Check::Exact);
        assert!(c.passed());
        assert!(
            !compare(&floats(&[f32::NAN]), &floats(&[1.0]), Check::Bounds { abs: 1e9, rel: 1e9 }).passed()
        );
        assert!(!compare(&floats(&[1.0]), &floats(&[f32::NAN]), Check::Ulp(u64::MAX - 1)).passed());
    }

    #[test]
    fn bounds_hold_to_the_ulp() {
        let next = f32::from_bits(1.0f32.to_bits() + 3);
        let c = compare(&floats(&[1.0, 2.0]), &floats(&[next, 2.0]), Check::Ulp(2));
        assert_eq!((c.mismatches, c.worst_ulp), (1, 3));
        assert_eq!(c.first.unwrap().0, 0);
        assert!(compare(&floats(&[1.0]), &floats(&[next]), Check::Ulp(3)).passed());
        // Across zero, and signed zeros.
        let tiny = f32::from_bits(1);
        assert_eq!(compare(&floats(&[tiny]), &floats(&[-tiny]), Check::Ulp(2)).worst_ulp, 2);
        assert!(!compare(&floats(&[0.0]), &floats(&[-0.0]), Check::Exact).passed());
        assert!(compare(&floats(&[0.0]), &floats(&[-0.0]), Check::Ulp(0)).passed());
        assert!(
            !compare(&floats(&[f32::INFINITY]), &floats(&[f32::MAX]), Check::Bounds { abs: 1e30, rel: 0.0 })
                .passed()
        );
    }

    #[test]
    fn sets_and_shapes() {
        assert!(compare(&floats(&[1.0, 2.0, 2.0]), &floats(&[2.0, 1.0, 2.0]), Check::Set).passed());
        assert_eq!(compare(&floats(&[1.0, 2.0, 2.0]), &floats(&[2.0, 1.0, 1.0]), Check::Set).mismatches, 1);
        assert!(!compare(&floats(&[1.0]), &floats(&[1.0, 2.0]), Check::Any).passed());
        assert!(compare_lines("b\na\n", "a\nb\n").passed());
        assert!(!compare_lines("b\na\n", "a\nb\nb\n").passed());
        assert!(!compare_lines("b\na\n", "a\nc\n").passed());
    }
}
