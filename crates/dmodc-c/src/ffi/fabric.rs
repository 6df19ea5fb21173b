//! What is in a fabric.

use std::ffi::c_char;
use std::sync::Arc;

use dmodc::fabric::Cable;
use dmodc::{Fabric, Guid};

use super::pointers::{Buffer, array, check, guarded, put};
use crate::compute::compute;
use crate::error::{DmodcStatus, Failure};
use crate::handles::{self, Object};
use crate::records::{DmodcCable, DmodcCounts, DmodcFabric, DmodcNode, DmodcSwitch};

/// Reads a fabric from text in any format that dmodc reads, such as the output of ibnetdiscover. Damaged lines are left out, as by
/// the program dmodc. Ports without a LID get one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_read(
    bytes: *const u8,
    length: usize,
    fabric: *mut DmodcFabric,
) -> DmodcStatus {
    guarded(|| {
        check(fabric, "fabric")?;
        // SAFETY: our caller vouches for it.
        let bytes = unsafe { array(bytes, length, "bytes") }?;
        let read = compute(|| {
            let reading = dmodc_formats::read(bytes)
                .map_err(|error| Failure::new(DmodcStatus::BadFabric, error.to_string()))?;
            Ok(reading.fabric.with_missing_lids().0)
        })?;
        let number = handles::add(Object::Fabric(Arc::new(read)));
        // SAFETY: our caller vouches for it.
        unsafe { put(fabric, "fabric", number) }
    })
}

/// Writes a fabric as text, which dmodc_fabric_read and the program dmodc read: JSON, with LIDs. So a reference lasts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_write(
    fabric: DmodcFabric,
    buffer: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let mut text = vec![];
        dmodc_formats::json::write(&fabric, &mut text)
            .map_err(|error| Failure::new(DmodcStatus::Internal, error.to_string()))?;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill(&text) }
    })
}

/// Counts the parts of a fabric.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_counts(
    fabric: DmodcFabric,
    counts: *mut DmodcCounts,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let nodes = fabric.nodes().iter().map(|node| node.lid.0 + (1 << node.lmc));
        let switches = fabric.switches().iter().map(|switch| switch.lid.0 + 1);
        let found = DmodcCounts {
            switches: fabric.switches().len() as u32,
            nodes: fabric.nodes().len() as u32,
            cables: fabric.inter_switch_cables().len() as u32,
            row_length: nodes.chain(switches).max().unwrap_or(0),
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(counts, "counts", found) }
    })
}

/// Returns an element by its index.
fn at<'a, T>(all: &'a [T], index: u32, what: &str) -> Result<&'a T, Failure> {
    let count = all.len();
    let found = all.get(index as usize);
    found.ok_or_else(|| {
        let message = format!("there is no {what} {index}: there are {count}, counted from 0");
        Failure::not_found(message)
    })
}

/// Describes a switch by its index, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_switch(
    fabric: DmodcFabric,
    index: u32,
    description: *mut DmodcSwitch,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let found = at(fabric.switches(), index, "switch")?;
        let (guid, lid) = (found.guid.0, found.lid.0);
        let found = DmodcSwitch { guid, lid, ports: found.ports, ..DmodcSwitch::default() };
        // SAFETY: our caller vouches for it.
        unsafe { put(description, "description", found) }
    })
}

/// Writes the name of a switch, with a zero byte at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_switch_name(
    fabric: DmodcFabric,
    index: u32,
    buffer: *mut c_char,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let name = &at(fabric.switches(), index, "switch")?.name;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill_text(name) }
    })
}

/// Finds the index of the switch with a GUID.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_find_switch(
    fabric: DmodcFabric,
    guid: u64,
    index: *mut u32,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let found = fabric.switches().iter().position(|switch| switch.guid == Guid(guid));
        let none = || Failure::not_found(format!("there is no switch with the GUID {guid:#018x}"));
        let found = found.ok_or_else(none)?;
        // SAFETY: our caller vouches for it.
        unsafe { put(index, "index", found as u32) }
    })
}

/// Describes a node by its index, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_node(
    fabric: DmodcFabric,
    index: u32,
    description: *mut DmodcNode,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let node = at(fabric.nodes(), index, "node")?;
        let found = DmodcNode {
            guid: node.guid.0,
            adapter_guid: fabric.adapters()[node.adapter.at()].guid.0,
            switch_guid: fabric.switch(node.switch).guid.0,
            lid: node.lid.0,
            lmc: node.lmc,
            port: node.adapter_port.0,
            switch_port: node.switch_port.0,
            reserved: [0],
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(description, "description", found) }
    })
}

/// Writes the name of the adapter of a node, with a zero byte at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_node_name(
    fabric: DmodcFabric,
    index: u32,
    buffer: *mut c_char,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let node = at(fabric.nodes(), index, "node")?;
        let name = &fabric.adapters()[node.adapter.at()].name;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill_text(name) }
    })
}

/// Describes a cable between two switches by its index, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_cable(
    fabric: DmodcFabric,
    index: u32,
    description: *mut DmodcCable,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let found = cable(&fabric, at(fabric.inter_switch_cables(), index, "cable")?);
        // SAFETY: our caller vouches for it.
        unsafe { put(description, "description", found) }
    })
}

fn cable(fabric: &Fabric, cable: &Cable) -> DmodcCable {
    let ((a, port_a), (b, port_b)) = (cable.a, cable.b);
    DmodcCable {
        guid_a: fabric.switch(a).guid.0,
        guid_b: fabric.switch(b).guid.0,
        port_a: port_a.0,
        port_b: port_b.0,
        reserved: [0; 6],
    }
}
