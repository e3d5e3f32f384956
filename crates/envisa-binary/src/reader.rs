//! Reading a file: header, tables, instructions.

use crate::MAGIC;
use crate::cursor::Cursor;
use crate::damaged;
use crate::decode::{Decoder, Layout};
use crate::error::{Problem, ReadError};
use envisa_isa::{
    Align, Attr, AttrRange, Fault, GeneralVar, Input, Inst, Label, LabelUse, Limits, Module, Native, Object,
    ObjectKind, Platform, SimpleVar, Span, Type, limits, predefined,
};
use std::ops::Range;

type Result<T> = std::result::Result<T, ReadError>;

/// How to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The platform whose register size turns row and column back into the offset of `&V32[36]`. Without it the
    /// platforms of the file's native code say how large a register is; a file that has none is refused where an
    /// offset depends on it.
    pub platform: Option<Platform>,
}

impl ReadOptions {
    /// For a platform.
    pub fn for_platform(platform: Platform) -> ReadOptions {
        ReadOptions { platform: Some(platform) }
    }

    /// Bytes of a register, if these options or the file's native code say it, and all of it the same.
    pub(crate) fn grf_bytes(&self, header: &Header) -> Option<u32> {
        if let Some(platform) = self.platform {
            return Some(platform.grf_bytes());
        }
        let sizes = header.kernels.iter().flat_map(|k| &k.native).map(|native| {
            let named = Platform::ALL.into_iter().find(|p| p.binary_code() == Some(native.platform));
            named.map(Platform::grf_bytes)
        });
        sizes.reduce(|a, b| if a == b { a } else { None }).flatten()
    }
}

/// What stands at the head of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Format version.
    pub version: (u8, u8),
    /// Kernels.
    pub kernels: Vec<HeaderKernel>,
    /// Stack-call functions.
    pub functions: Vec<HeaderFunction>,
    /// Bytes the header takes.
    pub size: usize,
}

/// A kernel in the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderKernel {
    /// Name.
    pub name: String,
    /// Offset of the object in the file.
    pub offset: u32,
    /// Bytes of the object.
    pub size: u32,
    /// Offset of the object's number of inputs in the file.
    pub input_offset: u32,
    /// Records of native code.
    pub native: Vec<HeaderNative>,
    /// Where the record stands in the file.
    pub span: Span,
}

/// A record of native code in the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderNative {
    /// Platform byte.
    pub platform: u8,
    /// Offset in the file.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A function in the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderFunction {
    /// Name.
    pub name: String,
    /// Offset of the object in the file.
    pub offset: u32,
    /// Bytes of the object.
    pub size: u32,
    /// Where the record stands in the file.
    pub span: Span,
}

/// Reads a binary. The module is sound ([`Module::check_sound`]), whatever the bytes were.
///
/// Time and memory are linear in the file's size: nothing is allocated for a count before the bytes
/// that it counts are known to be there, and objects must not overlap.
///
/// # Errors
/// The first thing that is wrong, with its byte offset and field.
pub fn read(bytes: &[u8]) -> Result<Module> {
    read_with(bytes, &ReadOptions::default())
}

/// [`read`] with options.
///
/// # Errors
/// As [`read`].
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Module> {
    let header = read_header(bytes)?;
    let grf = options.grf_bytes(&header);
    let mut objects = Vec::with_capacity(header.kernels.len() + header.functions.len());
    for located in object_ranges(&header) {
        let object = read_object(bytes, header.version, &located, grf).map_err(|e| e.within(&located))?;
        objects.push(object);
    }
    Ok(Module { version: header.version, objects })
}

/// An object as the header announces it.
pub(crate) struct Located<'a> {
    pub kind: ObjectKind,
    pub name: &'a str,
    pub span: Span,
    pub range: Range<usize>,
    pub input_offset: Option<u32>,
    pub native: &'a [HeaderNative],
}

