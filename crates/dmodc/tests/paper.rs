//! The paper, figure by figure and formula by formula.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Drawing, walk};
use dmodc::oracle::Graph;
use dmodc::oracle::paper::Procedure1;
use dmodc::{
    Amount, CostBlock, Degradation, Dmodc, Dmodk, Draw, Engine, Fabric, Live, NodeIndex, Pgft,
    PortNumber, Preprocessing, Routing, RoutingOptions, SwitchIndex, SwitchOrder,
    alternative_ports,
};

/// The paper's own orders: groups by GUID, destinations as they stand.
fn paper_options() -> RoutingOptions {
    RoutingOptions { switches: SwitchOrder::Guid, ..RoutingOptions::default() }
}

fn preprocess(fabric: &Fabric, degradation: &Degradation) -> Preprocessing {
    let live = Live::new(fabric, degradation);
    Routing::new(live, &paper_options()).preprocess(live)
}

fn index(s: usize) -> SwitchIndex {
    SwitchIndex::new(s)
}

/// PGFT(3; 2,2,3; 1,2,2; 1,2,1): 12 nodes, 6 + 6 + 4 switches, doubled cables at the bottom.
#[test]
fn figure_1_the_pgft() {
    let pgft: Pgft = "PGFT(3;2.2.3;1.2.2;1.2.1)".parse().unwrap();
    let fabric = pgft.fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let ready = preprocess(&fabric, &healthy);
    assert_eq!(fabric.nodes().len(), 12);
    let per_rank: Vec<usize> = ready.ranking.by_rank().iter().map(Vec::len).collect();
    assert_eq!(per_rank, [6, 6, 4]);
    // 6 leaves × 2 spines × 2 parallel cables, 6 spines × 2 cores.
    assert_eq!(fabric.inter_switch_cables().len(), 24 + 12);
    for (rank, parallel, up, down) in [(0, 2, 2, 0), (1, 1, 2, 2), (2, 0, 0, 3)] {
        for &s in &ready.ranking.by_rank()[rank] {
            assert_eq!(ready.groups.up(s).len(), up);
            assert_eq!(ready.groups.down(s).len(), down);
            assert!(ready.groups.up(s).all(|g| g.ports.len() == parallel));
        }
    }
    // The drawing: pod by pod, L3-0 and L3-2 see the left spines, L3-1 and L3-3 the right ones.
    let below = |core: usize| -> Vec<usize> {
        ready.groups.down(index(12 + core)).map(|g| g.peer.at() - 6).collect()
    };
    assert_eq!([below(0), below(2)], [[0, 2, 4]; 2]);
    assert_eq!([below(1), below(3)], [[1, 3, 5]; 2]);
}

/// Costs to the bottom-right switch. The descending pass improves the bottom-left one from 4 to 2.
///
/// ```text
///         L3-0
///        /    \
///    L2-0      L2-1   L2-2
///       \         \  /  /
///        L1-0 -----\/  /
///          \_______/\ /
///                 L1-1   (destination)
/// ```
#[test]
fn figure_2_costs() {
    let mut d = Drawing::new();
    let [left, right] = d.switches(["L1-0", "L1-1"]);
    let [s0, s1, s2] = d.switches(["L2-0", "L2-1", "L2-2"]);
    let top = d.switch("L3-0");
    for (a, b) in [(right, s1), (s1, top), (top, s0), (s0, left), (left, s2), (s2, right)] {
        d.cable(a, b, 1);
    }
    d.nodes(left, 1);
    d.nodes(right, 1);
    let fabric = d.finish();
    let healthy = Degradation::none(&fabric);
    let ready = preprocess(&fabric, &healthy);
    let live = Live::new(&fabric, &healthy);

    let graph = Graph::new(live, &ready.orders, ready.ranking.leaves());
    let mut procedure = Procedure1::new(&graph);
    let costs = |p: &Procedure1<'_>| {
        [left, right, s0, s1, s2, top].map(|s| p.cost[s][1].map_or(-1, |c| c as i64))
    };
    assert_eq!(costs(&procedure), [-1, 0, -1, -1, -1, -1], "step 0");
    procedure.ascend(index(left));
    procedure.ascend(index(right));
    assert_eq!(costs(&procedure), [-1, 0, -1, 1, 1, -1], "step 1");
    procedure.ascend(index(s1));
    procedure.descend(index(top));
    procedure.descend(index(s0));
    assert_eq!(costs(&procedure), [4, 0, 3, 1, 1, 2], "steps 2 to 4");
    procedure.descend(index(s2));
    assert_eq!(costs(&procedure), [2, 0, 3, 1, 1, 2], "step 5: the long path is avoided");
    assert_eq!(costs(&Procedure1::run(&graph)), [2, 0, 3, 1, 1, 2]);

    let mut block = CostBlock::default();
    block.compute(&ready.groups, &[index(right)]).unwrap();
    let fast = [left, right, s0, s1, s2, top].map(|s| i64::from(block.cost(index(s), 0).unwrap()));
    assert_eq!(fast, [2, 0, 3, 1, 1, 2]);

    // The route from the left leaf goes by the right spine, not by the long left path.
    let routing = Routing::new(live, &paper_options());
    let (tables, _) = routing.route(live, &Dmodc).unwrap();
    let column = (0..tables.columns().len())
        .find(|&c| tables.columns().destinations()[c].end == dmodc::End::Node(NodeIndex::new(1)))
        .unwrap();
    let path = walk(live, &tables, index(left), column).unwrap();
    assert!(path.iter().map(|(s, _)| s.at()).eq([left, s2]));
}

