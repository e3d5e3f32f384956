//! A kernel of the suite: one OpenCL C file whose leading comment states inputs, sizes, checks and bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::compare::Check;
use crate::peer::Peer;

pub use envisa::zebin::DeviceFamily as Device;

/// The devices of the committed corpus. Battlemage and Panther Lake need a newer compiler.
pub const CORPUS_DEVICES: [Device; 4] = [Device::Skl, Device::Tgllp, Device::Dg2, Device::Pvc];

/// A whole number or an expression over the kernel's sizes.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Extent {
    /// A plain number.
    Number(u64),
    /// An expression, see [`crate::expr`].
    Expr(String),
}

/// One argument as the header states it. Exactly one of `value`, `buffer`, `bytes`, `image` with `value`,
/// `sampler` says what it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgHeader {
    /// Its name in the source.
    pub name: String,
    /// Generated data make a buffer, a literal a scalar, `local:BYTES` local memory ([`envisa_harness::values`]).
    pub value: Option<String>,
    /// As `value`, but always a buffer: for literals.
    pub buffer: Option<String>,
    /// A struct by value: literals in order, separated by spaces, padding written out.
    pub bytes: Option<String>,
    /// `2d:W,H:ORDER:FORMAT`, `2darray:W,H,LAYERS:ORDER:FORMAT` or `3d:W,H,D:ORDER:FORMAT`; its texels come from `value`.
    pub image: Option<String>,
    /// `ADDRESSING:FILTER:normalized|unnormalized`.
    pub sampler: Option<String>,
    /// Makes the argument an output: how its final content is compared.
    pub check: Option<String>,
    /// Why the check is the right one.
    pub why: Option<String>,
    /// The check at the benchmark's sizes, where the bound depends on them.
    pub bench_check: Option<String>,
}

/// What a kernel's leading comment states, as TOML between `/* envisa` and `*/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// One line: what the kernel does.
    pub about: String,
    /// The function's name, where it is not the file's.
    pub kernel: Option<String>,
    /// Devices it is compiled for; all four unless stated.
    pub devices: Option<Vec<Device>>,
    /// Why not all four.
    pub why_devices: Option<String>,
    /// Named sizes for conformance.
    pub sizes: BTreeMap<String, u64>,
    /// Named sizes for the benchmark; their presence puts the kernel into the benchmark set.
    pub bench: Option<BTreeMap<String, u64>>,
    /// Named sizes for the benchmark against Oclgrind, which takes hundreds of times as long.
    pub slow: Option<BTreeMap<String, u64>>,
    /// What the least possible work is, for the distance from the machine's limits.
    pub cost: Option<Cost>,
    /// What native code's time is spent on, where that is more than Intel's CPU runtime takes.
    pub bound: Option<String>,
    /// Work-items in each dimension.
    pub global: Vec<Extent>,
    /// Work-items of a group in each dimension.
    pub local: Vec<Extent>,
    /// Group size in the benchmark, where it differs.
    pub bench_local: Option<Vec<Extent>>,
    /// Group size on the peers, where they cannot have `local`.
    pub peer_local: Option<Vec<Extent>>,
    /// Global offset; zeros unless stated.
    #[serde(default)]
    pub offset: Vec<u64>,
    /// Build options beyond [`DEVICE_OPTIONS`].
    #[serde(default)]
    pub options: String,
    /// The devices' code is made by the vector compiler, of [`VECTOR_FOLDER`]'s `NAME.ll`; the file's is the peers'.
    #[serde(default)]
    pub vector: bool,
    /// Options for the devices' compiler that no OpenCL host would pass.
    #[serde(default)]
    pub internal_options: String,
    /// Differences from PoCL that are understood: any other, and their absence, is a failure.
    #[serde(default)]
    pub known: Vec<Known>,
    /// Peers other than PoCL whose result is another one than PoCL's and envisa's.
    #[serde(default)]
    pub wrong_peers: Vec<WrongPeer>,
    /// `lines`: what `printf` writes is compared, the order of lines being open.
    pub printf: Option<PrintfCheck>,
    /// Features it exercises.
    pub features: Vec<String>,
    /// Arguments in order.
    pub args: Vec<ArgHeader>,
}

