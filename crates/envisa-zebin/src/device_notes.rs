//! `.note.intelgt.compat`: what the module was compiled for.

use envisa_isa::Platform;
use serde::{Deserialize, Serialize};

/// The devices whose vISA differs, told by product family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceFamily {
    /// Gen9: Skylake. 32-byte GRF.
    Skl,
    /// Gen12 low power: Tiger Lake. 32-byte GRF.
    Tgllp,
    /// XeHPG: DG2, Arc. 32-byte GRF.
    Dg2,
    /// XeHPC: Ponte Vecchio. 64-byte GRF.
    Pvc,
    /// Xe2: Battlemage and Lunar Lake. 64-byte GRF.
    Bmg,
    /// Xe3: Panther Lake. 64-byte GRF.
    Ptl,
    /// Xe3P: Crescent Island. 64-byte GRF.
    Cri,
}

impl DeviceFamily {
    /// All of them, oldest first.
    pub const ALL: [DeviceFamily; 7] = [
        DeviceFamily::Skl,
        DeviceFamily::Tgllp,
        DeviceFamily::Dg2,
        DeviceFamily::Pvc,
        DeviceFamily::Bmg,
        DeviceFamily::Ptl,
        DeviceFamily::Cri,
    ];

    /// From a product family's number, as `ocloc` 22.43 and, from Xe2 on, 26.27 write it.
    pub const fn from_product(product: u32) -> Option<Self> {
        match product {
            18 => Some(DeviceFamily::Skl),
            29 => Some(DeviceFamily::Tgllp),
            1270 => Some(DeviceFamily::Dg2),
            1271 => Some(DeviceFamily::Pvc),
            1274 | 1275 => Some(DeviceFamily::Bmg),
            1300 => Some(DeviceFamily::Ptl),
            1380 => Some(DeviceFamily::Cri),
            _ => None,
        }
    }

    /// The product family's number.
    pub const fn product(self) -> u32 {
        match self {
            DeviceFamily::Skl => 18,
            DeviceFamily::Tgllp => 29,
            DeviceFamily::Dg2 => 1270,
            DeviceFamily::Pvc => 1271,
            DeviceFamily::Bmg => 1274,
            DeviceFamily::Ptl => 1300,
            DeviceFamily::Cri => 1380,
        }
    }

    /// The name `ocloc -device` takes.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceFamily::Skl => "skl",
            DeviceFamily::Tgllp => "tgllp",
            DeviceFamily::Dg2 => "dg2",
            DeviceFamily::Pvc => "pvc",
            DeviceFamily::Bmg => "bmg",
            DeviceFamily::Ptl => "ptl",
            DeviceFamily::Cri => "cri",
        }
    }

    /// The platform whose rules the device's compiled kernels follow.
    pub const fn platform(self) -> Platform {
        match self {
            DeviceFamily::Skl => Platform::Skl,
            DeviceFamily::Tgllp => Platform::Tgllp,
            DeviceFamily::Dg2 => Platform::Dg2,
            DeviceFamily::Pvc => Platform::Pvcxt,
            DeviceFamily::Bmg => Platform::Xe2,
            DeviceFamily::Ptl => Platform::Xe3,
            DeviceFamily::Cri => Platform::Xe3p,
        }
    }

    /// The device whose compiled kernels follow a platform's rules, if the compiler has one.
    pub fn of_platform(platform: Platform) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.platform() == platform)
    }
}

impl std::fmt::Display for DeviceFamily {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A name of no device.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", envisa_diag::unknown("device", .0, DeviceFamily::ALL.map(DeviceFamily::name)))]
pub struct UnknownDevice(String);

impl std::str::FromStr for DeviceFamily {
    type Err = UnknownDevice;

    /// By [`DeviceFamily::name`].
    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        Self::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| UnknownDevice(name.to_owned()))
    }
}

/// The notes known; none where absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// Product family's number.
    pub product_family: Option<u32>,
    /// Graphics core family's number; of SIMT code `ocloc` 22.43 leaves it 0.
    pub gfxcore_family: Option<u32>,
    /// Packed compatibility flags, revisions and generator.
    pub target_metadata: Option<u32>,
    /// Version of the zebin format, as `1.20`.
    pub zebin_version: Option<String>,
    /// Version of the vISA ABI, where stack calls are used.
    pub visa_abi_version: Option<u32>,
    /// Graphics IP version: architecture in bits 31:22, release 21:14, revision 5:0.
    pub product_config: Option<u32>,
    /// Version of the detection of indirect accesses.
    pub indirect_access_detection_version: Option<u32>,
    /// Major version of the indirect access buffer's layout.
    pub indirect_access_buffer_major_version: Option<u32>,
}

const OWNER: &str = "IntelGT";

