//! Upload plans: in which order new tables can be written over old ones so that nobody notices. (The command is
//! `dmodc plan`.)
//!
//! While tables are written some switches follow the old entries and some the new ones. A plan puts the
//! entries into rounds. The writes of one round may come in any order and overlap; the next round starts
//! when all have been answered and the packets sent before have gone. Then
//!
//! - no packet loops, unless it meets a loop of the old tables none of whose entries has been written;
//! - what both tables deliver is delivered all the time;
//! - what only the old ones deliver is given up as late as possible; what only the new ones deliver
//!   arrives at the latest when everything is written.
//!
//! **Three rules.** Destinations are independent, so look at one. Each table gives every switch one next
//! hop; a switch is *moved* if the two differ on the fabric as it is. (Entries that differ but lead to the
//! same neighbour, or nowhere, make no difference to a packet.) A table *serves* a switch if packets from
//! there arrive. The new table has no loop; else no order is safe and there is no plan.
//!
//! 1. If a moved switch `s` and the next moved switch `x` on its new path lie on a cycle of old and new hops
//!    together (in one strongly connected component), `x` is written before `s`.
//! 2. If the old table serves a moved `s`, then every moved `x` on its new path, up to the first switch that
//!    the old table serves, is written before `s`.
//! 3. If both tables serve a moved `s`, then every moved `x` on its old path, up to the first moved switch
//!    that the new table serves, is written after `s`.
//!
//! "Before" is in an earlier round. The rules make no circle: 1 and 2 go along new paths, which do not
//! loop; where a new path arrives it arrives from all its switches, so both stay among switches that
//! the new table serves or among those it does not; and 3 puts the former before the latter.
//!
//! **Proof.** Take any moment: some moved switches are *written*, the others not, and whatever a written one has
//! to wait for is written. Each switch has one next hop, so a packet's walk is a path or ends in a loop.
//!
//! *No loop.* Take a loop of the moment. Without a written switch it is one of the old table. Where every moved
//! switch of it is written it is one of the new table, which has none. Else follow it from a written switch
//! to the first one `b` that is not: so far the hops are new ones, so each moved switch on the way is the
//! next one on the new path of the one before, all on one cycle. By rule 1 `b` is written. Contradiction.
//!
//! *No loss, (a).* Let the old table serve `s`. Then it serves every moved switch on the walk from `s` that is not
//! written. Let `b` be one that it does not serve, and `a` the last switch before `b` that it does; there is
//! one, `s`. The switch after `a` is not served, so `a` is moved and written. From `a` to the first moved
//! switch that is not written, `b` or one before it, the walk is the new path of `a`, over switches that
//! the old table does not serve: by rule 2 that one is written. Contradiction. Hence the walk enters no old
//! loop, none of whose switches is served or written, and one of which is moved; so it ends.
//!
//! *No loss, (b).* Let both tables serve `s`, and let the walk end without arriving. There are moved switches on it
//! that the new table serves: the first moved one is, being on the new path of `s`. Let `g` be the last of
//! them. It is not written: else its new path leads to another one, or arrives. By (a) the old path of `g`
//! arrives, so the walk leaves it, at a written switch `x`. From `g` to `x` there is no moved switch that the
//! new table serves, as `g` is the last; so by rule 3 `x` is written after `g`. Contradiction.
//!
//! *In flight.* A packet that is under way while a round is written meets switches at different moments. As any
//! part of a round may be written when the rest is not, its walk is that of a moment as long as it meets no
//! switch twice; and the first time it does, it has gone round a loop of a moment.

mod needs;
mod rounds;
mod writes;

use std::fmt;
use std::ops::Range;

use super::blocks::Blocks;
use super::check::ends;
use super::entries::TablePair;
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::tables::{End, ForwardingTables};
use crate::words::counted;
use needs::{Needs, Surroundings};
use rounds::Schedule;

/// An order in which new tables are written over old ones. See the [module documentation](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadPlan {
    /// What is written in each round.
    pub rounds: Vec<UploadRound>,
    /// Blocks that differ: the number of writes if their order did not matter.
    pub blocks: u64,
    /// Switches with at least one such block.
    pub switches: u64,
    /// Entries that must wait for others, or that others wait for.
    pub ordered: u64,
    /// How many node pairs the tables deliver.
    pub pairs: UploadPairs,
    /// Destinations that packets loop to under the old tables, until the plan has replaced the loop.
    pub old_loops: u64,
    writes: Vec<BlockWrite>,
    /// The columns that are written, write by write, by LID.
    columns: Vec<u32>,
}

