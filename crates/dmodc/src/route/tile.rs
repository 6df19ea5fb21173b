//! The walk that every engine with closer sets shares: tile by tile, costs first, then at once the
//! routes of that tile.
//!
//! Tiles are independent, so threads take them as they come, and the tables are the same bytes for
//! any number of threads. Within a tile, the 64 destination switches are treated as 64 bits: for
//! every neighbour one mask says for which of them it is closer. Destinations with the same closer
//! set form a class ([`Classes`]); the choice among its groups is prepared once for the class.

use rayon::prelude::*;

use super::{Coverage, Preprocessing};
use crate::cost::{CostBlock, TooFar};
use crate::group::Group;
use crate::id::{PortNumber, SwitchIndex};
use crate::kernel::bits;
use crate::tables::{Columns, End, ForwardingTables, NO_ROUTE, Run, Tile};

/// How one group and port is chosen from a closer set.
pub(super) trait Selection: Default + Send {
    /// Prepares the choice at switch `s` for destinations with this closer set (never empty).
    fn prepare<'a>(
        &mut self,
        ready: &Preprocessing<'_>,
        s: SwitchIndex,
        closer: impl Iterator<Item = Group<'a>>,
    );

    /// Writes the entries of a run of destinations: `out` are those of the destination switch.
    fn fill(&self, run: &Run, out: &mut [u8]);
}

/// What a thread keeps from tile to tile.
#[derive(Default)]
struct Scratch<S> {
    costs: CostBlock,
    classes: Classes,
    selection: S,
}

/// Routes all tiles.
pub(super) fn route_tiles<S: Selection>(
    ready: &Preprocessing<'_>,
    tables: &mut ForwardingTables,
) -> Result<Coverage, TooFar> {
    let columns = tables.columns().clone();
    assert_eq!(tables.switch_count(), ready.groups.switch_count(), "tables of another fabric");
    tables
        .tiles_mut()
        .into_par_iter()
        .map_init(Scratch::<S>::default, |scratch, (tile, out)| {
            route_tile(ready, &columns, &tile, scratch, out)
        })
        .try_reduce(Coverage::default, |a, b| Ok(a.and(b)))
}

fn route_tile<S: Selection>(
    ready: &Preprocessing<'_>,
    columns: &Columns,
    tile: &Tile,
    scratch: &mut Scratch<S>,
    out: &mut [u8],
) -> Result<Coverage, TooFar> {
    scratch.costs.compute(&ready.groups, &columns.switches()[tile.switches.clone()])?;
    let width = tile.columns.len();
    for (s, row) in ready.live.fabric.switch_indices().zip(out.chunks_exact_mut(width)) {
        match ready.live.switch(s) {
            true => route_row(ready, columns, tile, scratch, (s, row)),
            false => row.fill(NO_ROUTE),
        }
    }
    forget_dead(ready, columns, tile, out);
    Ok(coverage(ready, &scratch.costs))
}

/// Writes the entries of one switch for one tile.
fn route_row<S: Selection>(
    ready: &Preprocessing<'_>,
    columns: &Columns,
    tile: &Tile,
    scratch: &mut Scratch<S>,
    (s, row): (SwitchIndex, &mut [u8]),
) {
    let Scratch { costs, classes, selection } = scratch;
    let groups = &ready.groups;
    let closer = costs.closer_to(s);
    let span = |bit: usize| {
        let own = columns.of_switch(tile.switches.start + bit);
        own.start - tile.columns.start..own.end - tile.columns.start
    };
    let fill_class = |selection: &S, targets: u64, row: &mut [u8]| {
        for bit in bits(targets) {
            for run in columns.runs_of(tile.switches.start + bit) {
                selection.fill(run, &mut row[span(bit)]);
            }
        }
    };

    classes.split(closer.up, groups.up(s).map(|g| closer.through_up(g.peer)));
    for class in classes.iter() {
        let members = class.groups().map(|at| groups.up_at(s, at));
        selection.prepare(ready, s, members);
        fill_class(selection, class.targets, row);
    }
    classes.split(closer.down, groups.down(s).map(|g| closer.through_down(g.peer)));
    for class in classes.iter() {
        let members = class.groups().map(|at| groups.down_at(s, at));
        selection.prepare(ready, s, members);
        fill_class(selection, class.targets, row);
    }
    for bit in bits(closer.own) {
        let own = tile.columns.start + span(bit).start..tile.columns.start + span(bit).end;
        for (entry, d) in row[span(bit)].iter_mut().zip(&columns.destinations()[own]) {
            *entry = d.port.0;
        }
    }
    let here = tile.switches.len();
    let all = if here == 64 { u64::MAX } else { (1 << here) - 1 };
    for bit in bits(all & !(closer.up | closer.down | closer.own)) {
        row[span(bit)].fill(NO_ROUTE);
    }
}

