//! From the fabric of the moment to the tables of its switches, with what was known before.
//!
//! The first fabric is routed whole and kept. As long as a later one is that fabric without some parts,
//! faults and repairs are applied to the kept tables, exactly as routing anew would; anything else (a new
//! device, another LID, a cable in another place) starts anew, with the orders that are saved. With a
//! reference, what is kept is both together, so that a part that returns is a repair, too.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dmodc::fabric::{Changes, Counts, Part};
use dmodc::judge::{Delivery, Islands};
use dmodc::{
    Change, Coverage, Degradation, Destination, DestinationOrder, End, Fabric, ForwardingTables,
    Guid, Joined, LeafRule, Lid, Live, NO_ROUTE, RouteError, Router, Routing, RoutingOptions,
    SavedOrders, SwitchIndex, SwitchOrder, TableDelta, Unconnected, connect_roots, validity,
};

use crate::balance::Numbered;
use crate::config::Config;
use crate::places::{Places, absent, is_alive};

/// How routing is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    pub(crate) leaves: LeafRule,
    pub(crate) destinations: DestinationOrder,
    pub(crate) switches: SwitchOrder,
    pub(crate) connect_roots: bool,
    /// Switches that have 2^lmc LIDs, by GUID (OpenSM's `lmc_esp0`). All get the entry of the first.
    pub(crate) switch_lmc: HashMap<Guid, u8>,
}

impl Wishes {
    /// Orders from before go before what is wished.
    fn options(&self, leaves: LeafRule, saved: Option<&SavedOrders>) -> RoutingOptions {
        let (destinations, switches) = match saved {
            Some(saved) => {
                (DestinationOrder::Saved(saved.clone()), SwitchOrder::Saved(saved.clone()))
            }
            None => (self.destinations.clone(), self.switches.clone()),
        };
        RoutingOptions { leaves, destinations, switches, switch_lids: true }
    }

    /// Whether all leaves of a fabric are connected.
    pub(crate) fn connect(&self, fabric: &Fabric) -> bool {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let routing = Routing::new(live, &self.options(self.leaves.clone(), None));
        let covered = validity(live, &routing.preprocess(live), routing.columns());
        covered.is_ok_and(|coverage| coverage.is_valid())
    }
}

/// A reference, joined with the fabric of the moment.
pub(crate) struct By {
    /// As it was learned or read.
    pub(crate) source: Arc<Fabric>,
    /// The same with hosts set aside as the configuration has it, and its leaves.
    reference: (Fabric, LeafRule),
    pub(crate) joined: Joined,
    leaves: LeafRule,
}

impl By {
    /// Joins a reference and a fabric whose hosts were set aside.
    ///
    /// # Errors
    /// If the reference is of another fabric, or nothing in it is meant by the configuration.
    pub(crate) fn new(
        config: &Config,
        source: Arc<Fabric>,
        fabric: &Fabric,
    ) -> Result<Self, String> {
        let (reference, were) = config.leaf_rule(Fabric::clone(&source))?;
        let mut joined = Joined::new(&reference, fabric).map_err(|error| error.to_string())?;
        let leaves;
        (joined.fabric, leaves) = config.leaf_rule(joined.fabric)?;
        Ok(By { source, reference: (reference, were), joined, leaves })
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Everything was routed, with orders from before if there were any.
    Anew,
    /// So many faults and so many repairs were applied.
    Applied { faults: usize, repairs: usize },
}

/// Pairs of leaves with nodes that cables connect and that have no up\*down\* route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostLeaves {
    /// How many ordered pairs are lost, of how many.
    pairs: u64,
    all: u64,
    /// The names of one pair, if one is among the named ones.
    example: Option<[String; 2]>,
}

impl fmt::Display for LostLeaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostLeaves { pairs, all, example } = self;
        write!(
            f,
            "LOST: {pairs} of {all} leaf pairs have no up*down* route although cables connect them"
        )?;
        match example {
            Some([from, to]) => write!(f, ", such as {from} to {to}"),
            None => Ok(()),
        }
    }
}

