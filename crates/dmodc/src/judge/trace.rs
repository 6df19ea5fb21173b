//! Follows one route, hop by hop.

use super::walk::{InForce, NextHop};
use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::tables::ForwardingTables;

/// A switch on the way, and the port it sends out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The port that the packet came in by; `None` at the first switch.
    pub into: Option<PortNumber>,
    /// The switch.
    pub switch: SwitchIndex,
    /// The port in its table; `None` if the table has no route.
    pub out: Option<PortNumber>,
}

/// How a route ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At its destination.
    Delivered,
    /// At the last hop, which has no route, or one into a dead or wrong port.
    Lost,
    /// The last hop was passed before.
    Loops,
}

/// Follows the route from a switch to a column. Returns its hops, and how it ends.
pub fn trace(
    live: Live<'_>,
    tables: &ForwardingTables,
    from: SwitchIndex,
    column: usize,
) -> (Vec<Hop>, Fate) {
    let d = &tables.columns().destinations()[column];
    let in_force = InForce { live, tables: &[tables] };
    let mut hops: Vec<Hop> = Vec::new();
    let (mut switch, mut into) = (from, None);
    loop {
        let seen = hops.iter().any(|hop| hop.switch == switch);
        hops.push(Hop { into, switch, out: tables.port(switch, column) });
        if seen {
            return (hops, Fate::Loops);
        }
        match in_force.next(0, switch, column, d) {
            NextHop::Delivered => return (hops, Fate::Delivered),
            NextHop::Lost => return (hops, Fate::Lost),
            NextHop::Switch { to, out } => {
                into = match live.peer(switch, out) {
                    Peer::Switch(_, port) => Some(port),
                    _ => None,
                };
                switch = to;
            }
        }
    }
}
