//! The walk that every engine with closer sets shares: tile by tile, costs first, then at once the
//! routes of that tile.
//!
//! Tiles are independent, so threads take them, and then pieces of them, as they come (in two
//! [stages](crate::parallel::in_stages)); the tables are the same bytes for any number of threads. A row, the
//! entries of one switch for one tile, is put together in a small buffer and then copied to its place, past the
//! cache if the tables are larger than that.

use std::ops::DerefMut;
use std::sync::{Mutex, PoisonError};

use super::row::RowMaker;
use super::{Coverage, Preprocessing};
use crate::cost::{BLOCK, Closer, CostBlock, Costs, Hops, TooFar};
use crate::fabric::Live;
use crate::id::{NodeIndex, PortNumber, SwitchIndex};
use crate::kernel::{Kernel, Stream, bits};
use crate::parallel;
use crate::router::Marks;
use crate::tables::{Columns, End, ForwardingTables, Segment, Tile};

/// Which entries of a switch are wanted: segments of one tile, ascending.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Those of these targets.
    pub(crate) targets: u64,
    pub(crate) segments: &'a [Segment],
    /// Which destination switches continue the numbers of the one before: see [`chains`](crate::kernel::chains).
    pub(crate) chained: u64,
    /// Whether the row has its entries already, and the closer sets of these targets are as they were.
    pub(crate) again: bool,
    pub(super) columns: &'a Columns,
    pub(super) tile: &'a Tile,
}

impl<'a> Wanted<'a> {
    /// Those of these targets, one target after the other.
    #[inline(always)]
    pub(crate) fn of(self, targets: u64) -> impl Iterator<Item = &'a Segment> {
        bits(targets).flat_map(move |bit| {
            let at = self.tile.switches.start + bit;
            self.columns.segments(at..at + 1)
        })
    }

    /// Those of all targets of the tile, wanted or not.
    pub(crate) fn of_tile(self) -> &'a [Segment] {
        self.columns.segments(self.tile.switches.clone())
    }
}

/// A row to be written: a switch, and what of the fabric is alive around it.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) ready: &'a Preprocessing,
    pub(crate) s: SwitchIndex,
    /// The closer sets of all targets that are wanted.
    pub(crate) closer: &'a Closer,
    pub(crate) kernel: Kernel,
}

/// How one group and port is chosen from a closer set: what tells engines apart.
pub(crate) trait Selection: Sync {
    /// What it knows of a tile besides the costs.
    type View: Clone + Default + Send + Sync;

    /// What a thread keeps from row to row of one tile.
    type Scratch: Default + Send;

    /// Looks at a tile whose costs are known. A view may be of this tile as it was before, of another
    /// tile, or new.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    fn look<C: Costs>(
        &self,
        work: &Work<'_>,
        tile: &Tile,
        costs: &C,
        view: &mut Self::View,
    ) -> Result<(), TooFar>;

    /// Brings a view up to date after something happened to the fabric. The closer sets of the entries that
    /// are dirty may have changed; others are to be marked whose choice that may change.
    fn look_again(
        &self,
        at: (&Work<'_>, &Tile),
        costs: &Hops,
        view: &mut Self::View,
        dirty: &Marks,
        others: &mut Marks,
    );

    /// Writes the entries of a row for these segments. Targets that are in no direction get no route. It
    /// may write over the end of a segment, but not more than [`SLACK`](crate::kernel::SLACK) bytes.
    fn select(
        &self,
        place: Place<'_>,
        view: &Self::View,
        wanted: Wanted<'_>,
        scratch: &mut Self::Scratch,
        row: &mut [u8],
    );

    /// Does without closer sets what [`select`](Self::select) does with them, if it can; says then which
    /// target the switch is itself. If the entries are to be chosen [again](Wanted::again), nothing else is
    /// written.
    fn select_by_costs<C: Costs>(
        &self,
        _: (&Work<'_>, &C, SwitchIndex),
        _: &Self::View,
        _: Wanted<'_>,
        _: &mut Self::Scratch,
        _row: &mut [u8],
    ) -> Option<u64> {
        None
    }
}

/// Tables of at least so many bytes are written past the cache, in which they would not stay.
const LARGE: usize = 48 << 20;

/// About so many bytes are a piece of work for one thread.
const PIECE: usize = 256 << 10;

/// What is to be routed.
pub(crate) struct Work<'a> {
    pub(crate) live: Live<'a>,
    pub(crate) ready: &'a Preprocessing,
    pub(crate) columns: &'a Columns,
    /// Whether the columns of some nodes must be emptied.
    nodes_are_dead: bool,
    past_cache: bool,
}