/// Where nodes are: on leaves, or on switches that are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outlook {
    nodes: usize,
    elsewhere: usize,
    /// One of the switches that are no leaves and have nodes.
    example: Option<String>,
}

impl Outlook {
    /// Returns a sentence if most nodes are on switches that are no leaves: then the rule for leaves is wrong.
    pub(crate) fn warning(&self, rule: &str) -> Option<String> {
        let Outlook { nodes, elsewhere, example } = self;
        let example = example.as_deref().unwrap_or_default();
        if 2 * elsewhere <= *nodes {
            return None;
        }
        let what = match elsewhere == nodes {
            true => format!("no leaf has nodes: all {nodes} are on switches that are no leaves"),
            false => format!("{elsewhere} of {nodes} nodes are on switches that are no leaves"),
        };
        Some(format!("LEAF RULE ({rule}): {what}, such as {example}"))
    }

    /// Returns the likely reason why node pairs are lost.
    pub(crate) fn reason(&self, rule: &str, leaves_are_lost: bool) -> String {
        let Outlook { elsewhere, example, .. } = self;
        match (example, leaves_are_lost) {
            (Some(example), false) => format!(
                "the leaf rule ({rule}) leaves {elsewhere} nodes on switches that are no leaves, such as \
                 {example}, and those have no up*down* routes to each other"
            ),
            (None, _) => "damage has left leaves without a common switch above them".into(),
            (Some(example), true) => format!(
                "damage has left leaves without a common switch above them, and the leaf rule ({rule}) leaves \
                 {elsewhere} nodes on switches that are no leaves, such as {example}"
            ),
        }
    }
}

/// Tables that are kept between runs.
pub(crate) struct Kept {
    router: Router,
    wishes: Wishes,
    places: Places,
    /// The tables as switches have them: for each switch an entry for each LID.
    image: Vec<u8>,
    /// How many LIDs that is.
    width: usize,
    /// How many LIDs each switch has.
    switch_lids: Vec<u8>,
    /// Both orders, with everything that ever was there.
    pub(crate) saved: SavedOrders,
    /// With a reference: what is known of it.
    by: Option<Compared>,
    /// If ranks are counted from one root, and that was decided for this fabric: why.
    unconnected: Option<Unconnected>,
}

/// A reference beside the fabric of the moment.
struct Compared {
    changes: Changes,
    /// What is missing and has no place in the joined fabric.
    placeless: Counts,
    /// What the reference does not have as it was found. Without it, another fabric would have been joined.
    news: Vec<Part>,
}

impl Kept {
    /// Routes a fabric of which nothing is known but perhaps the orders.
    ///
    /// # Errors
    /// If it cannot be routed.
    pub(crate) fn new(
        fabric: Fabric,
        wishes: Wishes,
        mut saved: Option<SavedOrders>,
    ) -> Result<Self, RouteError> {
        if let Some(saved) = &mut saved {
            saved.hand_over_to(&fabric);
        }
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let route = |saved| Routing::new(live, &wishes.options(wishes.leaves.clone(), saved));
        let decided = route(saved.as_ref());
        let unconnected = decided.unconnected();
        let mut now = decided.orders().save(live);
        if let Some(earlier) = &saved {
            now.keep_absent(earlier);
        }
        // Routed by what is saved, so that whoever reads the file gets the same tables.
        let routing = route(Some(&now));
        let router = Router::new(Arc::new(fabric), routing, healthy)?;
        Ok(Kept { unconnected, ..Kept::of(router, wishes, now, None) })
    }

