//! Values in files: arrays (`.npy`), pictures (`.png`), raw bytes.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{ElemType, HostValue, ValueError, allocate_within_limit, npy};
use crate::files::{self, Staged};

impl HostValue {
    /// Reads a file of at most `limit` bytes of data: `.npy`, `.png` (palettes expanded; shape height, width,
    /// channels), anything else as raw bytes.
    ///
    /// # Errors
    /// [`ValueError::Io`], [`ValueError::Format`], [`ValueError::TooLarge`].
    pub fn read(path: &Path, limit: u64) -> Result<HostValue, ValueError> {
        let io = |source| ValueError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        // What has no size of its own may have no end either.
        let limit = if file.metadata().map_err(io)?.is_file() { limit } else { limit.min(files::MAX_STREAM) };
        refuse_foreign_format(path, &FOREIGN)?;
        match FileKind::of(path) {
            FileKind::Npy => npy::read(path, file, limit),
            FileKind::Png => read_png(path, file, limit),
            FileKind::Raw => {
                let bytes = file.metadata().map_err(io)?.len();
                let mut out = allocate_within_limit(&path.display().to_string(), bytes, limit)?;
                // `take` also bounds a file that grows.
                file.take(limit.saturating_add(1)).read_to_end(&mut out).map_err(io)?;
                if out.len() as u64 > limit {
                    return Err(ValueError::TooLarge {
                        what: path.display().to_string(),
                        bytes: out.len() as u64,
                        limit,
                    });
                }
                Ok(HostValue::from_raw(out))
            }
        }
    }

    /// Reads the bytes of a `.npy` file with at most `limit` bytes of data.
    ///
    /// # Errors
    /// As [`HostValue::read`].
    pub fn from_npy(bytes: &[u8], limit: u64) -> Result<HostValue, ValueError> {
        npy::read(Path::new(""), bytes, limit)
    }

    /// Writes the file whole or not at all: `.npy`; `.png` (`u8` or `u16`, shape height, width[, 1 to 4
    /// channels]); anything else as raw bytes.
    ///
    /// # Errors
    /// [`ValueError::Write`]; [`ValueError::Format`] where a picture cannot hold type or shape.
    pub fn write(&self, path: &Path) -> Result<(), ValueError> {
        let published = self.stage(path)?.publish();
        published.map_err(|why| ValueError::Write { why })
    }

    /// As [`HostValue::write`], but the file is not visible yet.
    ///
    /// # Errors
    /// As [`HostValue::write`].
    pub fn stage(&self, path: &Path) -> Result<Staged, ValueError> {
        let picture = match FileKind::of(path) {
            FileKind::Png => Some(self.encode_png(path)?),
            _ => None,
        };
        let staged = files::stage(path, |mut w| match (FileKind::of(path), &picture) {
            (FileKind::Npy, _) => npy::write(self, &mut w),
            (_, Some(picture)) => w.write_all(picture),
            _ => w.write_all(&self.bytes),
        });
        staged.map_err(|why| ValueError::Write { why })
    }

    /// The content of a picture.
    fn encode_png(&self, path: &Path) -> Result<Vec<u8>, ValueError> {
        let (color, depth, [width, height]) = png_form(path, self.elem, &self.shape)?;
        let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        let mut writer = encoder.write_header().map_err(|e| bad(e.to_string()))?;
        let swapped;
        let data = if self.elem == ElemType::U16 {
            swapped = self.bytes.chunks_exact(2).flat_map(|b| [b[1], b[0]]).collect::<Vec<u8>>();
            &swapped
        } else {
            &self.bytes
        };
        writer.write_image_data(data).map_err(|e| bad(e.to_string()))?;
        writer.finish().map_err(|e| bad(e.to_string()))?;
        Ok(out)
    }
}

/// How a picture holds such an array: colours, depth, width and height.
fn png_form(
    path: &Path,
    elem: ElemType,
    shape: &[u64],
) -> Result<(png::ColorType, png::BitDepth, [u32; 2]), ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let depth = match elem {
        ElemType::U8 => png::BitDepth::Eight,
        ElemType::U16 => png::BitDepth::Sixteen,
        other => return Err(bad(format!("a PNG holds u8 or u16, not {other}"))),
    };
    let (h, wd, channels) = match shape[..] {
        [h, w] => (h, w, 1),
        [h, w, c] => (h, w, c),
        _ => {
            return Err(bad(format!("a PNG needs height, width and channels, not the shape {:?}", shape)));
        }
    };
    let color = match channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        4 => png::ColorType::Rgba,
        n => return Err(bad(format!("a PNG has 1 to 4 channels, not {n}"))),
    };
    let side = |n: u64| u32::try_from(n).map_err(|_| bad(format!("a PNG cannot be {n} pixels wide or high")));
    Ok((color, depth, [side(wd)?, side(h)?]))
}