impl std::fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            ObjectKind::Kernel => "kernel",
            ObjectKind::Function => "function",
        };
        write!(f, "{kind} {:?}", self.name)
    }
}

/// The header's objects; their ranges lie in the file and apart, as [`read_header`] has checked.
pub(crate) fn object_ranges(header: &Header) -> impl Iterator<Item = Located<'_>> {
    let range = |offset: u32, size: u32| offset as usize..offset as usize + size as usize;
    let kernels = header.kernels.iter().map(move |k| Located {
        kind: ObjectKind::Kernel,
        name: &k.name,
        span: k.span,
        range: range(k.offset, k.size),
        input_offset: Some(k.input_offset),
        native: &k.native,
    });
    let functions = header.functions.iter().map(move |f| Located {
        kind: ObjectKind::Function,
        name: &f.name,
        span: f.span,
        range: range(f.offset, f.size),
        input_offset: None,
        native: &[],
    });
    kernels.chain(functions)
}

/// Reads the header only, and checks that the objects it announces lie in the file and do not overlap.
///
/// # Errors
/// As [`read`], for the header.
pub fn read_header(bytes: &[u8]) -> Result<Header> {
    if !bytes.starts_with(&MAGIC) {
        return Err(ReadError::new(0, "magic", Problem::NotCisa));
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(ReadError::new(0, "file", Problem::TooLarge));
    }
    let mut cur = Cursor::new(bytes, 4);
    let version = (cur.u8("major version")?, cur.u8("minor version")?);
    if !((3, 0)..=(4, 2)).contains(&version) {
        return Err(ReadError::new(4, "version", Problem::Version(version.0, version.1)));
    }
    let layout = Layout::of(version);
    let n = cur.u16("number of kernels")?;
    // Name length, offset, size, input offset, two relocation counts, number of native codes.
    let n = cur.require(n.into(), 18, "kernels")?;
    let mut kernels = Vec::with_capacity(n);
    for i in 0..n {
        kernels.push(header_kernel(&mut cur, layout).map_err(|e| e.within(format_args!("kernel {i}")))?);
    }
    let at = cur.pos();
    let globals = cur.u16("number of file-scope variables")?;
    if globals != 0 {
        let problem = Problem::Value { found: globals.into(), expected: "0: the format no longer has them" };
        return Err(ReadError::new(at, "number of file-scope variables", problem));
    }
    let n = cur.u16("number of functions")?;
    let n = cur.require(n.into(), 14, "functions")?;
    let mut functions = Vec::with_capacity(n);
    for i in 0..n {
        functions
            .push(header_function(&mut cur, layout).map_err(|e| e.within(format_args!("function {i}")))?);
    }
    let header = Header { version, kernels, functions, size: cur.pos() };
    check_ranges(bytes, &header)?;
    Ok(header)
}

fn header_name(cur: &mut Cursor, layout: Layout) -> Result<String> {
    let at = cur.pos();
    let len = if layout.wide_name_length() { cur.u16("name length")? } else { cur.u8("name length")?.into() };
    read_utf8(cur.slice(len.into(), "name")?, at)
}

fn header_kernel(cur: &mut Cursor, layout: Layout) -> Result<HeaderKernel> {
    let start = cur.pos();
    let name = header_name(cur, layout)?;
    let offset = cur.u32("offset")?;
    let size = cur.u32("size")?;
    let input_offset = cur.u32("input offset")?;
    skip_relocations(cur)?;
    let n = cur.u8("number of native codes")?;
    let n = cur.require(n.into(), 9, "native codes")?;
    let mut native = Vec::with_capacity(n);
    for _ in 0..n {
        native.push(HeaderNative {
            platform: cur.u8("native platform")?,
            offset: cur.u32("native offset")?,
            size: cur.u32("native size")?,
        });
    }
    Ok(HeaderKernel { name, offset, size, input_offset, native, span: span_since(start, cur) })
}

