//! A fabric that is made from records.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber};

use crate::error::{DmodcStatus, Failure};
use crate::records::{
    DMODC_LAST_LID, DMODC_LAST_PORT, DmodcAdapter, DmodcAdapterKind, DmodcCable, DmodcEndPort,
    DmodcSwitch,
};

/// The greatest LMC.
const LAST_LMC: u8 = 7;

/// A device that can be cabled.
#[derive(Clone, Copy)]
struct Device {
    vertex: Vertex,
    ports: u8,
}

/// A fabric that is being made. Devices are named by GUID.
#[derive(Default)]
pub(crate) struct Builder {
    inner: FabricBuilder,
    devices: HashMap<Guid, Device>,
}

/// Returns an error unless all free bytes of a record are 0. So they can get a meaning later.
pub(crate) fn check_reserved(reserved: &[u8]) -> Result<(), Failure> {
    match reserved.iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(Failure::argument("the reserved bytes of a record are not 0")),
    }
}

fn check_lid(lid: u32, lmc: u8) -> Result<Lid, Failure> {
    if lmc > LAST_LMC {
        return Err(Failure::argument(format!("the LMC {lmc} is greater than {LAST_LMC}")));
    }
    let last = DMODC_LAST_LID - ((1 << lmc) - 1);
    match lid <= last {
        true => Ok(Lid(lid)),
        false => Err(Failure::argument(format!("the LID {lid} is greater than {last}"))),
    }
}

fn kind_of(kind: u32) -> Result<AdapterKind, Failure> {
    const HOST: u32 = DmodcAdapterKind::Host as u32;
    const AGGREGATION: u32 = DmodcAdapterKind::Aggregation as u32;
    const ROUTER: u32 = DmodcAdapterKind::Router as u32;
    const ASIDE: u32 = DmodcAdapterKind::Aside as u32;
    match kind {
        HOST => Ok(AdapterKind::Host),
        AGGREGATION => Ok(AdapterKind::Aggregation),
        ROUTER => Ok(AdapterKind::Router),
        ASIDE => Ok(AdapterKind::Aside),
        _ => Err(Failure::argument(format!("{kind} is no kind of an adapter"))),
    }
}

impl Builder {
    /// Adds a switch. A LID of 0 lets the library give one.
    pub(crate) fn add_switch(&mut self, record: &DmodcSwitch, name: &str) -> Result<(), Failure> {
        let &DmodcSwitch { guid, lid, ports, reserved } = record;
        check_reserved(&reserved)?;
        self.check_new(guid, ports)?;
        let (guid, lid) = (Guid(guid), check_lid(lid, 0)?);
        let switch = Switch { guid, lid, ports, name: name.into(), product: Product::default() };
        let vertex = self.inner.switch(switch);
        self.devices.insert(guid, Device { vertex, ports });
        Ok(())
    }

    /// Adds a channel adapter.
    pub(crate) fn add_adapter(&mut self, record: &DmodcAdapter, name: &str) -> Result<(), Failure> {
        let &DmodcAdapter { guid, kind, ports, reserved } = record;
        check_reserved(&reserved)?;
        self.check_new(guid, ports)?;
        let (guid, kind) = (Guid(guid), kind_of(kind)?);
        let adapter = Adapter { guid, ports, kind, name: name.into(), product: Product::default() };
        let vertex = self.inner.adapter(adapter);
        self.devices.insert(guid, Device { vertex, ports });
        Ok(())
    }

    fn check_new(&self, guid: u64, ports: u8) -> Result<(), Failure> {
        if guid == 0 {
            return Err(Failure::argument("the GUID of a device is 0"));
        }
        if !(1..=DMODC_LAST_PORT).contains(&ports) {
            let message = format!("a device has 1 to {DMODC_LAST_PORT} ports, not {ports}");
            return Err(Failure::argument(message));
        }
        match self.devices.contains_key(&Guid(guid)) {
            true => Err(Failure::argument(format!(
                "there is a device with the GUID {guid:#018x} already"
            ))),
            false => Ok(()),
        }
    }

    /// Describes a port of an adapter: a node, if a cable is in it.
    pub(crate) fn add_end_port(&mut self, record: &DmodcEndPort) -> Result<(), Failure> {
        let &DmodcEndPort { adapter_guid, guid, lid, lmc, port, reserved } = record;
        check_reserved(&reserved)?;
        let (vertex, port) = self.port(adapter_guid, port)?;
        if !matches!(vertex, Vertex::Adapter(_)) {
            let message = format!("the device {adapter_guid:#018x} is a switch, not an adapter");
            return Err(Failure::argument(message));
        }
        if guid == 0 {
            return Err(Failure::argument("the GUID of a port is 0"));
        }
        let lid = check_lid(lid, lmc)?;
        self.inner.end_port(vertex, port, Guid(guid), lid, lmc);
        Ok(())
    }

    /// Adds a cable.
    pub(crate) fn add_cable(&mut self, record: &DmodcCable) -> Result<(), Failure> {
        let &DmodcCable { guid_a, guid_b, port_a, port_b, reserved } = record;
        check_reserved(&reserved)?;
        let (a, b) = (self.port(guid_a, port_a)?, self.port(guid_b, port_b)?);
        self.inner.cable(a, b, Rate::default());
        Ok(())
    }

    fn port(&self, guid: u64, port: u8) -> Result<(Vertex, PortNumber), Failure> {
        let found = self.devices.get(&Guid(guid));
        let none = || Failure::not_found(format!("there is no device with the GUID {guid:#018x}"));
        let &Device { vertex, ports } = found.ok_or_else(none)?;
        match (1..=ports).contains(&port) {
            true => Ok((vertex, PortNumber(port))),
            false => Err(Failure::argument(format!(
                "the device {guid:#018x} has the ports 1 to {ports}, not {port}"
            ))),
        }
    }

    /// Returns the fabric. Ports without a LID have one then. A LID that two ports claim is an error: the caller would write
    /// to the wrong one.
    pub(crate) fn finish(self) -> Result<Fabric, Failure> {
        let wrong = |message: String| Failure::new(DmodcStatus::BadFabric, message);
        let fabric = self.inner.finish().map_err(|error| wrong(error.to_string()))?;
        let (fabric, given) = fabric.with_missing_lids();
        match given.iter().find(|(_, claimed)| *claimed != Lid::UNKNOWN) {
            Some((guid, claimed)) => Err(wrong(format!(
                "the LID {} of {guid} belongs to another port, or cannot be used",
                claimed.0
            ))),
            None => Ok(fabric),
        }
    }
}