/// Whether a file of this name could be written, before there is anything to write: its folder, and for
/// pictures type and shape.
///
/// # Errors
/// As [`HostValue::write`].
pub fn check_file(path: &Path, elem: ElemType, shape: &[u64]) -> Result<(), ValueError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() && !files::is_standard(path) {
        let why = format!("{}: there is no folder {}", path.display(), folder.display());
        return Err(ValueError::Write { why });
    }
    if path.is_dir() {
        return Err(ValueError::Write { why: format!("{}: is a folder", path.display()) });
    }
    refuse_foreign_format(path, &[&FOREIGN[..], &TEXTS[..]].concat())?;
    if let FileKind::Png = FileKind::of(path) {
        png_form(path, elem, shape)?;
    }
    Ok(())
}

/// How a file of a name is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An array with its type and shape.
    Npy,
    /// A picture.
    Png,
    /// Bytes, whose meaning is the reader's.
    Raw,
}

impl FileKind {
    /// By the file's name.
    pub fn of(path: &Path) -> FileKind {
        match path.extension().and_then(|e| e.to_str()) {
            Some(e) if e.eq_ignore_ascii_case("npy") => FileKind::Npy,
            Some(e) if e.eq_ignore_ascii_case("png") => FileKind::Png,
            _ => FileKind::Raw,
        }
    }
}

/// Pictures and archives of other formats: their bytes are not values.
const FOREIGN: [&str; 19] = [
    "npz", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "ppm", "pgm", "pnm", "exr", "hdr", "zip",
    "gz", "h5", "hdf5", "mat", "parquet",
];
/// Texts: raw bytes may come from them, but are none.
const TEXTS: [&str; 5] = ["csv", "tsv", "txt", "json", "toml"];

/// Refuses a name that promises another format than raw bytes, which would be read or written.
fn refuse_foreign_format(path: &Path, names: &[&str]) -> Result<(), ValueError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !names.contains(&extension.as_str()) {
        return Ok(());
    }
    let why = match extension.as_str() {
        "npz" => "an .npz is an archive of arrays: take the .npy out of it".to_owned(),
        _ => {
            format!(".{extension} is not supported: .npy, .png, or raw bytes (.bin, .raw, or no suffix) are")
        }
    };
    Err(ValueError::Format { path: path.to_owned(), why })
}

fn read_png(path: &Path, file: File, limit: u64) -> Result<HostValue, ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let cap = usize::try_from(limit).unwrap_or(usize::MAX);
    let size = file.metadata().map_err(|source| ValueError::Io { path: path.to_owned(), source })?;
    let mut decoder = png::Decoder::new_with_limits(BufReader::new(file), png::Limits { bytes: cap });
    decoder.set_transformations(png::Transformations::EXPAND);
    // Neither is used, and both can be packed to grow a thousandfold.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(|e| bad(e.to_string()))?;
    // Deflate packs at most 1032 bytes into one: a picture that claims more is refused before it is given room.
    let info = reader.info();
    let row = (info.width as u64).saturating_mul(info.bits_per_pixel() as u64).div_ceil(8);
    let packed = row.saturating_add(1).saturating_mul(info.height as u64) / 1032;
    if size.is_file() && packed > size.len() {
        let why = format!("{} x {} pixels do not fit into {} bytes", info.width, info.height, size.len());
        return Err(bad(why));
    }
    let bytes = reader.output_buffer_size().map_or(u64::MAX, |n| n as u64);
    let mut out = allocate_within_limit(&path.display().to_string(), bytes, limit)?;
    out.resize(bytes as usize, 0);
    let info = reader.next_frame(&mut out).map_err(|e| bad(e.to_string()))?;
    out.truncate(info.buffer_size());
    let elem = match info.bit_depth {
        png::BitDepth::Eight => ElemType::U8,
        png::BitDepth::Sixteen => {
            for pair in out.chunks_exact_mut(2) {
                pair.swap(0, 1);
            }
            ElemType::U16
        }
        other => return Err(bad(format!("a bit depth of {} is not supported", other as u8))),
    };
    let channels = info.color_type.samples() as u64;
    Ok(HostValue { elem, shape: vec![u64::from(info.height), u64::from(info.width), channels], bytes: out })
}