fn header_function(cur: &mut Cursor, layout: Layout) -> Result<HeaderFunction> {
    let start = cur.pos();
    cur.u8("linkage")?;
    let name = header_name(cur, layout)?;
    let offset = cur.u32("offset")?;
    let size = cur.u32("size")?;
    skip_relocations(cur)?;
    Ok(HeaderFunction { name, offset, size, span: span_since(start, cur) })
}

/// Two lists of pairs that nothing uses.
fn skip_relocations(cur: &mut Cursor) -> Result<()> {
    for what in ["variable relocations", "function relocations"] {
        let n = cur.u16("number of relocations")?;
        cur.slice(n as usize * 4, what)?;
    }
    Ok(())
}

/// Everything the header announces lies in the file, and nothing over anything else: what bounds
/// memory and time by the file's size.
fn check_ranges(bytes: &[u8], header: &Header) -> Result<()> {
    let mut ranges = vec![(0, header.size as u64, 0, "header".to_owned())];
    let mut add = |offset: u32, size: u32, span: Span, what: String| {
        let end = offset as u64 + size as u64;
        if end > bytes.len() as u64 {
            let left = bytes.len().saturating_sub(offset as usize);
            let problem = Problem::Truncated { needed: size.into(), left };
            return Err(ReadError::new(span.start as usize, what + ": offset and size", problem));
        }
        ranges.push((offset as u64, end, span.start as usize, what));
        Ok(())
    };
    for k in &header.kernels {
        add(k.offset, k.size, k.span, format!("kernel {:?}", k.name))?;
        for n in k.native.iter().filter(|n| n.size != 0) {
            add(n.offset, n.size, k.span, format!("kernel {:?}: native code", k.name))?;
        }
    }
    for f in &header.functions {
        add(f.offset, f.size, f.span, format!("function {:?}", f.name))?;
    }
    ranges.sort_by_key(|r| (r.0, r.1));
    for pair in ranges.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(ReadError::new(pair[1].2, pair[1].3.clone(), Problem::Overlap));
        }
    }
    Ok(())
}

fn read_object(bytes: &[u8], version: (u8, u8), l: &Located, grf: Option<u32>) -> Result<Object> {
    let Tables { mut object, code } = read_tables(bytes, version, l)?;
    object.insts.reserve(code.len() / 24);
    object.operands.reserve(code.len() / 6);
    let mut operands = std::mem::take(&mut object.operands);
    let mut insts = std::mem::take(&mut object.insts);
    let decoder = Decoder::new(&object, version, grf);
    let mut cur = Cursor::new(&bytes[..code.end], code.start);
    while cur.left() > 0 {
        let start = cur.pos();
        let first = operands.len();
        let op = decoder.inst(&mut cur, &mut operands).map_err(|e| {
            if damaged::looks_damaged(bytes, &code, &decoder) {
                return ReadError::new(e.offset, "instructions", Problem::Damaged);
            }
            e.within(format_args!("instruction {}", insts.len()))
        })?;
        let len = operands.len() - first;
        insts.push(Inst { op, len: len as u16, first: first as u32, span: span_since(start, &cur) });
    }
    object.insts = insts;
    object.operands = operands;
    Ok(object)
}

/// An object without its instructions, and where they are.
pub(crate) struct Tables {
    pub object: Object,
    /// Of the instructions, in the file.
    pub code: Range<usize>,
}