/// Nobody has a route to a node whose own cable is dead, though its column stays.
fn forget_dead(ready: &Preprocessing<'_>, columns: &Columns, tile: &Tile, out: &mut [u8]) {
    let width = tile.columns.len();
    for column in tile.columns.clone() {
        if let End::Node(n) = columns.destinations()[column].end
            && !ready.live.node(n)
        {
            for row in out.chunks_exact_mut(width) {
                row[column - tile.columns.start] = NO_ROUTE;
            }
        }
    }
}

/// Counts the leaves that reach the leaves of this tile. Leaves without nodes have nobody to connect.
fn coverage(ready: &Preprocessing<'_>, costs: &CostBlock) -> Coverage {
    let mut coverage = Coverage::default();
    let with_nodes: Vec<SwitchIndex> = ready.ranking.leaves_with_nodes().collect();
    let targets = costs.targets().iter().copied().enumerate();
    let leaves: Vec<(usize, SwitchIndex)> =
        targets.filter(|(_, t)| with_nodes.binary_search(t).is_ok()).collect();
    for &from in &with_nodes {
        let reached = costs.reached(from);
        for &(bit, to) in leaves.iter().filter(|(_, to)| *to != from) {
            coverage.count(from, to, reached >> bit & 1 == 1);
        }
    }
    coverage
}

/// P(s, d): every port of every group of the closer set, for each of these destination switches;
/// `each` is told the switch, the destination switch and the ports. Destinations below, above and
/// out of reach all come; an empty list is "no route". The switch itself does not come.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn alternative_ports(
    ready: &Preprocessing<'_>,
    targets: &[SwitchIndex],
    mut each: impl FnMut(SwitchIndex, SwitchIndex, &[PortNumber]),
) -> Result<(), TooFar> {
    let mut costs = CostBlock::default();
    let (mut ports, mut masks) = (Vec::new(), Vec::new());
    for block in targets.chunks(crate::cost::BLOCK) {
        costs.compute(&ready.groups, block)?;
        for s in ready.live.switches() {
            let closer = costs.closer_to(s);
            masks.clear();
            masks.extend(ready.groups.up(s).map(|g| closer.through_up(g.peer)));
            masks.extend(ready.groups.down(s).map(|g| closer.through_down(g.peer)));
            for (bit, &target) in block.iter().enumerate().filter(|(_, t)| **t != s) {
                ports.clear();
                let groups = ready.groups.up(s).chain(ready.groups.down(s)).zip(&masks);
                for (group, _) in groups.filter(|(_, mask)| **mask >> bit & 1 == 1) {
                    ports.extend_from_slice(group.ports);
                }
                each(s, target, &ports);
            }
        }
    }
    Ok(())
}

/// Destinations of a block, told apart by their closer sets.
#[derive(Default)]
struct Classes(Vec<Class>);

/// Destinations with one closer set: at most 254 groups, a bit for each.
#[derive(Clone, Copy)]
struct Class {
    targets: u64,
    groups: [u64; 4],
}

impl Class {
    /// Which groups are in the closer set, ascending.
    fn groups(&self) -> impl Iterator<Item = usize> {
        let words = self.groups.into_iter().enumerate();
        words.flat_map(|(word, mask)| bits(mask).map(move |bit| word * 64 + bit))
    }
}

impl Classes {
    /// Splits `targets` by the masks of the groups, taken in order. On a healthy fabric all masks
    /// upwards are the same, and one class remains.
    fn split(&mut self, targets: u64, masks: impl Iterator<Item = u64>) {
        self.0.clear();
        if targets == 0 {
            return;
        }
        self.0.push(Class { targets, groups: [0; 4] });
        for (at, mask) in masks.enumerate() {
            if mask == 0 {
                continue;
            }
            let (word, bit) = (at / 64, 1 << (at % 64));
            for i in 0..self.0.len() {
                let class = &mut self.0[i];
                let within = class.targets & mask;
                if within == class.targets {
                    class.groups[word] |= bit;
                } else if within != 0 {
                    let mut part = *class;
                    class.targets &= !mask;
                    part.targets = within;
                    part.groups[word] |= bit;
                    self.0.push(part);
                }
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Class> {
        self.0.iter()
    }
}