/// The least that any implementation must do in a launch: expressions over the sizes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Bytes to and from memory, every buffer once.
    pub bytes: String,
    /// Operations on numbers, a multiply-add being two; left out where they depend on data or are not floats.
    pub flops: Option<String>,
    /// What else to know about the two.
    pub note: Option<String>,
}

/// A difference from PoCL that is understood.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Devices that it is seen on; all unless stated.
    pub devices: Option<Vec<Device>>,
    /// The output that differs.
    pub output: String,
    /// Number of its elements out of bounds: exactly.
    pub elements: usize,
    /// Whose fault it is, and how that is known.
    pub why: String,
    /// Is it seen only on CPUs with AVX-512, for which PoCL makes other code?
    #[serde(default)]
    pub with_avx512: bool,
}

/// A peer whose result is neither PoCL's nor envisa's.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct WrongPeer {
    /// The peer.
    pub peer: Peer,
    /// What it does wrong, and how that is known.
    pub why: String,
}

impl Known {
    /// True where it is expected on `device`.
    pub fn on(&self, device: Device) -> bool {
        self.devices.as_ref().is_none_or(|d| d.contains(&device))
    }
}

/// How `printf` output is compared.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PrintfCheck {
    /// The same lines, in any order: work-items print in any order.
    Lines,
}

/// Sources and committed products of vector-compute kernels, from the suite's folder.
pub const VECTOR_FOLDER: &str = "../crates/envisa/tests/vector";

/// Build options for the devices, before a kernel's own. `DEVICE_<name>` is defined too.
pub const DEVICE_OPTIONS: &str = "-cl-std=CL2.0";
/// Build options for peers, before a kernel's own.
pub const PEER_OPTIONS: &str = "-cl-std=CL1.2 -DPEER";

/// A kernel of the suite.
#[derive(Clone, Debug)]
pub struct KernelFile {
    /// `GROUP/NAME`, unique.
    pub id: String,
    /// Where it is.
    pub path: PathBuf,
    /// The whole file.
    pub source: String,
    /// What it states.
    pub header: Header,
}

/// A kernel file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct KernelError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
}

impl KernelFile {
    /// Reads one kernel; `id` is `GROUP/NAME`.
    ///
    /// # Errors
    /// [`KernelError`] where the header is missing, is not valid TOML, or contradicts itself.
    pub fn parse(id: &str, path: &Path, source: String) -> Result<KernelFile, KernelError> {
        let fail = |why: String| KernelError { path: path.to_owned(), why };
        let text = source
            .strip_prefix("/* envisa\n")
            .and_then(|s| s.split_once("*/"))
            .ok_or_else(|| fail("it does not start with a header `/* envisa … */`".to_owned()))?
            .0;
        let header: Header = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        let file = KernelFile { id: id.to_owned(), path: path.to_owned(), source, header };
        file.validate().map_err(fail)?;
        Ok(file)
    }

    fn validate(&self) -> Result<(), String> {
        let h = &self.header;
        if h.devices.is_some() != h.why_devices.is_some() {
            return Err("`devices` and `why_devices` belong together".to_owned());
        }
        let dims = h.global.len();
        if !(1..=3).contains(&dims) || h.local.len() != dims {
            return Err("`global` and `local` need one to three entries, the same number".to_owned());
        }
        for other in [&h.bench_local, &h.peer_local].into_iter().flatten() {
            if other.len() != dims {
                return Err("a group size has as many entries as `global`".to_owned());
            }
        }
        if !(h.offset.is_empty() || h.offset.len() == dims) {
            return Err("`offset` has as many entries as `global`".to_owned());
        }
        for (key, other) in [("bench", &h.bench), ("slow", &h.slow)] {
            if other.as_ref().is_some_and(|o| o.keys().ne(h.sizes.keys())) {
                return Err(format!("`{key}` must name the same sizes as `sizes`"));
            }
        }
        if h.slow.is_some() && h.bench.is_none() {
            return Err("`slow` needs `bench`: only the benchmark uses it".to_owned());
        }
        for text in h.cost.iter().flat_map(|c| [Some(&c.bytes), c.flops.as_ref()]).flatten() {
            crate::expr::evaluate(text, &h.sizes).map_err(|e| format!("`cost`: {e}"))?;
        }
        for k in &h.known {
            if !h.args.iter().any(|a| a.name == k.output && a.check.is_some()) {
                return Err(format!("`known` names `{}`, which is not an output", k.output));
            }
        }
        let mut outputs = 0;
        for a in &h.args {
            let kinds = [a.buffer.is_some(), a.bytes.is_some(), a.sampler.is_some(), a.value.is_some()];
            if kinds.iter().filter(|k| **k).count() != 1 || (a.image.is_some() && a.value.is_none()) {
                return Err(format!(
                    "argument `{}`: say either value, buffer, bytes, image and value, or sampler",
                    a.name
                ));
            }
            if a.check.is_some() != a.why.is_some() {
                return Err(format!("argument `{}`: `check` and `why` belong together", a.name));
            }
            if a.bench_check.is_some() && a.check.is_none() {
                return Err(format!("argument `{}`: `bench_check` needs a `check`", a.name));
            }
            if let Some(check) = &a.bench_check {
                Check::parse(check).map_err(|e| format!("argument `{}`: {e}", a.name))?;
            }
            if let Some(check) = &a.check {
                Check::parse(check).map_err(|e| format!("argument `{}`: {e}", a.name))?;
                outputs += 1;
            }
        }
        if outputs == 0 && h.printf.is_none() {
            return Err("nothing is checked: no argument has a `check` and there is no `printf`".to_owned());
        }
        Ok(())
    }