/// Dividers of the top switches: 6 6 1, then 6 6 4, then 9 9 9, as if nothing were missing.
#[test]
fn figure_3_dividers() {
    let mut d = Drawing::new();
    let leaves = d.switches(["L1-0", "L1-1", "L1-2"]);
    let middle @ [m0, m1, m2] = d.switches(["L2-0", "L2-1", "L2-2"]);
    let [t0, t1, t2] = d.switches(["L3-0", "L3-1", "L3-2"]);
    // Each lies in a pod of its own, below it a leaf with three upswitches; one has lost the third.
    for ((leaf, m), beside) in leaves.into_iter().zip(middle).zip([2, 1, 2]) {
        d.nodes(leaf, 1);
        d.cable(leaf, m, 1);
        for _ in 0..beside {
            let other = d.switch("L2");
            d.cable(leaf, other, 1);
        }
    }
    for (a, b) in [(m0, t0), (m0, t1), (m1, t1), (m1, t2), (m2, t0), (m2, t1), (m2, t2)] {
        d.cable(a, b, 1);
    }
    let fabric = d.finish();
    let healthy = Degradation::none(&fabric);
    let ready = preprocess(&fabric, &healthy);
    let live = Live::new(&fabric, &healthy);

    let graph = Graph::new(live, &ready.orders, ready.ranking.leaves());
    let mut procedure = Procedure1::new(&graph);
    for leaf in leaves {
        procedure.ascend(index(leaf));
    }
    let dividers = |p: &Procedure1<'_>, of: [usize; 3]| of.map(|s| p.divider[s]);
    assert_eq!(dividers(&procedure, middle), [3, 2, 3], "step 0");
    let steps = middle.map(|m| {
        procedure.ascend(index(m));
        dividers(&procedure, [t0, t1, t2])
    });
    assert_eq!(steps, [[6, 6, 1], [6, 6, 4], [9, 9, 9]], "steps 1 to 3");
    assert_eq!([t0, t1, t2].map(|t| ready.dividers[t]), [9, 9, 9]);
}

/// C, P, g and p of the grey switch for d = 20, with Π = 4.
///
/// ```text
///      o2 (2)      o4 (2)
///         \       ///
///          s (3) Π = 4
///         //       \
///      o1 (4)      o3 (4)
/// ```
#[test]
fn figure_4_routes() {
    let mut d = Drawing::new();
    let [o1, o3, leaf] = d.switches(["leaf-1", "leaf-2", "leaf-3"]);
    let [s, beside_1, beside_2, beside_3, spine] = d.switches(["s", "b1", "b2", "b3", "spine"]);
    let [o2, o4] = d.switches(["o2", "o4"]);
    d.nodes(o1, 10);
    d.nodes(o3, 10);
    d.nodes(leaf, 2);
    d.cable(s, o1, 2);
    d.cable(s, o3, 1);
    d.cable(s, o2, 1);
    d.cable(s, o4, 3);
    // Four upswitches of the leaf o1 make Π = 4 at s.
    for beside in [beside_1, beside_2, beside_3] {
        d.cable(o1, beside, 1);
    }
    for (a, b) in [(leaf, spine), (spine, o2), (spine, o4)] {
        d.cable(a, b, 1);
    }
    let fabric = d.finish();
    let healthy = Degradation::none(&fabric);
    let ready = preprocess(&fabric, &healthy);
    let live = Live::new(&fabric, &healthy);
    let grey = index(s);
    assert_eq!(ready.dividers[s], 4);
    let node_20 = NodeIndex::new(20);
    assert_eq!(ready.orders.node_number(node_20).number, 20);
    assert_eq!(fabric.node(node_20).switch, index(leaf));

    let mut block = CostBlock::default();
    block.compute(&ready.groups, &[index(leaf)]).unwrap();
    let costs = [s, o1, o2, o3, o4].map(|s| block.cost(index(s), 0).unwrap());
    assert_eq!(costs, [3, 4, 2, 4, 2]);

    let graph = Graph::new(live, &ready.orders, ready.ranking.leaves());
    let procedure = Procedure1::run(&graph);
    let lambda = graph.leaves.iter().position(|&l| l == index(leaf)).unwrap();
    let closer: Vec<usize> = procedure.closer(grey, lambda).iter().map(|n| n.switch.at()).collect();
    assert_eq!(closer, [o2, o4], "eq. (1)");
    let [left, right]: [Vec<PortNumber>; 2] =
        [o2, o4].map(|o| ready.groups.up(grey).find(|g| g.peer.at() == o).unwrap().ports.to_vec());
    let all = [left, right.clone()].concat();
    assert_eq!(procedure.alternatives(grey, lambda), all, "eq. (2)");
    let mut alternatives = vec![];
    alternative_ports(live, &ready, &[index(leaf)], |from, _, ports| {
        if from == grey {
            alternatives = ports.to_vec();
        }
    })
    .unwrap();
    assert_eq!(alternatives, all, "eq. (2)");

    // Eq. (3) takes the right group, for ⌊20 / 4⌋ mod 2 = 1; eq. (4) its third port, for
    // ⌊20 / (4 × 2)⌋ mod 3 = 2.
    assert_eq!(procedure.port(grey, lambda, 20), Some(right[2]));
    let routing = Routing::new(live, &paper_options());
    let (tables, _) = routing.route(live, &Dmodc).unwrap();
    let column = tables
        .columns()
        .destinations()
        .iter()
        .position(|d| d.end == dmodc::End::Node(node_20))
        .unwrap();
    assert_eq!(tables.port(grey, column), Some(right[2]));
}

