//! Built-in functions of OpenCL C written out. Where a program with one of these gives what other compilers give, and with the
//! compiler's own does not, the difference comes from that function.

use super::types::{Base, Type};
use std::fmt::Write as _;

/// A function of integers: its arguments are `a`, `b` and `c`, of type `T`, and `U` is the unsigned type of the same size.
struct Own {
    name: &'static str,
    arguments: usize,
    /// It gives `U` instead of `T`.
    unsigned: bool,
    /// Statements, for signed and for unsigned types.
    body: [&'static str; 2],
}

const fn own_function(name: &'static str, arguments: usize, body: [&'static str; 2]) -> Own {
    Own { name, arguments, unsigned: false, body }
}

const ABS_DIFF: &str = "return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a);";
const HADD: &str = "return (a & b) + ((a ^ b) >> 1);";
const RHADD: &str = "return (a | b) - ((a ^ b) >> 1);";
const MAX: &str = "return a > b ? a : b;";
const MIN: &str = "return a < b ? a : b;";
const MAD_HI: &str = "return (U)own_mul_hi(a, b) + (U)c;";
const ROTATE: &str =
    "uint n = (uint)b & (BITS - 1); return (U)((U)a << n) | (U)((U)a >> ((BITS - n) & (BITS - 1)));";
const CLZ: &str = "uint n = 0; for (U x = a; n < BITS && !(x >> (BITS - 1)); x <<= 1) n++; return n;";
const POPCOUNT: &str = "uint n = 0; for (U x = a; x != 0; x >>= 1) n += x & 1; return n;";
const MUL24: &str = "return (U)a * (U)b;";
const MAD24: &str = "return (U)a * (U)b + (U)c;";

const ALL: [Own; 16] = [
    Own { unsigned: true, ..own_function("abs", 1, ["return a < 0 ? (U)(0 - (U)a) : (U)a;", "return a;"]) },
    Own { unsigned: true, ..own_function("abs_diff", 2, [ABS_DIFF; 2]) },
    own_function(
        "add_sat",
        2,
        [
            "U s = (U)a + (U)b; return ((T)(a ^ s) & (T)(b ^ s)) < 0 ? (a < 0 ? LEAST : MOST) : (T)s;",
            "T s = a + b; return s < a ? MOST : s;",
        ],
    ),
    own_function(
        "sub_sat",
        2,
        [
            "U s = (U)a - (U)b; return ((T)(a ^ b) & (T)(a ^ s)) < 0 ? (a < 0 ? LEAST : MOST) : (T)s;",
            "return a < b ? (T)0 : (T)(a - b);",
        ],
    ),
    own_function("hadd", 2, [HADD; 2]),
    own_function("rhadd", 2, [RHADD; 2]),
    own_function("max", 2, [MAX; 2]),
    own_function("min", 2, [MIN; 2]),
    own_function(
        "mul_hi",
        2,
        [
            "return BITS < 64 ? (T)((long)a * (long)b >> (BITS & 63)) \
             : (T)own_signed_high(a, b);",
            "return BITS < 64 ? (T)((ulong)a * (ulong)b >> (BITS & 63)) : (T)own_high(a, b);",
        ],
    ),
    own_function("mad_hi", 3, [MAD_HI; 2]),
    own_function(
        "mad_sat",
        3,
        [
            "ulong p = (ulong)a * (ulong)b, s = p + (ulong)c; \
             long h = BITS < 64 ? (long)s >> 63 : own_signed_high(a, b) - (c < 0) + (s < p); \
             bool fits = h == (long)s >> 63 && (long)s >= LEAST && (long)s <= MOST; \
             return fits ? (T)s : h < 0 ? LEAST : MOST;",
            "ulong p = (ulong)a * (ulong)b, s = p + c; \
             return (BITS < 64 ? s > MOST : own_high(a, b) != 0 || s < p) ? MOST : (T)s;",
        ],
    ),
    own_function("rotate", 2, [ROTATE; 2]),
    own_function("clz", 1, [CLZ; 2]),
    own_function("popcount", 1, [POPCOUNT; 2]),
    own_function("mul24", 2, [MUL24; 2]),
    own_function("mad24", 3, [MAD24; 2]),
];

