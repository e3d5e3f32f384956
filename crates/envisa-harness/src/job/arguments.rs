//! Parses arguments, by the types that the kernel takes.

use super::{JobError, MEMORY_LIMIT, read_value_data};
use crate::images;
use crate::values::{ElemType, FileKind, HostValue, ValueSpec, ValueType, parse_scalar, shape_of};
use envisa::isa::Type;
use envisa::{Arg, ArgKey, ArgumentKind, Buffer, Device, ImageDesc, Kernel};
use std::path::Path;

/// A buffer or an image's texels, and what is in them.
pub(super) struct BufferContent {
    /// The argument's name.
    pub name: String,
    /// The argument's key.
    pub key: ArgKey,
    pub buffer: Buffer,
    pub elem: ElemType,
    pub shape: Vec<u64>,
}

/// What a key names.
pub(super) struct Target {
    pub key: ArgKey,
    /// As the source has it.
    pub name: String,
    pub type_name: String,
    pub kind: ArgumentKind,
}

impl Target {
    /// By name, by index, or of hand-written code by `bti:N`, `sampler:N`, `counter:N` or `urb:BYTES`.
    pub(super) fn of(kernel: &Kernel, text: &str) -> Result<Target, JobError> {
        if !kernel.is_compiled() {
            let number = |n: &str| {
                n.parse().map_err(|_| JobError::Usage(format!("argument `{text}`: `{n}` is not an index")))
            };
            let bound = |key, kind| Ok(Target { key, name: text.to_owned(), type_name: String::new(), kind });
            if let Some(bti) = text.strip_prefix("bti:") {
                return bound(ArgKey::Surface(number(bti)?), ArgumentKind::Surface);
            }
            if let Some(bti) = text.strip_prefix("counter:") {
                return bound(ArgKey::Counter(number(bti)?), ArgumentKind::Surface);
            }
            if let Some(unit) = text.strip_prefix("urb:") {
                return bound(ArgKey::ReturnBuffer(number(unit)?), ArgumentKind::Surface);
            }
            if let Some(index) = text.strip_prefix("sampler:") {
                return bound(ArgKey::Sampler(number(index)?), ArgumentKind::Sampler);
            }
        }
        let by_index = |i: usize| kernel.arguments().get(i).filter(|_| kernel.is_compiled());
        let found = match text.parse() {
            Ok(index) if kernel.argument(text).is_none() => by_index(index),
            _ => None,
        };
        let argument = match found {
            Some(argument) => argument,
            None => kernel.find(&ArgKey::from(text))?,
        };
        Ok(Target {
            key: ArgKey::Index(argument.index),
            name: argument.name.clone(),
            type_name: argument.type_name.clone(),
            kind: argument.kind,
        })
    }

    /// ` (float*)`, or nothing.
    fn of_type(&self) -> String {
        if self.type_name.is_empty() { String::new() } else { format!(" ({})", self.type_name) }
    }

    /// What is passed, and where its data is.
    pub(super) fn value(
        &self,
        device: &Device,
        kernel: &Kernel,
        text: &str,
    ) -> Result<(Arg, Option<BufferContent>), JobError> {
        let usage = |s: String| Err(JobError::Usage(s));
        let ty = self.of_type();
        match self.kind {
            ArgumentKind::Image => self.image(device, text),
            ArgumentKind::Surface if text.starts_with("image:") => self.image(device, text),
            ArgumentKind::Sampler => sampler(text),
            ArgumentKind::Local => match ValueSpec::parse(text) {
                Ok(ValueSpec::Local(bytes)) => Ok((Arg::local(bytes), None)),
                _ => {
                    usage(format!("the kernel takes local memory{ty} here; write local:BYTES, not `{text}`"))
                }
            },
            ArgumentKind::Value { bytes, payload_bytes } => {
                if text.starts_with("image:") || text.starts_with("sampler:") {
                    return usage(format!("the kernel takes a value{ty} here, and `{text}` is none"));
                }
                let stated = Some(u64::from(bytes)).filter(|n| *n > 0);
                value(&self.type_name, stated, u64::from(payload_bytes), text).map(|v| (v.into(), None))
            }
            // By the addresses of their states.
            ArgumentKind::Input { bytes: 8 } if text.starts_with("image:") => self.image(device, text),
            ArgumentKind::Input { bytes: 8 } if text.starts_with("sampler:") => sampler(text),
            ArgumentKind::Input { .. } => self.general_input(device, kernel, text),
            ArgumentKind::Surface => self.surface(device, text),
            _ if text.starts_with("image:") => usage(format!("it is a buffer{ty}, not an image")),
            _ if text.starts_with("sampler:") => usage(format!("it is a buffer{ty}, not a sampler")),
            _ => self.buffer(device, text),
        }
    }

