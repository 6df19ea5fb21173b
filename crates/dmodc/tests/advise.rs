//! Drains and repairs agree with brute force: every state is routed and judged from the beginning.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use common::{Directors, Outcomes, for_seeds, random_fabric, random_faults};
use dmodc::advise::{
    Advice, DrainLimits, DrainPlan, RiskLimit, StatePatterns, StateRisk, UnsafeWhen, drain, repair,
};
use dmodc::fabric::{CableEnds, Part};
use dmodc::judge::risk::Series;
use dmodc::{
    CableIndex, Change, Degradation, Dmodc, Engine, Fabric, Joined, LeafRule, Live, Random,
    RandomPorts, Router, Routing, RoutingOptions, SwitchIndex,
};

const PATTERNS: StatePatterns = StatePatterns { shifts: 12, permutations: 5, seed: 3 };

/// The numbers of a state, from the beginning: whole route, all judges.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NaiveRisk {
    undelivered: u64,
    a2a: u64,
    bound: u64,
    sp: f64,
    rp: u32,
}

impl NaiveRisk {
    fn new(router: &Router, faults: &Degradation, pairs: u64) -> Self {
        let mut other = router.clone();
        other.reroute(faults).unwrap();
        let traffic = other.traffic();
        let loads = traffic.all_to_all();
        let mean = |series: &Series| {
            let sum: u64 = series.maxima.iter().map(|&v| u64::from(v)).sum();
            sum as f64 / series.maxima.len().max(1) as f64
        };
        NaiveRisk {
            undelivered: pairs - other.check().nodes.delivery().delivered,
            a2a: loads.max(),
            bound: loads.bound,
            sp: mean(&traffic.shifts(Some((PATTERNS.shifts, PATTERNS.seed)))),
            rp: traffic.permutations(PATTERNS.permutations, PATTERNS.seed).median(),
        }
    }

    fn of(risk: &StateRisk) -> Self {
        NaiveRisk {
            undelivered: risk.undelivered,
            a2a: risk.all_to_all.max,
            bound: risk.all_to_all.bound,
            sp: risk.shifts.mean(),
            rp: risk.permutations.unwrap().median,
        }
    }
}

fn advice(most_states: usize) -> Advice<'static> {
    Advice { patterns: PATTERNS, most_states, ..Default::default() }
}

/// A router of a random fabric of at most 200 nodes in a random state, by a random engine.
fn random_router(random: &mut Random, is_damaged: bool) -> Router {
    let fabric: Arc<Fabric> = Arc::new(match random.below(4) {
        0 => Directors::random(random).fabric(),
        1 => random_fabric(random, 60),
        _ => common::random_pgft(random, 200).fabric(Default::default()),
    });
    let faults = match is_damaged {
        true => few_faults(random, &fabric),
        false => Degradation::none(&fabric),
    };
    let options = RoutingOptions::default();
    if random.below(3) == 0 {
        let joined = Joined::new(&fabric, &fabric).unwrap();
        let orders = Routing::orders_of(&fabric, &options);
        let (routing, stable) = joined.stable(LeafRule::Detect, orders);
        let fabric = Arc::new(joined.fabric);
        return Router::with_engine(Arc::new(stable), fabric, routing, faults).unwrap();
    }
    let routing = Routing::new(Live::new(&fabric, &Degradation::none(&fabric)), &options);
    let engine: Arc<dyn Engine> = match random.below(2) {
        0 => Arc::new(RandomPorts { seed: 7 }),
        _ => Arc::new(Dmodc),
    };
    Router::with_engine(engine, fabric, routing, faults).unwrap()
}

/// At most 7 random faults: switches, their cables, other cables, and cables of nodes.
fn few_faults(random: &mut Random, fabric: &Fabric) -> Degradation {
    let mut faults = Degradation::none(fabric);
    for part in random_faults(random, fabric).removed().take(4) {
        faults.set(part, true);
    }
    for _ in 0..random.below(4) {
        faults.set(random_part(random, fabric), true);
    }
    faults
}

fn random_part(random: &mut Random, fabric: &Fabric) -> Part {
    let mut below = |count: usize| random.below(count.max(1) as u64) as usize;
    match below(8) {
        0 | 1 => Part::Switch(SwitchIndex::new(below(fabric.switches().len()))),
        2 => Part::Cable(CableIndex::new(below(fabric.cable_count()))),
        _ => Part::Cable(CableIndex::new(below(fabric.inter_switch_cables().len()))),
    }
}

