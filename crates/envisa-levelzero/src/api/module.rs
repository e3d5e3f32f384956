//! Modules.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::sync::Arc;

use super::entries;
use crate::abi::{Constants, ModuleDesc, ModuleFlags, ModuleProgram, stype};
use crate::caller::Caller;
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::memory::Context;
use crate::core::module::{BuildLog, Module, Part};

const SPIRV: u32 = 0;
const NATIVE: u32 = 1;

/// One part of a module.
fn module_part(
    c: &Caller,
    (module, size): (*const u8, usize),
    flags: *const c_char,
    constants: *const Constants,
) -> Result<Part> {
    if module.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    if size == 0 {
        return Err(Error::INVALID_SIZE);
    }
    let mut values = BTreeMap::new();
    if let Some(given) = c.read_optional(constants) {
        let ids = c.values(given.ids, given.count as usize)?;
        let places = c.values(given.values, given.count as usize)?;
        // How long they are says the module: eight bytes are the most, and the fewest that may be read is not known here.
        let sizes = envisa_runtime::spirv::specialization_constant_sizes(&c.values(module, size)?);
        for (id, place) in ids.into_iter().zip(places) {
            if let Some(size) = sizes.get(&id) {
                values.insert(id, c.values(place.cast::<u8>(), *size)?);
            }
        }
    }
    let options = c.text(flags).unwrap_or_default();
    Ok(Part { bytes: c.values(module, size)?, options, constants: values })
}

fn module_parts(c: &Caller, desc: &ModuleDesc) -> Result<Vec<Part>> {
    let several = c.chain(desc.base).into_iter().find(|(kind, _)| *kind == stype::MODULE_PROGRAM);
    let Some((_, at)) = several else {
        return Ok(vec![module_part(c, (desc.module, desc.size), desc.flags, desc.constants)?]);
    };
    let program = c.read(at.cast::<ModuleProgram>().cast_const())?;
    let n = program.count as usize;
    if n == 0 {
        return Err(Error::INVALID_SIZE);
    }
    let (sizes, modules) = (c.values(program.sizes, n)?, c.values(program.modules, n)?);
    let all = |list: *const *const c_char| if list.is_null() { Ok(Vec::new()) } else { c.values(list, n) };
    let flags = all(program.flags)?;
    let constants = if program.constants.is_null() { Vec::new() } else { c.values(program.constants, n)? };
    let one = |i: usize| {
        let flags = flags.get(i).copied().unwrap_or(std::ptr::null());
        let constants = constants.get(i).copied().unwrap_or(std::ptr::null());
        module_part(c, (modules[i], sizes[i]), flags, constants)
    };
    (0..n).map(one).collect()
}

fn give_log(c: &Caller, log: String, to: *mut Handle) {
    if !to.is_null() {
        c.write_optional(to, handle::publish(&Arc::new(BuildLog(log))));
    }
}

entries! {
    fn zeModuleCreate(c, context: Handle, device: Handle, desc: *const ModuleDesc, module: *mut Handle, log: *mut Handle) {
        let context = handle::get::<Context>(context)?;
        let device = handle::get::<Device>(device)?;
        let desc = c.read(desc)?;
        if module.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let mut parts = module_parts(c, &desc)?;
        let (made, mut said) = match desc.format {
            SPIRV => Module::compile(context, device.clone(), parts),
            NATIVE if parts.len() == 1 => Module::load(context, device.clone(), parts.remove(0)),
            NATIVE => return Err(Error::UNSUPPORTED_FEATURE),
            _ => return Err(Error::INVALID_ENUMERATION),
        };
        if let (false, Ok(made)) = (log.is_null(), &made) {
            said.push_str(device.machine.unwritten(&made.built()));
        }
        give_log(c, said, log);
        c.write(module, handle::publish(&made?))
    }

    fn zeModuleDestroy(_c, module: Handle) {
        handle::destroy::<Module>(module).map(drop)
    }

    fn zeModuleDynamicLink(c, n: u32, modules: *const Handle, log: *mut Handle) {
        let modules: Vec<Arc<Module>> =
            c.values(modules, n as usize)?.into_iter().map(handle::get).collect::<Result<_>>()?;
        let (linked, said) = Module::link(&modules);
        give_log(c, said, log);
        linked
    }

    fn zeModuleBuildLogDestroy(_c, log: Handle) {
        handle::destroy::<BuildLog>(log).map(drop)
    }

    fn zeModuleBuildLogGetString(c, log: Handle, size: *mut usize, to: *mut u8) {
        let log = handle::get::<BuildLog>(log)?;
        let text = CString::new(log.0.replace('\0', "")).unwrap_or_default();
        c.write_sized_text(text.as_bytes_with_nul(), size, to)
    }

    fn zeModuleGetProperties(c, module: Handle, properties: *mut ModuleFlags) {
        let module = handle::get::<Module>(module)?;
        c.change(properties, |p| p.flags = u32::from(module.has_imports()))
    }

    fn zeModuleGetNativeBinary(c, module: Handle, size: *mut usize, to: *mut u8) {
        let module = handle::get::<Module>(module)?;
        c.write_sized_text(module.built().binary(), size, to)
    }

    fn zeModuleGetKernelNames(c, module: Handle, count: *mut u32, names: *mut *const c_char) {
        let module = handle::get::<Module>(module)?;
        c.list(count, names, module.names.len(), |i, to| *to = module.names[i].as_ptr())
    }

    fn zeModuleGetGlobalPointer(c, module: Handle, name: *const c_char, size: *mut usize, to: *mut usize) {
        let module = handle::get::<Module>(module)?;
        let name = c.text(name).ok_or(Error::INVALID_NULL_POINTER)?;
        let (address, bytes) = module.variable(&name)?;
        // Either may be left out.
        c.write_optional(size, bytes);
        c.write_optional(to, address);
        Ok(())
    }

    fn zeModuleGetFunctionPointer(c, module: Handle, name: *const c_char, to: *mut usize) {
        let module = handle::get::<Module>(module)?;
        let name = c.text(name).ok_or(Error::INVALID_NULL_POINTER)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, module.function(&name)?)
    }
}
