//! Random departures from a regular shape, as real fabrics have them from the first day.
//!
//! Four things happen to fabrics in machine rooms, and each is drawn from its own stream of random numbers, so that more of
//! one does not change the others:
//!
//! 1. *Uneven* leaves: some leaves have up to half of their nodes on another leaf, which then has more nodes than cables.
//! 2. *Missing* cables between switches.
//! 3. *Recabled* pairs: two cables between the same two levels have their upper ends exchanged.
//! 4. *Service* nodes on spines: switches that are cabled to leaves. All are in one plane (a part that is connected without
//!    leaves), because two switches of different planes have no up\*down\* route.
//!
//! Devices that stay keep their names, GUIDs and LIDs. A switch that gets a node more gets a port more if it has none free.

use std::fmt;
use std::str::FromStr;

use crate::fabric::{
    Adapter, AdapterKind, Degradation, Fabric, FabricBuilder, Live, NumbersError, Product, Rate,
    Vertex, Written,
};
use crate::id::{Guid, Lid, NodeIndex, PortNumber, SwitchIndex};
use crate::leaf::{LeafRule, Leaves};
use crate::random::Random;
use crate::random_faults::{Amount, AmountError};
use crate::union_find::UnionFind;

/// Streams of random numbers, other than those of [`Draw`](crate::Draw).
const UNEVEN: u64 = 32;
const MISSING: u64 = 33;
const RECABLED: u64 = 34;
const SERVICE: u64 = 35;

/// How much of a fabric departs from its regular shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departures {
    /// Cables between switches that are missing.
    pub missing: Amount,
    /// Leaves that have some of their nodes on another leaf.
    pub uneven: Amount,
    /// Service nodes on spines of one plane.
    pub service: usize,
    /// Pairs of cables whose upper ends are exchanged.
    pub recabled: usize,
}

impl Departures {
    /// Nothing departs.
    pub const NONE: Departures =
        Departures { missing: Amount::ZERO, uneven: Amount::ZERO, service: 0, recabled: 0 };

    /// Returns the fabric with these departures.
    ///
    /// # Errors
    /// If more is asked for than there is, or a switch would have too many ports.
    pub fn of(&self, fabric: &Fabric, seed: u64) -> Result<Fabric, DeparturesError> {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let mut leaves = Leaves::new(live, &LeafRule::Detect).all;
        // A spine without nodes may look like a leaf that lost them.
        leaves.retain(|&leaf| live.nodes(leaf).next().is_some());
        let mut plan = Plan::new(fabric);
        plan.move_nodes(live, &leaves, self.uneven, seed)?;
        plan.recable(live, &leaves, self.recabled, seed)?;
        let cables = fabric.inter_switch_cables().len();
        let missing = self.missing.of(cables, "inter-switch cables")?;
        for at in Random::new(seed, MISSING).sample(cables, missing) {
            plan.cables[at] = None;
        }
        plan.add_service_nodes(live, &leaves, self.service, seed)?;
        plan.build()
    }
}

/// The error of departures that are not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeparturesError {
    /// More is asked for than there is.
    Amount(AmountError),
    /// There is no leaf with two nodes, or no other leaf that could have them.
    NoLeaves,
    /// There is no switch that is cabled to leaves and is none.
    NoSpines,
    /// There are no two cables that can be exchanged.
    NoCables,
    /// A switch would need more ports than there can be.
    Ports(Guid),
}

impl From<AmountError> for DeparturesError {
    fn from(error: AmountError) -> Self {
        DeparturesError::Amount(error)
    }
}

impl fmt::Display for DeparturesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeparturesError::Amount(error) => error.fmt(f),
            DeparturesError::NoLeaves => {
                f.write_str("uneven leaves need two leaves, one of them with at least two nodes")
            }
            DeparturesError::NoSpines => {
                f.write_str("service nodes need a switch that is not a leaf and is cabled to one")
            }
            DeparturesError::NoCables => f.write_str(
                "a recabled pair needs two cables between the same two levels, with four different switches",
            ),
            DeparturesError::Ports(guid) => write!(
                f,
                "the switch {guid} would need more than the {} ports that are possible",
                PortNumber::MAX.0
            ),
        }
    }
}

impl std::error::Error for DeparturesError {}

impl fmt::Display for Departures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Departures { missing, uneven, service, recabled } = self;
        write!(f, "missing={missing},uneven={uneven},service={service},recabled={recabled}")
    }
}