fn random_limits(random: &mut Random) -> DrainLimits {
    let mut limit = |times: [f64; 3]| match random.below(4) {
        3 => None,
        at => Some(RiskLimit::Times(times[at as usize])),
    };
    let a2a = limit([1.0, 1.3, 2.0]);
    let sp = limit([1.1, 1.3, 2.0]);
    let rp = limit([1.5, 2.0, 3.0]).filter(|_| a2a.is_none());
    DrainLimits { lost: [0, 0, 10, 1000][random.below(4) as usize], a2a, sp, rp }
}

/// Parts that are in service, each once.
fn some_parts(random: &mut Random, router: &Router, most: u64) -> Vec<Part> {
    let wanted = 1 + random.below(most) as usize;
    let mut parts = vec![];
    for _ in 0..100 {
        let part = random_part(random, router.fabric());
        let works = match part {
            Part::Switch(s) => router.live().switch(s),
            Part::Cable(c) => router.live().cable(c),
        };
        if works && !parts.contains(&part) && parts.len() < wanted {
            parts.push(part);
        }
    }
    parts
}

/// All states of a list of parts, and the orders through them.
struct BruteForce<'a> {
    router: &'a Router,
    parts: &'a [Part],
    limits: DrainLimits,
    known: HashMap<BTreeSet<usize>, NaiveRisk>,
    best: Option<BruteOrder>,
}

/// An order, and what it is judged by.
#[derive(Clone, Debug)]
struct BruteOrder {
    order: Vec<usize>,
    a2a: u64,
    sp: f64,
    sum: u64,
}

impl BruteOrder {
    fn is_better_than(&self, other: &BruteOrder) -> bool {
        let ordering = (other.order.len().cmp(&self.order.len()))
            .then(self.a2a.cmp(&other.a2a))
            .then(self.sp.total_cmp(&other.sp))
            .then(self.sum.cmp(&other.sum))
            .then(self.order.cmp(&other.order));
        ordering.is_lt()
    }
}

impl BruteForce<'_> {
    fn risk(&mut self, set: &BTreeSet<usize>) -> NaiveRisk {
        let (router, parts) = (self.router, self.parts);
        let pairs = router.check().nodes.delivery().pairs;
        *self.known.entry(set.clone()).or_insert_with(|| {
            let mut faults = router.degradation().clone();
            set.iter().for_each(|&part| faults.set(parts[part], true));
            NaiveRisk::new(router, &faults, pairs)
        })
    }

    fn is_safe(&mut self, set: &BTreeSet<usize>) -> bool {
        let (now, then) = (self.risk(&BTreeSet::new()), self.risk(set));
        let keeps = |limit: Option<RiskLimit>, now: f64, then: f64| match limit {
            Some(RiskLimit::Times(times)) => then <= times * now + 1e-6,
            Some(RiskLimit::Most(most)) => then <= most,
            None => true,
        };
        then.undelivered <= now.undelivered + self.limits.lost
            && keeps(self.limits.a2a, now.a2a as f64, then.a2a as f64)
            && keeps(self.limits.sp, now.sp, then.sp)
            && keeps(self.limits.rp, f64::from(now.rp), f64::from(then.rp))
    }

    /// Tries every order that goes on from this one through safe states.
    fn try_all(&mut self, so_far: &BruteOrder) {
        if self.best.as_ref().is_none_or(|best| so_far.is_better_than(best)) {
            self.best = Some(so_far.clone());
        }
        for part in 0..self.parts.len() {
            let mut order = so_far.order.clone();
            order.push(part);
            let set: BTreeSet<usize> = order.iter().copied().collect();
            if set.len() == order.len() && self.is_safe(&set) {
                let risk = self.risk(&set);
                self.try_all(&BruteOrder {
                    order,
                    a2a: so_far.a2a.max(risk.a2a),
                    sp: so_far.sp.max(risk.sp),
                    sum: so_far.sum + risk.a2a,
                });
            }
        }
    }

    /// Checks the risks of all steps, and that every state on the way is safe.
    fn check_steps(&mut self, plan: &DrainPlan) -> Vec<usize> {
        let mut order = vec![];
        for step in &plan.steps {
            order.push(self.parts.iter().position(|part| *part == step.part).unwrap());
            let set = order.iter().copied().collect();
            assert_eq!(NaiveRisk::of(&step.risk), self.risk(&set));
            assert!(self.is_safe(&set), "every state on the way is safe");
        }
        for other in &plan.unsafe_parts {
            let at = self.parts.iter().position(|part| *part == other.part).unwrap();
            let alone = BTreeSet::from([at]);
            let with_safe = order.iter().copied().chain([at]).collect();
            let set = if other.when == UnsafeWhen::Alone { &alone } else { &with_safe };
            assert!(!self.is_safe(set), "the reason is true");
            assert!(other.exceeded.value > other.exceeded.most);
            assert!(!self.is_safe(&with_safe), "no part can be added");
            if other.is_certain {
                assert!(!self.is_safe(&alone));
            }
        }
        assert_eq!(plan.steps.len() + plan.unsafe_parts.len(), self.parts.len());
        order
    }
}

