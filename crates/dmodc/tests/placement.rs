//! The order and the choice of the hosts of a job.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;

use common::{Case, Outcomes, for_seeds, random_graph, random_pgft, route};
use dmodc::advise::{HostProblem, Placement, Sharing};
use dmodc::judge::risk::{Traffic, recursive_doubling, ring};
use dmodc::{
    ForwardingTables, GuidOrder, Live, NodeIndex, Orders, Pgft, RailHost, Rails, Random, Ranking,
};

/// A PGFT with as much capacity upwards as downwards at every level, at most 600 nodes.
fn full_pgft(random: &mut Random) -> Pgft {
    loop {
        let h = 2 + random.below(3) as usize;
        let (mut m, mut w, mut p) = (vec![], vec![1], vec![1]);
        for _ in 1..h {
            let (up, parallel) = (1 + random.below(4) as u32, 1 + random.below(2) as u32);
            let cables_down = p[p.len() - 1];
            if up * parallel % cables_down != 0 {
                break;
            }
            m.push(up * parallel / cables_down);
            w.push(up);
            p.push(parallel);
        }
        if m.len() + 1 < h {
            continue;
        }
        m.push(2 + random.below(4) as u32);
        if let Ok(pgft) = Pgft::new(m, w, p)
            && pgft.count(0) <= 600
        {
            return pgft;
        }
    }
}

/// Returns the nodes of whole subtrees of one level that are in one subtree of the level above.
fn aligned_job(random: &mut Random, pgft: &Pgft) -> Vec<usize> {
    let level = 1 + random.below(pgft.levels() as u64) as usize;
    let size = |l: usize| (1..=l).map(|l| pgft.m(l) as usize).product::<usize>();
    let (below, own) = (size(level - 1), size(level));
    let first = own * random.below((pgft.count(0) / own) as u64) as usize;
    let parts = 1 + random.below(u64::from(pgft.m(level))) as usize;
    let mut chosen = random.sample(pgft.m(level) as usize, parts);
    chosen.sort_unstable();
    chosen.into_iter().flat_map(|part| (0..below).map(move |i| first + part * below + i)).collect()
}

/// On a healthy PGFT, rings and shifts of a job on whole subtrees have risk 1, whatever the GUIDs and the list.
#[test]
fn aligned_jobs_on_pgfts_have_risk_1() {
    let outcomes = Outcomes::<2>::new();
    for_seeds(400, |random| {
        let pgft = full_pgft(random);
        let fabric = pgft.fabric(GuidOrder::Shuffled(random.below(1000)));
        let case = Case::healthy(&fabric);
        let (live, routing) = (case.whole(), case.routing());
        let tables = route(&routing, live);
        let ranking = routing.ranking(live);
        let placement = Placement::new(live, &ranking, routing.orders(), &tables);
        let rails = Rails::new(live);
        let mut job = aligned_job(random, &pgft);
        random.shuffle(&mut job);
        let hosts: Vec<&RailHost<'_>> = job.iter().map(|&at| &rails.hosts[at]).collect();
        let order = placement.order(&hosts);
        assert!(order.order.iter().map(|&at| job[at]).is_sorted(), "{pgft}");
        let risk = order.risk;
        assert!(risk.ring.risk <= 1.0 && risk.shifts.risk <= 1.0, "{pgft} {risk:?}");
        assert_eq!(risk.undelivered, 0);
        let before = placement.risk(&hosts);
        assert_eq!(before.all_to_all, risk.all_to_all, "all-to-all has no order");
        outcomes.count([risk.shifts.risk == 1.0, before.ring.risk > risk.ring.risk]);
    });
    outcomes.assert_each_more_than(50);
}