    /// The kernel function's name.
    pub fn function(&self) -> &str {
        let stem = self.id.rsplit('/').next().unwrap_or(&self.id);
        self.header.kernel.as_deref().unwrap_or(stem)
    }

    /// Devices the kernel is compiled for.
    pub fn devices(&self) -> &[Device] {
        self.header.devices.as_deref().unwrap_or(&CORPUS_DEVICES)
    }

    /// True where the peers are given other code than the devices: times cannot be compared.
    pub fn differs_on_peers(&self) -> bool {
        self.source.lines().any(|l| l.starts_with("#if") && l.contains("PEER"))
    }

    /// Is the kernel meant for a device? Newer devices take what one of the two before them takes: dg2 has images,
    /// pvc doubles.
    pub fn is_for(&self, device: Device) -> bool {
        match device {
            Device::Bmg | Device::Ptl | Device::Cri => {
                [Device::Dg2, Device::Pvc].iter().any(|d| self.devices().contains(d))
            }
            _ => self.devices().contains(&device),
        }
    }

    /// Build options for a device. What is written for pvc, with its 16 channels of DPAS, is for newer devices, too.
    pub fn device_options(&self, device: Device) -> String {
        let like = match device {
            Device::Bmg | Device::Ptl | Device::Cri => " -DDEVICE_pvc",
            _ => "",
        };
        let options = format!("{DEVICE_OPTIONS} -DDEVICE_{}{like} {}", device.name(), self.header.options);
        options.trim_end().to_owned()
    }

    /// Build options for a peer.
    pub fn peer_options(&self) -> String {
        format!("{PEER_OPTIONS} {}", self.header.options).trim_end().to_owned()
    }
}

/// The folder of the kernels in this source tree.
pub fn kernel_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// Reads every `GROUP/NAME.cl` below `folder`, in order of their ids.
///
/// # Errors
/// The first [`KernelError`], also for a file that is not a kernel.
pub fn discover(folder: &Path) -> Result<Vec<KernelFile>, KernelError> {
    let fail = |path: &Path, why: String| KernelError { path: path.to_owned(), why };
    let list = |path: &Path| -> Result<BTreeSet<PathBuf>, KernelError> {
        let io = |e: std::io::Error| fail(path, e.to_string());
        std::fs::read_dir(path).map_err(io)?.map(|e| Ok(e.map_err(io)?.path())).collect()
    };
    let mut kernels = Vec::new();
    for group in list(folder)?.iter().filter(|p| p.is_dir()) {
        for path in list(group)? {
            let name = |p: &Path| p.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            if path.extension().is_none_or(|e| e != "cl") {
                return Err(fail(&path, "only kernels (`.cl`) belong here".to_owned()));
            }
            let source = std::fs::read_to_string(&path).map_err(|e| fail(&path, e.to_string()))?;
            kernels.push(KernelFile::parse(&format!("{}/{}", name(group), name(&path)), &path, source)?);
        }
    }
    Ok(kernels)
}
