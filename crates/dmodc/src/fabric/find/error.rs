//! Why a text was not found.

use std::fmt;

use super::LISTED;

/// Why a text means nothing in a fabric, or too much.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindError {
    /// No switch or node has this name or GUID.
    Unknown {
        /// The name that was looked for.
        name: Box<str>,
        /// The most similar names, the most similar one first.
        similar: Vec<Box<str>>,
    },
    /// No switch has this name or GUID. (Nodes were not looked for.)
    UnknownSwitch {
        /// The name that was looked for.
        name: Box<str>,
        /// The most similar names of switches, the most similar one first.
        similar: Vec<Box<str>>,
    },
    /// The text means several things.
    Ambiguous {
        /// The text.
        text: Box<str>,
        /// For each of them a text that means it alone.
        candidates: Vec<String>,
    },
    /// No cable is in this port.
    NoCable {
        /// The device.
        device: Box<str>,
        /// Its port.
        port: u8,
    },
    /// The name of a device is followed by something that is no port number.
    NotAPort(Box<str>),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = |f: &mut fmt::Formatter<'_>, what: &str, name: &str, similar: &[Box<str>]| {
            write!(f, "no {what} has the name or GUID '{name}'")?;
            let similar: Vec<String> = similar.iter().map(|name| format!("'{name}'")).collect();
            match similar.is_empty() {
                true => Ok(()),
                false => write!(f, "; the most similar names are {}", similar.join(", ")),
            }
        };
        match self {
            FindError::Unknown { name, similar } => unknown(f, "switch or node", name, similar),
            FindError::UnknownSwitch { name, similar } => unknown(f, "switch", name, similar),
            FindError::Ambiguous { text, candidates } => {
                let more = if candidates.len() > LISTED { ", …" } else { "" };
                let count = candidates.len();
                let listed = candidates[..count.min(LISTED)].join(", ");
                write!(f, "'{text}' matches {count} parts; give one of their GUIDs: {listed}{more}")
            }
            FindError::NoCable { device, port } => {
                write!(f, "port {port} of '{device}' has no cable")
            }
            FindError::NotAPort(text) => {
                write!(f, "'{text}' does not end in a port number from 1 to 254")
            }
        }
    }
}

impl std::error::Error for FindError {}