impl<'a> Work<'a> {
    pub(crate) fn new(live: Live<'a>, ready: &'a Preprocessing, columns: &'a Columns) -> Self {
        Work {
            live,
            ready,
            columns,
            nodes_are_dead: live.has_dead_node_cables(),
            past_cache: columns.len() * ready.groups.switch_count() >= LARGE,
        }
    }

    /// The destination switches of a tile.
    pub(crate) fn targets(&self, tile: &Tile) -> &'a [SwitchIndex] {
        &self.columns.switches()[tile.switches.clone()]
    }

    /// Computes the costs of a tile.
    pub(crate) fn compute<C: Costs>(&self, tile: &Tile, costs: &mut C) -> Result<(), TooFar> {
        self.ready.kernel.run(|| costs.compute(&self.ready.groups, self.targets(tile)))
    }

    /// The columns of a tile whose nodes are cut off, though their switches may be alive: counted from
    /// the tile's first.
    pub(crate) fn dead_columns(&self, tile: &Tile) -> Vec<usize> {
        if !self.nodes_are_dead {
            return vec![];
        }
        let is_dead = |column: &usize| match self.columns.destinations()[*column].end {
            End::Node(n) => !self.live.node(n),
            End::Switch(_) => false,
        };
        tile.columns.clone().filter(is_dead).map(|column| column - tile.columns.start).collect()
    }

    /// The destination switch of a node, as a bit; 0 where it is in another tile.
    pub(crate) fn target_of(&self, tile: &Tile, n: NodeIndex) -> u64 {
        let switch = self.live.fabric.node(n).switch;
        let place = self.targets(tile).iter().position(|&t| t == switch);
        place.map_or(0, |bit| 1 << bit)
    }

    /// How many rows of a tile are a piece of work.
    pub(super) fn rows_at_once(tile: &Tile) -> usize {
        (PIECE / tile.columns.len().max(1)).max(1)
    }

    /// Returns the entries of a tile in pieces of work.
    pub(crate) fn pieces<'b>(
        tile: &Tile,
        entries: &'b mut [u8],
    ) -> impl Iterator<Item = Rows<'b>> + Send + use<'b> {
        let (width, rows) = (tile.columns.len(), Self::rows_at_once(tile));
        let pieces = entries.chunks_mut((width * rows).max(1)).enumerate();
        pieces.map(move |(at, entries)| Rows { first: SwitchIndex::new(at * rows), entries })
    }
}

/// A tile whose costs are known, and the view that a selection has of it.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a, S: Selection, C> {
    pub(crate) tile: &'a Tile,
    pub(crate) costs: &'a C,
    pub(crate) selection: &'a S,
    pub(crate) view: &'a S::View,
    /// The columns of nodes that are cut off.
    pub(crate) dead: &'a [usize],
}

/// Everything that the rows of a tile share. The costs and the view are borrowed from whoever keeps them
/// between re-routes (`&mut`), or are somebody's to reuse for another tile (`Box`).
pub(crate) struct ReadyTile<CostsHolder, ViewHolder> {
    pub(crate) tile: Tile,
    pub(crate) costs: CostsHolder,
    pub(crate) view: ViewHolder,
    pub(crate) coverage: Coverage,
    dead: Vec<usize>,
}

impl<C: Costs, CostsHolder: DerefMut<Target = C>, ViewHolder: DerefMut>
    ReadyTile<CostsHolder, ViewHolder>
{
    /// Computes the costs of a tile, and what the selection wants to know of it.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(crate) fn new<S: Selection<View = ViewHolder::Target>>(
        (selection, work): (&S, &Work<'_>),
        tile: Tile,
        (mut costs, mut view): (CostsHolder, ViewHolder),
    ) -> Result<Self, TooFar> {
        work.compute(&tile, &mut *costs)?;
        selection.look(work, &tile, &*costs, &mut view)?;
        let (coverage, dead) = (coverage(work, &tile, &*costs), work.dead_columns(&tile));
        Ok(ReadyTile { tile, costs, view, coverage, dead })
    }

    /// The tile as rows are made from it.
    pub(crate) fn seen<'a, S: Selection<View = ViewHolder::Target>>(
        &'a self,
        selection: &'a S,
    ) -> Seen<'a, S, C> {
        Seen { tile: &self.tile, costs: &self.costs, selection, view: &self.view, dead: &self.dead }
    }
}

/// Costs and views that are used for one tile after the other.
pub(super) struct Spare<C, V>(Mutex<Vec<(Box<C>, Box<V>)>>);

impl<C: Costs, V: Default> Spare<C, V> {
    pub(super) fn new() -> Self {
        Spare(Mutex::default())
    }