/// Reads everything of an object but the instructions.
pub(crate) fn read_tables(bytes: &[u8], version: (u8, u8), l: &Located) -> Result<Tables> {
    let layout = Layout::of(version);
    let mut cur = Cursor::new(&bytes[..l.range.end], l.range.start);
    let cur = &mut cur;
    let mut o = Object { kind: l.kind, name: l.name.to_owned(), name_span: l.span, ..Object::default() };

    read_strings(cur, layout, &mut o)?;
    let mut limits = Limits::of(&o, layout.version());
    read_string_index(cur, layout, &limits, "name")?;

    let n = layout.id(cur, "number of variables")?;
    let each = if layout.wide_ids() { 15 } else { 11 };
    let n = cur.require(n, each, "variables")?;
    o.vars.reserve_exact(n);
    for i in 0..n {
        let id = predefined::FIRST_VAR + i as u32;
        limits.vars = id;
        let v = general_var(cur, layout, &limits, &mut o.var_attrs)
            .map_err(|e| e.within(format_args!("variable {id}")))?;
        o.vars.push(v);
    }
    limits.vars = predefined::FIRST_VAR + n as u32;
    let list = |cur: &mut Cursor, n: u32, first: usize, kind: &'static str, attrs: &mut Vec<Attr>| {
        let n = cur.require(n, if layout.wide_ids() { 7 } else { 5 }, kind)?;
        let mut vars = Vec::with_capacity(n);
        for i in 0..n {
            vars.push(
                simple_var(cur, layout, &limits, attrs)
                    .map_err(|e| e.within(format_args!("{kind} {}", first + i)))?,
            );
        }
        Ok::<_, ReadError>(vars)
    };
    let n = cur.u16("number of address variables")?;
    o.addresses = list(cur, n.into(), 0, "address variable", &mut o.var_attrs)?;
    let at = cur.pos();
    let n = cur.u16("number of predicates")?;
    if usize::from(n) > limits::PREDICATE_VARIABLES {
        let problem = Problem::Value { found: n.into(), expected: "no more than instructions can name" };
        return Err(ReadError::new(at, "number of predicates", problem));
    }
    o.predicates = list(cur, n.into(), predefined::FIRST_PREDICATE as usize, "predicate", &mut o.var_attrs)?;
    let n = cur.u16("number of labels")?;
    let n = cur.require(n.into(), if layout.wide_ids() { 6 } else { 4 }, "labels")?;
    for i in 0..n {
        o.labels.push(label(cur, layout, &limits).map_err(|e| e.within(format_args!("label {i}")))?);
    }
    let n = cur.u8("number of samplers")?;
    o.samplers = list(cur, n.into(), 0, "sampler", &mut o.var_attrs)?;
    let at = cur.pos();
    let n = cur.u8("number of surfaces")?;
    if n > 250 {
        let problem = Problem::Value { found: n.into(), expected: "at most 250" };
        return Err(ReadError::new(at, "number of surfaces", problem));
    }
    o.surfaces = list(cur, n.into(), predefined::FIRST_SURFACE as usize, "surface", &mut o.var_attrs)?;
    zero(cur, "number of VME variables", "0: the format no longer has them")?;
    let limits = Limits::of(&o, layout.version());

    let input_at = cur.pos();
    if l.kind == ObjectKind::Kernel {
        read_inputs(cur, layout, &limits, &mut o)?;
    }
    if l.input_offset.is_some_and(|at| at as usize != input_at) && layout.is_current() {
        let problem = Problem::Value {
            found: l.input_offset.unwrap_or(0).into(),
            expected: "where the number of inputs stands",
        };
        return Err(ReadError::new(input_at, "input offset", problem));
    }
    let size_at = cur.pos();
    let size = cur.u32("size of the instructions")?;
    let entry = cur.u32("entry")?;
    if l.kind == ObjectKind::Function {
        o.function_sizes = (cur.u8("input size")?, cur.u8("return size")?);
    }
    let n = cur.u16("number of attributes")?;
    let n = cur.require(n.into(), if layout.wide_ids() { 5 } else { 3 }, "attributes")?;
    o.attrs.reserve_exact(n);
    for i in 0..n {
        o.attrs
            .push(read_attribute(cur, layout, &limits).map_err(|e| e.within(format_args!("attribute {i}")))?);
    }

    let start = l.range.start as u64 + entry as u64;
    if start < cur.pos() as u64 || start > l.range.end as u64 {
        let problem =
            Problem::Value { found: entry.into(), expected: "an offset after the tables, in the object" };
        return Err(ReadError::new(size_at + 4, "entry", problem));
    }
    let end = start + size as u64;
    if end > l.range.end as u64 {
        let problem = Problem::Truncated { needed: size.into(), left: l.range.end - start as usize };
        return Err(ReadError::new(size_at, "size of the instructions", problem));
    }

    o.native = native_code(bytes, l);
    Ok(Tables { object: o, code: start as usize..end as usize })
}