impl FromStr for Departures {
    type Err = NumbersError;

    /// Reads `missing=1%,uneven=25%,service=4,recabled=1`. What is left out is zero.
    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let mut departures = Departures::NONE;
        for written in Written::all(text) {
            let written = written?;
            match written.name {
                "missing" => departures.missing = written.value()?,
                "uneven" => departures.uneven = written.value()?,
                "service" => departures.service = written.value()?,
                "recabled" => departures.recabled = written.value()?,
                _ => return Err(written.unknown("missing, uneven, service and recabled")),
            }
        }
        Ok(departures)
    }
}

/// One end of a cable between switches.
type CableEnd = (SwitchIndex, PortNumber);

/// The fabric as it will be.
struct Plan<'a> {
    fabric: &'a Fabric,
    /// For each node, the switch that it is on.
    homes: Vec<SwitchIndex>,
    /// For each cable between switches, its ends; `None` if it is missing.
    cables: Vec<Option<[CableEnd; 2]>>,
    /// The switches of service nodes.
    service: Vec<SwitchIndex>,
}

impl<'a> Plan<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let cables = fabric.inter_switch_cables().iter();
        Plan {
            fabric,
            homes: fabric.nodes().iter().map(|node| node.switch).collect(),
            cables: cables.map(|cable| Some([cable.a, cable.b])).collect(),
            service: vec![],
        }
    }

    /// Moves some nodes of some leaves to other leaves.
    fn move_nodes(
        &mut self,
        live: Live<'_>,
        leaves: &[SwitchIndex],
        uneven: Amount,
        seed: u64,
    ) -> Result<(), DeparturesError> {
        let wanted = uneven.of(leaves.len(), "leaves")?;
        if wanted == 0 {
            return Ok(());
        }
        let mut random = Random::new(seed, UNEVEN);
        let mut givers: Vec<SwitchIndex> =
            leaves.iter().copied().filter(|&leaf| live.nodes(leaf).count() > 1).collect();
        if givers.is_empty() || leaves.len() < 2 {
            return Err(DeparturesError::NoLeaves);
        }
        random.shuffle(&mut givers);
        for leaf in givers.into_iter().take(wanted) {
            let mut own: Vec<NodeIndex> = live.nodes(leaf).collect();
            random.shuffle(&mut own);
            let moved = 1 + random.below(own.len() as u64 / 2) as usize;
            let place = leaves.iter().position(|&other| other == leaf).unwrap_or(0);
            let step = 1 + random.below(leaves.len() as u64 - 1) as usize;
            let taker = leaves[(place + step) % leaves.len()];
            for node in &own[..moved] {
                self.homes[node.at()] = taker;
            }
        }
        Ok(())
    }

    /// Exchanges the upper ends of some pairs of cables between the same two levels.
    fn recable(
        &mut self,
        live: Live<'_>,
        leaves: &[SwitchIndex],
        pairs: usize,
        seed: u64,
    ) -> Result<(), DeparturesError> {
        let hops = live.hops_to(leaves.iter().copied());
        let mut random = Random::new(seed, RECABLED);
        let mut order = random.sample(self.cables.len(), self.cables.len());
        for _ in 0..pairs {
            // The lower end first.
            let ends = |at: usize| {
                self.cables[at].map(|mut ends| {
                    ends.sort_by_key(|(s, port)| (hops[s.at()], *s, *port));
                    ends
                })
            };
            let levels = |ends: [CableEnd; 2]| ends.map(|(s, _)| hops[s.at()]);
            let found = order.iter().enumerate().find_map(|(i, &first)| {
                let one = ends(first)?;
                let [below, above] = levels(one);
                let is_other = |&&second: &&usize| {
                    ends(second).is_some_and(|other| {
                        let [a, b] = one.map(|(s, _)| s);
                        let [c, d] = other.map(|(s, _)| s);
                        below != above && levels(other) == levels(one) && a != c && b != d
                    })
                };
                let second = *order[i + 1..].iter().find(is_other)?;
                Some((first, second, one, ends(second)?))
            });
            let (first, second, one, other) = found.ok_or(DeparturesError::NoCables)?;
            self.cables[first] = Some([one[0], other[1]]);
            self.cables[second] = Some([other[0], one[1]]);
            order.retain(|&at| at != first && at != second);
        }
        Ok(())
    }

    /// Draws the switches of service nodes.
    fn add_service_nodes(
        &mut self,
        live: Live<'_>,
        leaves: &[SwitchIndex],
        count: usize,
        seed: u64,
    ) -> Result<(), DeparturesError> {
        let is_leaf = |s: SwitchIndex| leaves.binary_search(&s).is_ok();
        let mut planes = UnionFind::new(live.fabric.switches().len());
        for s in live.switches().filter(|&s| !is_leaf(s)) {
            let links = live.links(s).filter(|&(_, peer)| !is_leaf(peer));
            links.for_each(|(_, peer)| planes.join(s, peer));
        }
        let is_spine =
            |&s: &SwitchIndex| !is_leaf(s) && live.links(s).any(|(_, peer)| is_leaf(peer));
        let mut spines: Vec<SwitchIndex> = live.switches().filter(is_spine).collect();
        if count == 0 {
            return Ok(());
        }
        if spines.is_empty() {
            return Err(DeparturesError::NoSpines);
        }
        let mut random = Random::new(seed, SERVICE);
        let first = planes.root(spines[random.below(spines.len() as u64) as usize]);
        spines.retain(|&s| planes.root(s) == first);
        // Before memory is taken for any number that somebody may write.
        if count > spines.len() * usize::from(PortNumber::MAX.0) {
            return Err(DeparturesError::Ports(live.fabric.switch(spines[0]).guid));
        }
        self.service =
            (0..count).map(|_| spines[random.below(spines.len() as u64) as usize]).collect();
        Ok(())
    }

    fn rate(&self, s: SwitchIndex, port: PortNumber) -> Rate {
        self.fabric.port(s, port).expect("a cable ends in a port").rate
    }

    /// Returns the ports of each switch that stay in use.
    fn ports(&self) -> Vec<FreePorts> {
        let fabric = self.fabric;
        let mut ports: Vec<FreePorts> = fabric
            .switches()
            .iter()
            .map(|switch| FreePorts { used: vec![false; usize::from(switch.ports) + 1], next: 1 })
            .collect();
        for (node, &home) in fabric.nodes().iter().zip(&self.homes) {
            if node.switch == home {
                ports[home.at()].used[usize::from(node.switch_port.0)] = true;
            }
        }
        for (s, port) in self.cables.iter().flatten().flatten() {
            ports[s.at()].used[usize::from(port.0)] = true;
        }
        ports
    }

    fn build(self) -> Result<Fabric, DeparturesError> {
        let fabric = self.fabric;
        let mut free = self.ports();
        let mut homes = vec![];
        for (node, &home) in fabric.nodes().iter().zip(&self.homes) {
            homes.push(match node.switch == home {
                true => node.switch_port,
                false => free[home.at()].take(fabric.switch(home).guid)?,
            });
        }
        let mut service = vec![];
        for &s in &self.service {
            service.push((s, free[s.at()].take(fabric.switch(s).guid)?));
        }
        let mut b = FabricBuilder::new();
        let switches: Vec<Vertex> = fabric
            .switch_indices()
            .map(|s| {
                let mut switch = fabric.switch(s).clone();
                switch.ports = (free[s.at()].used.len() - 1) as u8;
                b.switch(switch)
            })
            .collect();
        let adapters: Vec<Vertex> =
            fabric.adapters().iter().map(|adapter| b.adapter(adapter.clone())).collect();
        for (at, node) in fabric.nodes().iter().enumerate() {
            let adapter = adapters[node.adapter.at()];
            b.end_port(adapter, node.adapter_port, node.guid, node.lid, node.lmc);
            let rate = self.rate(node.switch, node.switch_port);
            let home = (switches[self.homes[at].at()], homes[at]);
            b.cable(home, (adapter, node.adapter_port), rate);
        }
        for (cable, ends) in fabric.inter_switch_cables().iter().zip(&self.cables) {
            if let Some(ends) = ends {
                let rate = self.rate(cable.a.0, cable.a.1);
                let [a, c] = ends.map(|(s, port)| (switches[s.at()], port));
                b.cable(a, c, rate);
            }
        }
        add_nodes(&mut b, fabric, service.iter().map(|(s, port)| (switches[s.at()], *port)));
        Ok(b.finish().expect("departures keep a fabric consistent"))
    }
}