#[test]
fn drains_are_those_of_brute_force() {
    let outcomes = Outcomes::new();
    for_seeds(60, |random| {
        let is_damaged = random.below(2) == 0;
        let router = random_router(random, is_damaged);
        let (parts, limits) = (some_parts(random, &router, 5), random_limits(random));
        let mut brute = BruteForce {
            router: &router,
            parts: &parts,
            limits,
            known: HashMap::new(),
            best: None,
        };
        brute.try_all(&BruteOrder { order: vec![], a2a: 0, sp: 0.0, sum: 0 });
        let best = brute.best.clone().unwrap();

        let exact = drain(&router, &parts, &limits, &advice(4096)).unwrap();
        assert!(exact.is_largest() && exact.is_best_order);
        assert_eq!(NaiveRisk::of(&exact.now), brute.risk(&BTreeSet::new()));
        assert_eq!(brute.check_steps(&exact), best.order, "{limits:?}");

        let greedy = drain(&router, &parts, &limits, &advice(0)).unwrap();
        assert!(!greedy.is_best_order);
        let size = brute.check_steps(&greedy).len();
        assert!(size <= best.order.len() && best.order.len() <= greedy.bound);

        let is_all = best.order.len() == parts.len();
        let is_proven = greedy.bound < parts.len();
        outcomes.count([is_all, !is_all, !best.order.is_empty(), is_proven]);
    });
    outcomes.assert_each_more_than(5);
}

/// Of a long list, parts are tried in batches.
#[test]
fn long_lists_are_drained_in_batches() {
    let router = Router::of(common::pgft("2; 4,12; 1,6; 1,1")).unwrap();
    let parts: Vec<Part> = (0..70).map(|c| Part::Cable(CableIndex::new(c))).collect();
    for text in ["lost=0", "lost=0,a2a=2x", "lost=0,a2a=2.5x,sp=3x"] {
        let limits: DrainLimits = text.parse().unwrap();
        let known = HashMap::new();
        let mut brute = BruteForce { router: &router, parts: &parts, limits, known, best: None };
        let plan = drain(&router, &parts, &limits, &advice(0)).unwrap();
        let size = brute.check_steps(&plan).len();
        assert!(size > 10 && size <= plan.bound && plan.bound < parts.len(), "{text}: {size}");
        let alone = common::in_threads(1, || drain(&router, &parts, &limits, &advice(0)).unwrap());
        assert_eq!(alone, plan, "1 thread and many agree");
    }
}

/// Some sets are unsafe although all their parts are safe alone, so that subsets matter.
#[test]
fn parts_that_are_safe_alone_need_not_be_safe_together() {
    let fabric = common::pgft("2; 4,4; 1,3; 1,1");
    let router = Router::of(fabric).unwrap();
    let part = |name: &str| router.fabric().find_part(name).unwrap();
    let parts = ["L1-0/5", "L1-0/6", "L1-0/7", "L1-1/5"].map(part);
    let plan = drain(&router, &parts, &DrainLimits::default(), &advice(4096)).unwrap();
    assert_eq!((plan.steps.len(), plan.bound), (3, 3));
    assert_eq!(plan.unsafe_parts[0].when, UnsafeWhen::WithSafe);
    // The bound of a greedy search knows that the leaf needs one of its three cables.
    let plan = drain(&router, &parts, &DrainLimits::default(), &advice(0)).unwrap();
    assert_eq!((plan.steps.len(), plan.bound), (3, 3));
    // With four nodes and one cable left, that cable carries all 48 flows of the leaf.
    let limits: DrainLimits = "a2a=30".parse().unwrap();
    let plan = drain(&router, &parts, &limits, &advice(0)).unwrap();
    assert!(plan.is_largest() && plan.steps.len() == 2, "{plan:?}");
}