    /// Returns some that nobody uses, or new ones.
    pub(super) fn take(&self, new: impl Fn() -> C) -> (Box<C>, Box<V>) {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| (Box::new(new()), Box::default()))
    }

    pub(super) fn put(&self, costs: Box<C>, view: Box<V>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((costs, view));
    }
}

/// Routes all tiles.
pub(crate) fn route_tiles<S: Selection>(
    selection: &S,
    work: &Work<'_>,
    tables: &mut ForwardingTables,
) -> Result<Coverage, TooFar> {
    assert_eq!(tables.switch_count(), work.ready.groups.switch_count(), "tables of another fabric");
    match work.ready.planes() {
        Some(planes) => route_with(selection, work, tables, || Hops::new(planes)),
        None => route_with(selection, work, tables, CostBlock::default),
    }
}

fn route_with<S: Selection, C: Costs>(
    selection: &S,
    work: &Work<'_>,
    tables: &mut ForwardingTables,
    costs: impl Fn() -> C + Send + Sync,
) -> Result<Coverage, TooFar> {
    let spare = Spare::new();
    let covered = parallel::in_stages(
        tables.tiles_mut(),
        |(tile, out)| {
            let ready = ReadyTile::new((selection, work), tile, spare.take(&costs))?;
            let pieces = Work::pieces(&ready.tile, out);
            Ok((ready, pieces))
        },
        |ready| RowMaker::<S>::new(work, &ready.tile),
        |ready, maker, rows| write_rows(work, &ready.seen(selection), maker, rows),
        |ready, _| {
            spare.put(ready.costs, ready.view);
            ready.coverage
        },
    )?;
    Ok(covered.into_iter().fold(Coverage::default(), Coverage::and))
}

/// Some rows of a tile, of successive switches.
pub(crate) struct Rows<'a> {
    pub(crate) first: SwitchIndex,
    pub(crate) entries: &'a mut [u8],
}

/// Writes all entries of some rows.
pub(crate) fn write_rows<S: Selection, C: Costs>(
    work: &Work<'_>,
    seen: &Seen<'_, S, C>,
    maker: &mut RowMaker<S>,
    Rows { first, entries }: Rows<'_>,
) {
    let mut stream = Stream::new(work.past_cache);
    for (at, row) in entries.chunks_exact_mut(seen.tile.columns.len()).enumerate() {
        let s = SwitchIndex::new(first.at() + at);
        stream.copy(row, maker.row(work, seen, s, ALL));
    }
}

/// Every target of a tile.
pub(crate) const ALL: u64 = u64::MAX;

/// The validity of a fabric without its tables: costs alone.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn validity(
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
) -> Result<Coverage, TooFar> {
    fn with<C: Costs>(
        work: &Work<'_>,
        costs: impl Fn() -> C + Send + Sync,
    ) -> Result<Coverage, TooFar> {
        let covered = parallel::map_with(work.columns.tiles(), costs, |costs, tile| {
            work.compute(&tile, costs)?;
            Ok(coverage(work, &tile, costs))
        });
        covered.into_iter().try_fold(Coverage::default(), |sum, next| Ok(sum.and(next?)))
    }
    let work = Work::new(live, ready, columns);
    match ready.planes() {
        Some(planes) => with(&work, || Hops::new(planes)),
        None => with(&work, CostBlock::default),
    }
}

/// What of this tile is reached, by costs alone.
pub(crate) fn coverage<C: Costs>(work: &Work<'_>, tile: &Tile, costs: &C) -> Coverage {
    Coverage::of_tile(work, tile, costs)
}

/// P(s, d): every port of every group of the closer set, for each of these destination switches;
/// `each` is told the switch, the destination switch and the ports. Destinations below, above and
/// out of reach all come; an empty list is "no route". The switch itself does not come.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn alternative_ports(
    live: Live<'_>,
    ready: &Preprocessing,
    targets: &[SwitchIndex],
    mut each: impl FnMut(SwitchIndex, SwitchIndex, &[PortNumber]),
) -> Result<(), TooFar> {
    let mut costs = CostBlock::default();
    let (mut ports, mut closer) = (Vec::new(), Closer::default());
    for block in targets.chunks(BLOCK) {
        costs.compute(&ready.groups, block)?;
        for s in live.switches() {
            costs.closer(&ready.groups, s, &mut closer);
            for (bit, &target) in block.iter().enumerate().filter(|(_, t)| **t != s) {
                ports.clear();
                let up = ready.groups.up(s).zip(&closer.through_up);
                let down = ready.groups.down(s).zip(&closer.through_down);
                for (group, _) in up.chain(down).filter(|(_, mask)| **mask >> bit & 1 == 1) {
                    ports.extend_from_slice(group.ports);
                }
                each(s, target, &ports);
            }
        }
    }
    Ok(())
}
