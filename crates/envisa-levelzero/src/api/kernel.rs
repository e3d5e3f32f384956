//! Kernels and their settings.

use std::ffi::{c_char, c_void};

use envisa_runtime::device::ArgKind;
use envisa_runtime::device_properties::MAX_GROUP;

use super::entries;
use crate::abi::{KernelDesc, KernelProperties, Number, stype};
use crate::caller::Caller;
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::kernel::{Kernel, MOST};
use crate::core::module::Module;

/// Reads an argument's bytes; `None` without a pointer.
pub(super) fn bytes(c: &Caller, size: usize, from: *const c_void) -> Result<Option<Vec<u8>>> {
    if from.is_null() {
        return Ok(None);
    }
    if size > MOST {
        Err(Error::INVALID_KERNEL_ARGUMENT_SIZE)
    } else {
        c.values(from.cast::<u8>(), size).map(Some)
    }
}

/// Sets all arguments from places of their values, whose sizes the kernel says.
pub(super) fn set_all_arguments(c: &Caller, kernel: &Kernel, places: *const *const c_void) -> Result<()> {
    let args = &kernel.info.args;
    if args.is_empty() {
        return Ok(());
    }
    for (i, place) in c.values(places, args.len())?.into_iter().enumerate() {
        let i32_ = i as u32;
        match args[i].kind {
            ArgKind::Local => kernel.set(i32_, c.read(place.cast::<usize>())?, None)?,
            ArgKind::Value => kernel.set(i32_, args[i].size, bytes(c, args[i].size, place)?)?,
            _ => kernel.set(i32_, size_of::<usize>(), bytes(c, size_of::<usize>(), place)?)?,
        }
    }
    Ok(())
}

entries! {
    fn zeKernelCreate(c, module: Handle, desc: *const KernelDesc, kernel: *mut Handle) {
        let module = handle::get::<Module>(module)?;
        let desc = c.read(desc)?;
        if desc.flags & !3 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        let name = c.text(desc.name).ok_or(Error::INVALID_NULL_POINTER)?;
        if kernel.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(kernel, handle::publish(&Kernel::new(&module, &name)?))
    }

    fn zeKernelDestroy(_c, kernel: Handle) {
        handle::destroy::<Kernel>(kernel).map(drop)
    }

    fn zeKernelSetGroupSize(_c, kernel: Handle, x: u32, y: u32, z: u32) {
        handle::get::<Kernel>(kernel)?.set_group([x, y, z])
    }

    fn zeKernelSuggestGroupSize(
        c,
        kernel: Handle,
        global_x: u32,
        global_y: u32,
        global_z: u32,
        x: *mut u32,
        y: *mut u32,
        z: *mut u32,
    ) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let global = [global_x, global_y, global_z];
        if global.contains(&0) {
            return Err(Error::INVALID_GLOBAL_WIDTH_DIMENSION);
        }
        let local = envisa_runtime::launch::suggest_group_size(&kernel.info, 3, global.map(u64::from));
        c.write(x, local[0])?;
        c.write(y, local[1])?;
        c.write(z, local[2])
    }

    fn zeKernelSuggestMaxCooperativeGroupCount(c, kernel: Handle, count: *mut u32) {
        let kernel = handle::get::<Kernel>(kernel)?;
        c.write(count, kernel.most_groups_at_once())
    }

    fn zeKernelSetArgumentValue(c, kernel: Handle, index: u32, size: usize, value: *const c_void) {
        let kernel = handle::get::<Kernel>(kernel)?;
        kernel.set(index, size, bytes(c, size, value)?)
    }

    fn zeKernelSetIndirectAccess(_c, kernel: Handle, flags: u32) {
        handle::get::<Kernel>(kernel)?.set_indirect(flags)
    }

    fn zeKernelGetIndirectAccess(c, kernel: Handle, flags: *mut u32) {
        let kernel = handle::get::<Kernel>(kernel)?;
        c.write(flags, kernel.indirect())
    }

    fn zeKernelSetCacheConfig(_c, kernel: Handle, flags: u32) {
        handle::get::<Kernel>(kernel)?;
        if flags & !3 != 0 { Err(Error::INVALID_ENUMERATION) } else { Ok(()) }
    }

    fn zeKernelSetGlobalOffsetExp(_c, kernel: Handle, x: u32, y: u32, z: u32) {
        handle::get::<Kernel>(kernel)?.set_offset([x, y, z]);
        Ok(())
    }

    fn zeKernelGetName(c, kernel: Handle, size: *mut usize, to: *mut u8) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let name = format!("{}\0", kernel.info.name);
        c.write_sized_text(name.as_bytes(), size, to)
    }

    fn zeKernelGetSourceAttributes(c, kernel: Handle, size: *mut u32, to: *mut *mut c_char) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let text = kernel.attributes.as_bytes_with_nul();
        let room = c.read(size)? as usize;
        // The application's own characters are behind another pointer.
        if let Some(at) = c.read_optional(to.cast_const()) {
            if at.is_null() {
                return Err(Error::INVALID_NULL_POINTER);
            }
            c.write_all(at.cast::<u8>(), &text[..text.len().min(room)])?;
        }
        c.write(size, text.len() as u32)
    }

    fn zeKernelGetProperties(c, kernel: Handle, properties: *mut KernelProperties) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let info = &kernel.info;
        let chain = c.chain(c.read(properties)?.base);
        let most = (MAX_GROUP as u32).div_ceil(info.simd.max(1));
        c.change(properties, |p| {
            p.arguments = info.args.len() as u32;
            p.group = info.required_group.map_or([0; 3], |r| r.map(|n| n as u32));
            p.sub_groups = 0;
            p.sub_group = info.required_sub_group;
            p.max_sub_group = info.simd;
            p.max_sub_groups = most;
            p.local = info.slm as u32;
            p.private = info.private as u32;
            p.spill = info.spill as u32;
            p.module_uuid = [0; 16];
            p.module_uuid[..8].copy_from_slice(&info.id.to_le_bytes());
            p.kernel_uuid = [0; 16];
            for (i, b) in info.name.bytes().enumerate() {
                p.kernel_uuid[i % 16] = p.kernel_uuid[i % 16].rotate_left(3) ^ b;
            }
        })?;
        for (kind, at) in chain {
            let value = match kind {
                stype::PREFERRED_GROUP_SIZE => {
                    info.simd * if kernel.module.device.spec.fused { 2 } else { 1 }
                }
                stype::KERNEL_MAX_GROUP_SIZE => MAX_GROUP as u32,
                _ => continue,
            };
            c.change(at.cast::<Number>(), |p| p.value = value)?;
        }
        Ok(())
    }
}
