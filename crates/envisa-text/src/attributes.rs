//! The attributes that kernels and variables may have.

/// What an attribute's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Bool,
    Int,
    Str,
    /// `"cm"` or `"3d"`, one byte.
    Target,
}

/// What a value's label says of its length.
pub(crate) fn value_length_label() -> String {
    format!("at most {} bytes", envisa_isa::limits::ATTRIBUTE_VALUE_BYTES)
}

/// Who may have an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Kernel,
    Variable,
}

/// The version of the text that brought an attribute.
pub(crate) type Since = (u8, u8);
const V41: Since = (0, 0);
const V42: Since = (4, 2);

/// Names that older compilers write, and today's.
pub(crate) const OLD_NAMES: &[(&str, &str)] = &[
    ("AsmName", "OutputAsmPath"),
    ("perThreadInputSize", "PerThreadInputSize"),
    ("crossThreadInputSize", "CrossThreadInputSize"),
];

/// All attributes by name, and since when.
pub(crate) const ATTRS: &[(&str, Owner, Value, Since)] = &[
    ("Target", Owner::Kernel, Value::Target, V41),
    ("SimdSize", Owner::Kernel, Value::Int, V41),
    ("SLMSize", Owner::Kernel, Value::Int, V41),
    ("PerThreadInputSize", Owner::Kernel, Value::Int, V41),
    ("CrossThreadInputSize", Owner::Kernel, Value::Int, V41),
    ("SpillMemOffset", Owner::Kernel, Value::Int, V41),
    ("ArgSize", Owner::Kernel, Value::Int, V41),
    ("RetValSize", Owner::Kernel, Value::Int, V41),
    ("NBarrierCnt", Owner::Kernel, Value::Int, V41),
    ("OutputAsmPath", Owner::Kernel, Value::Str, V41),
    ("Extern", Owner::Kernel, Value::Bool, V41),
    ("NoBarrier", Owner::Kernel, Value::Bool, V41),
    ("Callable", Owner::Kernel, Value::Bool, V41),
    ("Caller", Owner::Kernel, Value::Bool, V41),
    ("Composable", Owner::Kernel, Value::Bool, V41),
    ("Entry", Owner::Kernel, Value::Bool, V41),
    ("SepSpillPvtSS", Owner::Kernel, Value::Bool, V41),
    ("LTO_InvokeOptTarget", Owner::Kernel, Value::Bool, V41),
    ("Input", Owner::Variable, Value::Bool, V41),
    ("Output", Owner::Variable, Value::Bool, V41),
    ("PayloadLiveOut", Owner::Variable, Value::Bool, V41),
    ("Input_Output", Owner::Variable, Value::Bool, V41),
    ("NoWidening", Owner::Variable, Value::Bool, V41),
    ("DoNotSpill", Owner::Variable, Value::Bool, V41),
    ("Scope", Owner::Variable, Value::Int, V41),
    ("SurfaceUsage", Owner::Variable, Value::Int, V41),
    ("NumGRF", Owner::Kernel, Value::Int, V42),
    ("AllLaneActive", Owner::Kernel, Value::Bool, V42),
    ("MaxRegThreadDispatch", Owner::Kernel, Value::Int, V42),
    ("ScratchInlineOffset", Owner::Kernel, Value::Int, V42),
    ("ScratchIndirectRegOffset", Owner::Kernel, Value::Int, V42),
    ("ScratchIndirectMemOffset", Owner::Kernel, Value::Int, V42),
    ("DisableLoadThreadPayloadWA", Owner::Kernel, Value::Bool, V42),
    ("ForceSpill", Owner::Variable, Value::Bool, V42),
    ("ExclusiveLoad", Owner::Variable, Value::Bool, V42),
];

/// Attributes by name: is it a kernel's, or else a variable's, and the version that brought it.
pub fn attributes() -> impl Iterator<Item = (&'static str, bool, (u8, u8))> {
    ATTRS.iter().map(|a| (a.0, a.1 == Owner::Kernel, a.3))
}

/// The attribute of a name.
pub(crate) fn find(name: &[u8]) -> Option<&'static (&'static str, Owner, Value, Since)> {
    let old = OLD_NAMES.iter().find(|n| n.0.as_bytes() == name);
    let name = old.map_or(name, |n| n.1.as_bytes());
    ATTRS.iter().find(|a| a.0.as_bytes() == name)
}
