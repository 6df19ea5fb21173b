//! The whole pipeline behind one type.

use std::sync::Arc;

use crate::fabric::{Degradation, Fabric, Joined, Live};
use crate::group::{PortGroups, SortedLinks};
use crate::id::SwitchIndex;
use crate::infer::InferredWhole;
use crate::leaf::{Doubt, LeafRule};
use crate::level_dividers::LevelDividers;
use crate::measured::{ChoicesDown, Measuring};
use crate::order::{DestinationOrder, Orders, SavedOrders, SwitchOrder};
use crate::preprocess::Preprocessing;
use crate::rank::{RankRule, Ranking};
use crate::single_root::{self, Unconnected};
use crate::tables::{Columns, ForwardingTables, NoMemory};

/// What can be chosen about a routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingOptions {
    /// How leaves are found.
    pub leaves: LeafRule,
    /// How destinations are numbered.
    pub destinations: DestinationOrder,
    /// How port groups are sorted.
    pub switches: SwitchOrder,
    /// Whether switches' own LIDs are destinations, too.
    pub switch_lids: bool,
}

impl Default for RoutingOptions {
    fn default() -> Self {
        RoutingOptions {
            leaves: LeafRule::default(),
            destinations: DestinationOrder::default(),
            switches: SwitchOrder::default(),
            switch_lids: true,
        }
    }
}

impl RoutingOptions {
    /// Returns, for each switch, whether it was a leaf when orders were saved, or `None` if that is not known. The list is
    /// empty if no orders were saved.
    fn known_leaves(&self, live: Live<'_>) -> Vec<Option<bool>> {
        match (&self.destinations, &self.switches) {
            (DestinationOrder::Saved(saved), _) | (_, SwitchOrder::Saved(saved)) => {
                saved.known_leaves(live)
            }
            _ => vec![],
        }
    }

    /// Returns what ranks are counted from, if one of the orders was saved with such a rule.
    fn rank_rule(&self, live: Live<'_>) -> Option<RankRule> {
        let by_switches = match &self.switches {
            SwitchOrder::Saved(saved) => saved.rank_rule(live),
            _ => None,
        };
        by_switches.or_else(|| match &self.destinations {
            DestinationOrder::Saved(saved) => saved.rank_rule(live),
            _ => None,
        })
    }

    /// Returns the dividers of all levels, if one of the orders was saved with them, and ranks are counted as they were then.
    fn level_dividers(&self, fabric: &Fabric, rule: &RankRule) -> Option<&LevelDividers> {
        let by_switches = match &self.switches {
            SwitchOrder::Saved(saved) => saved.dividers_for(fabric, rule),
            _ => None,
        };
        by_switches.or_else(|| match &self.destinations {
            DestinationOrder::Saved(saved) => saved.dividers_for(fabric, rule),
            _ => None,
        })
    }

    /// Returns these options with saved orders in which replaced switches have handed over their places.
    fn handed_over(&self, fabric: &Fabric) -> RoutingOptions {
        let mut options = self.clone();
        if let DestinationOrder::Saved(saved) = &mut options.destinations {
            saved.hand_over_to(fabric);
        }
        if let SwitchOrder::Saved(saved) = &mut options.switches {
            saved.hand_over_to(fabric);
        }
        options
    }

    fn orders(&self, live: Live<'_>, ranking: &Ranking) -> Orders {
        Orders::new(live, ranking, &self.destinations, &self.switches)
    }
}

/// The leaves, orders and columns of a fabric, what its ranks are counted from, and the dividers of its levels. They are
/// fixed once from its first (healthy) state, so that re-routing after a fault moves nothing that the fault did not.
#[derive(Clone, Debug)]
pub struct Routing {
    leaves: LeafRule,
    doubts: Vec<Doubt>,
    orders: Arc<Orders>,
    links: Arc<SortedLinks>,
    columns: Arc<Columns>,
    unconnected: Option<Unconnected>,
    choices_down: Option<ChoicesDown>,
}

impl Joined {
    /// Returns orders and columns for both states, from the orders of the reference. Destinations and switches that these
    /// do not list follow after those that they list, by their places in the union of both fabrics. Dividers of levels are
    /// the saved ones, or else they are measured on the reference.
    pub fn routing(&self, leaves: LeafRule, orders: &SavedOrders) -> Routing {
        let whole = Degradation::none(&self.fabric);
        let reference = Live::new(&self.fabric, &self.then);
        // What the orders know of leaves is about the reference: it stays true if the fabric grows.
        let known = orders.known_leaves(reference);
        let (leaves, doubts) = leaves.fix(Live::new(&self.fabric, &whole), &known);
        let options = RoutingOptions {
            leaves,
            destinations: DestinationOrder::Saved(orders.clone()),
            switches: SwitchOrder::Saved(orders.clone()),
            switch_lids: true,
        };
        let measured = DividersOf::Measured(reference);
        Routing::fix(Live::new(&self.fabric, &whole), &options, measured).with_doubts(doubts)
    }
}