/// p = ⌊d / ∏ wₖ⌋ mod (w·p), counted over up ports as the generator numbers them.
#[test]
fn formula_dmodk() {
    for tuple in ["3; 2,2,3; 1,2,2; 1,2,1", "3; 3,4,2; 1,2,3; 1,2,2", "2; 4,5; 1,4; 1,1"] {
        let pgft: Pgft = tuple.parse().unwrap();
        let fabric = pgft.fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let ready = preprocess(&fabric, &healthy);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &paper_options());
        let mut tables = routing.empty_tables(live).unwrap();
        Dmodk.route(live, &ready, &mut tables).unwrap();
        let mut up_entries = 0;
        let mut switches = fabric.switch_indices();
        for l in 1..=pgft.levels() {
            let divider: usize = (1..=l).map(|k| pgft.w(k) as usize).product();
            for (i, s) in switches.by_ref().take(pgft.count(l)).enumerate() {
                let digits = pgft.digits(l, i);
                for (column, dest) in tables.columns().destinations().iter().enumerate() {
                    let dmodc::End::Node(n) = dest.end else { continue };
                    let d = n.at();
                    let node_digits = pgft.digits(0, d);
                    let below = digits[l..] == node_digits[l..];
                    let expected = match below {
                        true => {
                            let j = (d / divider) as u32 % pgft.p(l);
                            let j = if l == 1 { 0 } else { j };
                            pgft.down_port(node_digits[l - 1] + j * pgft.m(l))
                        }
                        false => {
                            up_entries += 1;
                            let arity = (pgft.w(l + 1) * pgft.p(l + 1)) as usize;
                            pgft.up_port(l, (d / divider % arity) as u32)
                        }
                    };
                    assert_eq!(tables.port(s, column), Some(expected));
                }
            }
        }
        assert!(up_entries > 0);
    }
}

/// Routing is valid if and only if the cost of every leaf to every other is finite.
#[test]
fn validity_rule() {
    let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().unwrap();
    let fabric = pgft.fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &healthy), &paper_options());
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..400 {
        let draw = Draw {
            cables: Amount::Count(seed as usize % 13),
            switches: Amount::Count(seed as usize % 3),
            any_cable: false,
            any_switch: false,
            seed,
        };
        let degraded = draw.degradation(&fabric).unwrap();
        let live = Live::new(&fabric, &degraded);
        let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
        let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
        let procedure = Procedure1::run(&graph);
        let finite =
            graph.leaves.iter().all(|leaf| procedure.cost[leaf.at()].iter().all(Option::is_some));
        let delivered = tables.columns().destinations().iter().enumerate().all(|(column, d)| {
            matches!(d.end, dmodc::End::Switch(_))
                || graph.leaves.iter().all(|&leaf| walk(live, &tables, leaf, column).is_some())
        });
        assert_eq!(coverage.is_valid(), finite, "seed {seed}");
        assert_eq!(coverage.is_valid(), delivered, "seed {seed}");
        if finite { valid += 1 } else { invalid += 1 }
    }
    assert!(valid > 50 && invalid > 50, "both happen: {valid} {invalid}");
}
