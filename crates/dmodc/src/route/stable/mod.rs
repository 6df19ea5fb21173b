//! Stable Dmodc: what a fault does not force to move stays where it is, and what is displaced is spread.
//!
//! Dmodc chooses over the closer set of the moment, so one lost group renumbers all others: most entries
//! of a switch move, and a displaced destination moves as one, from every source onto the same port.
//! Here the choice is made over the *reference*, the fabric as it is when whole:
//!
//! 1. **Slots.** An entry is that of the reference (eqs. (3), (4) with the reference's closer set R and Π)
//!    as long as its group is closer; if only its port is dead, another port of the group stands in.
//! 2. **Spread.** A destination whose slot is lost takes eqs. (3), (4) over the present closer set C with
//!    x = ⌊q / #R⌋ · #D + j + σ in the place of ⌊d / Π⌋ (plus k for a node's k-th LID), where q = ⌊d / Π⌋, D are the lost slots of R, j is
//!    the place of its own one among them, and σ that of the switch among those of its rank. So the lost
//!    slots of a switch go to different ports, and those of a destination to others at every switch.
//! 3. **Looking ahead.** Of C, switches are preferred that lost nothing on the way to the destination
//!    switch, if at least half of C are such; else those that did not lose the slot of this destination,
//!    so that it is not displaced a second time; else all of C will do.
//!
//! An entry moves only if it must: its old port is no alternative any more. Tables depend on the
//! reference and what is alive, never on history. As every port is one of P(s, d), routes are up\*down\*
//! and free of deadlock like Dmodc's. Where the reference knows nothing (a new switch, a new leaf), Dmodc's
//! own choice stands. [`oracle::stable`](crate::oracle::stable) says the same naively.

mod losses;
mod mend;
mod select;
mod set;
mod slots;
mod then;
mod usual;
mod view;

use std::sync::Arc;

use super::tile::{Work, route_tiles};
use super::{Coverage, Engine, Preprocessing, RouteError};
use crate::fabric::{Degradation, Live};
use crate::routing::Routing;
use crate::tables::ForwardingTables;
pub(crate) use view::View;

/// So many stretches of Π destinations are told apart among those of one destination switch: as a rule it
/// has one or two.
const STRETCHES: usize = 4;

/// A fabric in the state that routes are to be kept from, most often the whole one.
#[derive(Clone, Debug)]
pub struct Reference {
    degradation: Degradation,
    ready: Preprocessing,
    /// σ of every switch: its place among those of its rank, in switch order.
    places: Vec<u32>,
}

impl Reference {
    /// Takes the fabric of this moment, as the routing ranks and orders it.
    pub fn new(routing: &Routing, live: Live<'_>) -> Self {
        let ready = routing.preprocess(live);
        let mut places = vec![0; live.fabric.switches().len()];
        let ascending = ready.groups.ascending();
        for rank in ascending.chunk_by(|a, b| ready.ranking.rank(*a) == ready.ranking.rank(*b)) {
            for (place, s) in rank.iter().enumerate() {
                places[s.at()] = place as u32;
            }
        }
        Reference { degradation: live.degradation.clone(), ready, places }
    }

    /// Ranks, groups and dividers of the reference.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.ready
    }
}

/// The engine `stable`.
#[derive(Clone, Debug)]
pub struct Stable {
    /// What routes are kept from.
    pub reference: Arc<Reference>,
}

impl Engine for Stable {
    fn name(&self) -> &'static str {
        "stable"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        Ok(route_tiles(&*self.reference, &Work::new(live, ready, &columns), tables)?)
    }
}
