//! Node pairs that cables connect, but no up\*down\* path: no tables of ours can deliver them.
//!
//! This is a plain search, independent of costs and tables.

use dmodc::fabric::Peer;
use dmodc::{Degradation, Fabric, Live, Routing, RoutingOptions, SwitchIndex};

/// Returns the number of ordered pairs of nodes without an up\*down\* path. O(#switches with nodes × #ports).
pub(super) fn pairs_without_path(fabric: &Fabric, options: &RoutingOptions) -> u64 {
    let whole = Degradation::none(fabric);
    let live = Live::new(fabric, &whole);
    let routing = Routing::new(live, options);
    let ranking = routing.ranking(live);
    let height =
        |s: SwitchIndex| (ranking.rank(s).unwrap_or(u32::MAX), routing.orders().position(s));
    let heights: Vec<(u32, u32)> = fabric.switch_indices().map(height).collect();
    let hosts = |s: SwitchIndex| {
        let nodes = fabric.nodes_of(s).iter();
        nodes.filter(|&&n| !fabric.is_aggregation(n)).count() as u64
    };
    let hosts: Vec<u64> = fabric.switch_indices().map(hosts).collect();
    let all: u64 = hosts.iter().sum();
    let mut pairs = 0;
    for from in fabric.switch_indices().filter(|s| hosts[s.at()] > 0) {
        // For each switch: reached by a path that went only up, and by one that went down.
        let mut reached = vec![[false; 2]; hosts.len()];
        reached[from.at()][0] = true;
        let mut waiting = vec![(from, false)];
        while let Some((s, is_down)) = waiting.pop() {
            for port in fabric.ports_of(s) {
                let Peer::Switch(next, _) = port.peer else { continue };
                let goes_down = heights[next.at()] < heights[s.at()];
                let seen = &mut reached[next.at()][usize::from(goes_down)];
                if (goes_down || !is_down) && !*seen {
                    *seen = true;
                    waiting.push((next, goes_down));
                }
            }
        }
        let is_reached = |(_, ways): &(&u64, &[bool; 2])| ways[0] || ways[1];
        let there: u64 =
            hosts.iter().zip(&reached).filter(is_reached).map(|(hosts, _)| hosts).sum();
        pairs += hosts[from.at()] * (all - there);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{CableIndex, DestinationOrder, Pgft, SwitchOrder};

    /// Two leaves without a common top switch have no up\*down\* path to each other.
    #[test]
    fn a_pair_without_a_path_is_counted() {
        let fabric = "2; 3,3; 1,2; 1,1".parse::<Pgft>().expect("a tuple");
        let fabric = fabric.fabric(Default::default());
        let whole = Degradation::none(&fabric);
        let live = Live::new(&fabric, &whole);
        let saved = Routing::new(live, &RoutingOptions::default()).orders().save(live);
        let options = RoutingOptions {
            destinations: DestinationOrder::Saved(saved.clone()),
            switches: SwitchOrder::Saved(saved),
            ..RoutingOptions::default()
        };
        assert_eq!(pairs_without_path(&fabric, &options), 0);
        let mut faults = Degradation::none(&fabric);
        let cables = fabric.inter_switch_cables().iter().enumerate();
        let mut uplinks: Vec<(SwitchIndex, usize)> =
            cables.map(|(at, cable)| (cable.a.0.min(cable.b.0), at)).collect();
        uplinks.sort();
        // The first leaf loses its first cable, the second its second: the third one joins both.
        faults.set_cable(CableIndex::new(uplinks[0].1), true);
        faults.set_cable(CableIndex::new(uplinks[3].1), true);
        assert_eq!(pairs_without_path(&fabric.without(&faults), &options), 2 * 3 * 3);
    }
}
