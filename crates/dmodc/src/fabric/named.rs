//! What people call the parts of a fabric: `NAME` or `GUID` is a switch, `NAME/PORT` or `GUID/PORT` the cable
//! in that port.
//!
//! A text is looked up in every way in which it can be read: a name may hold slashes, and it may look like a
//! GUID. If two ways find different parts, nothing is chosen; the error lists what was found.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use super::{Fabric, Part};
use crate::id::{Guid, NodeIndex, PortNumber, SwitchIndex};

/// As many candidates are listed in an error.
const LISTED: usize = 5;

/// A text that names a switch (`NAME` or `GUID`), or the cable in one of its ports (`NAME/PORT` or `GUID/PORT`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(Box<str>);

impl From<&str> for Target {
    fn from(text: &str) -> Self {
        Target(text.into())
    }
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Target {
    /// Returns the part that is meant.
    ///
    /// # Errors
    /// If nothing is called so, or several parts are, or there is no cable in the port.
    pub fn find(&self, fabric: &Fabric) -> Result<Part, NameError> {
        let mut found: Vec<Part> = fabric.switches_called(&self.0).map(Part::Switch).collect();
        let with_port = self.0.rsplit_once('/').map(|(device, port)| (device, port.parse()));
        let mut wrong = None;
        if let Some((device, port)) = with_port {
            let ends = fabric.ends_called(device);
            match port {
                Ok(port @ 1..=254) => {
                    let cables = ends.iter().map(|end| end.cable(fabric, PortNumber(port)));
                    let (cables, without): (Vec<_>, Vec<_>) = cables.partition(Option::is_some);
                    found.extend(cables.into_iter().flatten());
                    let device = device.into();
                    wrong = (!without.is_empty()).then_some(NameError::NoCable { device, port });
                }
                _ if !ends.is_empty() => wrong = Some(NameError::NoPort(self.0.clone())),
                _ => {}
            }
        }
        match found[..] {
            [part] => Ok(part),
            [] => Err(wrong.unwrap_or_else(|| fabric.unknown(&self.0))),
            _ => {
                let candidates = found.iter().map(|part| fabric.label(*part)).collect();
                Err(NameError::Several { text: self.0.clone(), candidates })
            }
        }
    }
}

/// A device that a text means.
enum End {
    Switch(SwitchIndex),
    /// The nodes of an adapter.
    Adapter(Vec<NodeIndex>),
}

impl End {
    /// Returns the cable in a port of it.
    fn cable(&self, fabric: &Fabric, p: PortNumber) -> Option<Part> {
        let cable = match self {
            End::Switch(s) => fabric.port(*s, p)?.cable()?,
            End::Adapter(nodes) => {
                let n = nodes.iter().find(|n| fabric.node(**n).adapter_port == p)?;
                fabric.node_cable(*n)
            }
        };
        Some(Part::Cable(cable))
    }
}

impl Fabric {
    /// Returns the switch with this name or GUID.
    ///
    /// # Errors
    /// If there is none, or there are several: their names or GUIDs are listed.
    pub fn switch_called(&self, text: &str) -> Result<SwitchIndex, NameError> {
        let found: Vec<SwitchIndex> = self.switches_called(text).collect();
        match found[..] {
            [one] => Ok(one),
            [] => Err(self.unknown(text)),
            _ => {
                let candidates = found.iter().map(|s| self.label(Part::Switch(*s))).collect();
                Err(NameError::Several { text: text.into(), candidates })
            }
        }
    }

    /// All switches with this name or GUID.
    fn switches_called(&self, text: &str) -> impl Iterator<Item = SwitchIndex> {
        let guid = guid(text);
        let is_called = move |s: &SwitchIndex| {
            let switch = self.switch(*s);
            &*switch.name == text || Some(switch.guid) == guid
        };
        self.switch_indices().filter(is_called)
    }

    /// All switches with this name or GUID; if there are none, the adapters.
    fn ends_called(&self, text: &str) -> Vec<End> {
        let switches: Vec<End> = self.switches_called(text).map(End::Switch).collect();
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
        adapters.into_iter().map(|(_, nodes)| End::Adapter(nodes)).collect()
    }

    /// A name by which a part is found for certain.
    fn label(&self, part: Part) -> String {
        match part {
            Part::Switch(s) => self.switch(s).guid.to_string(),
            Part::Cable(c) => match self.cable(c) {
                super::CableEnds::Switches(cable) => {
                    format!("{}/{}", self.switch(cable.a.0).guid, cable.a.1)
                }
                super::CableEnds::Node(n) => {
                    format!("{}/{}", self.adapter_of(n).guid, self.node(n).adapter_port)
                }
            },
        }
    }

    /// The error for a text that names nothing, with the names of switches that are most like it.
    fn unknown(&self, text: &str) -> NameError {
        // Of NAME/PORT the name is wrong.
        let name = match text.rsplit_once('/') {
            Some((name, port)) if port.parse::<u8>().is_ok() => name,
            _ => text,
        };
        let names: BTreeSet<&str> = self.switches.iter().map(|s| &*s.name).collect();
        let mut similar: Vec<(usize, &str)> =
            names.into_iter().map(|other| (distance(name, other), other)).collect();
        similar.sort_unstable();
        similar.truncate(LISTED);
        let similar = similar.into_iter().map(|(_, name)| name.into()).collect();
        NameError::Unknown { name: name.into(), similar }
    }
}

/// A text as a GUID, in any of the forms that files have.
fn guid(text: &str) -> Option<Guid> {
    let text = text.strip_prefix("S-").or(text.strip_prefix("H-")).unwrap_or(text);
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(digits, 16).ok().map(Guid))?
}

/// How many letters have to be put in, taken out or replaced to make one name of the other.
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