    /// The same by a reference.
    ///
    /// # Errors
    /// If it cannot be routed.
    pub(crate) fn by_reference(
        by: By,
        wishes: Wishes,
        saved: Option<SavedOrders>,
    ) -> Result<Self, RouteError> {
        let By { reference: (reference, were), joined, leaves, .. } = by;
        let mut orders = Routing::orders_of(&reference, &wishes.options(were, saved.as_ref()));
        if let Some(earlier) = &saved {
            orders.keep_absent(earlier);
        }
        joined.hand_over(&mut orders);
        let whole = Live::new(&joined.fabric, &joined.now);
        let mut now = joined.routing(leaves.clone(), &orders).orders().save(whole);
        now.keep_absent(&orders);
        let routing = joined.routing(leaves, &now);
        let reference = Arc::new(joined.reference(&routing));
        let absent = absent(whole);
        let Joined { fabric, now: missing, changes, news, .. } = joined;
        let engine = Arc::new(dmodc::Stable { reference });
        let router = Router::with_engine(engine, Arc::new(fabric), routing, missing)?;
        let placeless = Counts {
            switches: changes.missing.switches - absent.switches,
            nodes: changes.missing.nodes - absent.nodes,
            cables: changes.missing.cables - absent.cables,
        };
        let by = Compared { changes, placeless, news };
        Ok(Kept::of(router, wishes, now, Some(by)))
    }

    fn of(router: Router, wishes: Wishes, saved: SavedOrders, by: Option<Compared>) -> Self {
        let lmc = |guid| wishes.switch_lmc.get(guid).map_or(0, |lmc| (*lmc).min(7));
        let switches = router.fabric().switches().iter();
        let switch_lids: Vec<u8> = switches.map(|switch| 1 << lmc(&switch.guid)).collect();
        let destinations = router.routing().columns().destinations().iter();
        let end = destinations.map(|d| lids_of(d, &switch_lids).end).max().unwrap_or(0);
        // What is absent may have a LID beyond all that OpenSM knows.
        let width = end.clamp(1, Lid::LAST_UNICAST.0 as usize + 1);
        let mut kept = Kept {
            places: Places::new(router.fabric()),
            image: vec![NO_ROUTE; width * router.fabric().switches().len()],
            width,
            switch_lids,
            router,
            wishes,
            saved,
            by,
            unconnected: None,
        };
        kept.draw_all();
        kept
    }

    /// Applies what has changed since, if the fabric is the known one but for missing parts; else `None`.
    ///
    /// # Errors
    /// If it cannot be routed.
    pub(crate) fn update(
        &mut self,
        now: &Fabric,
    ) -> Result<Option<(Done, TableDelta)>, RouteError> {
        let Some(missing) = self.places.missing(self.router.fabric(), now) else {
            return Ok(None);
        };
        let then = Live::new(self.router.fabric(), &missing);
        if let Some(by) = &mut self.by {
            if !by.news.iter().all(|part| is_alive(then, *part)) {
                return Ok(None);
            }
            let Counts { switches, nodes, cables } = absent(then);
            by.changes.missing = Counts {
                switches: by.placeless.switches + switches,
                nodes: by.placeless.nodes + nodes,
                cables: by.placeless.cables + cables,
            };
        }
        let before = self.router.degradation();
        let (mut faults, mut repairs) = (0, 0);
        let is_dead = |part: &Part| match *part {
            Part::Switch(s) => missing.switch_is_dead(s),
            Part::Cable(c) => missing.cable_is_dead(c),
        };
        let changes: Vec<Change> = missing
            .difference(before)
            .map(|part| match is_dead(&part) {
                true => {
                    faults += 1;
                    Change::Dies(part)
                }
                false => {
                    repairs += 1;
                    Change::Recovers(part)
                }
            })
            .collect();
        let delta = self.router.apply(&changes)?;
        if self.wishes.connect_roots {
            self.draw_all();
        } else {
            self.draw(&delta);
        }
        Ok(Some((Done::Applied { faults, repairs }, delta)))
    }

    /// The fabric of the moment, and how it is numbered.
    pub(crate) fn numbered(&self) -> Numbered {
        Numbered {
            fabric: self.router.fabric().clone(),
            absent: self.router.degradation().clone(),
            routing: self.router.routing().clone(),
            is_whole: self.router.degradation().removed().next().is_none()
                && self.saved.absent_nodes(self.router.fabric()) == 0,
        }
    }

    /// The fabric that is known.
    pub(crate) fn fabric(&self) -> &Arc<Fabric> {
        self.router.fabric()
    }

    /// How good the routes are.
    pub(crate) fn coverage(&self) -> Coverage {
        self.router.coverage()
    }

    /// What becomes of the node pairs.
    pub(crate) fn delivery(&self) -> Delivery {
        Delivery::of_route(self.router.live(), &self.coverage())
    }

