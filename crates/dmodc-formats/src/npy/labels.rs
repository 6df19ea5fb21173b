//! The labels of an array: the switch of each row, and the destination of each column.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use dmodc::{Digest, Fabric, Guid, Lid};

use super::{SCHEMA, digest};
use crate::ReadError;
use crate::json_value::open;
use crate::lft::ends;

/// The labels of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayLabels {
    /// The switch of each row.
    pub switches: Vec<Guid>,
    /// The destination of each column.
    pub destinations: Vec<(Lid, Guid)>,
    /// The digest of the entries and of the labels, as text.
    pub(super) digest: String,
}

impl ArrayLabels {
    /// Writes the labels as JSON.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let list = |texts: Vec<String>| texts.join(", ");
        let guids = |guids: &mut dyn Iterator<Item = Guid>| {
            list(guids.map(|guid| format!("\"{guid}\"")).collect())
        };
        writeln!(out, "{{\n\"schema\": \"{SCHEMA}\",")?;
        writeln!(out, "\"fabric\": \"{}\",\n\"digest\": \"{}\",", self.fabric(), self.digest)?;
        writeln!(out, "\"no_route\": {},", dmodc::NO_ROUTE)?;
        writeln!(out, "\"switches\": [{}],", guids(&mut self.switches.iter().copied()))?;
        let lids = self.destinations.iter().map(|(lid, _)| lid.to_string());
        writeln!(out, "\"lids\": [{}],", list(lids.collect()))?;
        let destinations = guids(&mut self.destinations.iter().map(|(_, guid)| *guid));
        writeln!(out, "\"guids\": [{destinations}]\n}}")
    }

    /// Reads labels, and checks the digest of their fabric.
    pub(super) fn read(text: &[u8]) -> Result<Self, ReadError> {
        let top = open(text, SCHEMA)?;
        top.member("no_route")?.number(255, 255)?;
        let mut seen = HashSet::new();
        let mut switches = Vec::new();
        top.member("switches")?.each(|place| {
            switches.push(place.guid()?);
            match seen.insert(switches[switches.len() - 1]) {
                true => Ok(()),
                false => Err(place.error("the switch has a row already")),
            }
        })?;
        let (mut lids, mut guids) = (Vec::new(), Vec::new());
        top.member("lids")?.each(|place| {
            lids.push(place.lid()?);
            Ok(())
        })?;
        let column_guids = top.member("guids")?;
        column_guids.each(|place| {
            guids.push(place.guid()?);
            Ok(())
        })?;
        if lids.len() != guids.len() {
            let lids = lids.len();
            return Err(
                column_guids.error(format_args!("{} of them, and {lids} lids", guids.len()))
            );
        }
        let destinations: Vec<(Lid, Guid)> = lids.into_iter().zip(guids).collect();
        let mut seen = HashSet::new();
        if let Some((lid, guid)) = destinations.iter().find(|label| !seen.insert(**label)) {
            return Err(column_guids.error(format_args!("LID {lid} of {guid} has two columns")));
        }
        let labels =
            ArrayLabels { switches, destinations, digest: top.member("digest")?.string()? };
        let fabric = top.member("fabric")?;
        match fabric.string()? == labels.fabric().to_string() {
            true => Ok(labels),
            false => Err(fabric.error("the switches and destinations have another digest")),
        }
    }

    /// Returns the labels of all switches and destinations of a fabric.
    pub(super) fn of(fabric: &Fabric) -> Self {
        let destinations = ends(fabric).flat_map(|(end, lids)| {
            let guid = end.guid(fabric);
            lids.into_iter().map(move |lid| (lid, guid))
        });
        ArrayLabels {
            switches: fabric.switches().iter().map(|switch| switch.guid).collect(),
            destinations: destinations.collect(),
            digest: String::new(),
        }
    }

    /// Returns the digest of the fabric that tables with these labels belong to.
    pub(super) fn fabric(&self) -> Digest {
        let mut sorted = self.clone();
        sorted.switches.sort_unstable();
        sorted.destinations.sort_unstable();
        sorted.lists()
    }

    /// Returns the digest of the lists in their order.
    pub(super) fn lists(&self) -> Digest {
        let mut bytes = (self.switches.len() as u64).to_le_bytes().to_vec();
        bytes.extend(self.switches.iter().flat_map(|guid| guid.0.to_le_bytes()));
        for (lid, guid) in &self.destinations {
            bytes.extend(lid.0.to_le_bytes());
            bytes.extend(guid.0.to_le_bytes());
        }
        digest(self.switches.len(), &bytes)
    }

    /// Returns the number of switches that two fabrics share, by GUID and LID.
    pub(super) fn shared_switches(&self, other: &ArrayLabels) -> usize {
        let with_lids = |labels: &ArrayLabels| -> HashSet<(Guid, Option<Lid>)> {
            let lids: HashMap<Guid, Lid> =
                labels.destinations.iter().map(|&(lid, guid)| (guid, lid)).collect();
            labels.switches.iter().map(|guid| (*guid, lids.get(guid).copied())).collect()
        };
        with_lids(self).intersection(&with_lids(other)).count()
    }
}