/// Why a text names no part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// No switch has this name or GUID.
    Unknown {
        /// What was asked for.
        name: Box<str>,
        /// Names of switches that are like it, the most similar first.
        similar: Vec<Box<str>>,
    },
    /// Several parts are meant.
    Several {
        /// What was asked for.
        text: Box<str>,
        /// Names by which each of them is found.
        candidates: Vec<String>,
    },
    /// No cable is in this port.
    NoCable {
        /// The device.
        device: Box<str>,
        /// Its port.
        port: u8,
    },
    /// What follows the name is no port number.
    NoPort(Box<str>),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Unknown { name, similar } => {
                write!(f, "no switch has the name or GUID '{name}'")?;
                let similar: Vec<String> = similar.iter().map(|name| format!("'{name}'")).collect();
                match similar.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; the most similar names are {}", similar.join(", ")),
                }
            }
            NameError::Several { text, candidates } => {
                let more = if candidates.len() > LISTED { ", …" } else { "" };
                let count = candidates.len();
                let listed = candidates[..count.min(LISTED)].join(", ");
                write!(f, "'{text}' means {count} parts; say which by GUID: {listed}{more}")
            }
            NameError::NoCable { device, port } => {
                write!(f, "no cable is in port {port} of '{device}'")
            }
            NameError::NoPort(text) => {
                write!(f, "'{text}' does not end in a port number from 1 to 254")
            }
        }
    }
}

impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{CableEnds, Product, Switch};
    use crate::id::Lid;
    use crate::{FabricBuilder, Pgft};

    fn find(fabric: &Fabric, text: &str) -> Result<Part, String> {
        let target: Target = text.parse().unwrap();
        target.find(fabric).map_err(|error| error.to_string())
    }

    #[test]
    fn switches_and_cables_are_found_by_name_and_by_guid() {
        let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let leaf = Part::Switch(SwitchIndex::new(0));
        let guid = fabric.switches()[0].guid;
        for name in ["L1-0".into(), guid.to_string(), format!("S-{:016x}", guid.0)] {
            assert_eq!(find(&fabric, &name), Ok(leaf));
            let Ok(Part::Cable(c)) = find(&fabric, &format!("{name}/3")) else { panic!("{name}") };
            assert!(matches!(fabric.cable(c), CableEnds::Switches(_)));
            let Ok(Part::Cable(c)) = find(&fabric, &format!("{name}/1")) else { panic!("{name}") };
            assert_eq!(fabric.cable(c), CableEnds::Node(NodeIndex::new(0)));
            assert_eq!(find(&fabric, "node-0/1"), Ok(Part::Cable(c)), "an adapter's port");
        }
    }

    #[test]
    fn what_is_wrong_with_a_name_is_said_with_candidates() {
        let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let wrong = |text: &str| find(&fabric, text).unwrap_err();
        let unknown = "no switch has the name or GUID 'L2-7'; the most similar names are 'L2-0', \
                       'L2-1', 'L1-0', 'L1-1'";
        assert_eq!(wrong("L2-7"), unknown);
        assert_eq!(wrong("L2-7/3"), unknown);
        assert_eq!(wrong("L1-0/9"), "no cable is in port 9 of 'L1-0'");
        assert_eq!(wrong("node-0/2"), "no cable is in port 2 of 'node-0'");
        for text in ["L1-0/0", "L1-0/255", "L1-0/x", "L1-0/"] {
            assert_eq!(
                wrong(text),
                format!("'{text}' does not end in a port number from 1 to 254")
            );
        }
        for text in ["", "0x", "node-0", "0x1/1", "/", "/1"] {
            assert!(wrong(text).starts_with("no switch has the name or GUID '"), "{text}");
        }
    }

    /// Names that several have, that hold slashes, and that look like GUIDs.
    #[test]
    fn nothing_is_chosen_among_several() {
        let mut b = FabricBuilder::new();
        for (guid, name) in
            [(0x11, "spine"), (0x12, "spine"), (0x13, "rack/1"), (0x14, "rack"), (0x15, "11")]
        {
            let (guid, name, product) = (Guid(guid), name.into(), Product::default());
            b.switch(Switch { guid, lid: Lid(0), ports: 4, name, product });
        }
        let rack = b.switch(Switch {
            guid: Guid(0x16),
            lid: Lid(0),
            ports: 1,
            name: "r/k".into(),
            product: Product::default(),
        });
        b.cable(
            (super::super::Vertex::Switch(SwitchIndex::new(3)), PortNumber(1)),
            (rack, PortNumber(1)),
            Default::default(),
        );
        let fabric = b.finish().unwrap();
        let [spine, other] = ["0x0000000000000011", "0x0000000000000012"];
        let several = |text: &str, a: &str, b: &str| {
            Err(format!("'{text}' means 2 parts; say which by GUID: {a}, {b}"))
        };
        assert_eq!(find(&fabric, "spine"), several("spine", spine, other));
        let named = fabric.switch_called("spine").map_err(|error| error.to_string());
        assert_eq!(named.map(Part::Switch), several("spine", spine, other));
        assert_eq!(find(&fabric, "11"), several("11", spine, "0x0000000000000015"));
        assert_eq!(find(&fabric, "0x12"), Ok(Part::Switch(SwitchIndex::new(1))));
        let cable = "0x0000000000000014/1";
        assert_eq!(find(&fabric, "rack/1"), several("rack/1", "0x0000000000000013", cable));
        assert!(
            matches!(find(&fabric, "rack/1/1"), Err(why) if why.contains("no cable is in port 1"))
        );
        assert_eq!(find(&fabric, "r/k/1"), find(&fabric, "0x14/1"));
        assert_eq!(find(&fabric, "r/k"), Ok(Part::Switch(SwitchIndex::new(5))));
    }
}
