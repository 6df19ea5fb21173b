//! Finding switches, nodes and cables by what people call them.
//!
//! | text | meaning |
//! |---|---|
//! | `NAME` or `GUID` | a switch; for [`Fabric::find`] also a node |
//! | `NAME/PORT` or `GUID/PORT` | the cable in that port of a switch, or of an adapter if no switch is called so |
//!
//! A text is looked up in every way in which it can be read: a name may hold slashes, and it may look like a GUID. If
//! two readings find different things, the text is [ambiguous](FindError::Ambiguous) and the error lists what was
//! found.

mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use error::FindError;

use super::{CableEnds, Fabric, Part};
use crate::id::{CableIndex, Guid, NodeIndex, PortNumber, SwitchIndex};

/// The greatest number of candidates that an error lists.
const LISTED: usize = 5;

/// What a text means: the result of [`Fabric::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// A switch.
    Switch(SwitchIndex),
    /// A node.
    Node(NodeIndex),
    /// A cable, between switches or of a node.
    Cable(CableIndex),
}

/// A device whose port a text may name.
enum NamedDevice {
    Switch(SwitchIndex),
    /// An adapter, by its nodes.
    Adapter(Vec<NodeIndex>),
}

impl NamedDevice {
    /// Returns the cable in a port of the device.
    fn cable(&self, fabric: &Fabric, p: PortNumber) -> Option<CableIndex> {
        match self {
            NamedDevice::Switch(s) => fabric.port(*s, p)?.cable(),
            NamedDevice::Adapter(nodes) => {
                let n = nodes.iter().find(|n| fabric.node(**n).adapter_port == p)?;
                Some(fabric.node_cable(*n))
            }
        }
    }
}

/// The cables that a text of the form `DEVICE/PORT` names.
#[derive(Default)]
struct CableReadings {
    cables: Vec<CableIndex>,
    /// What is wrong with the port, if a device is called so.
    problem: Option<FindError>,
}

