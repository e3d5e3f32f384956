//! The description of a rule, and the registry of all rules.

mod list;

use envisa_diag::Severity;

use crate::Code;

/// A rule: data only; the code that applies it names its [`Code`].
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier.
    pub code: Code,
    /// Stable name in kebab case; accepted wherever the identifier is.
    pub name: &'static str,
    /// How grave a finding is unless the caller says otherwise.
    pub severity: Severity,
    /// Page or chapter of the specification that states it, without `.md`; empty where none does.
    pub page: &'static str,
    /// The rule in one sentence, without a full stop.
    pub brief: &'static str,
    /// Why, what is meant exactly, and where practice differs.
    pub text: &'static str,
    /// A failing example and its corrected neighbour.
    pub example: Example,
    /// Who checks it, and how.
    pub kind: Kind,
}

/// Examples of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Declarations and instructions that stand in [`frame`]. A first line `// platform: NAME` says
    /// for which platform it is meant ([`EXAMPLE_PLATFORM`] otherwise).
    Text {
        /// Is reported with exactly this rule.
        bad: &'static str,
        /// Is not.
        good: &'static str,
    },
    /// Cannot be written in text: the binary, or a builder, can say it. What such a module looks like.
    Binary(&'static str),
    /// Nothing to show: the rule is not checked statically.
    None,
}

/// Who checks a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The verifier, looking at one declaration or instruction.
    Static,
    /// The verifier, following data and control flow: a lint.
    Flow,
    /// Known at run time only, and checked there by the engine.
    Runtime,
    /// Neither the verifier nor the engine can know.
    Unchecked,
}

/// The platform examples are checked for unless they name one.
pub const EXAMPLE_PLATFORM: envisa_isa::Platform = envisa_isa::Platform::Dg2;

/// Declarations that all examples may use: one variable of each type (`Vud`, `Vd`, … `Vbf`, 64 elements,
/// register-aligned), predicates `P8`, `P16`, `P32`, addresses `A0` (16), surface `T6`, sampler `S0`.
pub const FRAME: &str = "\
.version 4.1
.kernel \"example\"
.decl Vud v_type=G type=ud num_elts=64 align=GRF
.decl Vd v_type=G type=d num_elts=64 align=GRF
.decl Vuw v_type=G type=uw num_elts=64 align=GRF
.decl Vw v_type=G type=w num_elts=64 align=GRF
.decl Vub v_type=G type=ub num_elts=64 align=GRF
.decl Vb v_type=G type=b num_elts=64 align=GRF
.decl Vf v_type=G type=f num_elts=64 align=GRF
.decl Vhf v_type=G type=hf num_elts=64 align=GRF
.decl Vbf v_type=G type=bf num_elts=64 align=GRF
.decl Vdf v_type=G type=df num_elts=64 align=GRF
.decl Vq v_type=G type=q num_elts=64 align=GRF
.decl Vuq v_type=G type=uq num_elts=64 align=GRF
.decl A0 v_type=A num_elts=16
.decl P8 v_type=P num_elts=8
.decl P16 v_type=P num_elts=16
.decl P32 v_type=P num_elts=32
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
";

/// A whole file around an example: the frame, the example's directives, its instructions, a return.
/// An example that starts with `.version` stands for itself.
pub fn frame_example(example: &str) -> String {
    if example.lines().any(|l| l.starts_with(".version")) {
        return example.to_string();
    }
    let mut out = String::from(FRAME);
    let (directives, rest): (Vec<&str>, Vec<&str>) = example
        .lines()
        .filter(|l| !l.starts_with("//"))
        .partition(|l| [".decl", ".input", ".implicit", ".kernel_attr"].iter().any(|d| l.starts_with(d)));
    for line in &directives {
        out.push_str(line);
        out.push('\n');
    }
    if !directives.iter().any(|l| l.contains("SimdSize")) {
        out.push_str(".kernel_attr SimdSize=16\n");
    }
    for line in rest {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("ret (M1_NM,1)\n");
    out
}

/// The platform an example is meant for.
pub fn example_platform(example: &str) -> envisa_isa::Platform {
    example
        .lines()
        .next()
        .and_then(|l| l.strip_prefix("// platform:"))
        .and_then(|p| envisa_isa::Platform::from_name(p.trim()))
        .unwrap_or(EXAMPLE_PLATFORM)
}

/// All rules, in groups, ordered by identifier within each.
pub static GROUPS: &[(&str, &[Rule])] = &[
    ("Structure", list::STRUCTURE),
    ("Declarations", list::DECLARATIONS),
    ("Operands", list::OPERANDS),
    ("Instructions", list::INSTRUCTIONS),
    ("Memory messages", list::MEMORY),
    ("LSC messages", list::LSC),
    ("Lints", list::LINTS),
    ("Not checked statically", list::UNCHECKED),
];

/// Warnings of rules that the reference compiler breaks all the time, or that speak of how it writes and not of what it
/// writes: nobody who compiled a kernel can act on them.
pub static COMPILERS: &[Code] = &[
    Code::ALIAS_PREDEFINED,
    Code::TWO_GRFS,
    Code::OUTSIDE_VARIABLE,
    Code::COLUMN_CROSSES_GRF,
    Code::SATURATION,
    Code::RESERVED_VAR,
    Code::NO_INT64,
    Code::RAW_EXTENT,
    Code::RAW_TYPE,
    Code::INPUT_WRITTEN,
    Code::SPECIAL_BITS,
    Code::PREDEFINED_PLATFORM,
    Code::PAGE_TYPE,
    Code::OPERAND_SIGN,
    Code::ATOMIC_SIGN,
    Code::SVM_BLOCK_TYPE,
    Code::SVM_BYTE_BLOCKS_EXEC,
    Code::SCATTER_SAME_OFFSET,
    Code::SETP_MASK,
    Code::SAME_TYPE,
    Code::SHIFT_SIGN,
    Code::PAGE_EXEC,
    Code::PAGE_VALUE,
    Code::LSC_CACHING,
    Code::READ_BEFORE_WRITE,
    Code::DEAD_WRITE,
    Code::UNREACHABLE,
    Code::UNUSED,
];

/// All rules.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|(_, rules)| rules.iter())
}

/// The rule of an identifier (`V0101`, in any case) or name (`var-type`).
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|r| r.name == id || r.code.to_string().eq_ignore_ascii_case(id))
}

/// The rule of a code.
pub fn get(code: Code) -> Option<&'static Rule> {
    all().find(|r| r.code == code)
}
