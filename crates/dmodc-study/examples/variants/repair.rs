//! A repair pass over the winner's tables: without history, but it looks at the whole fabric.

use std::collections::HashMap;

use dmodc::judge::risk::{DirectedPort, Loads, Traffic};
use dmodc::{ForwardingTables, Live, PortNumber};

use super::fabric::VariantFabric;
use super::naive::LostEntry;

impl VariantFabric {
    /// Returns the loads of all-to-all, port by port.
    fn loads(&self, live: Live<'_>, tables: &ForwardingTables) -> (Vec<DirectedPort>, Loads) {
        let ranking = self.routing.ranking(live);
        let traffic = Traffic::new(live, &ranking, self.routing.orders(), tables);
        (traffic.ports().to_vec(), traffic.all_to_all())
    }

    /// A repair pass over the winner's tables: from each of the 16 worst ports of all-to-all, one after the
    /// other, displaced entries go to their least loaded alternative for as long as that seems to help. A
    /// step is undone unless the maximum falls, or fewer ports have it.
    pub(crate) fn repair(
        &self,
        live: Live<'_>,
        winner: &ForwardingTables,
        lost: &[LostEntry],
    ) -> ForwardingTables {
        let mut tables = winner.clone();
        let (mut ports, mut loads) = self.loads(live, &tables);
        let worst = |of: &Loads| {
            let max = of.max();
            (max, of.by_port.iter().filter(|&&load| load == max).count())
        };
        let mut tried = vec![];
        for _ in 0..16 {
            let is_new = |at: &usize| !tried.contains(&(ports[*at].switch, ports[*at].port));
            let Some(at) = (0..ports.len()).filter(is_new).max_by_key(|&at| loads.by_port[at])
            else {
                break;
            };
            let (s, port) = (ports[at].switch, ports[at].port);
            tried.push((s, port));
            let share = loads.by_port[at] / u64::from(loads.destinations[at].max(1));
            let of_switch = ports.iter().zip(&loads.by_port).filter(|(p, _)| p.switch == s);
            let mut load: HashMap<PortNumber, u64> = of_switch.map(|(p, l)| (p.port, *l)).collect();
            let mut trial = tables.clone();
            let uses = |l: &&LostEntry| l.s == s && tables.port(s, l.column) == Some(port);
            for entry in lost.iter().filter(uses) {
                let Some(&to) = entry.ports.iter().min_by_key(|&p| (load[p], *p)) else { continue };
                if load[&to] + share < load[&port] {
                    trial.set(s, entry.column, Some(to));
                    *load.entry(to).or_default() += share;
                    *load.entry(port).or_default() -= share;
                }
            }
            let (new_ports, new_loads) = self.loads(live, &trial);
            if worst(&new_loads) < worst(&loads) {
                (tables, ports, loads) = (trial, new_ports, new_loads);
            }
        }
        tables
    }
}
