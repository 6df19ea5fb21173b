//! What can be wrong with the description of a fabric.

use std::fmt;

use crate::id::{Guid, PortNumber};
use crate::words::counted;

/// One thing that is wrong with the description of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Two devices claim one GUID.
    DeviceTwice(Guid),
    /// An adapter's port claims a GUID that another port or a switch has.
    DuplicateGuid(Guid),
    /// A device has more ports than there are port numbers.
    TooManyPorts(Guid, u32),
    /// A cable is in a port that its device does not have.
    NoSuchPort(Guid, PortNumber, u8),
    /// Two cables are in one port.
    PortTwice(Guid, PortNumber),
    /// A cable leads to a device that is nowhere described.
    UnknownPeer(Guid, PortNumber, Guid),
    /// The port at the other end does not say that it is cabled back.
    OneSided(Guid, PortNumber, Guid, PortNumber),
    /// A cable leads back into its own switch: the ports of this end and of the other one.
    SelfLoop(Guid, PortNumber, PortNumber),
    /// A cable joins two adapters, with no switch between.
    NoSwitch(Guid, PortNumber, Guid),
    /// An adapter's port is cabled, but its GUID was never given.
    NoPortGuid(Guid, PortNumber),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Problem::DeviceTwice(g) => write!(f, "device {g} is described twice"),
            Problem::DuplicateGuid(g) => write!(f, "GUID {g} is given twice"),
            Problem::TooManyPorts(g, n) => {
                write!(f, "{g} has {n} ports, but at most {} are possible", PortNumber::MAX)
            }
            Problem::NoSuchPort(g, p, n) => {
                write!(f, "{g} has {}, but port {p} has a cable", counted(n, "port"))
            }
            Problem::PortTwice(g, p) => write!(f, "two cables are in port {p} of {g}"),
            Problem::UnknownPeer(g, p, peer) => {
                write!(f, "port {p} of {g} is cabled to {peer}, which is not described")
            }
            Problem::OneSided(g, p, peer, q) => write!(
                f,
                "port {p} of {g} is cabled to port {q} of {peer}, but the file does not list this cable at that port"
            ),
            Problem::SelfLoop(g, p, _) => write!(f, "port {p} of {g} is cabled to its own switch"),
            Problem::NoSwitch(g, p, peer) => {
                write!(f, "port {p} of {g} is cabled to {peer}, and neither is a switch")
            }
            Problem::NoPortGuid(g, p) => write!(f, "port {p} of {g} has no port GUID"),
        }
    }
}

/// A problem, and the line of the input in which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The line number, from 1; 0 if the fabric does not come from text.
    pub line: u32,
    /// What is wrong.
    pub problem: Problem,
}

/// The error of [`FabricBuilder::finish`](super::FabricBuilder::finish): everything that is wrong, in the order of
/// the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// Every inconsistency; never empty.
    pub inconsistencies: Vec<Inconsistency>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inconsistencies[0].problem.fmt(f)?;
        match self.inconsistencies.len() {
            1 => Ok(()),
            2 => write!(f, " (and one more problem)"),
            n => write!(f, " (and {} more problems)", n - 1),
        }
    }
}

impl std::error::Error for BuildError {}
