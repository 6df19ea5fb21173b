//! Stable Dmodc: an entry changes only if a fault forces it to, and the displaced destinations are spread over several
//! ports.
//!
//! Dmodc chooses from the present closer set, so one lost group renumbers all others: most entries
//! of a switch move, and a displaced destination moves at all sources to the same port.
//! Here the choice is made from the closer sets of the *reference*, most often the whole fabric:
//!
//! 1. **Slots.** An entry is that of the reference (eqs. (3), (4) with the reference's closer set R and Π)
//!    as long as its group is closer; if only its port is dead, another port of the group stands in. Where levels
//!    have measured dividers, Π stands for the divider of the direction that R goes.
//! 2. **Spread.** A destination whose slot is lost takes place x = ⌊q / #R⌋ · #D + j + σ (plus k for a node's k-th LID) in a
//!    cycle of the ports of the present closer set C: the first port of each group, then the second of each group that has
//!    one, and so on. Here q = ⌊d / Π⌋, D are the lost slots of R, j is the index of the destination's own slot among
//!    them, and σ is the index of the switch among those of its rank. So the lost slots of one switch go to different
//!    ports, different switches begin with different groups, and a group gets as much as it has ports. If all groups
//!    have equally many ports, this is eqs. (3), (4) with x in the place of ⌊d / Π⌋.
//! 3. **Looking ahead.** Of C, switches are preferred that lost nothing on the way to the destination
//!    switch, if at least half of C are such; else those that did not lose the slot of this destination,
//!    so that it is not displaced a second time; else all of C will do.
//!
//! An entry moves only if its old port is no alternative any more. Tables depend on the
//! reference and what is alive, never on history. As every port is one of P(s, d), routes are up\*down\*
//! and free of deadlock like Dmodc's. Where the reference knows nothing (a new switch, a new leaf), Dmodc's
//! own choice stands. [`oracle::stable`](crate::oracle::stable) computes the same naively, and `README.md` next to this
//! file explains how it is done here.

mod closer_above;
mod fast_rows;
mod few_pieces;
mod found_pieces;
mod general_rows;
mod group_set;
mod lookahead;
mod loss_view;
mod losses;
mod lost_entries;
mod lost_pieces;
mod port_turns;
mod present;
mod reference_row;
mod reference_tile;
mod round_numbers;
mod rounds;
mod slot_table;
mod stand_ins;
mod targets_by_switch;
mod upswitches;
mod view_changes;
mod way_rows;
mod way_sets;
mod ways_down;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::job::RouteJob;
use super::marks::Marks;
use super::port_choice::{Cause, JobSwitch, JobTile, PortChoice, Rechosen, RowContext, RowRequest};
use crate::cost::{Hops, TileCosts, TooFar};
use crate::fabric::{Degradation, Joined, Live};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::infer::InferredWhole;
use crate::kernel::Difference;
use crate::leaf::LeafRule;
use crate::oracle::stable::STRETCHES;
use crate::order::SavedOrders;
use crate::preprocess::Preprocessing;
use crate::routing::{Routing, RoutingOptions};
use crate::tables::{Columns, MovedEntries, MovedEntry, MovedTo, Tile};
use fast_rows::FastRows;
use general_rows::GeneralRows;
use loss_view::{LossView, StableTile};
use lost_pieces::Wanted;
use present::Present;
use reference_row::ReferenceRows;
use upswitches::FastContext;
use way_rows::WayRows;

/// A state of the fabric, most often the whole one, whose routes are to be preserved as far as possible.
#[derive(Clone, Debug)]
pub struct Reference {
    degradation: Degradation,
    ready: Preprocessing,
    /// σ of every switch: its index among those of its rank, in switch order.
    sigmas: Vec<u32>,
    /// Entries that have other ports than slots give them.
    moved: MovedEntries,
    /// For each switch: which list of switches it has above. Equal lists have equal numbers.
    peers_above: Vec<u32>,
    /// The same for the switches below.
    peers_below: Vec<u32>,
    /// For each switch: which list of ports it has upwards. Equal lists have equal numbers.
    ports_above: Vec<u32>,
}