    /// A buffer with a value's content.
    fn new_buffer_with_value(
        &self,
        device: &Device,
        value: &HostValue,
    ) -> Result<(Arg, Option<BufferContent>), JobError> {
        let buffer = device.buffer_from(&format!("buffer {}", self.name), &value.bytes)?;
        Ok(self.buffer_argument(buffer, value.elem, value.shape.clone()))
    }

    fn buffer_argument(
        &self,
        buffer: Buffer,
        elem: ElemType,
        shape: Vec<u64>,
    ) -> (Arg, Option<BufferContent>) {
        let arg = Arg::from(&buffer);
        (arg, Some(BufferContent { name: self.name.clone(), key: self.key.clone(), buffer, elem, shape }))
    }

    /// The buffer of another argument, from a byte on.
    pub(super) fn shared_buffer_argument(
        &self,
        other: &BufferContent,
        offset: u64,
    ) -> Result<(Arg, BufferContent), JobError> {
        if !matches!(
            self.kind,
            ArgumentKind::Buffer | ArgumentKind::Unused | ArgumentKind::Surface | ArgumentKind::Input { .. }
        ) {
            return Err(JobError::Usage(
                "only a buffer argument can share the buffer of another argument".into(),
            ));
        }
        let buffer = other.buffer.slice(offset..other.buffer.len())?;
        let elem = pointed_type(&self.type_name).unwrap_or(other.elem);
        let shape = match (offset, elem.size() == other.elem.size()) {
            (0, true) => other.shape.clone(),
            _ => vec![buffer.len() / elem.size() as u64],
        };
        let arg = Arg::from(&buffer);
        Ok((arg, BufferContent { name: self.name.clone(), key: self.key.clone(), buffer, elem, shape }))
    }

    /// A pointer's buffer.
    fn buffer(&self, device: &Device, text: &str) -> Result<(Arg, Option<BufferContent>), JobError> {
        let ty = self.of_type();
        let pointed = pointed_type(&self.type_name);
        let spec = ValueSpec::parse(text).map_err(JobError::usage)?;
        let value = match &spec {
            ValueSpec::Local(_) => {
                return Err(JobError::Usage(format!("the kernel takes a buffer{ty} here, not local memory")));
            }
            ValueSpec::Number(number) => {
                if parse_scalar(ElemType::U64, number).is_ok_and(|b| b == [0; 8]) {
                    return Ok((Arg::Null, None));
                }
                return Err(JobError::Usage(format!(
                    "the kernel takes a buffer{ty} here, and `{number}` is none (0 is the null pointer)"
                )));
            }
            // Before any data are made.
            ValueSpec::Generated { ty: given, .. }
            | ValueSpec::Literal { ty: given, .. }
            | ValueSpec::List { ty: given, .. } => {
                if let Some(elem) = pointed
                    && elem != given.elem
                {
                    return Err(JobError::Usage(format!(
                        "the kernel takes a pointer to {elem}{ty} here, not to {}",
                        given.elem
                    )));
                }
                // Made in place: the largest values are.
                if let ValueSpec::Generated { count, .. } = &spec
                    && let Some(bytes) = spec.generated_bytes(MEMORY_LIMIT).map_err(JobError::usage)?
                {
                    let name = format!("buffer {}", self.name);
                    let buffer = device.buffer_with(&name, bytes, |bytes| spec.generate(bytes))?;
                    return Ok(self.buffer_argument(buffer, given.elem, shape_of(*given, *count)));
                }
                spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?
            }
            ValueSpec::File(_) => spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?,
        };
        let mut elem = value.elem;
        if let (Some(wanted), ValueSpec::File(path)) = (pointed, &spec) {
            elem = read_as(wanted, &ty, path, &value)?;
        }
        let shape = if elem.size() == value.elem.size() {
            value.shape.clone()
        } else {
            vec![(value.bytes.len() / elem.size()) as u64]
        };
        self.new_buffer_with_value(device, &HostValue { elem, shape, bytes: value.bytes })
    }