fn read_strings(cur: &mut Cursor<'_>, layout: Layout, o: &mut Object) -> Result<()> {
    let n = layout.id(cur, "number of strings")?;
    let n = cur.require(n, 1, "strings")?;
    for i in 0..n {
        let at = cur.pos();
        let s = cur.until_nul("string").map_err(|e| e.within(format_args!("string {i}")))?;
        match std::str::from_utf8(s) {
            Ok(s) => o.strings.push(s),
            Err(_) => return Err(ReadError::new(at, format!("string {i}"), Problem::NotUtf8)),
        };
    }
    Ok(())
}

fn read_inputs(cur: &mut Cursor<'_>, layout: Layout, limits: &Limits, o: &mut Object) -> Result<()> {
    let n =
        if layout.wide_inputs() { cur.u32("number of inputs")? } else { cur.u8("number of inputs")?.into() };
    let n = cur.require(n, if layout.wide_ids() { 9 } else { 7 }, "inputs")?;
    o.inputs.reserve_exact(n);
    for i in 0..n {
        o.inputs.push(read_input(cur, layout, limits).map_err(|e| e.within(format_args!("input {i}")))?);
    }
    Ok(())
}

/// The native code of an object.
fn native_code(bytes: &[u8], l: &Located) -> Vec<Native> {
    let mut all = Vec::new();
    for n in l.native {
        // A record for later, as every file without native code has.
        if n.platform == 0 && n.size == 0 && l.native.len() == 1 {
            continue;
        }
        let range = n.offset as usize..n.offset as usize + n.size as usize;
        let code = bytes.get(range).unwrap_or_default().to_vec();
        all.push(Native { platform: n.platform, code });
    }
    all
}

fn span_since(start: usize, cur: &Cursor) -> Span {
    Span::new(start as u32, cur.pos() as u32)
}

fn read_utf8(bytes: &[u8], at: usize) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(s) => Ok(s.to_owned()),
        Err(_) => Err(ReadError::new(at, "name", Problem::NotUtf8)),
    }
}

fn unsound_operand_error(at: usize, what: &'static str, fault: Fault) -> ReadError {
    ReadError::new(at, what, Problem::Unsound(fault))
}

/// An index into the strings.
fn read_string_index(cur: &mut Cursor, layout: Layout, limits: &Limits, what: &'static str) -> Result<u32> {
    let at = cur.pos();
    let n = layout.id(cur, what)?;
    if n < limits.strings { Ok(n) } else { Err(unsound_operand_error(at, what, Fault::Str(n))) }
}

fn zero(cur: &mut Cursor, what: &'static str, expected: &'static str) -> Result<()> {
    let at = cur.pos();
    match cur.u8(what)? {
        0 => Ok(()),
        n => Err(ReadError::new(at, what, Problem::Value { found: n.into(), expected })),
    }
}

fn read_attribute(cur: &mut Cursor, layout: Layout, limits: &Limits) -> Result<Attr> {
    let start = cur.pos();
    let name = read_string_index(cur, layout, limits, "name")?;
    let len = cur.u8("value length")?;
    let value = cur.slice(len.into(), "value")?.to_vec();
    Ok(Attr { name, value, span: span_since(start, cur) })
}