impl Reference {
    /// Takes the present state of the fabric, as the routing ranks and orders it.
    pub fn new(routing: &Routing, live: Live<'_>) -> Self {
        let ready = routing.preprocess(live);
        let mut sigmas = vec![0; live.fabric.switches().len()];
        let ascending = ready.groups.ascending();
        for rank in ascending.chunk_by(|a, b| ready.ranking.rank(*a) == ready.ranking.rank(*b)) {
            for (sigma, s) in rank.iter().enumerate() {
                sigmas[s.at()] = sigma as u32;
            }
        }
        let groups = &ready.groups;
        let peers_above = number_lists(groups, |s| groups.above(s).peers);
        let peers_below = number_lists(groups, |s| groups.below(s).peers);
        let ports_above = number_lists(groups, |s| groups.above(s).ports);
        let (degradation, moved) = (live.degradation.clone(), MovedEntries::default());
        Reference { degradation, ready, sigmas, moved, peers_above, peers_below, ports_above }
    }

    /// Gives some entries other ports than slots give them. An entry has its port as long as the port is in P(s, d).
    pub(crate) fn with_moved(self, columns: &Columns, moved: &[MovedEntry]) -> Self {
        Reference { moved: MovedEntries::new(columns, moved), ..self }
    }

    /// Returns the ranks, groups and dividers of the reference.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.ready
    }

    /// Returns what is dead in the reference.
    pub fn degradation(&self) -> &Degradation {
        &self.degradation
    }

    /// Returns σ of a switch: its index among those of its rank, in switch order.
    pub fn sigma(&self, s: SwitchIndex) -> u32 {
        self.sigmas[s.at()]
    }

    /// Returns the entries that have other ports than slots give them, in any order.
    pub fn moved_entries(&self) -> impl Iterator<Item = MovedEntry> + '_ {
        self.moved.iter()
    }
}

/// Numbers a list that each switch has, such as the switches above it.
fn number_lists<'a, T: Eq + Hash + 'a>(
    groups: &'a PortGroups,
    list: impl Fn(SwitchIndex) -> &'a [T],
) -> Vec<u32> {
    let mut known = HashMap::new();
    let switches = (0..groups.switch_count()).map(SwitchIndex::new);
    let number = |s| {
        let next = known.len() as u32;
        *known.entry(list(s)).or_insert(next)
    };
    switches.map(number).collect()
}

/// The engine `stable`.
#[derive(Clone, Debug)]
pub struct Stable {
    /// The state whose routes are preserved.
    pub reference: Arc<Reference>,
}

impl Stable {
    /// Takes a state of the fabric as the reference.
    pub fn new(routing: &Routing, live: Live<'_>) -> Self {
        Stable { reference: Arc::new(Reference::new(routing, live)) }
    }
}

impl Joined {
    /// Returns the reference of the engine [`Stable`], for a routing of both states.
    pub fn reference(&self, routing: &Routing) -> Reference {
        Reference::new(routing, Live::new(&self.fabric, &self.then))
    }

    /// Returns all that is needed to route the present fabric by its reference: the routing of both states, and the
    /// engine. `orders` are the reference's; replacements take the places of those whom they replace.
    ///
    /// ```
    /// use dmodc::{Joined, LeafRule, Live, Pgft, Routing};
    ///
    /// let reference = "2; 4,8; 1,4; 1,1".parse::<Pgft>()?.fabric(Default::default());
    /// let present = reference.clone(); // In practice: read from another file.
    /// let joined = Joined::new(&reference, &present)?;
    /// let orders = Routing::orders_of(&reference, &Default::default());
    /// let (routing, stable) = joined.stable(LeafRule::Detect, orders);
    /// let (tables, coverage) = routing.route(Live::new(&joined.fabric, &joined.now), &stable)?;
    /// assert!(coverage.is_valid());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stable(&self, leaves: LeafRule, mut orders: SavedOrders) -> (Routing, Stable) {
        self.hand_over(&mut orders);
        let routing = self.routing(leaves, &orders);
        let stable = Stable { reference: Arc::new(self.reference(&routing)) };
        (routing, stable)
    }
}

