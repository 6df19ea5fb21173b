//! The records in which the shim hands over a fabric, and the fabric that is built from them.
//!
//! The structures mirror those of `shim.h`.

use std::collections::HashMap;
use std::ffi::c_char;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{FabricBuilder, Guid, Lid, PortNumber};
use dmodc_formats::adapter_kind;

/// The kinds of devices, as in NodeInfo.
const SWITCH: u8 = 2;
const ROUTER: u8 = 3;

/// `struct dmodc_device`: a switch, adapter or router.
#[repr(C)]
pub(crate) struct ShimDevice {
    guid: u64,
    system: u64,
    pub(crate) name: *const c_char,
    vendor: u32,
    device: u32,
    lid: u16,
    ports: u8,
    kind: u8,
    lmc: u8,
}

/// `struct dmodc_end_port`: a port of an adapter or router.
#[repr(C)]
pub(crate) struct ShimEndPort {
    device: u64,
    guid: u64,
    lid: u16,
    port: u8,
    lmc: u8,
}

/// `struct dmodc_cable`: a cable that is up and healthy.
#[repr(C)]
pub(crate) struct ShimCable {
    device: [u64; 2],
    port: [u8; 2],
}

/// Builds a fabric from the records of the shim.
#[derive(Default)]
pub(crate) struct FabricCollector {
    pub(crate) builder: FabricBuilder,
    vertices: HashMap<u64, Vertex>,
    /// The LMC of switches with several LIDs.
    pub(crate) switch_lmc: HashMap<Guid, u8>,
}

impl FabricCollector {
    pub(crate) fn device(&mut self, device: &ShimDevice, name: &str) {
        let product =
            Product { vendor: device.vendor, device: device.device, system: Guid(device.system) };
        let (guid, ports) = (Guid(device.guid), device.ports);
        let vertex = match device.kind {
            SWITCH => {
                let lid = Lid(device.lid.into());
                if device.lmc > 0 {
                    self.switch_lmc.insert(guid, device.lmc);
                }
                self.builder.switch(Switch { guid, lid, ports, name: name.into(), product })
            }
            kind => {
                let kind = match kind {
                    ROUTER => AdapterKind::Router,
                    _ => adapter_kind(Some(device.device), name),
                };
                self.builder.adapter(Adapter { guid, ports, kind, name: name.into(), product })
            }
        };
        self.vertices.insert(device.guid, vertex);
    }

    pub(crate) fn end_port(&mut self, port: &ShimEndPort) {
        if let Some(&of) = self.vertices.get(&port.device) {
            let (guid, lid) = (Guid(port.guid), Lid(port.lid.into()));
            self.builder.end_port(of, PortNumber(port.port), guid, lid, port.lmc.min(7));
        }
    }

    pub(crate) fn cable(&mut self, cable: &ShimCable) {
        let end = |at: usize| {
            self.vertices.get(&cable.device[at]).map(|&v| (v, PortNumber(cable.port[at])))
        };
        if let (Some(a), Some(b)) = (end(0), end(1)) {
            self.builder.cable(a, b, Rate::default());
        }
    }
}