    /// Returns the pairs of leaves that the tables lose, if there are any. Pairs that no cable connects are
    /// lost to every engine, and do not count.
    pub(crate) fn lost_leaves(&self) -> Option<LostLeaves> {
        let coverage = self.coverage();
        if coverage.is_valid() {
            return None;
        }
        let (live, ranking) = (self.router.live(), &self.router.preprocessing().ranking);
        let islands = Islands::new(live);
        let is_counted = |s| u64::from(ranking.is_leaf_with_nodes(s));
        let leaves: Vec<u64> = live.fabric.switch_indices().map(is_counted).collect();
        let pairs_of = |leaves: u64| leaves * leaves.saturating_sub(1);
        let connected: u64 = islands.sums(&leaves).into_iter().map(pairs_of).sum();
        let cut_off = coverage.leaf_pairs.saturating_sub(connected);
        let pairs = coverage.unreachable_leaf_pairs.saturating_sub(cut_off);
        let is_lost = |&(from, to): &(SwitchIndex, SwitchIndex)| {
            let are_leaves = [from, to].iter().all(|&s| ranking.is_leaf_with_nodes(s));
            are_leaves && islands.connect(from, to)
        };
        let name = |s: SwitchIndex| {
            let switch = live.fabric.switch(s);
            format!("'{}' ({})", switch.name, switch.guid)
        };
        let example = coverage.examples.iter().copied().find(is_lost);
        let example = example.map(|(from, to)| [name(from), name(to)]);
        (pairs > 0).then_some(LostLeaves { pairs, all: coverage.leaf_pairs, example })
    }

    /// Returns what leaves and damage have to do with the pairs that are lost.
    pub(crate) fn outlook(&self) -> Outlook {
        let (live, ranking) = (self.router.live(), &self.router.preprocessing().ranking);
        let mut outlook = Outlook::default();
        let nodes = live.fabric.node_indices();
        for n in nodes.filter(|&n| live.node(n) && !live.fabric.is_aggregation(n)) {
            outlook.nodes += 1;
            let s = live.fabric.node(n).switch;
            if !ranking.is_leaf(s) {
                outlook.elsewhere += 1;
                let switch = live.fabric.switch(s);
                outlook
                    .example
                    .get_or_insert_with(|| format!("'{}' ({})", switch.name, switch.guid));
            }
        }
        outlook
    }

    /// Whether switches have as many LIDs each as they had.
    pub(crate) fn has_lids(&self, switch_lmc: &HashMap<Guid, u8>) -> bool {
        self.wishes.switch_lmc == *switch_lmc
    }

    /// Returns a sentence on what ranks are counted from, unless it is the leaves.
    pub(crate) fn ranks(&self) -> Option<String> {
        let live = self.router.live();
        let roots = self.router.preprocessing().ranking.single_roots(live);
        let first = live.fabric.switch(*roots.first()?);
        let why = match self.unconnected {
            Some(why) => format!(
                "with ranks from the leaves {} node pairs would have no up*down* route",
                why.pairs
            ),
            None => "as decided for the reference or saved with the orders".into(),
        };
        Some(format!(
            "this is no fat tree: ranks are counted from one root, '{}' ({}); {why}",
            first.name, first.guid
        ))
    }

    /// What became of the reference, if there is one.
    pub(crate) fn changes(&self) -> Option<Changes> {
        self.by.as_ref().map(|by| by.changes)
    }