fn var_attrs(cur: &mut Cursor, layout: Layout, limits: &Limits, attrs: &mut Vec<Attr>) -> Result<AttrRange> {
    let len = cur.u8("number of attributes")?;
    let start = attrs.len() as u32;
    for i in 0..len {
        attrs.push(read_attribute(cur, layout, limits).map_err(|e| e.within(format_args!("attribute {i}")))?);
    }
    Ok(if len == 0 { AttrRange::default() } else { AttrRange { start, len } })
}

fn general_var(
    cur: &mut Cursor,
    layout: Layout,
    limits: &Limits,
    attrs: &mut Vec<Attr>,
) -> Result<GeneralVar> {
    let start = cur.pos();
    let name = read_string_index(cur, layout, limits, "name")?;
    let at = cur.pos();
    let bits = cur.u8("type and alignment")?;
    let Some(ty) = Type::from_code(bits & 15) else {
        let problem = Problem::Value { found: bits.into(), expected: "a data type" };
        return Err(ReadError::new(at, "type", problem));
    };
    let Some(align) = Align::from_code(bits >> 4) else {
        let problem = Problem::Value { found: (bits >> 4).into(), expected: "an alignment (0 to 9)" };
        return Err(ReadError::new(at, "alignment", problem));
    };
    let elems = cur.u16("number of elements")?;
    let at = cur.pos();
    let alias = layout.id(cur, "alias")?;
    if alias != 0 && !limits.has_var(alias) {
        return Err(unsound_operand_error(at, "alias", Fault::Alias(alias)));
    }
    let alias_offset = cur.u16("alias offset")?;
    zero(cur, "alias scope", "0: file-scope variables exist no longer")?;
    let attrs = var_attrs(cur, layout, limits, attrs)?;
    Ok(GeneralVar { name, ty, align, elems, alias, alias_offset, attrs, span: span_since(start, cur) })
}

fn simple_var(cur: &mut Cursor, layout: Layout, limits: &Limits, attrs: &mut Vec<Attr>) -> Result<SimpleVar> {
    let start = cur.pos();
    let name = read_string_index(cur, layout, limits, "name")?;
    let elems = cur.u16("number of elements")?;
    let attrs = var_attrs(cur, layout, limits, attrs)?;
    Ok(SimpleVar { name, elems, attrs, span: span_since(start, cur) })
}

fn label(cur: &mut Cursor, layout: Layout, limits: &Limits) -> Result<Label> {
    let start = cur.pos();
    let name = read_string_index(cur, layout, limits, "name")?;
    let at = cur.pos();
    let kind = match cur.u8("kind")? {
        0 => LabelUse::Block,
        1 => LabelUse::Subroutine,
        2 => LabelUse::Fc,
        n => {
            let problem = Problem::Value { found: n.into(), expected: "block (0), subroutine (1) or fc (2)" };
            return Err(ReadError::new(at, "kind", problem));
        }
    };
    zero(cur, "number of attributes", "0: labels have none")?;
    Ok(Label { name, kind, span: span_since(start, cur) })
}

fn read_input(cur: &mut Cursor, layout: Layout, limits: &Limits) -> Result<Input> {
    let start = cur.pos();
    let kind = cur.u8("kind")?;
    let at = cur.pos();
    let id = layout.id(cur, "variable")?;
    let fault = match kind & 7 {
        0 if !limits.has_var(id) => Some(Fault::Variable(id)),
        1 if !limits.has_sampler(id) => Some(Fault::Sampler(id)),
        2 if !limits.has_surface(id) => Some(Fault::Surface(id)),
        0..=2 => None,
        class => return Err(unsound_operand_error(start, "kind", Fault::InputClass(class))),
    };
    if let Some(fault) = fault {
        return Err(unsound_operand_error(at, "variable", fault));
    }
    let offset = cur.u16("offset")? as i16;
    let size = cur.u16("size")?;
    Ok(Input { kind, id, offset, size, span: span_since(start, cur) })
}