#[test]
fn a_present_state_above_its_limits_leaves_nothing() {
    let router = Router::of(common::pgft("2; 4,4; 1,3; 1,1")).unwrap();
    let parts = [router.fabric().find_part("L2-0").unwrap()];
    let limits: DrainLimits = "a2a=1".parse().unwrap();
    for most_states in [0, 4096] {
        let plan = drain(&router, &parts, &limits, &advice(most_states)).unwrap();
        assert!(plan.exceeded_now.is_some() && plan.steps.is_empty());
        assert_eq!((plan.bound, plan.unsafe_parts.len()), (0, 1));
    }
    let nothing = drain(&router, &[], &limits, &advice(4096)).unwrap();
    assert!(nothing.steps.is_empty() && nothing.unsafe_parts.is_empty());
}

/// Repairs one after the other, each time the best of all, by routing and judging every state from the beginning.
fn naive_repairs(router: &Router) -> Vec<(Part, NaiveRisk)> {
    let fabric = router.fabric();
    let nodes = fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)).count() as u64;
    let pairs = nodes * nodes.saturating_sub(1);
    let mut faults = router.degradation().clone();
    let mut steps = vec![];
    while faults.removed().next().is_some() {
        let waits = |part: Part| match part {
            Part::Switch(_) => false,
            Part::Cable(c) => match fabric.cable(c) {
                CableEnds::Switches(cable) => {
                    faults.switch_is_dead(cable.a.0) || faults.switch_is_dead(cable.b.0)
                }
                CableEnds::Node(n) => faults.switch_is_dead(fabric.node(n).switch),
            },
        };
        let open: Vec<Part> = faults.removed().filter(|part| !waits(*part)).collect();
        let tried = open.into_iter().map(|part| {
            let mut after = faults.clone();
            after.set(part, false);
            (part, NaiveRisk::new(router, &after, pairs))
        });
        // Of equal ones, the first.
        let best = tried.min_by(|(_, a), (_, b)| {
            let whole = (a.undelivered, a.a2a).cmp(&(b.undelivered, b.a2a));
            whole.then(a.sp.total_cmp(&b.sp))
        });
        steps.push(best.unwrap());
        faults.set(best.unwrap().0, false);
    }
    steps
}

#[test]
fn repairs_are_those_of_brute_force() {
    let outcomes = Outcomes::new();
    for_seeds(50, |random| {
        let router = random_router(random, true);
        let plan = repair(&router, usize::MAX, &advice(0)).unwrap();
        let naive = naive_repairs(&router);
        let found: Vec<(Part, NaiveRisk)> =
            plan.steps.iter().map(|step| (step.part, NaiveRisk::of(&step.risk))).collect();
        assert_eq!(found, naive);
        assert!(plan.is_exact() && plan.dead == naive.len());
        if let Some(last) = plan.steps.last() {
            assert_eq!(last.left, 0);
            let first = repair(&router, 1, &advice(0)).unwrap();
            assert_eq!(first.steps, plan.steps[..1]);
        }
        let is_cut = plan.now.undelivered > 0;
        let has_switch = plan.steps.iter().any(|step| matches!(step.part, Part::Switch(_)));
        outcomes.count([is_cut, !is_cut, has_switch, plan.steps.len() > 3]);
    });
    outcomes.assert_each_more_than(5);
}

#[test]
fn of_many_dead_parts_some_are_tried() {
    let mut router = Router::of(common::pgft("2; 4,24; 1,12; 1,2")).unwrap();
    let random = &mut Random::new(5, 0);
    while router.degradation().removed().count() < 230 {
        let cables = router.fabric().inter_switch_cables().len() as u64;
        let cable = Part::Cable(CableIndex::new(random.below(cables) as usize));
        router.apply(&[Change::Dies(cable)]).unwrap();
    }
    let plan = repair(&router, 12, &advice(0)).unwrap();
    assert!(!plan.is_exact());
    assert_eq!((plan.dead, plan.steps[0].tried, plan.steps[11].left), (230, 230, 218));
    assert!(plan.steps[1..].iter().all(|step| step.tried == 64 && step.of == step.left + 1));
    let mut faults = router.degradation().clone();
    for step in &plan.steps {
        faults.set(step.part, false);
        let naive = NaiveRisk::new(&router, &faults, plan.pairs);
        assert_eq!(NaiveRisk::of(&step.risk), naive);
    }
    assert_eq!(
        common::in_threads(1, || repair(&router, 3, &advice(0)).unwrap().steps),
        plan.steps[..3]
    );
}

#[test]
fn a_whole_fabric_needs_no_repair() {
    let router = Router::of(common::pgft("2; 4,4; 1,3; 1,1")).unwrap();
    let plan = repair(&router, usize::MAX, &advice(0)).unwrap();
    assert_eq!((plan.dead, plan.steps.len(), plan.now.undelivered), (0, 0, 0));
}
