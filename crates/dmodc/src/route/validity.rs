//! Validity (section IV-A): which pairs of leaves and of nodes have a route. It follows from costs alone.

use super::job::RouteJob;
use crate::bits::bits;
use crate::cost::{TileCosts, TooFar};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::tables::{BLOCK, Columns, Tile};

/// How many missing pairs are kept by name.
const NAMED: usize = 8;

/// Which pairs have an up\*down\* route: pairs of leaves, which make a routing valid, and pairs of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Ordered pairs of different leaves that were to be connected.
    pub leaf_pairs: u64,
    /// Those without a route.
    pub unreachable_leaf_pairs: u64,
    /// Ordered pairs of live nodes without a route, whatever switches they sit on; aggregation nodes aside.
    /// [`Delivery::of_route`](crate::judge::Delivery::of_route) says which of them are lost and which cut off.
    pub undelivered_pairs: u64,
    /// The first pairs of switches with nodes (from, to) that have no route, in the order of the columns.
    pub examples: Vec<(SwitchIndex, SwitchIndex)>,
}

impl Coverage {
    /// Returns whether the routing is valid by the paper's criterion: the cost of every leaf to every other is
    /// finite.
    pub fn is_valid(&self) -> bool {
        self.unreachable_leaf_pairs == 0
    }

    /// Returns the sum of both; the examples of `self` come first.
    pub(crate) fn and(mut self, other: Coverage) -> Coverage {
        self.leaf_pairs += other.leaf_pairs;
        self.unreachable_leaf_pairs += other.unreachable_leaf_pairs;
        self.undelivered_pairs += other.undelivered_pairs;
        self.examples.extend(other.examples);
        self.examples.truncate(NAMED);
        self
    }

    /// Returns the coverage of the destination switches of a tile whose costs are known. A closer set is not empty if the
    /// cost is finite, so the tables deliver exactly the pairs with finite cost. Nodes are counted only if some switch is
    /// out of reach; otherwise this takes one comparison for each switch.
    pub(super) fn of_tile(job: &RouteJob<'_>, tile: &Tile, costs: &TileCosts) -> Coverage {
        let (live, ranking) = (job.live, &job.ready.ranking);
        let targets = job.targets(tile);
        let mask = |is_meant: &dyn Fn(SwitchIndex) -> bool| {
            let meant = targets.iter().enumerate().filter(|(_, t)| is_meant(**t));
            meant.fold(0, |mask, (bit, _)| mask | 1u64 << bit)
        };
        // Leaves without nodes have nobody to connect.
        let leaves = mask(&|t| ranking.is_leaf_with_nodes(t));
        let with_nodes = mask(&|t| live.switch(t) && hosts(live, t).next().is_some());
        let mut coverage = Coverage::default();
        let mut nodes: Option<[u64; BLOCK]> = None;
        for &from in job.columns.node_switches() {
            let missing = with_nodes & !costs.reached(from);
            if missing == 0 || !live.switch(from) {
                continue;
            }
            let sources = hosts(live, from).count() as u64;
            if sources == 0 {
                continue;
            }
            let nodes = nodes.get_or_insert_with(|| {
                let count = |bit: usize| targets.get(bit).map_or(0, |&t| hosts(live, t).count());
                std::array::from_fn(|bit| count(bit) as u64)
            });
            if ranking.is_leaf_with_nodes(from) {
                coverage.unreachable_leaf_pairs += u64::from((missing & leaves).count_ones());
            }
            for bit in bits(missing) {
                coverage.undelivered_pairs += sources * nodes[bit];
                if coverage.examples.len() < NAMED {
                    coverage.examples.push((from, targets[bit]));
                }
            }
        }
        // Every leaf reaches itself, which is no pair.
        let others = (ranking.leaves_with_nodes().count() as u64).saturating_sub(1);
        coverage.leaf_pairs = u64::from(leaves.count_ones()) * others;
        coverage
    }
}

/// Returns which pairs have an up\*down\* route. No table is needed for that.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn validity(
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
) -> Result<Coverage, TooFar> {
    let job = RouteJob::new(live, ready, columns);
    let covered = parallel::map_with(
        columns.tiles(),
        || ready.new_costs(),
        |costs, tile| {
            job.compute(&tile, costs)?;
            Ok(Coverage::of_tile(&job, &tile, costs))
        },
    );
    covered.into_iter().try_fold(Coverage::default(), |sum, next| Ok(sum.and(next?)))
}

/// Returns the live nodes of a switch, aggregation nodes aside.
fn hosts<'a>(
    live: Live<'a>,
    s: SwitchIndex,
) -> impl Iterator<Item = crate::id::NodeIndex> + use<'a> {
    live.nodes(s).filter(move |&n| !live.fabric.is_aggregation(n))
}