/// Returns the fabric with the cables that it lacks, if it lacks some and nothing is known of faults. Where cables are missing, the most even
/// divider may be one that suits the gaps, and a digit of d that all switches of a regular fabric agree on is not found.
pub(crate) fn inferred_whole(live: Live<'_>, leaves: &LeafRule) -> Option<Fabric> {
    let has_faults = live.degradation.removed().next().is_some();
    let whole = (!has_faults).then(|| InferredWhole::new(live.fabric, leaves));
    whole?.ok().filter(|whole| whole.added_cables() > 0).map(|whole| whole.fabric)
}

/// Returns the root that ranks are counted from in an inferred whole, if it needs one. The engine `stable` counts ranks of the whole, so all
/// engines and judges of a fabric that lacks cables should agree with it.
fn root_of(whole: &Fabric, leaves: &LeafRule, orders: &Orders) -> Option<RankRule> {
    let nothing = Degradation::none(whole);
    let live = Live::new(whole, &nothing);
    let shape = Ranking::new(live, leaves);
    let links = Arc::new(SortedLinks::new(whole, orders));
    let found = single_root::decide(live, &shape, || PortGroups::of(links, live, &shape));
    found.map(|(rule, _)| rule)
}

/// Measures dividers on an inferred whole, in which switches and nodes have the numbers of the fabric.
fn measure_whole(
    whole: &Fabric,
    leaves: &LeafRule,
    orders: &Orders,
) -> Option<(LevelDividers, ChoicesDown)> {
    let nothing = Degradation::none(whole);
    let live = Live::new(whole, &nothing);
    let ranking = Ranking::by(live, leaves, orders.rank_rule());
    let groups = PortGroups::of(Arc::new(SortedLinks::new(whole, orders)), live, &ranking);
    Measuring::new(live, &ranking, orders, &groups).map(Measuring::measure)
}

