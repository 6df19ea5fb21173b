//! From the fabric of the moment to the tables of its switches, with what was known before.
//!
//! The first fabric is routed whole and kept. As long as a later one is that fabric without some parts,
//! faults and repairs are applied to the kept tables, exactly as routing anew would; anything else (a new
//! device, another LID, a cable in another place) starts anew, with the orders that are saved.

use std::collections::HashMap;
use std::sync::Arc;

use dmodc::fabric::{CableEnds, Part, Peer};
use dmodc::{
    CableIndex, Change, Coverage, Degradation, DestinationOrder, Fabric, ForwardingTables, Guid,
    LeafRule, NO_ROUTE, NodeIndex, RouteError, Router, Routing, RoutingOptions, SavedOrders,
    SwitchIndex, SwitchOrder, TableDelta, connect_roots,
};

/// How routing is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    pub(crate) leaves: LeafRule,
    pub(crate) destinations: DestinationOrder,
    pub(crate) switches: SwitchOrder,
    pub(crate) connect_roots: bool,
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Everything was routed, with orders from before if there were any.
    Anew,
    /// So many faults and so many repairs were applied.
    Applied { faults: usize, repairs: usize },
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
    /// Both orders, with everything that ever was there.
    pub(crate) saved: SavedOrders,
}

/// Where everything of a fabric is, by GUID.
struct Places {
    switches: HashMap<Guid, SwitchIndex>,
    nodes: HashMap<Guid, NodeIndex>,
}

impl Places {
    fn new(fabric: &Fabric) -> Self {
        let switches = fabric.switch_indices().map(|s| (fabric.switch(s).guid, s));
        let nodes = fabric.node_indices().map(|n| (fabric.node(n).guid, n));
        Places { switches: switches.collect(), nodes: nodes.collect() }
    }

    /// What of the known fabric is missing from the present one; `None` if that has something more, or
    /// something else.
    fn missing(&self, known: &Fabric, now: &Fabric) -> Option<Degradation> {
        let mut switches = vec![false; known.switches().len()];
        let mut cables = vec![false; known.cable_count()];
        let mut index = Vec::with_capacity(now.switches().len());
        for switch in now.switches() {
            let &s = self.switches.get(&switch.guid)?;
            let before = known.switch(s);
            // What is a leaf may depend on names.
            let same = (before.lid, before.ports) == (switch.lid, switch.ports)
                && before.name == switch.name;
            if !same {
                return None;
            }
            switches[s.at()] = true;
            index.push(s);
        }
        for n in now.node_indices() {
            let node = now.node(n);
            let &place = self.nodes.get(&node.guid)?;
            let before = known.node(place);
            let same = (before.lid, before.lmc) == (node.lid, node.lmc)
                && (before.switch, before.switch_port)
                    == (index[node.switch.at()], node.switch_port)
                && known.adapter_of(place).kind == now.adapter_of(n).kind;
            if !same {
                return None;
            }
            cables[known.node_cable(place).at()] = true;
        }
        for cable in now.inter_switch_cables() {
            let (a, b) = (index[cable.a.0.at()], index[cable.b.0.at()]);
            let port = known.port(a, cable.a.1)?;
            if port.peer != Peer::Switch(b, cable.b.1) {
                return None;
            }
            cables[port.cable()?.at()] = true;
        }
        let mut missing = Degradation::none(known);
        for s in known.switch_indices().filter(|s| !switches[s.at()]) {
            missing.set_switch(s, true);
        }
        for c in (0..known.cable_count()).map(CableIndex::new).filter(|c| !cables[c.at()]) {
            // A dead switch takes its cables with it.
            let ends = match known.cable(c) {
                CableEnds::Switches(cable) => vec![cable.a.0, cable.b.0],
                CableEnds::Node(n) => vec![known.node(n).switch],
            };
            if ends.iter().all(|s| switches[s.at()]) {
                missing.set_cable(c, true);
            }
        }
        Some(missing)
    }
}

impl Kept {
    /// Routes a fabric of which nothing is known but perhaps the orders.
    ///
    /// # Errors
    /// If it cannot be routed.
    pub(crate) fn new(
        fabric: Fabric,
        wishes: Wishes,
        saved: Option<SavedOrders>,
    ) -> Result<Self, RouteError> {
        let healthy = Degradation::none(&fabric);
        let fabric = Arc::new(fabric);
        let options = |destinations, switches| RoutingOptions {
            leaves: wishes.leaves.clone(),
            destinations,
            switches,
            switch_lids: true,
        };
        let live = dmodc::Live::new(&fabric, &healthy);
        let (destinations, switches) = match &saved {
            Some(saved) => {
                (DestinationOrder::Saved(saved.clone()), SwitchOrder::Saved(saved.clone()))
            }
            None => (wishes.destinations.clone(), wishes.switches.clone()),
        };
        let first = Routing::new(live, &options(destinations, switches));
        let mut now = first.orders().save(live);
        if let Some(earlier) = &saved {
            now.keep_absent(earlier);
        }
        // Routed by what is saved, so that whoever reads the file gets the same tables.
        let destinations = DestinationOrder::Saved(now.clone());
        let routing = Routing::new(live, &options(destinations, SwitchOrder::Saved(now.clone())));
        let width = 1 + routing.columns().destinations().iter().map(|d| d.lid.0).max().unwrap_or(0);
        let router = Router::new(fabric.clone(), routing, healthy)?;
        let mut kept = Kept {
            places: Places::new(&fabric),
            image: vec![NO_ROUTE; width as usize * fabric.switches().len()],
            width: width as usize,
            router,
            wishes,
            saved: now,
        };
        kept.draw_all();
        Ok(kept)
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

    /// The fabric that is known.
    pub(crate) fn fabric(&self) -> &Fabric {
        self.router.fabric()
    }

    /// How good the routes are.
    pub(crate) fn coverage(&self) -> Coverage {
        self.router.coverage()
    }

    /// The tables of the live switches: an entry for each LID.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Guid, &[u8])> {
        let live = self.router.live();
        let rows = self.image.chunks_exact(self.width);
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
                    image[d.lid.0 as usize] = entry;
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
                let lid = columns.destinations()[column].lid.0 as usize;
                image[lid] = entries[column - tile.columns.start];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Amount, Draw, Live, Pgft, Random};

    fn wishes() -> Wishes {
        Wishes {
            leaves: LeafRule::Detect,
            destinations: DestinationOrder::Topological,
            switches: SwitchOrder::Plane,
            connect_roots: false,
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
}
