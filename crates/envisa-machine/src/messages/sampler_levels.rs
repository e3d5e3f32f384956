//! Sampling images of several levels of detail: by a level that the message states, or by gradients.

use envisa_isa::operation::{Parameter, Sampling};
use envisa_lower::{RegOffset, Sample};
use envisa_sem::Hf;
use envisa_sem::sampler::level_of_detail;

use super::sampler::{Filter, LANES, Lanes};
use super::typed::{Texels, set};
use super::{AccessSpace, Fault, MemoryObserver, Ports};
use crate::memory::ImageShape;
use crate::register_file::{Registers, all_channels};
use crate::sampler::{Mip, Sampler};

/// Where a message says which level it means.
struct Stated {
    base: bool,
    lod: Option<(RegOffset, u8)>,
    least: Option<(RegOffset, u8)>,
    /// Of u, v and r, each along x and along y.
    gradients: Vec<Option<(RegOffset, u8)>>,
}

fn number(at: Option<(RegOffset, u8)>, regs: &Registers, channel: u32) -> f32 {
    match at {
        None => 0.0,
        Some((at, 2)) => f32::from(Hf(regs.get::<u16>(at + 2 * channel))),
        Some((at, _)) => regs.get::<f32>(at + 4 * channel),
    }
}

impl Stated {
    /// # Errors
    /// Where the level is that of neighbouring pixels, or shares its parameter with offsets.
    fn new(s: &Sample) -> Result<Stated, &'static str> {
        let place = |what| {
            let found = s.parameters.iter().find(|p| p.what == what);
            found.map(|p| p.at.map(|at| (at, p.bytes)))
        };
        let gradients: Vec<_> = s
            .parameters
            .iter()
            .filter(|p| p.what == Parameter::Gradient)
            .map(|p| p.at.map(|at| (at, p.bytes)))
            .collect();
        let shared = |what| matches!(what, Parameter::LevelOffsets | Parameter::LevelWideOffsets);
        if s.parameters.iter().any(|p| shared(p.what)) {
            return Err("levels of detail that share a parameter with offsets are not supported");
        }
        let base = match s.what {
            Sampling::Base => true,
            Sampling::Filter => false,
            Sampling::Gather => return Err("gathers need an image with one level of detail"),
            Sampling::LevelOfDetail => {
                return Err("levels of detail of neighbouring pixels are not supported");
            }
        };
        let lod = place(Parameter::Lod);
        if !base && lod.is_none() && gradients.is_empty() {
            return Err("levels of detail of neighbouring pixels are not supported");
        }
        Ok(Stated { base, lod: lod.flatten(), least: place(Parameter::MinLod).flatten(), gradients })
    }

    /// The level that a channel means, before anything is clamped; `sizes` are the first level's.
    fn unclamped_level(&self, sizes: [f64; 3], regs: &Registers, channel: u32) -> f64 {
        let level = match () {
            () if self.base => 0.0,
            () if !self.gradients.is_empty() => {
                let along = |first: usize| -> [f64; 3] {
                    std::array::from_fn(|k| {
                        let at = self.gradients.get(2 * k + first).copied().flatten();
                        f64::from(number(at, regs, channel)) * sizes[k]
                    })
                };
                level_of_detail(along(0), along(1))
            }
            () => f64::from(number(self.lod, regs, channel)),
        };
        level.max(number(self.least, regs, channel).into())
    }
}

/// The levels to take, and how much the second one counts.
fn choose_levels(level: f64, state: &Sampler, last: usize) -> (usize, usize, f64) {
    let [least, greatest] = state.levels.map(|l| f64::from(l) / 256.0);
    // A level that is not a number is the first; casts saturate.
    let level = if level.is_nan() { least } else { level.max(least).min(greatest) }.clamp(0.0, last as f64);
    match state.mip {
        Mip::None => (0, 0, 0.0),
        Mip::Nearest => {
            let nearest = ((level + 0.5).ceil() - 1.0).max(0.0) as usize;
            (nearest, nearest, 0.0)
        }
        Mip::Linear => {
            let first = (level as usize).min(last);
            (first, (first + 1).min(last), level - first as f64)
        }
    }
}

/// Samples an image of several levels for each channel.
pub(super) fn execute<O: MemoryObserver>(
    s: &Sample,
    (data, state, texels): (RegOffset, Sampler, &Texels<'_>),
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let refuse = |why| Fault { space: AccessSpace::Surface(texels.bti()), ..Fault::unsupported(why) };
    let stated = Stated::new(s).map_err(refuse)?;
    let all = texels.texels_by_level();
    let filters = all.iter().map(|t| Filter::new(s, state, t)).collect::<Result<Vec<_>, _>>()?;
    let Some(last) = filters.len().checked_sub(1) else {
        return Err(refuse("the image's levels of detail are outside of every address"));
    };
    let image = &texels.image;
    if image.shape == ImageShape::Cube && !stated.gradients.is_empty() {
        return Err(refuse("gradients across the faces of a cube are not supported"));
    }
    // Texels are counted, whatever coordinates count.
    let sizes = std::array::from_fn(|k| match k < filters[0].count {
        true if filters[0].axes[k].normalized => f64::from(filters[0].axes[k].size),
        true => 1.0,
        false => 0.0,
    });
    let lanes = Lanes::read(s, regs, mask, ports)?;
    let levels: [f64; LANES] = std::array::from_fn(|k| match mask >> k & 1 {
        0 => 0.0,
        _ => stated.unclamped_level(sizes, regs, k as u32),
    });
    if s.null_mask {
        // Nothing here is paged in on demand.
        regs.set(data + s.channels.count_ones() * s.component_stride, all_channels(channels as usize));
    }
    let integers = texels.format.channel_type().is_int();
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let k = i as usize;
        let at: [f32; 4] = std::array::from_fn(|c| lanes.at[c][k]);
        let (first, second, weight) = choose_levels(levels[k], &state, last);
        if weight > 0.0 && integers {
            return Err(refuse("integer texels of two levels of detail are not mixed"));
        }
        let who = (i, lanes.reference[k]);
        let mut answer = filters[first].filter(at, lanes.offsets[k], who, obs);
        if weight > 0.0 {
            let other = filters[second].filter(at, lanes.offsets[k], who, obs);
            for (x, y) in answer.iter_mut().zip(other) {
                let [a, b] = [*x, y].map(|bits| f64::from(f32::from_bits(bits)));
                *x = ((a * (1.0 - weight) + b * weight) as f32).to_bits();
            }
        }
        let mut register = data;
        for c in (0..4).filter(|c| s.channels >> c & 1 != 0) {
            set(regs, register, s.slot, i, answer[c]);
            register += s.component_stride;
        }
    }
    Ok(())
}