/// Where dividers of levels come from, unless they are saved with the orders. Ranks are counted in the same state.
#[derive(Clone, Copy)]
enum DividersOf<'a> {
    /// They are measured on this state of the fabric.
    Measured(Live<'a>),
    /// They are those of the paper.
    Paper(Live<'a>),
    /// They are those of another routing, if it has measured them and counts ranks in the same way. If not, they are measured.
    Other(Live<'a>, &'a Routing),
}

impl Routing {
    /// Fixes leaves, orders, columns and what ranks are counted from: as saved with the orders, or else from the
    /// leaves, or from one root if the fabric is no fat tree and ranks from the leaves do not connect it. Dividers of levels
    /// are those saved with the orders, or else they are measured: on the [inferred whole](InferredWhole), if the fabric lacks cables.
    pub fn new(live: Live<'_>, options: &RoutingOptions) -> Self {
        Self::fix(live, options, DividersOf::Measured(live))
    }

    /// Does what [`new`](Self::new) does, but leaves the paper's dividers in all levels, unless others are saved with the orders. Measuring
    /// takes seconds on some fabrics, and is of no use to those who judge tables, or route by an engine that does without.
    pub fn without_measuring(live: Live<'_>, options: &RoutingOptions) -> Self {
        Self::fix(live, options, DividersOf::Paper(live))
    }

    /// Does what [`new`](Self::new) does, but does not measure what another routing of the same fabric has measured. Dividers that came
    /// with saved orders are old: they are measured anew.
    pub(crate) fn with_dividers_of(
        live: Live<'_>,
        options: &RoutingOptions,
        other: &Routing,
    ) -> Self {
        Self::fix(live, options, DividersOf::Other(live, other))
    }

    /// Does what [`new`](Self::new) does, with dividers as they are asked for.
    fn fix(live: Live<'_>, options: &RoutingOptions, asked: DividersOf<'_>) -> Self {
        let (DividersOf::Measured(reference)
        | DividersOf::Paper(reference)
        | DividersOf::Other(reference, _)) = asked;
        let options = &options.handed_over(live.fabric);
        let (leaves, doubts) = options.leaves.fix(live, &options.known_leaves(live));
        // Orders follow the shape of the fabric, whatever ranks routes use: from one root all planes would be one.
        let shape = Ranking::new(live, &leaves);
        let orders = options.orders(live, &shape);
        let links = Arc::new(SortedLinks::new(live.fabric, &orders));
        let groups = || PortGroups::of(links.clone(), live, &shape);
        let (rule, unconnected) = match options.rank_rule(live) {
            Some(saved) => (saved, None),
            None => match single_root::decide(live, &shape, groups) {
                Some((rule, why)) => {
                    let of_whole = inferred_whole(live, &leaves);
                    (
                        of_whole.and_then(|f| root_of(&f, &leaves, &orders)).unwrap_or(rule),
                        Some(why),
                    )
                }
                None => (RankRule::Leaves, None),
            },
        };
        let ranking = Ranking::by(reference, &leaves, &rule);
        let orders = orders.with_rank_rule(ranking.rule().clone());
        let measured = || {
            let groups = PortGroups::of(links.clone(), reference, &ranking);
            Measuring::new(reference, &ranking, &orders, &groups)
                .and_then(|measuring| match inferred_whole(reference, &leaves) {
                    Some(whole) => measure_whole(&whole, &leaves, &orders),
                    None => Some(measuring.measure()),
                })
                .map_or_else(Default::default, |(levels, why)| (levels, Some(why)))
        };
        let saved = options.level_dividers(live.fabric, ranking.rule());
        let (dividers, choices_down) = match (saved, asked) {
            (Some(saved), _) => (saved.clone(), None),
            (None, DividersOf::Paper(_)) => Default::default(),
            (None, DividersOf::Other(_, other))
                if other.choices_down.is_some() && other.orders.rank_rule() == ranking.rule() =>
            {
                (other.orders.level_dividers().clone(), other.choices_down)
            }
            (None, _) => measured(),
        };
        let orders = Arc::new(orders.with_level_dividers(dividers));
        let columns = Arc::new(Columns::new(live.fabric, &orders, options.switch_lids));
        Routing { leaves, doubts, orders, links, columns, unconnected, choices_down }
    }

    /// Returns both orders that a whole fabric has by itself, as lists.
    pub fn orders_of(fabric: &Fabric, options: &RoutingOptions) -> SavedOrders {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        Routing::new(live, options).orders.save(live)
    }

    /// Returns the orders.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Returns why this routing decided to count ranks from one root. Returns `None` if it did not, or if that came with the
    /// saved orders.
    pub fn unconnected(&self) -> Option<Unconnected> {
        self.unconnected
    }

    /// Returns how many pairs of leaves have several ways down, if they are enough for measuring dividers. Returns `None` if they
    /// are not, or if dividers came with the saved orders.
    pub fn choices_down(&self) -> Option<ChoicesDown> {
        self.choices_down
    }

    /// Returns roots that would connect every pair of nodes that cables connect, one for each part of the
    /// fabric, if given as [`LeafRule::Roots`]. In large fabrics this takes seconds.
    pub fn suggested_roots(&self, live: Live<'_>) -> Vec<SwitchIndex> {
        single_root::suggest(live, &self.ranking(live))
    }

    /// Returns the columns of all tables that are made with this routing.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// Returns the ranks of the fabric in its present state.
    pub fn ranking(&self, live: Live<'_>) -> Ranking {
        Ranking::by(live, &self.leaves, self.orders.rank_rule())
    }

    /// Returns a preprocessing with ranks from the leaves, or from given roots, whatever routes use: it shows the
    /// shape of a fabric.
    pub fn shape(&self, live: Live<'_>) -> Preprocessing {
        let ranking = Ranking::new(live, &self.leaves);
        let groups = PortGroups::of(self.links.clone(), live, &ranking);
        Preprocessing::new(ranking, self.orders.clone(), groups)
    }

    /// Returns the preprocessing of the fabric in its present state.
    pub fn preprocess(&self, live: Live<'_>) -> Preprocessing {
        let ranking = self.ranking(live);
        let groups = PortGroups::of(self.links.clone(), live, &ranking);
        Preprocessing::new(ranking, self.orders.clone(), groups)
    }

    /// Updates a preprocessing of the same fabric to its present state.
    pub(crate) fn preprocess_again(&self, live: Live<'_>, ready: &mut Preprocessing) {
        ready.replace(live, self.ranking(live));
    }

    /// Returns the switches of which it is uncertain whether they are leaves, ascending by index.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// Replaces the doubts: the leaves were decided elsewhere.
    pub(crate) fn with_doubts(self, doubts: Vec<Doubt>) -> Self {
        Routing { doubts, ..self }
    }

    /// Returns the rule by which the leaves were fixed.
    pub(crate) fn leaf_rule(&self) -> &LeafRule {
        &self.leaves
    }

    /// Returns tables without any route, to be filled by [`Engine::route`](crate::Engine::route) as often as needed.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn empty_tables(&self, live: Live<'_>) -> Result<ForwardingTables, NoMemory> {
        ForwardingTables::new(self.columns.clone(), live.fabric.switches().len())
    }
}