/// The ports of a switch that are in use; port 0 is none.
struct FreePorts {
    used: Vec<bool>,
    next: usize,
}

impl FreePorts {
    /// Returns a free port, or a new one.
    fn take(&mut self, guid: Guid) -> Result<PortNumber, DeparturesError> {
        while self.used.get(self.next).is_some_and(|used| *used) {
            self.next += 1;
        }
        if self.next > usize::from(PortNumber::MAX.0) {
            return Err(DeparturesError::Ports(guid));
        }
        self.used.resize(self.used.len().max(self.next + 1), false);
        self.used[self.next] = true;
        Ok(PortNumber(self.next as u8))
    }
}

/// Adds service nodes on these ports, with GUIDs and LIDs after all others.
fn add_nodes(
    b: &mut FabricBuilder,
    fabric: &Fabric,
    ports: impl Iterator<Item = (Vertex, PortNumber)>,
) {
    let guids =
        fabric.switches().iter().map(|s| s.guid).chain(fabric.nodes().iter().map(|n| n.guid));
    let guids = guids.chain(fabric.adapters().iter().map(|adapter| adapter.guid));
    let last_guid = guids.map(|guid| guid.0).max().unwrap_or(0);
    let last = |node: &crate::fabric::Node| node.lid.0 + (1 << node.lmc) - 1;
    let lids = fabric.switches().iter().map(|s| s.lid.0).chain(fabric.nodes().iter().map(last));
    let last_lid = lids.max().unwrap_or(0);
    for (i, port) in ports.enumerate() {
        let guid = Guid(last_guid + 16 + 2 * i as u64);
        let adapter = b.adapter(Adapter {
            guid,
            ports: 1,
            kind: AdapterKind::Host,
            name: format!("service-{i}").into(),
            product: Product { system: guid, ..Product::default() },
        });
        let lid = Lid(last_lid + 1 + i as u32);
        b.end_port(adapter, PortNumber(1), Guid(guid.0 + 1), lid, 0);
        b.cable((adapter, PortNumber(1)), port, Rate::NDR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Directors, Pgft};

    fn regular() -> Fabric {
        Directors::default().fabric(Default::default()).unwrap()
    }

    fn nodes_by_leaf(fabric: &Fabric) -> Vec<usize> {
        let none = Degradation::none(fabric);
        let live = Live::new(fabric, &none);
        (0..16).map(|leaf| live.nodes(SwitchIndex::new(leaf)).count()).collect()
    }

    #[test]
    fn each_departure_is_there_and_nothing_else() {
        let whole = regular();
        let of = |text: &str| text.parse::<Departures>().unwrap().of(&whole, 5).unwrap();
        let missing = of("missing=3");
        assert_eq!(missing.inter_switch_cables().len() + 3, whole.inter_switch_cables().len());
        assert_eq!(missing.nodes().len(), 128);
        let uneven = of("uneven=25%");
        assert_eq!(uneven.nodes().len(), 128);
        let counts = nodes_by_leaf(&uneven);
        assert_eq!(counts.iter().sum::<usize>(), 128);
        assert!(counts.iter().any(|&n| n > 8) && counts.iter().any(|&n| n < 8), "{counts:?}");
        assert_eq!(uneven.inter_switch_cables(), whole.inter_switch_cables());
        let service = of("service=4");
        assert_eq!(service.nodes().len(), 132);
        assert_eq!(nodes_by_leaf(&service), [8; 16]);
        let recabled = of("recabled=2");
        let same = |c: &&crate::fabric::Cable| whole.inter_switch_cables().contains(c);
        assert_eq!(recabled.inter_switch_cables().iter().filter(same).count() + 4, 256);
        assert_eq!(of(""), whole);
        let all = "missing=1%,uneven=25%,service=4,recabled=1";
        assert_eq!(of(all), of(all));
        assert_eq!(all.parse::<Departures>().unwrap().to_string(), all);
    }

    #[test]
    fn impossible_departures_are_refused() {
        let of = |fabric: &Fabric, text: &str| {
            text.parse::<Departures>().unwrap().of(fabric, 1).unwrap_err().to_string()
        };
        assert!(of(&regular(), "missing=9999").contains("there are only 256"));
        assert!(of(&regular(), "recabled=999").contains("a recabled pair needs"));
        let one = "1; 4; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default());
        assert!(of(&one, "service=1").contains("not a leaf"));
        assert!(of(&regular(), "service=18446744073709551615").contains("more than the 254 ports"));
        assert!(of(&one, "uneven=1").contains("two leaves"));
        assert!("spare=3".parse::<Departures>().unwrap_err().to_string().contains("not known"));
    }
}
