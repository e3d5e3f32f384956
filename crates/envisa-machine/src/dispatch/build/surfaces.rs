//! The surfaces of a launch: those of its arguments and of program-scope data.

use super::*;

impl Building<'_> {
    /// Program-scope data: their address, or the handle of a surface of them.
    pub(super) fn data_base(
        &mut self,
        p: &PayloadArgument,
        which: u32,
        base: u64,
    ) -> Result<(), LaunchError> {
        if p.addrmode != Some(AddrMode::Bindless) {
            self.write_payload(p, &base.to_le_bytes());
            return Ok(());
        }
        let found = self.memory.map().iter().find(|a| a.base == base).map(|a| BufferSurface::rest_of(a, 0));
        let Some(data) = found.filter(|_| base != 0) else { return Ok(()) };
        // Behind those of the arguments.
        let after = u32::try_from(self.launch.args.len()).unwrap_or(u32::MAX);
        let index = FIRST_BINDLESS.saturating_add(after).saturating_add(which);
        self.surfaces.bind_surface(self.memory, index, Surface::Buffer(data));
        let Some(handle) = SurfaceTable::handle(index) else {
            return Err(LaunchError::Metadata("there are too many surfaces".into()));
        };
        self.write_payload(p, &u64::from(handle).to_le_bytes());
        Ok(())
    }

    /// How many bytes before the one that an argument points to its surface starts. Kernels may go backwards from a
    /// pointer: where they add an offset to what they access, surfaces start with the allocation.
    pub(super) fn bytes_before_pointer(&self, index: u32, arg: &Arg) -> Result<u32, LaunchError> {
        let Arg::Buffer(id, offset) = arg else { return Ok(0) };
        let adds = |p: &PayloadArgument| p.arg_type == ArgType::BufferOffset && p.arg_index == Some(index);
        if !self.kernel.payload_arguments.iter().any(adds) {
            return Ok(0);
        }
        let allocation = self.find_allocation(index, *id)?;
        let offset = (*offset).min(allocation.block.len() as u64);
        // Offsets have 32 bits: of a larger allocation both sides of the pointer can be reached in part only.
        let large = allocation.block.len() as u64 > 1 << 32;
        let before = if large { offset.min(1 << 31) } else { offset };
        u32::try_from(before)
            .map_err(|_| LaunchError::Argument(index, format!("points {before} bytes into a buffer")))
    }

    /// The surface that a buffer or image argument is; `None` if it is none.
    pub(super) fn surface(&self, index: u32, arg: &Arg) -> Result<Option<Surface>, LaunchError> {
        Ok(Some(match arg {
            Arg::Buffer(id, offset) => {
                let allocation = self.find_allocation(index, *id)?;
                let start = offset - u64::from(self.bytes_before_pointer(index, arg)?);
                Surface::Buffer(BufferSurface::rest_of(&allocation, start))
            }
            Arg::Part(id, offset, len) => {
                Surface::Buffer(BufferSurface::part_of(&*self.find_allocation(index, *id)?, *offset, *len))
            }
            Arg::Image(image) => {
                self.find_allocation(index, image.allocation)?;
                Surface::Image(*image)
            }
            Arg::Null => Surface::None,
            _ => return Ok(None),
        }))
    }

    /// Binds surfaces by the binding table.
    pub(super) fn bind_surfaces(&mut self) -> Result<(), LaunchError> {
        for b in &self.kernel.binding_table_indices {
            let surface = match self.launch.args.get(b.arg_index as usize) {
                Some(arg) => self.surface(b.arg_index, arg)?.unwrap_or_default(),
                None => return Err(LaunchError::Argument(b.arg_index, "is not given".into())),
            };
            if !self.surfaces.bind_surface(self.memory, b.bti_value, surface) {
                return Err(LaunchError::Metadata(format!("binding-table index {}", b.bti_value)));
            }
        }
        Ok(())
    }
}

/// Does an argument of this kind take an image of that shape?
pub(super) fn shape_fits(kind: Option<ImageType>, image: &Image) -> Result<(), String> {
    let (shape, what) = match kind {
        Some(ImageType::Buffer | ImageType::Image1d) => (ImageShape::D1, "a 1D image"),
        Some(ImageType::Image1dArray) => (ImageShape::D1Array, "an array of 1D images"),
        Some(ImageType::Image2d | ImageType::Image2dDepth | ImageType::Image2dMedia) => {
            (ImageShape::D2, "a 2D image")
        }
        Some(ImageType::Image2dArray | ImageType::Image2dArrayDepth) => {
            (ImageShape::D2Array, "an array of 2D images")
        }
        Some(ImageType::Image3d) => (ImageShape::D3, "a 3D image"),
        Some(ImageType::Cube) => (ImageShape::Cube, "a cube"),
        // Kinds that no image here has, or that metadata does not tell.
        _ => return Ok(()),
    };
    if image.shape == shape {
        return Ok(());
    }
    let given = match image.shape {
        ImageShape::D1 => "a 1D image",
        ImageShape::D1Array => "an array of 1D images",
        ImageShape::D2 => "a 2D image",
        ImageShape::D2Array => "an array of 2D images",
        ImageShape::D3 => "a 3D image",
        ImageShape::Cube => "a cube",
    };
    Err(format!("the kernel takes {what}, not {given}"))
}