impl InferredWhole {
    /// Returns all that is needed to route a fabric by the whole that was inferred from it: the routing, whose orders and
    /// dividers are the whole's, and the engine. The present state of the fabric is [`missing`](Self::missing).
    pub fn stable(&self, options: &RoutingOptions) -> (Routing, Stable) {
        let none = Degradation::none(&self.fabric);
        let whole = Live::new(&self.fabric, &none);
        let routing = Routing::new(whole, options);
        let stable = Stable::new(&routing, whole);
        (routing, stable)
    }
}

/// What a thread keeps from row to row.
#[derive(Default)]
pub(crate) struct StableScratch {
    reference_rows: ReferenceRows,
    fast: FastRows,
    ways: WayRows,
    general: GeneralRows,
}

impl PortChoice for Stable {
    const NAME: &'static str = "stable";
    type JobState = Present;
    type TileState = LossView;
    type Scratch = StableScratch;

    fn prepare(&self, job: &RouteJob<'_>) -> Present {
        Present::new(&self.reference, job)
    }

    /// Only entries that the reference does not have follow from dividers of the present. In a subset there are none: a route of
    /// the present is one of the reference, too.
    fn uses_dividers(&self, present: &Present) -> bool {
        !present.is_subset
    }

    fn find_state(
        &self,
        tile: JobTile<'_, Present>,
        costs: &TileCosts,
        view: &mut LossView,
    ) -> Result<(), TooFar> {
        view.find(&self.reference, tile, costs)
    }

    fn update_state(
        &self,
        tile: JobTile<'_, Present>,
        costs: &Hops,
        view: &mut LossView,
        dirty: &Marks,
        rechoose: &mut Marks,
    ) {
        view.update(&self.reference, tile, costs, dirty, rechoose);
    }

    fn fill_row(
        &self,
        context: RowContext<'_>,
        view: &LossView,
        request: RowRequest<'_>,
        scratch: &mut StableScratch,
        row: &mut [u8],
    ) {
        let StableScratch { reference_rows, general, .. } = scratch;
        let tile = StableTile { reference: &self.reference, view };
        general.fill(tile, context, request, reference_rows, row);
    }

    fn moved_entries(&self, tile: &Tile, s: SwitchIndex) -> &[MovedTo] {
        self.reference.moved.of_row(tile.index, s)
    }

    fn fill_row_fast(
        &self,
        switch: JobSwitch<'_, Present>,
        view: &LossView,
        request: RowRequest<'_>,
        scratch: &mut StableScratch,
        row: &mut [u8],
    ) -> Option<u64> {
        let context = self.fast_context(switch, view)?;
        let StableScratch { reference_rows, fast, ways, .. } = scratch;
        let own = fast.fill(context, reference_rows, request, row);
        own.or_else(|| ways.fill(context, reference_rows, request, row))
    }

    fn rechoose(
        &self,
        switch: JobSwitch<'_, Present>,
        view: &LossView,
        Rechosen { request, cause }: Rechosen<'_>,
        scratch: &mut StableScratch,
        row: &mut [u8],
    ) -> Option<Difference> {
        let context = self.fast_context(switch, view)?;
        let wanted = match cause {
            Cause::OtherSwitches => Wanted::Changed,
            // In a subset, what is not lost now was not lost before, and has the entry of the reference.
            Cause::LostGroups if view.stays_subset => Wanted::All,
            Cause::LostGroups => return None,
        };
        scratch.fast.rechoose(context, request, wanted, row)
    }
}

impl Stable {
    /// Returns what the fast path needs, or `None` if it cannot be taken.
    fn fast_context<'a>(
        &'a self,
        JobSwitch { job, shared, costs, switch }: JobSwitch<'a, Present>,
        view: &'a LossView,
    ) -> Option<FastContext<'a>> {
        let (hops, reference) = (costs.hops()?, &*self.reference);
        let (ready, present) = (job.ready, shared);
        let context = FastContext { reference, ready, present, view, hops, switch };
        (!view.equals_reference).then_some(context)
    }
}
