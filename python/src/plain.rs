//! Launches whose arguments are contiguous NumPy arrays and plain numbers of the types that the kernel declares: bound in
//! one call, without Python code for each argument. Everything else goes the general way (`launch::run`).
#![allow(unsafe_code)] // NumPy describes its arrays by a C structure.

use std::ffi::{c_char, c_int, c_void};

use envisa::{Arg, Launch};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyFloat, PyInt, PyTuple, PyType};

use crate::device::{Device, Kernel};
use crate::launch::{Done, waited};
use crate::memory::Buffer;

/// What a kernel declares of an argument.
struct Slot {
    index: u32,
    /// NumPy's letter of the kind (`i`, `u`, `f`) and the bytes of a number, or of an array's elements.
    kind: u8,
    bytes: usize,
    array: bool,
    /// The kernel only reads the array.
    constant: bool,
}

/// The arguments of a kernel that takes only arrays and numbers.
#[pyclass(frozen)]
pub struct Signature {
    device: Py<Device>,
    kernel: Py<Kernel>,
    /// NumPy's type of arrays: of others, what they say of their memory is not believed.
    arrays: Py<PyType>,
    slots: Vec<Slot>,
}

#[pymethods]
impl Signature {
    /// Slots: index, NumPy's letter of the kind, bytes, whether an array is wanted, whether it is only read.
    #[new]
    fn new(
        device: Py<Device>,
        kernel: Py<Kernel>,
        arrays: Py<PyType>,
        slots: Vec<(u32, char, usize, bool, bool)>,
    ) -> Signature {
        let slot = |(index, kind, bytes, array, constant)| Slot {
            index,
            kind: u8::try_from(kind).unwrap_or(0),
            bytes,
            array,
            constant,
        };
        Signature { device, kernel, arrays, slots: slots.into_iter().map(slot).collect() }
    }

    /// Launches; `None`, and nothing is done, where an argument is not as plain as that.
    fn run(
        &self,
        py: Python<'_>,
        global: Vec<u64>,
        local: Vec<u64>,
        args: &Bound<'_, PyTuple>,
    ) -> PyResult<Option<Done>> {
        if args.len() != self.slots.len() {
            return Ok(None);
        }
        let device = self.device.get();
        let mut launch = Launch::range(&global, &local);
        let mut lent: Vec<(Memory, Buffer)> = Vec::with_capacity(self.slots.len());
        for (slot, given) in self.slots.iter().zip(args.iter_borrowed()) {
            let arg = if slot.array {
                let Some(memory) = self.memory(slot, &given) else { return Ok(None) };
                match lent.iter().find(|(m, _)| *m == memory) {
                    Some((_, buffer)) => Arg::Buffer(buffer.0.clone()),
                    None => {
                        let owner = given.to_owned().unbind();
                        let buffer =
                            Buffer::over(device, memory.address, memory.bytes, owner, memory.writable)?;
                        let arg = Arg::Buffer(buffer.0.clone());
                        lent.push((memory, buffer));
                        arg
                    }
                }
            } else {
                let Some(bytes) = number(slot, &given) else { return Ok(None) };
                Arg::Bytes(bytes)
            };
            launch = launch.arg(slot.index, arg);
        }
        waited(py, &self.kernel.get().0, launch).map(Some)
    }
}

#[derive(PartialEq)]
struct Memory {
    address: usize,
    bytes: usize,
    writable: bool,
}

/// `PyArrayInterface` of NumPy's array interface, version 3.
#[repr(C)]
struct ArrayInterface {
    two: c_int,
    dimensions: c_int,
    kind: c_char,
    item_bytes: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *mut c_void,
}

const CONTIGUOUS: c_int = 0x1;
const NATIVE_ORDER: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

impl Signature {
    /// The memory of a contiguous array that fits.
    fn memory(&self, slot: &Slot, given: &Borrowed<'_, '_, PyAny>) -> Option<Memory> {
        let py = given.py();
        if !given.get_type().is(self.arrays.bind(py)) {
            return None;
        }
        let capsule = given.getattr(pyo3::intern!(py, "__array_struct__")).ok()?;
        let pointer = capsule.cast_into::<PyCapsule>().ok()?;
        let interface = pointer.pointer_checked(None).ok()?.cast::<ArrayInterface>();
        // SAFETY: NumPy's own array made the capsule, which is alive: it points to this structure, and its shape to as many
        // numbers as the array has dimensions.
        let (about, shape) = unsafe {
            let about = interface.as_ref();
            let dimensions = usize::try_from(about.dimensions).ok()?;
            let shape = match dimensions {
                0 => &[],
                n => std::slice::from_raw_parts(about.shape, n),
            };
            (about, shape)
        };
        let (flags, bytes) = (about.flags, usize::try_from(about.item_bytes).ok()?);
        let plain = about.two == 2 && flags & CONTIGUOUS != 0 && flags & NATIVE_ORDER != 0;
        let writable = flags & WRITEABLE != 0;
        if !plain || about.kind.cast_unsigned() != slot.kind || bytes != slot.bytes {
            return None;
        }
        let bytes = shape.iter().try_fold(bytes, |b, n| b.checked_mul(usize::try_from(*n).ok()?))?;
        let fits = bytes != 0 && (writable || slot.constant);
        fits.then_some(Memory { address: about.data as usize, bytes, writable })
    }
}

/// The bytes of a plain number that the type holds.
fn number(slot: &Slot, given: &Borrowed<'_, '_, PyAny>) -> Option<Vec<u8>> {
    if slot.kind == b'f' {
        let number: f64 =
            match given.is_exact_instance_of::<PyFloat>() || given.is_exact_instance_of::<PyInt>() {
                true => given.extract().ok()?,
                false => return None,
            };
        return match slot.bytes {
            4 => {
                let rounded = number as f32;
                (rounded.is_finite() || !number.is_finite()).then(|| rounded.to_le_bytes().to_vec())
            }
            8 => Some(number.to_le_bytes().to_vec()),
            _ => None,
        };
    }
    if !given.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let bits = u32::try_from(slot.bytes * 8).ok()?;
    let number: i128 = match given.extract::<i64>() {
        Ok(n) => n.into(),
        Err(_) => given.extract::<u64>().ok()?.into(),
    };
    let (least, most) = match slot.kind {
        b'u' => (0, (1i128 << bits) - 1),
        _ => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    };
    (least..=most).contains(&number).then(|| number.to_le_bytes()[..slot.bytes].to_vec())
}
