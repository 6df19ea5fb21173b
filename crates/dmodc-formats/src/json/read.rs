//! Reading a fabric from JSON.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber};

use super::{KINDS, SCHEMA};
use crate::ReadError;
use crate::json_value::{JsonObject, JsonValue, open};

/// Reads a fabric. LIDs are kept as they are: none is given where one is missing.
///
/// # Errors
/// The first place that is not of this format, with a name such as `switches[3].lid`, or the first inconsistency of the
/// fabric.
pub fn read(text: &[u8]) -> Result<Fabric, ReadError> {
    let top = open(text, SCHEMA)?;
    let mut reader = JsonReader {
        lines: LineCounter { text, line: 1, counted: 0 },
        builder: FabricBuilder::new(),
        devices: HashMap::new(),
        end_ports: HashMap::new(),
    };
    top.member("switches")?.each(|switch| reader.switch(switch))?;
    top.member("adapters")?.each(|adapter| reader.adapter(adapter))?;
    top.member("cables")?.each(|cable| reader.cable(cable))?;
    reader.builder.finish().map_err(|e| ReadError {
        line: e.inconsistencies[0].line.max(1),
        column: 1,
        message: e.to_string(),
    })
}

/// A cabled port of an adapter.
#[derive(Clone, Copy)]
struct EndPortMember {
    guid: Guid,
    lid: Lid,
    lmc: u8,
}

/// The fabric as far as it is read.
struct JsonReader<'a> {
    lines: LineCounter<'a>,
    builder: FabricBuilder,
    devices: HashMap<Guid, Vertex>,
    end_ports: HashMap<(Vertex, PortNumber), EndPortMember>,
}

impl JsonReader<'_> {
    fn switch(&mut self, value: JsonValue<'_>) -> Result<(), ReadError> {
        self.builder.at_line(self.lines.of(&value));
        let switch = value.object()?;
        let guid = self.new_guid(&switch)?;
        let vertex = self.builder.switch(Switch {
            guid,
            lid: switch.member("lid")?.lid()?,
            ports: switch.number("ports", 0, PortNumber::MAX.0.into())? as u8,
            name: switch.member("name")?.string()?.into(),
            product: product(&switch)?,
        });
        self.devices.insert(guid, vertex);
        Ok(())
    }

    fn adapter(&mut self, value: JsonValue<'_>) -> Result<(), ReadError> {
        self.builder.at_line(self.lines.of(&value));
        let adapter = value.object()?;
        let guid = self.new_guid(&adapter)?;
        let vertex = self.builder.adapter(Adapter {
            guid,
            ports: adapter.number("ports", 0, PortNumber::MAX.0.into())? as u8,
            kind: kind(&adapter.member("kind")?)?,
            name: adapter.member("name")?.string()?.into(),
            product: product(&adapter)?,
        });
        self.devices.insert(guid, vertex);
        adapter.member("end_ports")?.each(|end_port| {
            let end_port = end_port.object()?;
            let port = port(&end_port)?;
            let member = EndPortMember {
                guid: end_port.member("guid")?.guid()?,
                lid: end_port.member("lid")?.lid()?,
                lmc: end_port.number("lmc", 0, 7)? as u8,
            };
            match self.end_ports.insert((vertex, port), member) {
                None => Ok(()),
                Some(_) => Err(end_port.error(format!("port {port} is described twice"))),
            }
        })
    }

    fn cable(&mut self, value: JsonValue<'_>) -> Result<(), ReadError> {
        self.builder.at_line(self.lines.of(&value));
        let cable = value.object()?;
        let (a, b) =
            (self.end(&cable.member("a")?.object()?)?, self.end(&cable.member("b")?.object()?)?);
        let rate = cable.member("rate")?;
        let wrong = |_| rate.expected("a width and speed such as \"4xNDR\"");
        let rate = rate.string()?.parse::<Rate>().map_err(wrong)?;
        for (vertex, port) in [a, b] {
            if let Some(&EndPortMember { guid, lid, lmc }) = self.end_ports.get(&(vertex, port)) {
                self.builder.end_port(vertex, port, guid, lid, lmc);
            }
        }
        self.builder.cable(a, b, rate);
        Ok(())
    }

    /// Returns the GUID of a device that must not have been described before.
    fn new_guid(&self, device: &JsonObject<'_>) -> Result<Guid, ReadError> {
        let value = device.member("guid")?;
        let guid = value.guid()?;
        match self.devices.contains_key(&guid) {
            true => Err(value.error(format_args!("device {guid} is described twice"))),
            false => Ok(guid),
        }
    }

    /// Returns an end of a cable.
    fn end(&self, end: &JsonObject<'_>) -> Result<(Vertex, PortNumber), ReadError> {
        let value = end.member("guid")?;
        let guid = value.guid()?;
        match self.devices.get(&guid) {
            Some(&vertex) => Ok((vertex, port(end)?)),
            None => Err(value.error(format_args!("no switch or adapter has the GUID {guid}"))),
        }
    }
}

fn port(object: &JsonObject<'_>) -> Result<PortNumber, ReadError> {
    object.number("port", 1, PortNumber::MAX.0.into()).map(|port| PortNumber(port as u8))
}

fn product(device: &JsonObject<'_>) -> Result<Product, ReadError> {
    Ok(Product {
        vendor: device.number("vendor", 0, u32::MAX)?,
        device: device.number("device", 0, u32::MAX)?,
        system: device.member("system")?.guid()?,
    })
}

fn kind(value: &JsonValue<'_>) -> Result<AdapterKind, ReadError> {
    let text = value.string()?;
    match KINDS.iter().find(|(_, word)| *word == text) {
        Some(&(kind, _)) => Ok(kind),
        None => Err(value.expected("\"host\", \"aggregation\", \"router\" or \"aside\"")),
    }
}

/// Finds the lines of values. Values that come in the order of the text cost a single walk through it.
struct LineCounter<'a> {
    text: &'a [u8],
    line: u32,
    /// The offset up to which lines are counted.
    counted: usize,
}

impl LineCounter<'_> {
    fn of(&mut self, value: &JsonValue<'_>) -> u32 {
        let here = value.offset();
        if here < self.counted {
            (self.line, self.counted) = (1, 0);
        }
        self.line += memchr::memchr_iter(b'\n', &self.text[self.counted..here]).count() as u32;
        self.counted = here;
        self.line
    }
}