    /// `image:SHAPE:FORMAT=VALUE`, or a picture that says its own size.
    fn image(&self, device: &Device, text: &str) -> Result<(Arg, Option<BufferContent>), JobError> {
        let (desc, texels) = match text.strip_prefix("image:").and_then(|t| t.split_once('=')) {
            Some((image, value)) => {
                (images::parse_image(image).map_err(JobError::Usage)?, read_value_data(value)?)
            }
            None if text.starts_with('@') => {
                let value = read_value_data(text)?;
                let desc: Result<ImageDesc, String> = images::of_picture(&value);
                (desc.map_err(JobError::Usage)?, value)
            }
            None => {
                return Err(JobError::Usage(format!(
                    "the kernel takes an image here: write image:2d:W,H:rgba:unorm8=VALUE or @FILE.png, not `{text}`"
                )));
            }
        };
        if !images::accepts_image_argument(&desc, &self.type_name) {
            let is = images::type_name(&desc);
            return Err(JobError::Usage(format!(
                "the kernel takes an {} here, but an {is} is given",
                self.type_name
            )));
        }
        if texels.bytes.len() as u64 != desc.bytes() {
            return Err(JobError::Usage(format!(
                "the image takes {} bytes, its value has {}",
                desc.bytes(),
                texels.bytes.len()
            )));
        }
        let buffer = device.buffer_from(&format!("image {}", self.name), &texels.bytes)?;
        let arg = Arg::from(device.image(&desc, &buffer)?);
        let (_, held) = self.buffer_argument(
            buffer,
            images::element_type_of_format(desc.format),
            images::array_shape(&desc),
        );
        Ok((arg, held))
    }

    /// What a surface of hand-written code is bound to.
    fn surface(&self, device: &Device, text: &str) -> Result<(Arg, Option<BufferContent>), JobError> {
        let value = match text.strip_prefix("buffer:") {
            Some(value) => read_value_data(value)?,
            None => match ValueSpec::parse(text).map_err(JobError::usage)? {
                ValueSpec::Number(_) | ValueSpec::Local(_) => {
                    return Err(JobError::Usage(format!(
                        "it is a surface: a buffer or an image is expected, not `{text}`"
                    )));
                }
                spec => spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?,
            },
        };
        self.new_buffer_with_value(device, &value)
    }

    /// A general input of hand-written code: its bytes, or the address of a buffer.
    fn general_input(
        &self,
        device: &Device,
        kernel: &Kernel,
        text: &str,
    ) -> Result<(Arg, Option<BufferContent>), JobError> {
        if let Some(value) = text.strip_prefix("buffer:") {
            return self.new_buffer_with_value(device, &read_value_data(value)?);
        }
        let variable = kernel.variable(&self.name);
        let spec = ValueSpec::parse(text).map_err(JobError::usage)?;
        match (&spec, variable) {
            (ValueSpec::Number(number), Some(v)) => {
                let elem = elem_of(v.ty)
                    .ok_or_else(|| JobError::Usage(format!("no number has the type {}", v.ty.name())))?;
                let bytes = parse_scalar(elem, number).map_err(JobError::usage)?;
                return Ok((bytes.into(), None));
            }
            (ValueSpec::Local(_), _) | (ValueSpec::Number(_), None) => {
                return Err(JobError::Usage(format!(
                    "it is an input: a value or a buffer is expected, not `{text}`"
                )));
            }
            _ => {}
        }
        let address = variable.is_some_and(|v| matches!(v.ty, Type::Uq | Type::Q) && v.elements == 1)
            && !matches!(spec, ValueSpec::Literal { .. });
        let value = spec.materialize(MEMORY_LIMIT).map_err(JobError::usage)?;
        if address { self.new_buffer_with_value(device, &value) } else { Ok((value.bytes.into(), None)) }
    }
}

/// A sampler.
fn sampler(text: &str) -> Result<(Arg, Option<BufferContent>), JobError> {
    match text.strip_prefix("sampler:") {
        Some(sampler) => Ok((images::parse_sampler(sampler).map_err(JobError::Usage)?.into(), None)),
        None => Err(JobError::Usage(format!(
            "it is a sampler; write sampler:ADDRESSING:nearest|linear:normalized|unnormalized, not `{text}`"
        ))),
    }
}

/// The type as which a file's content is passed where the kernel takes a pointer to `wanted`: raw bytes have the
/// pointer's type, arrays their own, and a picture's pixels may be one whole number each.
fn read_as(wanted: ElemType, a_ty: &str, path: &Path, value: &HostValue) -> Result<ElemType, JobError> {
    let alike = value.elem.size() == wanted.size() && value.elem.is_float() == wanted.is_float();
    let wrong = |held: String| {
        Err(JobError::Usage(format!(
            "the kernel takes a pointer to {wanted}{a_ty} here, but the file holds {held}"
        )))
    };
    match FileKind::of(path) {
        FileKind::Raw if value.bytes.len().is_multiple_of(wanted.size()) => Ok(wanted),
        FileKind::Raw => wrong(format!("{} bytes, no multiple of {}", value.bytes.len(), wanted.size())),
        FileKind::Npy if alike => Ok(value.elem),
        FileKind::Npy => wrong(value.elem.to_string()),
        FileKind::Png if alike => Ok(value.elem),
        FileKind::Png => {
            let pixel = value.shape.last().copied().unwrap_or(1) * value.elem.size() as u64;
            if !wanted.is_float() && pixel == wanted.size() as u64 {
                Ok(wanted)
            } else {
                wrong(format!("a picture of {} channels of {}", value.shape.last().unwrap_or(&1), value.elem))
            }
        }
    }
}