impl UploadPlan {
    /// Returns all writes, sorted by round, switch and block.
    pub fn writes(&self) -> &[BlockWrite] {
        &self.writes
    }

    /// Returns the columns whose entries a write changes, ascending by LID.
    pub fn columns(&self, write: &BlockWrite) -> impl ExactSizeIterator<Item = usize> {
        self.columns[write.entries.clone()].iter().map(|&column| column as usize)
    }

    /// Returns how many entries are written.
    pub fn entry_count(&self) -> u64 {
        self.columns.len() as u64
    }

    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

/// What is written in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadRound {
    /// Switches that are written to.
    pub switches: u64,
    /// Blocks that are written.
    pub blocks: u64,
    /// Entries that become new.
    pub entries: u64,
}

/// One block of a switch, written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockWrite {
    /// The round, from 1.
    pub round: u32,
    /// The switch.
    pub switch: SwitchIndex,
    /// The number of the block: its LIDs divided by 64.
    pub block: u32,
    /// The entries that become new, as a range of the plan's `columns`; the others of the block keep their values.
    entries: Range<usize>,
}

/// Numbers of ordered pairs of live nodes (aggregation nodes do not count). A pair is delivered if it is over every LID
/// of its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadPairs {
    /// All of them.
    pub of: u64,
    /// Those that the old tables deliver on the present fabric.
    pub old: u64,
    /// Those that the new tables deliver.
    pub new: u64,
    /// Those that the old ones deliver and the new ones do not: lost in the end, whatever the order.
    pub given_up: u64,
}

impl UploadPairs {
    fn add(&mut self, other: &UploadPairs) {
        self.of += other.of;
        self.old += other.old;
        self.new += other.new;
        self.given_up += other.given_up;
    }
}

/// The error of [`plan_upload`]: the new tables loop, so that no order is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLoops {
    /// How many destinations have one.
    pub destinations: u64,
    /// The column of the first.
    pub column: usize,
    /// Its loop.
    pub switches: Vec<SwitchIndex>,
}

impl fmt::Display for NewLoops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the new tables loop for {}", counted(self.destinations, "destination"))
    }
}

impl std::error::Error for NewLoops {}

/// Plans how to write new tables over old ones on the present fabric. O(#columns × #switches), and the time for
/// arranging the entries that need an order.
///
/// There are as few rounds as the rules need, or up to `rounds` if that is more and saves writes.
///
/// # Errors
/// If the new tables loop.
///
/// # Panics
/// If the tables differ in their columns, or belong to another fabric.
pub fn plan_upload(
    live: Live<'_>,
    old: &ForwardingTables,
    new: &ForwardingTables,
    rounds: u32,
) -> Result<UploadPlan, NewLoops> {
    assert_eq!(old.columns(), new.columns(), "only tables with the same columns follow each other");
    assert_eq!(old.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    assert_eq!(new.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    let columns = old.columns();
    let surroundings = Surroundings::new(live, columns, TablePair::new(old, new));
    let mut all = ends(live, columns);
    // Packets for what is dead must not loop, either.
    let dead = columns.destinations().iter().enumerate().filter(|(_, d)| !d.end.is_alive(live));
    all.extend(dead.map(|(column, d)| (d.end, vec![column])));
    let chunk = parallel::piece_length(all.len(), 8);
    let needs = |ends: &[(End, Vec<usize>)]| surroundings.needs(ends);
    let parts = parallel::map(all.chunks(chunk), needs);
    let needs = parts.into_iter().fold(Needs::default(), Needs::and);
    if let Some((column, switches)) = needs.example {
        return Err(NewLoops { destinations: needs.new_loops, column, switches });
    }
    let blocks = Blocks::new(columns).of_column;
    let rounds = Schedule::new(&needs.entries, &needs.edges, &blocks, rounds).arrange();
    let mut plan = writes::writes(&surroundings, old, new, &needs.entries, &rounds);
    plan.ordered = needs.entries.len() as u64;
    plan.pairs = needs.pairs;
    plan.old_loops = needs.old_loops;
    Ok(plan)
}
