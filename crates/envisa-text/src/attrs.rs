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

/// Who may have an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Kernel,
    Variable,
}

/// All attributes by name.
pub(crate) const ATTRS: &[(&str, Owner, Value)] = &[
    ("Target", Owner::Kernel, Value::Target),
    ("SimdSize", Owner::Kernel, Value::Int),
    ("SLMSize", Owner::Kernel, Value::Int),
    ("PerThreadInputSize", Owner::Kernel, Value::Int),
    ("CrossThreadInputSize", Owner::Kernel, Value::Int),
    ("SpillMemOffset", Owner::Kernel, Value::Int),
    ("ArgSize", Owner::Kernel, Value::Int),
    ("RetValSize", Owner::Kernel, Value::Int),
    ("NBarrierCnt", Owner::Kernel, Value::Int),
    ("OutputAsmPath", Owner::Kernel, Value::Str),
    ("AsmName", Owner::Kernel, Value::Str),
    ("Extern", Owner::Kernel, Value::Bool),
    ("NoBarrier", Owner::Kernel, Value::Bool),
    ("Callable", Owner::Kernel, Value::Bool),
    ("Caller", Owner::Kernel, Value::Bool),
    ("Composable", Owner::Kernel, Value::Bool),
    ("Entry", Owner::Kernel, Value::Bool),
    ("SepSpillPvtSS", Owner::Kernel, Value::Bool),
    ("LTO_InvokeOptTarget", Owner::Kernel, Value::Bool),
    ("Input", Owner::Variable, Value::Bool),
    ("Output", Owner::Variable, Value::Bool),
    ("PayloadLiveOut", Owner::Variable, Value::Bool),
    ("Input_Output", Owner::Variable, Value::Bool),
    ("NoWidening", Owner::Variable, Value::Bool),
    ("DoNotSpill", Owner::Variable, Value::Bool),
    ("Scope", Owner::Variable, Value::Int),
    ("SurfaceUsage", Owner::Variable, Value::Int),
];

/// The attribute of a name.
pub(crate) fn find(name: &[u8]) -> Option<&'static (&'static str, Owner, Value)> {
    ATTRS.iter().find(|a| a.0.as_bytes() == name)
}