    /// The tables of the live switches: an entry for each LID up to the greatest that is in use.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Guid, &[u8])> {
        let live = self.router.live();
        let destinations = self.router.routing().columns().destinations().iter();
        let alive = destinations.filter(|d| d.end.is_alive(live));
        let used = alive.map(|d| lids_of(d, &self.switch_lids).end);
        let used = used.max().unwrap_or(0).min(self.width);
        let rows = self.image.chunks_exact(self.width).map(move |row| &row[..used]);
        live.fabric
            .switch_indices()
            .zip(rows)
            .filter(move |(s, _)| live.switch(*s))
            .map(move |(s, row)| (live.fabric.switch(s).guid, row))
    }

    fn draw_all(&mut self) {
        let filled = self.wishes.connect_roots.then(|| {
            let mut tables = self.router.tables().clone();
            connect_roots(self.router.live(), self.router.preprocessing(), &mut tables);
            tables
        });
        let tables = filled.as_ref().unwrap_or(self.router.tables());
        let columns = tables.columns();
        for tile in columns.tiles() {
            for s in self.router.fabric().switch_indices() {
                let image = &mut self.image[s.at() * self.width..][..self.width];
                let destinations = &columns.destinations()[tile.columns.clone()];
                for (d, &entry) in destinations.iter().zip(tables.row(s, &tile)) {
                    put(image, lids_of(d, &self.switch_lids), entry);
                }
            }
        }
    }

    fn draw(&mut self, delta: &TableDelta) {
        let tables: &ForwardingTables = self.router.tables();
        let columns = tables.columns();
        for row in delta.rows() {
            let tile = columns.tile(row.tile as usize);
            let entries = tables.row(row.switch, &tile);
            let image = &mut self.image[row.switch.at() * self.width..][..self.width];
            for column in row.spans(columns).flatten() {
                let lids = lids_of(&columns.destinations()[column], &self.switch_lids);
                put(image, lids, entries[column - tile.columns.start]);
            }
        }
    }
}

/// Returns the LIDs whose entries are those of a column. A port without a LID has none.
fn lids_of(d: &Destination, switch_lids: &[u8]) -> Range<usize> {
    let lid = d.lid.0 as usize;
    match d.end {
        _ if d.lid == Lid::UNKNOWN => 0..0,
        // Every LID of a node has a column of its own.
        End::Node(_) => lid..lid + 1,
        End::Switch(s) => lid..lid + usize::from(switch_lids[s.at()]),
    }
}