/// A shuffled list of 1,024 hosts has a ring risk of about 5.
#[test]
fn a_shuffled_list_meets_often() {
    let pgft: Pgft = "3; 16,8,8; 1,16,8; 1,1,1".parse().unwrap();
    let fabric = pgft.fabric(GuidOrder::Shuffled(3));
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let (tables, ranking) = (route(&routing, live), routing.ranking(live));
    let placement = Placement::new(live, &ranking, routing.orders(), &tables);
    let rails = Rails::new(live);
    let mut hosts: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
    assert_eq!(hosts.len(), 1024);
    Random::new(1, 0).shuffle(&mut hosts);
    let before = placement.risk(&hosts);
    assert!((4.0..=6.0).contains(&before.ring.risk), "{before:?}");
    let after = placement.order(&hosts).risk;
    assert_eq!((after.ring.risk, after.shifts.risk), (1.0, 1.0));
}

/// Everything that a placement is made of.
struct World<'a> {
    live: Live<'a>,
    ranking: &'a Ranking,
    orders: &'a Orders,
    tables: &'a ForwardingTables,
}

impl World<'_> {
    fn traffic(&self, nodes: Vec<NodeIndex>) -> Traffic<'_> {
        Traffic::among(self.live, self.ranking, self.orders, self.tables, nodes)
    }

    /// The greatest load of a list of pairs of nodes, each followed alone.
    fn worst(&self, pairs: &[(NodeIndex, NodeIndex)]) -> u64 {
        self.loads(pairs).into_values().max().unwrap_or(0)
    }

    fn loads(&self, pairs: &[(NodeIndex, NodeIndex)]) -> BTreeMap<u32, u64> {
        let mut loads = BTreeMap::new();
        for &(from, to) in pairs {
            let traffic = self.traffic(vec![from, to]);
            let mut way = vec![];
            if traffic.nodes().len() == 2 && traffic.follow(0, 1, |port| way.push(port)) {
                way.into_iter().for_each(|port| *loads.entry(port).or_default() += 1);
            }
        }
        loads
    }

    /// What a job shares, counted pair by pair.
    fn sharing(&self, hosts: &[&RailHost<'_>], is_chosen: &[bool]) -> Sharing {
        let all = |chosen: bool| {
            let mut pairs = vec![];
            for (a, from) in hosts.iter().enumerate() {
                for (b, to) in hosts.iter().enumerate() {
                    if a != b && is_chosen[a] == chosen && is_chosen[b] == chosen {
                        let rails = from.nodes.iter().zip(&to.nodes);
                        pairs.extend(rails.filter_map(|(from, to)| (*from).zip(*to)));
                    }
                }
            }
            self.loads(&pairs)
        };
        let (job, others) = (all(true), all(false));
        let mixed = job.iter().filter_map(|(port, load)| Some(*load.min(others.get(port)?)));
        let mixed: Vec<u64> = mixed.collect();
        Sharing { ports: mixed.len(), worst: mixed.into_iter().max().unwrap_or(0) }
    }
}

/// Two hosts of a random fabric are one with two rails.
fn in_pairs<'a>(random: &mut Random, rails: &Rails<'a>) -> Vec<RailHost<'a>> {
    let mut hosts = vec![];
    for pair in rails.hosts.chunks(2) {
        let mut nodes: Vec<_> = pair.iter().map(|host| host.nodes[0]).collect();
        nodes.resize(2, None);
        if random.below(6) == 0 {
            nodes.swap(0, 1);
        }
        hosts.push(RailHost { host: pair[0].host, nodes });
    }
    hosts
}