/// The bytes of an argument that is a value of type `ty`, of `stated` bytes in the source (if known) and
/// `paid` in the payload, there rounded up to 4 (0 if unknown).
pub(super) fn value(ty: &str, stated: Option<u64>, paid: u64, text: &str) -> Result<Vec<u8>, JobError> {
    let usage = |s: String| Err(JobError::Usage(s));
    let known = vector_type(ty);
    let size = stated.filter(|n| *n > 0);
    match ValueSpec::parse(text).map_err(JobError::usage)? {
        ValueSpec::Number(number) => match known {
            Some(v) if v.lanes == 1 => parse_scalar(v.elem, &number).map_err(JobError::usage),
            Some(v) => usage(format!("its type is {ty}; write {v}:… with {} numbers", v.lanes)),
            None if ty.is_empty() => {
                usage(format!("the metadata does not say its type; write TYPE:VALUE, as i32:{number}"))
            }
            None => usage(format!("its type `{ty}` is not a number; write TYPE:VALUE or @FILE")),
        },
        ValueSpec::Literal { ty: given, mut bytes } => {
            if let Some(v) = known {
                if given != v {
                    return usage(format!("its type is {ty}, not {given}"));
                }
                // A vector of three takes the place of four.
                bytes.resize(size.map_or(bytes.len(), |n| n.min(256) as usize).max(bytes.len()), 0);
            } else if let Some(n) = size.filter(|n| *n != bytes.len() as u64) {
                return usage(format!("its type {ty} has {n} bytes, {given} has {}", bytes.len()));
            } else if size.is_none()
                && paid != 0
                && (bytes.len() as u64).next_multiple_of(4) != paid.next_multiple_of(4)
            {
                return usage(format!("it takes {paid} bytes, {given} has {}", bytes.len()));
            }
            Ok(bytes)
        }
        // The bytes of a structure.
        ValueSpec::List { bytes, .. } if known.is_none() && size == Some(bytes.len() as u64) => Ok(bytes),
        spec @ ValueSpec::File(_) => {
            // Longer than any value: a file that was meant for a buffer.
            let value = spec.materialize(1 << 20).map_err(JobError::usage)?;
            match size {
                Some(n) if n != value.bytes.len() as u64 => {
                    usage(format!("its type {ty} has {n} bytes, the file holds {}", value.bytes.len()))
                }
                _ => Ok(value.bytes),
            }
        }
        ValueSpec::Generated { .. } | ValueSpec::List { .. } => usage(format!(
            "it is a value{}; `{text}` is an array",
            if ty.is_empty() { String::new() } else { format!(" ({ty})") }
        )),
        ValueSpec::Local(_) => usage(format!(
            "it is a value{}, not local memory",
            if ty.is_empty() { String::new() } else { format!(" ({ty})") }
        )),
    }
}

/// Type of a scalar argument.
fn scalar_type(ty: &str) -> Option<ElemType> {
    Some(match ty {
        "char" => ElemType::I8,
        "uchar" | "unsigned char" | "bool" => ElemType::U8,
        "short" => ElemType::I16,
        "ushort" | "unsigned short" => ElemType::U16,
        "int" => ElemType::I32,
        "uint" | "unsigned int" => ElemType::U32,
        "long" => ElemType::I64,
        "ulong" | "unsigned long" | "size_t" => ElemType::U64,
        "half" => ElemType::F16,
        "float" => ElemType::F32,
        "double" => ElemType::F64,
        _ => return None,
    })
}

/// `float` and `float4`.
pub(super) fn vector_type(ty: &str) -> Option<ValueType> {
    let base = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = match &ty[base.len()..] {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    Some(ValueType { elem: scalar_type(base)?, lanes })
}

/// Element type of what a pointer points to, through vectors.
fn pointed_type(ty: &str) -> Option<ElemType> {
    vector_type(ty.strip_suffix('*')?).map(|v| v.elem)
}

/// What numbers of a vISA type are; none of packed vectors.
pub(super) fn elem_of(ty: Type) -> Option<ElemType> {
    Some(match ty {
        Type::Ud => ElemType::U32,
        Type::D => ElemType::I32,
        Type::Uw | Type::Bf => ElemType::U16,
        Type::W => ElemType::I16,
        Type::Ub => ElemType::U8,
        Type::B => ElemType::I8,
        Type::Uq => ElemType::U64,
        Type::Q => ElemType::I64,
        Type::F => ElemType::F32,
        Type::Df => ElemType::F64,
        Type::Hf => ElemType::F16,
        _ => return None,
    })
}
