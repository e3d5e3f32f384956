//! The native half of the Python package `envisa`: devices, modules, kernels and launches over memory of the host.
//!
//! It takes what `python/envisa` has already made plain: an array is an address with a number of bytes and an owner, a
//! value is its bytes. Names, dtypes, shapes and defaults are decided there; what can be computed once is computed here.

mod build;
mod device;
mod interrupt;
mod launch;
mod memory;
mod plain;
mod tools;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(_envisa, Error, PyException, "A misuse of envisa, or input that it cannot read.");
create_exception!(_envisa, BuildError, Error, "The compiler refused a source, or there is no compiler.");
create_exception!(
    _envisa,
    Unsupported,
    Error,
    "The kernel needs something that envisa or the device does not have."
);
create_exception!(
    _envisa,
    ArgumentError,
    Error,
    "An argument of a launch does not fit its kernel; the message names it."
);

/// The exception of an error of the library.
pub(crate) fn raised(e: envisa::Error) -> PyErr {
    match e {
        envisa::Error::Argument { .. } => ArgumentError::new_err(e.to_string()),
        envisa::Error::Unsupported(_) => Unsupported::new_err(e.to_string()),
        envisa::Error::Diagnostics(d) => {
            let options = envisa::diag::TextOptions::default();
            Error::new_err(envisa::diag::render_text(&d.files, &d.list, &options))
        }
        e => Error::new_err(e.to_string()),
    }
}

#[pymodule]
fn _envisa(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let py = m.py();
    m.add("Error", py.get_type::<Error>())?;
    m.add("BuildError", py.get_type::<BuildError>())?;
    m.add("Unsupported", py.get_type::<Unsupported>())?;
    m.add("ArgumentError", py.get_type::<ArgumentError>())?;
    m.add_class::<device::Device>()?;
    m.add_class::<device::Module>()?;
    m.add_class::<device::Kernel>()?;
    m.add_class::<memory::Buffer>()?;
    m.add_class::<memory::Image>()?;
    m.add_class::<memory::Sampler>()?;
    m.add_class::<launch::Local>()?;
    m.add_class::<plain::Signature>()?;
    m.add_class::<launch::Progress>()?;
    m.add_function(wrap_pyfunction!(build::compile, m)?)?;
    m.add_function(wrap_pyfunction!(launch::run, m)?)?;
    m.add_function(wrap_pyfunction!(tools::assemble, m)?)?;
    m.add_function(wrap_pyfunction!(tools::disassemble, m)?)?;
    m.add_function(wrap_pyfunction!(tools::verify, m)?)?;
    m.add_function(wrap_pyfunction!(tools::values, m)?)?;
    Ok(())
}