/// Risks are those of single flows, with one rail and with two.
#[test]
fn risks_are_those_of_flows_followed_one_by_one() {
    for_seeds(60, |random| {
        let fabric = match random.below(3) {
            0 => random_graph(random),
            _ => random_pgft(random, 14).fabric(GuidOrder::Shuffled(random.below(50))),
        };
        let case = Case::degraded(random, &fabric);
        let (live, routing) = (case.now(), case.routing());
        let (tables, ranking) = (route(&routing, live), routing.ranking(live));
        let orders = routing.orders();
        let world = World { live, ranking: &ranking, orders, tables: &tables };
        let placement = Placement::new(live, &ranking, orders, &tables);
        let rails = Rails::new(live);
        let hosts = match random.below(2) {
            0 => in_pairs(random, &rails),
            _ => rails.hosts.iter().filter(|host| host.nodes.len() == 1).cloned().collect(),
        };
        let mut hosts: Vec<&RailHost<'_>> = hosts.iter().collect();
        random.shuffle(&mut hosts);
        let lanes: Vec<Vec<NodeIndex>> = (0..2)
            .map(|rail| hosts.iter().filter_map(|host| host.live_node(live, rail)).collect())
            .collect();
        let flows = |of: &dyn Fn(u32) -> Vec<(u32, u32)>| -> Vec<(NodeIndex, NodeIndex)> {
            let lane = |lane: &Vec<NodeIndex>| {
                let pairs = of(lane.len() as u32).into_iter();
                pairs.map(|(a, b)| (lane[a as usize], lane[b as usize])).collect::<Vec<_>>()
            };
            lanes.iter().flat_map(lane).collect()
        };
        let risk = placement.risk(&hosts);
        assert_eq!(risk.ring.risk, world.worst(&flows(&|n| ring(0..n))) as f64);
        let all = |n: u32| {
            let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
            pairs.filter(|(a, b)| a != b).collect()
        };
        assert_eq!(risk.all_to_all.risk, world.worst(&flows(&all)) as f64);
        let longest = lanes.iter().map(Vec::len).max().unwrap() as u32;
        let shift = |k: u32| {
            move |n: u32| (0..n).map(|i| (i, (i + k) % n)).filter(|(a, b)| a != b).collect()
        };
        let sum: u64 = (1..longest).map(|k| world.worst(&flows(&shift(k)))).sum();
        assert_eq!(risk.shifts.risk, sum as f64 / f64::from(longest.max(2) - 1));
        let kinds = recursive_doubling(0..longest).into_iter().map(|step| step.kind);
        let step = |kind| {
            let of = |n| {
                let steps = recursive_doubling(0..n).into_iter();
                steps.filter(|step| step.kind == kind).flat_map(|step| step.pairs).collect()
            };
            world.worst(&flows(&of))
        };
        // The shorter rail may have a step of its own: a fold that the longer one does not need.
        let folds = [dmodc::judge::risk::StepKind::FoldIn, dmodc::judge::risk::StepKind::FoldOut];
        let worst = kinds.chain(folds).map(step).max().unwrap_or(0);
        assert_eq!(risk.doubling.risk, worst as f64);
        for (risk, name) in [
            (risk.ring, "ring"),
            (risk.shifts, "shifts"),
            (risk.doubling, "doubling"),
            (risk.all_to_all, "all-to-all"),
        ] {
            assert!(risk.risk >= risk.bound, "{name}: {risk:?}");
        }
        let order = placement.order(&hosts);
        assert!(
            order
                .risk
                .compare(&placement.risk(&{
                    let sorted: Vec<&RailHost<'_>> =
                        order.order.iter().map(|&at| hosts[at]).collect();
                    sorted
                }))
                .is_eq()
        );
    });
}

/// Small fabrics: the choice is the best of all, by brute force.
#[test]
fn small_choices_are_the_best() {
    let outcomes = Outcomes::<2>::new();
    for_seeds(150, |random| {
        let pgft = random_pgft(random, 10);
        let fabric = pgft.fabric(GuidOrder::Shuffled(random.below(50)));
        let case = Case::healthy(&fabric);
        let (live, routing) = (case.whole(), case.routing());
        let (tables, ranking) = (route(&routing, live), routing.ranking(live));
        let world = World { live, ranking: &ranking, orders: routing.orders(), tables: &tables };
        let placement = Placement::new(live, &ranking, routing.orders(), &tables);
        let rails = Rails::new(live);
        let hosts: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
        let listed = 1 + random.below(hosts.len() as u64) as usize;
        let mut listed = random.sample(hosts.len(), listed);
        random.shuffle(&mut listed);
        let count = random.below(listed.len() as u64 + 1) as usize;
        let choice = placement.choose(&hosts, &listed, count);
        assert!(choice.is_best && choice.hosts.len() == count);
        assert!(choice.hosts.iter().all(|host| listed.contains(host)));
        let mut best = Sharing { ports: usize::MAX, worst: 0 };
        for bits in 0u32..1 << hosts.len() {
            let is_chosen: Vec<bool> = (0..hosts.len()).map(|at| bits >> at & 1 == 1).collect();
            let is_listed = (0..hosts.len()).all(|at| !is_chosen[at] || listed.contains(&at));
            if is_listed && bits.count_ones() as usize == count {
                best = best.min(world.sharing(&hosts, &is_chosen));
            }
        }
        assert_eq!(choice.sharing, best);
        assert_eq!(placement.sharing(&hosts, &choice.hosts), best);
        outcomes.count([best.ports == 0, best.ports > 0]);
    });
    outcomes.assert_each_more_than(5);
}

