//! A fabric that is made from records.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber};

use crate::error::{DmodcStatus, Failure};

/// The greatest number of a port.
const LAST_PORT: u8 = 254;

/// The greatest LID.
const LAST_LID: u32 = (1 << 31) - 1;

/// A fabric that is being made. Devices are named by GUID.
#[derive(Default)]
pub(crate) struct Builder {
    inner: FabricBuilder,
    devices: HashMap<Guid, (Vertex, u8)>,
}

/// One end of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CableEnd {
    pub(crate) guid: u64,
    pub(crate) port: u8,
}

/// An end port of an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndPort {
    pub(crate) adapter: u64,
    pub(crate) port: u8,
    pub(crate) guid: u64,
    pub(crate) lid: u32,
    pub(crate) lmc: u8,
}

fn wrong(message: String) -> Failure {
    Failure::new(DmodcStatus::BadArgument, message)
}

fn check_lid(lid: u32) -> Result<Lid, Failure> {
    match lid <= LAST_LID {
        true => Ok(Lid(lid)),
        false => Err(wrong(format!("the LID {lid} is greater than {LAST_LID}"))),
    }
}

impl Builder {
    /// Adds a switch. A LID of 0 lets the library give one.
    pub(crate) fn add_switch(
        &mut self,
        guid: u64,
        lid: u32,
        ports: u8,
        name: &str,
    ) -> Result<(), Failure> {
        self.check_new(guid, ports)?;
        let lid = check_lid(lid)?;
        let switch =
            Switch { guid: Guid(guid), lid, ports, name: name.into(), product: Product::default() };
        let vertex = self.inner.switch(switch);
        self.devices.insert(Guid(guid), (vertex, ports));
        Ok(())
    }

    /// Adds a channel adapter.
    pub(crate) fn add_adapter(
        &mut self,
        guid: u64,
        ports: u8,
        kind: AdapterKind,
        name: &str,
    ) -> Result<(), Failure> {
        self.check_new(guid, ports)?;
        let adapter = Adapter {
            guid: Guid(guid),
            ports,
            kind,
            name: name.into(),
            product: Product::default(),
        };
        let vertex = self.inner.adapter(adapter);
        self.devices.insert(Guid(guid), (vertex, ports));
        Ok(())
    }

    fn check_new(&self, guid: u64, ports: u8) -> Result<(), Failure> {
        if !(1..=LAST_PORT).contains(&ports) {
            return Err(wrong(format!("a device has 1 to {LAST_PORT} ports, not {ports}")));
        }
        match self.devices.contains_key(&Guid(guid)) {
            true => Err(wrong(format!("there is a device with the GUID {guid:#018x} already"))),
            false => Ok(()),
        }
    }

    /// Describes an end port of an adapter: a node, if a cable is in it.
    pub(crate) fn add_end_port(&mut self, end: EndPort) -> Result<(), Failure> {
        let (vertex, port) = self.port(CableEnd { guid: end.adapter, port: end.port })?;
        if !matches!(vertex, Vertex::Adapter(_)) {
            return Err(wrong(format!(
                "the device {:#018x} is a switch, not an adapter",
                end.adapter
            )));
        }
        if end.lmc > 7 {
            return Err(wrong(format!("the LMC {} is greater than 7", end.lmc)));
        }
        self.inner.end_port(vertex, port, Guid(end.guid), check_lid(end.lid)?, end.lmc);
        Ok(())
    }

    /// Adds a cable.
    pub(crate) fn add_cable(&mut self, a: CableEnd, b: CableEnd) -> Result<(), Failure> {
        let (a, b) = (self.port(a)?, self.port(b)?);
        self.inner.cable(a, b, Rate::default());
        Ok(())
    }

    fn port(&self, end: CableEnd) -> Result<(Vertex, PortNumber), Failure> {
        let CableEnd { guid, port } = end;
        let found = self.devices.get(&Guid(guid));
        let &(vertex, ports) =
            found.ok_or_else(|| wrong(format!("there is no device with the GUID {guid:#018x}")))?;
        match (1..=ports).contains(&port) {
            true => Ok((vertex, PortNumber(port))),
            false => {
                Err(wrong(format!("the device {guid:#018x} has ports 1 to {ports}, not {port}")))
            }
        }
    }

    /// Returns the fabric.
    pub(crate) fn finish(self) -> Result<Fabric, Failure> {
        let fabric = self.inner.finish();
        fabric.map_err(|error| Failure::new(DmodcStatus::BadFabric, error.to_string()))
    }
}
