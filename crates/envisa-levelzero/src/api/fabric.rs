//! What connects devices: each is a vertex, and there are no edges, as nothing but the host connects them.

use std::sync::{Arc, OnceLock};

use super::driver::driver_of;
use super::entries;
use crate::abi::VertexProperties;
use crate::core::device::{Device, driver};
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};

/// `ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE`
const OF_DEVICE: u32 = 1;

/// A device as what connects devices sees it.
struct Vertex {
    device: Arc<Device>,
}

/// The vertices, in the order of the devices.
fn vertices() -> &'static [Handle] {
    static ALL: OnceLock<Vec<Handle>> = OnceLock::new();
    ALL.get_or_init(|| {
        let devices = driver().1.devices.iter();
        devices.map(|(_, device)| handle::publish(&Arc::new(Vertex { device: device.clone() }))).collect()
    })
}

/// The vertex of a device.
fn vertex_of(device: &Arc<Device>) -> Result<Handle> {
    let place = driver().1.devices.iter().position(|(_, d)| Arc::ptr_eq(d, device));
    place.and_then(|i| vertices().get(i).copied()).ok_or(Error::DEVICE_IS_NOT_VERTEX)
}

entries! {
    fn zeFabricVertexGetExp(c, driver: Handle, count: *mut u32, to: *mut Handle) {
        driver_of(driver)?;
        let all = vertices();
        c.list(count, to, all.len(), |i, vertex| *vertex = all[i])
    }

    fn zeFabricVertexGetSubVerticesExp(c, vertex: Handle, count: *mut u32, _vertices: *mut Handle) {
        handle::get::<Vertex>(vertex)?;
        c.write(count, 0)
    }

    fn zeFabricVertexGetPropertiesExp(c, vertex: Handle, properties: *mut VertexProperties) {
        let vertex = handle::get::<Vertex>(vertex)?;
        c.change(properties, |p| {
            (p.uuid, p.kind, p.remote, p.place) = (vertex.device.uuid(), OF_DEVICE, 0, vertex.device.place());
        })
    }

    fn zeFabricVertexGetDeviceExp(c, vertex: Handle, to: *mut Handle) {
        let vertex = handle::get::<Vertex>(vertex)?;
        c.write(to, vertex.device.handle())
    }

    fn zeDeviceGetFabricVertexExp(c, device: Handle, to: *mut Handle) {
        let vertex = vertex_of(&handle::get::<Device>(device)?)?;
        c.write(to, vertex)
    }

    fn zeFabricEdgeGetExp(c, from: Handle, to: Handle, count: *mut u32, _edges: *mut Handle) {
        handle::get::<Vertex>(from)?;
        handle::get::<Vertex>(to)?;
        c.write(count, 0)
    }
}