/// A large fabric: whole leaves and whole subtrees share nothing.
#[test]
fn whole_subtrees_share_nothing() {
    let fabric = "3; 4,4,8; 1,4,4; 1,1,1".parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(1));
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let (tables, ranking) = (route(&routing, live), routing.ranking(live));
    let placement = Placement::new(live, &ranking, routing.orders(), &tables);
    let rails = Rails::new(live);
    let hosts: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
    let all: Vec<usize> = (0..hosts.len()).collect();
    for count in [0, 1, 3, 4, 8, 12, 16, 32, 48, 112, 128] {
        let choice = placement.choose(&hosts, &all, count);
        assert_eq!((choice.sharing.ports, choice.is_best), (0, true), "{count}");
    }
    // Host 0 is taken, so the first leaf and the first subtree are not whole.
    let choice = placement.choose(&hosts, &all[1..], 16);
    assert_eq!((choice.sharing.ports, choice.hosts[0] % 16), (0, 0));
    assert!(choice.hosts[0] > 0 && choice.hosts[15] == choice.hosts[0] + 15);
    // Five hosts need a whole leaf and a host of another one in the same subtree.
    let choice = placement.choose(&hosts, &all, 5);
    assert!(choice.hosts[4] / 16 == choice.hosts[0] / 16 && choice.sharing.ports > 0);
}

/// Hosts that are dead, cut off or lack a rail are found.
#[test]
fn problems_of_hosts_are_found() {
    let fabric = "2; 2,3; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let mut case = Case::healthy(&fabric);
    let leaf = fabric.switches()[2].guid;
    for port in [3, 4] {
        case.faults.remove(&fabric, &format!("{leaf}/{port}")).unwrap();
    }
    case.faults.set_cable(fabric.node_cable(NodeIndex::new(0)), true);
    let (live, routing) = (case.now(), case.routing());
    let (tables, ranking) = (route(&routing, live), routing.ranking(live));
    let placement = Placement::new(live, &ranking, routing.orders(), &tables);
    let rails = Rails::new(live);
    let hosts: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
    let cut_off = Some(HostProblem::CutOff(0));
    let dead = Some(HostProblem::Dead);
    assert_eq!(placement.problems(&hosts), [dead, None, None, None, cut_off, cut_off]);
    // Two hosts with two rails, and one that lacks the second.
    let two = |a: usize, b: Option<usize>| RailHost {
        host: rails.hosts[a].host,
        nodes: vec![Some(NodeIndex::new(a)), b.map(NodeIndex::new)],
    };
    let hosts = [two(1, Some(2)), two(2, Some(3)), two(3, None)];
    let hosts: Vec<&RailHost<'_>> = hosts.iter().collect();
    assert_eq!(placement.problems(&hosts), [None, None, Some(HostProblem::MissingRail(1))]);
    let hosts = [two(1, Some(0)), two(2, Some(3))];
    let hosts: Vec<&RailHost<'_>> = hosts.iter().collect();
    assert_eq!(placement.problems(&hosts), [Some(HostProblem::DeadRail(1)), None]);
}
