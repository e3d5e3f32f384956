//! Devices, modules, kernels.

use envisa::zebin::DeviceFamily;
use envisa::{ArgumentKind, Config, LoadOptions, Source, SourceText};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{Error, raised};

/// A virtual GPU.
#[pyclass(frozen)]
pub struct Device {
    pub(crate) inner: envisa::Device,
    name: String,
}

#[pymethods]
impl Device {
    /// By the name that the compiler knows (`dg2`) or a platform's (`XeHP_SDV`); `memory` in bytes, `threads` of the host
    /// (0: all).
    #[new]
    #[pyo3(signature = (name, memory, threads, engine, red_zones))]
    fn new(
        name: &str,
        memory: Option<u64>,
        threads: usize,
        engine: &str,
        red_zones: bool,
    ) -> PyResult<Device> {
        let named = DeviceFamily::ALL.into_iter().find(|d| d.name().eq_ignore_ascii_case(name));
        let platform = match named {
            Some(family) => family.platform(),
            None => envisa::platform(name).map_err(|e| Error::new_err(e.to_string()))?,
        };
        let engine = engine.parse().map_err(|e: envisa::UnknownEngine| Error::new_err(e.to_string()))?;
        let mut config = Config::new(platform).threads(threads).engine(engine).red_zones(red_zones);
        if let Some(bytes) = memory {
            config = config.memory(bytes);
        }
        let name = named.map_or_else(|| platform.name().to_owned(), |d| d.name().to_owned());
        Ok(Device { inner: envisa::Device::new(config), name })
    }

    /// The name that the compiler knows it by, or its platform's.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The platform whose rules it follows.
    #[getter]
    fn platform(&self) -> &'static str {
        self.inner.platform().name()
    }

    /// Bytes in use by buffers and modules.
    #[getter]
    fn memory_used(&self) -> u64 {
        self.inner.memory_used()
    }

    /// What it can do, sizes in bytes.
    fn caps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let c = self.inner.caps();
        let dict = PyDict::new(py);
        dict.set_item("grf_bytes", c.grf_bytes)?;
        dict.set_item("simd_sizes", c.simd_sizes.to_vec())?;
        dict.set_item("local_memory", c.local_memory)?;
        dict.set_item("max_group_items", c.max_group_items)?;
        dict.set_item("fp64", c.fp64)?;
        dict.set_item("int64", c.int64)?;
        dict.set_item("memory", c.memory)?;
        Ok(dict)
    }

    /// Loads a zebin, a CISA binary or vISA text; `sources` are texts for reports to quote, by name.
    #[pyo3(signature = (name, content, sources, verify))]
    fn load(
        &self,
        py: Python<'_>,
        name: &str,
        content: &[u8],
        sources: Vec<(String, Vec<u8>)>,
        verify: bool,
    ) -> PyResult<Module> {
        let source = Source::detect(content).ok_or_else(|| {
            Error::new_err(format!(
                "{name}: no zebin, no CISA binary and no vISA text (which has a `.version`)"
            ))
        })?;
        let sources = sources.into_iter().map(|(name, text)| SourceText { name, text }).collect();
        let options = LoadOptions { verify, sources, ..LoadOptions::default() };
        py.detach(|| envisa::Module::load_with(&self.inner, name, source, &options))
            .map(Module)
            .map_err(raised)
    }
}

/// A module on a device.
#[pyclass(frozen)]
pub struct Module(envisa::Module);

#[pymethods]
impl Module {
    /// Names of its kernels.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.0.kernel_names()
    }

    /// Was it compiled, rather than written by hand?
    #[getter]
    fn is_compiled(&self) -> bool {
        self.0.is_compiled()
    }

    /// What of its metadata was not understood and is ignored.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// A kernel by its name; of an empty name, the only one.
    fn kernel(&self, py: Python<'_>, name: &str) -> PyResult<Kernel> {
        py.detach(|| self.0.kernel(name)).map(Kernel).map_err(raised)
    }
}

/// A kernel of a module.
#[pyclass(frozen)]
pub struct Kernel(pub(crate) envisa::Kernel);

#[pymethods]
impl Kernel {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn is_compiled(&self) -> bool {
        self.0.is_compiled()
    }

    /// Its arguments: name, type, kind, bytes of a value, address qualifier, access qualifier, type qualifiers.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn arguments(&self) -> Vec<(String, String, &'static str, u32, String, String, String)> {
        let one = |a: &envisa::Argument| {
            let (kind, bytes) = match a.kind {
                ArgumentKind::Value { bytes, .. } => ("value", bytes),
                ArgumentKind::Buffer => ("buffer", 0),
                ArgumentKind::Local => ("local", 0),
                ArgumentKind::Image => ("image", 0),
                ArgumentKind::Sampler => ("sampler", 0),
                ArgumentKind::Input { bytes } => ("input", bytes),
                ArgumentKind::Surface => ("surface", 0),
                ArgumentKind::Unused => ("unused", 0),
                _ => ("unknown", 0),
            };
            let (address, access) = (a.address_qualifier.clone(), a.access_qualifier.clone());
            (a.name.clone(), a.type_name.clone(), kind, bytes, address, access, a.type_qualifiers.clone())
        };
        self.0.arguments().iter().map(one).collect()
    }

    /// What it asks for, sizes in bytes.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let a = self.0.attributes();
        let dict = PyDict::new(py);
        dict.set_item("simd", a.simd)?;
        dict.set_item("registers", a.registers)?;
        dict.set_item("required_group_size", a.required_group_size.map(|s| (s[0], s[1], s[2])))?;
        dict.set_item("max_group_items", a.max_group_items)?;
        dict.set_item("local_memory", a.local_memory)?;
        dict.set_item("private_memory", a.private_memory)?;
        dict.set_item("spill_memory", a.spill_memory)?;
        dict.set_item("barriers", a.barriers)?;
        dict.set_item("prints", a.prints)?;
        dict.set_item("instructions", self.0.instructions())?;
        Ok(dict)
    }
}