impl Fabric {
    /// Returns what a text means: a switch or node by name or GUID, or a cable by the name or GUID of a device and a
    /// port of it, as `leaf-3/17`.
    ///
    /// A node is found by the description of its adapter, by the first word of that (the host's name) if nothing has
    /// the whole name, by its port GUID, and by the GUID of its adapter if no port has it. O(#switches + #nodes).
    ///
    /// # Errors
    /// If nothing is called so (the error lists the most similar names), if several things are (the error lists
    /// their GUIDs), or if there is no cable in the port.
    ///
    /// # Example
    /// ```
    /// use dmodc::fabric::{FindError, Found};
    /// use dmodc::{NodeIndex, Pgft, SwitchIndex};
    ///
    /// let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>()?.fabric(Default::default());
    /// assert_eq!(fabric.find("L1-0")?, Found::Switch(SwitchIndex::new(0)));
    /// assert_eq!(fabric.find("node-3")?, Found::Node(NodeIndex::new(3)));
    /// // A node's cable can be named from either end.
    /// assert_eq!(fabric.find("L1-0/1")?, fabric.find("node-0/1")?);
    ///
    /// let error = fabric.find("L1-9").unwrap_err();
    /// assert!(matches!(error, FindError::Unknown { .. }));
    /// assert!(error.to_string().contains("'L1-0', 'L1-1'"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, text: &str) -> Result<Found, FindError> {
        let mut found: Vec<Found> = self.switches_called(text).map(Found::Switch).collect();
        found.extend(self.nodes_called(text).into_iter().map(Found::Node));
        let readings = self.cables_called(text);
        found.extend(readings.cables.into_iter().map(Found::Cable));
        let names = self.switches.iter().map(|s| &*s.name);
        let names = names.chain(self.adapters.iter().map(|a| &*a.name));
        self.only(text, &found, readings.problem, || {
            let (name, similar) = similar(text, names.collect());
            FindError::Unknown { name, similar }
        })
    }

    /// Returns the part that a text means, as [`Fabric::find`] does; but the name of a node means nothing, since a
    /// node is no part that can die. (Its cable is one.)
    ///
    /// # Errors
    /// Those of [`Fabric::find`].
    pub fn find_part(&self, text: &str) -> Result<Part, FindError> {
        let mut found: Vec<Found> = self.switches_called(text).map(Found::Switch).collect();
        let readings = self.cables_called(text);
        found.extend(readings.cables.into_iter().map(Found::Cable));
        match self.only(text, &found, readings.problem, || self.no_switch(text))? {
            Found::Switch(s) => Ok(Part::Switch(s)),
            Found::Cable(c) => Ok(Part::Cable(c)),
            Found::Node(_) => Err(self.no_switch(text)),
        }
    }

    /// Returns the switch with this name or GUID.
    ///
    /// # Errors
    /// If there is none, or there are several.
    pub fn find_switch(&self, text: &str) -> Result<SwitchIndex, FindError> {
        let found: Vec<Found> = self.switches_called(text).map(Found::Switch).collect();
        match self.only(text, &found, None, || self.no_switch(text))? {
            Found::Switch(s) => Ok(s),
            Found::Node(_) | Found::Cable(_) => Err(self.no_switch(text)),
        }
    }

    /// Returns the one thing that was found. If there is none, `problem` is the error, or else what `unknown` makes.
    fn only(
        &self,
        text: &str,
        found: &[Found],
        problem: Option<FindError>,
        unknown: impl FnOnce() -> FindError,
    ) -> Result<Found, FindError> {
        match *found {
            [one] => Ok(one),
            [] => Err(problem.unwrap_or_else(unknown)),
            _ => {
                let candidates = found.iter().map(|found| self.unique_name(*found)).collect();
                Err(FindError::Ambiguous { text: text.into(), candidates })
            }
        }
    }

    /// Returns all switches with this name or GUID.
    fn switches_called(&self, text: &str) -> impl Iterator<Item = SwitchIndex> {
        let guid = guid(text);
        let is_called = move |s: &SwitchIndex| {
            let switch = self.switch(*s);
            &*switch.name == text || Some(switch.guid) == guid
        };
        self.switch_indices().filter(is_called)
    }

    /// Returns all nodes with this name or GUID.
    fn nodes_called(&self, text: &str) -> Vec<NodeIndex> {
        let which = |is_called: &dyn Fn(NodeIndex) -> bool| -> Vec<NodeIndex> {
            self.node_indices().filter(|n| is_called(*n)).collect()
        };
        let name = |n: NodeIndex| &*self.adapter_of(n).name;
        let mut found = which(&|n| name(n) == text);
        if found.is_empty() {
            found = which(&|n| name(n).split_whitespace().next() == Some(text));
        }
        if let Some(guid) = guid(text) {
            let mut by_guid = which(&|n| self.node(n).guid == guid);
            if by_guid.is_empty() {
                by_guid = which(&|n| self.adapter_of(n).guid == guid);
            }
            by_guid.retain(|n| !found.contains(n));
            found.extend(by_guid);
        }
        found
    }

    /// Returns all cables that a text of the form `DEVICE/PORT` may mean.
    fn cables_called(&self, text: &str) -> CableReadings {
        let Some((name, port)) = text.rsplit_once('/') else { return CableReadings::default() };
        let devices = self.devices_called(name);
        match port.parse() {
            Ok(port @ 1..=254) => {
                let cables = devices.iter().map(|device| device.cable(self, PortNumber(port)));
                let (cables, without): (Vec<_>, Vec<_>) = cables.partition(Option::is_some);
                let no_cable = FindError::NoCable { device: name.into(), port };
                CableReadings {
                    cables: cables.into_iter().flatten().collect(),
                    problem: (!without.is_empty()).then_some(no_cable),
                }
            }
            _ => {
                let problem = (!devices.is_empty()).then(|| FindError::NotAPort(text.into()));
                CableReadings { cables: vec![], problem }
            }
        }
    }

    /// Returns all switches with this name or GUID; if there are none, the adapters.
    fn devices_called(&self, text: &str) -> Vec<NamedDevice> {
        let switches: Vec<NamedDevice> =
            self.switches_called(text).map(NamedDevice::Switch).collect();
        if !switches.is_empty() {
            return switches;
        }
        let guid = guid(text);
        let mut adapters: Vec<(Guid, Vec<NodeIndex>)> = Vec::new();
        for n in self.node_indices() {
            let adapter = self.adapter_of(n);
            if &*adapter.name != text && Some(adapter.guid) != guid {
                continue;
            }
            match adapters.iter_mut().find(|(guid, _)| *guid == adapter.guid) {
                Some((_, nodes)) => nodes.push(n),
                None => adapters.push((adapter.guid, vec![n])),
            }
        }
        adapters.into_iter().map(|(_, nodes)| NamedDevice::Adapter(nodes)).collect()
    }

    /// Returns a text by which this is found for certain.
    fn unique_name(&self, found: Found) -> String {
        match found {
            Found::Switch(s) => self.switch(s).guid.to_string(),
            Found::Node(n) => self.node(n).guid.to_string(),
            Found::Cable(c) => match self.cable(c) {
                CableEnds::Switches(cable) => {
                    format!("{}/{}", self.switch(cable.a.0).guid, cable.a.1)
                }
                CableEnds::Node(n) => {
                    format!("{}/{}", self.adapter_of(n).guid, self.node(n).adapter_port)
                }
            },
        }
    }

    /// Returns the error for a text that names neither a switch nor a cable.
    fn no_switch(&self, text: &str) -> FindError {
        let (name, similar) = similar(text, self.switches.iter().map(|s| &*s.name).collect());
        FindError::UnknownSwitch { name, similar }
    }
}

/// Returns the name that a text holds, and those of the names that are most similar to it.
fn similar(text: &str, names: BTreeSet<&str>) -> (Box<str>, Vec<Box<str>>) {
    // In NAME/PORT it is the name that is wrong.
    let name = match text.rsplit_once('/') {
        Some((name, port)) if port.parse::<u8>().is_ok() => name,
        _ => text,
    };
    let mut similar: Vec<(usize, &str)> =
        names.into_iter().map(|other| (distance(name, other), other)).collect();
    similar.sort_unstable();
    similar.truncate(LISTED);
    (name.into(), similar.into_iter().map(|(_, name)| name.into()).collect())
}

/// Returns the GUID that a text is, in any of the forms that files have.
fn guid(text: &str) -> Option<Guid> {
    let text = text.strip_prefix("S-").or(text.strip_prefix("H-")).unwrap_or(text);
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(digits, 16).ok().map(Guid))?
}

/// Returns how many letters have to be put in, taken out or replaced to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (lower(a), lower(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