/// The high half of a product of 64-bit numbers.
const HIGH: &str = "\
static ulong own_high(ulong a, ulong b)
{
    ulong low = 0xfffffffful, l = (a & low) * (b & low), m = (a >> 32) * (b & low) + (l >> 32);
    ulong n = (a & low) * (b >> 32) + (m & low);
    return (a >> 32) * (b >> 32) + (m >> 32) + (n >> 32);
}
static long own_signed_high(long a, long b)
{
    return own_high(a, b) - (a < 0 ? b : 0) - (b < 0 ? a : 0);
}
";

/// What random programs call the difference of two scans of a sub-group by.
const SCAN: &str = "SUB_SAME";

/// The functions that can be written out.
pub fn replaceable_functions() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|f| f.name).chain([SCAN])
}

/// What stands before a program so that it has one of [`replaceable_functions`] written out; nothing if it is none of them.
pub fn definition_of(name: &str) -> String {
    if name == SCAN {
        // The difference is that of the work-item's own value, which is what the program subtracts.
        return "#if defined(cl_khr_subgroups) || defined(__opencl_c_subgroups)\n#undef SUB_SAME\n\
                #define SUB_SAME(x) ((uint)(sub_group_broadcast(x, 0) == sub_group_reduce_min(sub_group_broadcast(x, 0))))\n#endif\n"
            .into();
    }
    let mut text = String::from(HIGH);
    // One is made of the other.
    let needed = |f: &&Own| f.name == name || (name == "mad_hi" && f.name == "mul_hi");
    for f in ALL.iter().filter(needed) {
        for bits in [8, 16, 32, 64] {
            f.write(Base::Int(bits), &mut text);
            f.write(Base::Uint(bits), &mut text);
        }
    }
    text + &redefinition_of(name)
}

/// The end of what is [`definition_of`]: calls of a function go to the one of our own from there on. Built-in functions may be
/// macros.
pub fn redefinition_of(name: &str) -> String {
    format!("#undef {name}\n#define {name} own_{name}\n")
}

impl Own {
    /// For scalars and vectors of a type.
    fn write(&self, base: Base, text: &mut String) {
        let scalar = Type { base, width: 1 };
        let (bits, sign) = (base.bits(), u32::from(scalar.is_signed()));
        let (t, u, most) = (base.name(), scalar.unsigned().name(), u64::MAX >> (64 - bits + sign));
        let _ = writeln!(text, "#define T {t}\n#define U {u}\n#define BITS {bits}u");
        let _ = writeln!(text, "#define MOST ((T)0x{most:x}ul)\n#define LEAST ((T)(-MOST - 1))");
        for ty in [1, 2, 3, 4, 8, 16].map(|width| scalar.wide(width)) {
            let gives = if self.unsigned { ty.unsigned() } else { ty }.name();
            let names = &["a", "b", "c"][..self.arguments];
            let list: Vec<String> = names.iter().map(|n| format!("{} {n}", ty.name())).collect();
            let element = |k: usize| {
                let all: Vec<String> = names.iter().map(|n| format!("{n}{}", ty.element(k))).collect();
                format!("own_{}({})", self.name, all.join(", "))
            };
            let body = match ty.width {
                1 => self.body[1 - sign as usize].to_owned(),
                width => {
                    let all: Vec<String> = (0..width).map(element).collect();
                    format!("return ({gives})({});", all.join(", "))
                }
            };
            let _ = writeln!(
                text,
                "static {gives} __attribute__((overloadable)) own_{}({})\n{{\n    {body}\n}}",
                self.name,
                list.join(", ")
            );
        }
        text.push_str("#undef T\n#undef U\n#undef BITS\n#undef MOST\n#undef LEAST\n");
    }
}