/// Writes an entry for these LIDs, as far as there is room.
fn put(image: &mut [u8], lids: Range<usize>, entry: u8) {
    let end = lids.end.min(image.len());
    if let Some(places) = image.get_mut(lids.start..end) {
        places.fill(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::fabric::{Product, Rate, Switch};
    use dmodc::{Amount, Draw, FabricBuilder, Pgft, PortNumber, Random};

    fn wishes() -> Wishes {
        Wishes {
            leaves: LeafRule::Detect,
            destinations: DestinationOrder::Topological,
            switches: SwitchOrder::Plane,
            connect_roots: false,
            switch_lmc: HashMap::new(),
        }
    }

    fn tables(kept: &Kept) -> HashMap<Guid, Vec<u8>> {
        kept.tables().map(|(guid, row)| (guid, row.to_vec())).collect()
    }

    /// What `dmodc route --orders` gives for the fabric of the moment.
    fn offline(now: &Fabric, saved: &SavedOrders) -> HashMap<Guid, Vec<u8>> {
        let saved = Some(saved.clone());
        let kept = Kept::new(now.clone(), wishes(), saved).expect("it can be routed");
        tables(&kept)
    }

    /// Tables without the LIDs that only one of them has.
    fn trimmed(tables: HashMap<Guid, Vec<u8>>) -> HashMap<Guid, Vec<u8>> {
        let trim = |mut row: Vec<u8>| {
            while row.last() == Some(&NO_ROUTE) {
                row.pop();
            }
            row
        };
        tables.into_iter().map(|(guid, row)| (guid, trim(row))).collect()
    }

    /// Faults, repairs, and both at once: the kept tables are those of the fabric of the moment.
    #[test]
    fn every_moment_has_its_own_tables() {
        for tuple in ["3; 2,2,3; 1,2,2; 1,2,1", "3; 4,4,6; 1,4,2; 1,1,2"] {
            let whole = tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
            let healthy = Degradation::none(&whole);
            let mut kept = Kept::new(whole.clone(), wishes(), None).expect("it can be routed");
            let first = tables(&kept);
            let mut random = Random::new(9, 0);
            for seed in 0..30 {
                let draw = Draw {
                    cables: Amount::Count(random.below(9) as usize),
                    switches: Amount::Count(random.below(3) as usize),
                    any_cable: true,
                    any_switch: true,
                    seed,
                };
                let mask = draw.degradation(&whole).expect("so many are there");
                let now = whole.without(&mask);
                let (done, delta) = kept
                    .update(&now)
                    .expect("it can be routed")
                    .expect("it is a part of the known one");
                assert!(matches!(done, Done::Applied { .. }));
                assert_eq!(trimmed(tables(&kept)), trimmed(offline(&now, &kept.saved)));
                let (again, _) = kept.update(&now).expect("routed").expect("known");
                assert_eq!(again, Done::Applied { faults: 0, repairs: 0 });
                drop(delta);
            }
            kept.update(&whole.without(&healthy)).expect("routed").expect("known");
            assert_eq!(tables(&kept), first, "after full repair, the first tables");
            assert_eq!(kept.coverage(), {
                let ranked = Live::new(&whole, &healthy);
                let routing = Routing::new(ranked, &RoutingOptions::default());
                routing.route(ranked, &dmodc::Dmodc).expect("routed").1
            });
        }
    }

    /// What was never seen is not applied to what is kept.
    #[test]
    fn other_fabrics_start_anew() {
        let fabric =
            |tuple: &str| tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        let small = fabric("2; 2,3; 1,2; 1,1");
        let mut kept = Kept::new(small.clone(), wishes(), None).expect("it can be routed");
        assert!(kept.update(&fabric("2; 2,4; 1,2; 1,1")).expect("routed").is_none());
        // A part of it first, then the whole: the newcomers are numbered behind.
        let mut mask = Degradation::none(&small);
        mask.set_switch(SwitchIndex::new(1), true);
        let part = Kept::new(small.without(&mask), wishes(), None).expect("it can be routed");
        let then = Kept::new(small.clone(), wishes(), Some(part.saved.clone())).expect("routed");
        assert_eq!(then.saved.nodes[..part.saved.nodes.len()], part.saved.nodes);
        assert_eq!(tables(&then), offline(&small, &then.saved));
    }

    /// Switches with several LIDs have the entry of the first for all; a port without a LID has none.
    #[test]
    fn every_lid_of_a_switch_has_its_entry_and_lid_0_has_none() {
        let fabric = "2; 2,3; 1,2; 1,1".parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        let last = fabric.switches().last().expect("a spine");
        let (guid, lid) = (last.guid, last.lid.0 as usize);
        let top =
            fabric.switches().iter().map(|s| s.lid.0).chain(fabric.nodes().iter().map(|n| n.lid.0));
        assert_eq!(top.max(), Some(lid as u32), "nobody is behind it");
        let lmc = Wishes { switch_lmc: HashMap::from([(guid, 2)]), ..wishes() };
        let mut kept = Kept::new(fabric.clone(), lmc, None).expect("it can be routed");
        let check = |kept: &Kept| {
            for (_, row) in kept.tables() {
                assert_eq!(row.len(), lid + 4);
                assert!(row[lid..].iter().all(|entry| *entry == row[lid]), "{row:?}");
                assert_eq!(row[0], NO_ROUTE);
            }
        };
        check(&kept);
        assert!(kept.tables().any(|(_, row)| row[lid] != NO_ROUTE));
        let mut dead = Degradation::none(&fabric);
        dead.set_cable(dmodc::CableIndex::new(0), true);
        kept.update(&fabric.without(&dead)).expect("routed").expect("known");
        check(&kept);
        assert!(!kept.has_lids(&HashMap::new()));
        let mut builder = FabricBuilder::new();
        let switches = [(7, 0), (8, 5)].map(|(guid, lid)| {
            let (guid, lid, name) = (Guid(guid), Lid(lid), "".into());
            builder.switch(Switch { guid, lid, ports: 4, name, product: Product::default() })
        });
        let port = PortNumber(1);
        builder.cable((switches[0], port), (switches[1], port), Rate::NDR);
        let fabric = builder.finish().expect("a port may have no LID yet");
        let kept = Kept::new(fabric, wishes(), None).expect("it can be routed");
        assert!(kept.tables().all(|(_, row)| row[..5] == [NO_ROUTE; 5] && row.len() == 6));
    }
}
