//! Platforms the specification names, and sets of them.

/// A GPU platform, in order of appearance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Platform {
    Bdw,
    Chv,
    Skl,
    Bxt,
    Icllp,
    Tgllp,
    XehpSdv,
    Dg2,
    Mtl,
    Arl,
    Pvc,
    Pvcxt,
    /// Xe2: Lunar Lake and Battlemage.
    Xe2,
    /// Xe3: Panther Lake.
    Xe3,
    /// Xe3P: Crescent Island; first with the instructions that 4.2 adds from 0x93 on.
    Xe3p,
}

impl Platform {
    /// Every platform, oldest first.
    pub const ALL: [Platform; 15] = [
        Platform::Bdw,
        Platform::Chv,
        Platform::Skl,
        Platform::Bxt,
        Platform::Icllp,
        Platform::Tgllp,
        Platform::XehpSdv,
        Platform::Dg2,
        Platform::Mtl,
        Platform::Arl,
        Platform::Pvc,
        Platform::Pvcxt,
        Platform::Xe2,
        Platform::Xe3,
        Platform::Xe3p,
    ];

    /// The name the reference tools use for `-platform`.
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Bdw => "BDW",
            Platform::Chv => "CHV",
            Platform::Skl => "SKL",
            Platform::Bxt => "BXT",
            Platform::Icllp => "ICLLP",
            Platform::Tgllp => "TGLLP",
            Platform::XehpSdv => "XeHP_SDV",
            Platform::Dg2 => "DG2",
            Platform::Mtl => "MTL",
            Platform::Arl => "ARL",
            Platform::Pvc => "PVC",
            Platform::Pvcxt => "PVCXT",
            Platform::Xe2 => "Xe2",
            Platform::Xe3 => "Xe3",
            Platform::Xe3p => "Xe3P",
        }
    }

    /// The platform of this name, in any case; common product aliases are accepted.
    pub fn from_name(name: &str) -> Option<Platform> {
        let lower = name.to_ascii_lowercase();
        Some(match lower.as_str() {
            "gen8" => Platform::Bdw,
            "gen9" => Platform::Skl,
            "gen11" | "icl" => Platform::Icllp,
            "gen12" | "gen12lp" | "tgl" | "dg1" => Platform::Tgllp,
            "xehp" | "xehpsdv" => Platform::XehpSdv,
            "lnl" | "bmg" => Platform::Xe2,
            "ptl" => Platform::Xe3,
            "cri" => Platform::Xe3p,
            _ => return Self::ALL.into_iter().find(|p| p.name().eq_ignore_ascii_case(name)),
        })
    }

    /// The platform byte of the binary's native-code record (DG2 and MTL share one).
    pub const fn binary_code(self) -> Option<u8> {
        Some(match self {
            Platform::Bdw => 3,
            Platform::Chv => 4,
            Platform::Skl => 5,
            Platform::Bxt => 6,
            Platform::Icllp => 10,
            Platform::XehpSdv => 11,
            Platform::Tgllp => 12,
            Platform::Dg2 | Platform::Mtl => 13,
            Platform::Pvc => 14,
            Platform::Pvcxt => 15,
            Platform::Arl | Platform::Xe2 | Platform::Xe3 | Platform::Xe3p => return None,
        })
    }

    /// Bytes in one general register.
    pub const fn grf_bytes(self) -> u32 {
        match self {
            Platform::Pvc | Platform::Pvcxt | Platform::Xe2 | Platform::Xe3 | Platform::Xe3p => 64,
            _ => 32,
        }
    }
}

/// A set of platforms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Platforms(pub u32);

impl Platforms {
    /// Every platform.
    pub const ALL: Platforms = Platforms((1 << Platform::ALL.len()) - 1);
    /// No platform.
    pub const NONE: Platforms = Platforms(0);
    /// `{ICLLP+}` on the pages.
    pub const ICLLP_UP: Platforms = Platforms::from(Platform::Icllp);
    /// `{TGLLP+}` on the pages.
    pub const TGLLP_UP: Platforms = Platforms::from(Platform::Tgllp);
    /// `{XEHP+}` on the pages.
    pub const XEHP_UP: Platforms = Platforms::from(Platform::XehpSdv);
    /// `{DG2+}` on the pages.
    pub const DG2_UP: Platforms = Platforms::from(Platform::Dg2);
    /// `{PVC+}` on the pages.
    pub const PVC_UP: Platforms = Platforms::from(Platform::Pvc);
    /// Xe3P and newer ones.
    pub const XE3P_UP: Platforms = Platforms::from(Platform::Xe3p);

    /// Platforms with 64-bit integer arithmetic in hardware.
    pub const INT64: Platforms = Platforms::ALL.without(Platforms::of(&[
        Platform::Icllp,
        Platform::Tgllp,
        Platform::Dg2,
        Platform::Mtl,
        Platform::Arl,
    ]));

    /// `{P+}`: `first` and everything after it.
    pub const fn from(first: Platform) -> Platforms {
        Platforms(Self::ALL.0 & !((1 << first as u32) - 1))
    }

    /// `{-P}` on the pages: everything older than `first`, which itself lacks it.
    pub const fn before(first: Platform) -> Platforms {
        Platforms((1 << first as u32) - 1)
    }

    /// Everything up to and including `last`.
    pub const fn up_to(last: Platform) -> Platforms {
        Platforms((1 << (last as u32 + 1)) - 1)
    }

    /// Exactly these.
    pub const fn of(list: &[Platform]) -> Platforms {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u32;
            i += 1;
        }
        Platforms(bits)
    }

    /// Is `p` in the set?
    pub const fn contains(self, p: Platform) -> bool {
        self.0 & (1 << p as u32) != 0
    }

    /// Both sets together.
    pub const fn union(self, other: Platforms) -> Platforms {
        Platforms(self.0 | other.0)
    }

    /// What is in both.
    pub const fn intersect(self, other: Platforms) -> Platforms {
        Platforms(self.0 & other.0)
    }

    /// What is in `self` and not in `other`.
    pub const fn without(self, other: Platforms) -> Platforms {
        Platforms(self.0 & !other.0)
    }

    /// The platforms in the set, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Platform> {
        Platform::ALL.into_iter().filter(move |p| self.contains(*p))
    }
}