impl Notes {
    /// The device family, if it is one of those known.
    pub fn device(&self) -> Option<DeviceFamily> {
        if let Some(device) = self.product_family.and_then(DeviceFamily::from_product) {
            return Some(device);
        }
        let Some(config) = self.product_config else {
            // The vector compiler of older releases names the core alone: Gen9, Gen12 LP, XeHPG, XeHPC.
            return match self.gfxcore_family? {
                0xc => Some(DeviceFamily::Skl),
                0x12 => Some(DeviceFamily::Tgllp),
                0xc07 => Some(DeviceFamily::Dg2),
                0xc08 => Some(DeviceFamily::Pvc),
                _ => None,
            };
        };
        // Newer compilers give the graphics IP version: 9.x, 12.x, 12.55 to 12.59, 12.60 and up, 20.x, 30.x, 35.x.
        match (config >> 22, (config >> 14) & 0xff) {
            (9, _) => Some(DeviceFamily::Skl),
            (12, 0..=10) => Some(DeviceFamily::Tgllp),
            (12, 55..=59) => Some(DeviceFamily::Dg2),
            (12, 60 | 61) => Some(DeviceFamily::Pvc),
            (20, _) => Some(DeviceFamily::Bmg),
            (30, _) => Some(DeviceFamily::Ptl),
            (35, _) => Some(DeviceFamily::Cri),
            _ => None,
        }
    }

    /// Reads a note section; the strings are complaints.
    pub(crate) fn parse(data: &[u8]) -> (Notes, Vec<String>) {
        let mut notes = Notes::default();
        let mut complaints = Vec::new();
        let mut rest = data;
        while !rest.is_empty() {
            let word =
                |i: usize| rest.get(4 * i..4 * i + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
            let (Some(name_len), Some(desc_len), Some(kind)) = (word(0), word(1), word(2)) else {
                complaints.push("the last note is cut short".into());
                break;
            };
            let pad = |n: u32| (n as usize).div_ceil(4) * 4;
            let desc_at = 12usize.saturating_add(pad(name_len));
            let desc_end = desc_at.saturating_add(desc_len as usize);
            let name = rest.get(12..12usize.saturating_add(name_len as usize));
            let (Some(name), Some(desc)) = (name, rest.get(desc_at..desc_end)) else {
                complaints.push("the last note is cut short".into());
                break;
            };
            let name = name.split(|&b| b == 0).next().unwrap_or_default();
            if name.eq_ignore_ascii_case(OWNER.as_bytes()) {
                notes.take(kind, desc, &mut complaints);
            }
            rest = rest.get(desc_at.saturating_add(pad(desc_len))..).unwrap_or_default();
            if complaints.len() > 100 {
                break;
            }
        }
        (notes, complaints)
    }

    fn take(&mut self, kind: u32, desc: &[u8], complaints: &mut Vec<String>) {
        let number = desc.try_into().ok().map(u32::from_le_bytes);
        let slot = match kind {
            1 => &mut self.product_family,
            2 => &mut self.gfxcore_family,
            3 => &mut self.target_metadata,
            4 => {
                let text = desc.split(|&b| b == 0).next().unwrap_or_default();
                self.zebin_version = Some(String::from_utf8_lossy(text).into_owned());
                return;
            }
            5 => &mut self.visa_abi_version,
            6 => &mut self.product_config,
            7 => &mut self.indirect_access_detection_version,
            8 => &mut self.indirect_access_buffer_major_version,
            _ => {
                complaints.push(format!("unknown note type {kind}, ignored"));
                return;
            }
        };
        match number {
            Some(number) => *slot = Some(number),
            None => complaints.push(format!("note type {kind} has {} bytes, not 4; ignored", desc.len())),
        }
    }

    /// The section's content.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut note = |kind: u32, desc: &[u8]| {
            let name = [OWNER.as_bytes(), b"\0"].concat();
            for word in [name.len() as u32, desc.len() as u32, kind] {
                out.extend_from_slice(&word.to_le_bytes());
            }
            for part in [name.as_slice(), desc] {
                out.extend_from_slice(part);
                out.resize(out.len().div_ceil(4) * 4, 0);
            }
        };
        let numbers = [
            (1, self.product_family),
            (2, self.gfxcore_family),
            (3, self.target_metadata),
            (5, self.visa_abi_version),
            (6, self.product_config),
            (7, self.indirect_access_detection_version),
            (8, self.indirect_access_buffer_major_version),
        ];
        for (kind, number) in numbers {
            if let Some(number) = number {
                note(kind, &number.to_le_bytes());
            }
        }
        if let Some(version) = &self.zebin_version {
            note(4, &[version.as_bytes(), b"\0"].concat());
        }
        out
    }
}
