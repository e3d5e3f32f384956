//! Buffers, images and samplers: memory of the host that kernels reach, without a copy.
#![allow(unsafe_code)] // Arrays of Python are taken in by their addresses.

use std::ptr::NonNull;

use pyo3::prelude::*;

use crate::device::Device;
use crate::{Error, raised};

/// Memory that a kernel reaches: an array of the host, or zeros of the device's own.
#[pyclass(frozen)]
pub struct Buffer(pub(crate) envisa::Buffer);

#[pymethods]
impl Buffer {
    /// The host's `nbytes` bytes from `address` on, which `owner` keeps alive; kernels only read them unless `writable`.
    ///
    /// The package makes these of what NumPy says of an array: nobody else should.
    #[staticmethod]
    pub fn over(
        device: &Device,
        address: usize,
        nbytes: usize,
        owner: Py<PyAny>,
        writable: bool,
    ) -> PyResult<Buffer> {
        if nbytes == 0 {
            return device.inner.buffer("", 0).map(Buffer).map_err(raised);
        }
        let start = NonNull::new(address as *mut u8)
            .filter(|_| address.checked_add(nbytes).is_some())
            .ok_or_else(|| Error::new_err(format!("no array has {nbytes} bytes at {address:#x}")))?;
        let keep: Box<dyn std::any::Any + Send + Sync> = Box::new(owner);
        // SAFETY: `owner` is the array whose memory this is, by NumPy's own word, and lives until `keep` is dropped; Python
        // code that reads or writes it meanwhile does so through raw pointers, as NumPy does.
        let buffer = unsafe {
            match writable {
                true => device.inner.import("", start, nbytes, Some(keep), false),
                false => device.inner.import_constant("", start, nbytes, Some(keep)),
            }
        };
        buffer.map(Buffer).map_err(raised)
    }

    /// `nbytes` zeros.
    #[staticmethod]
    fn zeros(device: &Device, nbytes: u64) -> PyResult<Buffer> {
        device.inner.shared("", nbytes).map(Buffer).map_err(raised)
    }

    /// Where its bytes are on the host, and how many.
    fn host(&self) -> (usize, u64) {
        (self.0.host_pointer() as usize, self.0.len())
    }

    /// The address that kernels see.
    #[getter]
    fn address(&self) -> u64 {
        self.0.address()
    }
}

/// An image over a buffer.
#[pyclass(frozen)]
pub struct Image(pub(crate) envisa::Image);

#[pymethods]
impl Image {
    /// As the command's notation describes it: `2d:640,480:rgba:unorm8`.
    #[staticmethod]
    fn over(device: &Device, buffer: &Buffer, description: &str) -> PyResult<Image> {
        let desc = envisa_harness::images::parse_image(description).map_err(Error::new_err)?;
        device.inner.image(&desc, &buffer.0).map(Image).map_err(raised)
    }

    /// Bytes that an image of this description takes.
    #[staticmethod]
    fn nbytes(description: &str) -> PyResult<u64> {
        envisa_harness::images::parse_image(description).map(|d| d.bytes()).map_err(Error::new_err)
    }
}

/// How an image is sampled.
#[pyclass(frozen)]
pub struct Sampler(pub(crate) envisa::Sampler);

#[pymethods]
impl Sampler {
    /// As the command's notation describes it: `clamp_to_edge:linear:normalized`.
    #[new]
    fn new(description: &str) -> PyResult<Sampler> {
        envisa_harness::images::parse_sampler(description).map(Sampler).map_err(Error::new_err)
    }
}
