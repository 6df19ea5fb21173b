//! What is asked of the judge, and what it answers.

use dmodc::judge::risk::{DirectedPort, Loads, LostPair, Series};
use dmodc::judge::{Delivery, Forced, Sizes, TableChanges};

/// A pattern that a device counts. The words are those of [`dmodc::judge::risk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevicePattern {
    /// Everybody to everybody else.
    AllToAll,
    /// This number of random permutations.
    Permutations(usize),
    /// This number of random bisections.
    Bisections(usize),
    /// All shifts.
    Shifts,
    /// This number of shifts, drawn at random; all of them if there are not more.
    SampledShifts(usize),
}

/// What is asked about the states of a batch.
#[derive(Clone, Copy, Debug)]
pub struct JudgeRequest<'a> {
    /// The patterns.
    pub patterns: &'a [DevicePattern],
    /// The seeds: by state, then by pattern. Patterns that are not drawn have any number here.
    pub seeds: &'a [Vec<u64>],
    /// Whether tables are compared with those that were kept.
    pub compares: bool,
}

/// The judgement of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The fates of the pairs of all nodes that [`Traffic::new`](dmodc::judge::risk::Traffic::new) has.
    pub delivery: Delivery,
    /// Whether the fabric fulfils the paper's condition, whatever the tables: [`dmodc::validity`]. `None` if a route is longer than
    /// costs can count.
    pub is_valid: Option<bool>,
    /// The loads of each pattern, in the order of the request.
    pub patterns: Vec<PatternLoads>,
    /// What an update from the kept tables changes; `None` if the request does not compare.
    pub update: Option<Update>,
    /// The first pairs that are not delivered, by column, as in [`Loads::lost`].
    pub lost: Vec<LostPair>,
    /// The first pairs that are not delivered, by position, as in [`Effect::undelivered`](dmodc::judge::risk::Effect).
    pub undelivered: Vec<LostPair>,
    /// The port with the most flows of all-to-all; of several the first. `None` if no flow passes any port, or if all-to-all is not
    /// among the patterns.
    pub worst: Option<DirectedPort>,
}

/// The loads of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternLoads {
    /// Those of all-to-all. `destinations` is empty.
    Single(Loads),
    /// Those of a series. `worst_by_port` and `by_host` are empty.
    Series(Series),
}

impl PatternLoads {
    /// Returns the first of some ports with the greatest load of all-to-all; `None` if there is none, or if this is another pattern.
    pub(super) fn worst(&self, ports: &[DirectedPort]) -> Option<DirectedPort> {
        let PatternLoads::Single(loads) = self else { return None };
        let max = loads.max();
        let at = loads.by_port.iter().position(|&load| load == max && load > 0)?;
        Some(ports[at])
    }
}

/// What an update changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The differences of the tables.
    pub changes: TableChanges,
    /// Those among them that are for destinations that are alive, as in [`Effect::changes`](dmodc::judge::risk::Effect).
    pub live_changes: TableChanges,
    /// How much was compared.
    pub of: Sizes,
    /// Ordered pairs of live nodes whose path differs.
    pub pairs: u64,
    /// What any update had to change; `None` if a route is longer than costs can count.
    pub forced: Option<Forced>,
}
