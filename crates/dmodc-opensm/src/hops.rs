//! OpenSM's hop tables, from which it makes multicast trees: for each switch, each other switch and each port, the
//! number of hops of the shortest path through that port.
//!
//! OpenSM relaxes until nothing changes, which takes longer than everything else it does. A breadth-first search from 64
//! switches at once (one bit for each) gives the same bytes in milliseconds.

use dmodc::fabric::Peer;
use dmodc::{Fabric, SwitchIndex, parallel};

/// The number of hops where there is no path, as OpenSM has it.
const NO_PATH: u8 = 255;

/// Hops between all switches.
pub(crate) struct SwitchHops<'a> {
    fabric: &'a Fabric,
    /// `from[s][t]` is the number of hops from switch `s` to switch `t`.
    from: Vec<Vec<u8>>,
}

impl<'a> SwitchHops<'a> {
    pub(crate) fn new(fabric: &'a Fabric) -> Self {
        let neighbours: Vec<Vec<usize>> = fabric
            .switch_indices()
            .map(|s| {
                let mut all: Vec<usize> = peers(fabric, s).flatten().map(SwitchIndex::at).collect();
                all.sort_unstable();
                all.dedup();
                all
            })
            .collect();
        let count = neighbours.len();
        let blocks = parallel::map((0..count).step_by(64), |start| block(&neighbours, start));
        SwitchHops { fabric, from: blocks.into_iter().flatten().collect() }
    }

    /// Returns the table of one switch: for each switch as a destination, an entry for each port. The entry of port 0
    /// is the least of them.
    pub(crate) fn table(&self, s: SwitchIndex) -> Vec<u8> {
        let ports: Vec<Option<&[u8]>> = peers(self.fabric, s)
            .map(|peer| peer.map(|peer| self.from[peer.at()].as_slice()))
            .collect();
        let mut table = vec![NO_PATH; self.from.len() * (ports.len() + 1)];
        for (t, entries) in table.chunks_exact_mut(ports.len() + 1).enumerate() {
            for (entry, from_peer) in entries[1..].iter_mut().zip(&ports) {
                if let Some(from_peer) = from_peer {
                    *entry = from_peer[t].saturating_add(1);
                }
            }
            entries[0] = match t == s.at() {
                true => 0,
                false => entries[1..].iter().copied().min().unwrap_or(NO_PATH),
            };
        }
        table
    }
}

/// Returns the switch at each port, from port 1 on.
fn peers(fabric: &Fabric, s: SwitchIndex) -> impl Iterator<Item = Option<SwitchIndex>> {
    fabric.ports_of(s).iter().map(move |port| match port.peer {
        Peer::Switch(peer, _) if peer != s => Some(peer),
        _ => None,
    })
}

/// Returns the hops from up to 64 switches to all. In `wave` and `seen`, bit i of a switch says that the search from
/// source i reaches it in this step, or has reached it.
fn block(neighbours: &[Vec<usize>], start: usize) -> Vec<Vec<u8>> {
    let sources = (neighbours.len() - start).min(64);
    let mut hops = vec![vec![NO_PATH; neighbours.len()]; sources];
    let mut wave = vec![0u64; neighbours.len()];
    for source in 0..sources {
        wave[start + source] = 1 << source;
    }
    let mut seen = wave.clone();
    for distance in 0..NO_PATH {
        for (s, &bits) in wave.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                hops[left.trailing_zeros() as usize][s] = distance;
                left &= left - 1;
            }
        }
        let next = |(around, seen): (&Vec<usize>, &u64)| {
            around.iter().fold(0, |all, &n| all | wave[n]) & !seen
        };
        wave = neighbours.iter().zip(&seen).map(next).collect();
        if wave.iter().all(|&bits| bits == 0) {
            break;
        }
        seen.iter_mut().zip(&wave).for_each(|(seen, new)| *seen |= new);
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Amount, Degradation, Draw, Pgft};

    /// Computes the tables as OpenSM does: relaxes until nothing changes.
    fn relaxed(fabric: &Fabric) -> Vec<Vec<u8>> {
        let count = fabric.switches().len();
        let width = |s: SwitchIndex| fabric.ports_of(s).len() + 1;
        let mut tables: Vec<Vec<u8>> =
            fabric.switch_indices().map(|s| vec![NO_PATH; count * width(s)]).collect();
        for s in fabric.switch_indices() {
            tables[s.at()][s.at() * width(s)] = 0;
        }
        loop {
            let before = tables.clone();
            for s in fabric.switch_indices() {
                for (port, peer) in peers(fabric, s).enumerate() {
                    let Some(peer) = peer else { continue };
                    for t in 0..count {
                        let least = tables[peer.at()][t * width(peer)];
                        if least != NO_PATH {
                            let entries = &mut tables[s.at()][t * width(s)..][..width(s)];
                            entries[port + 1] = entries[port + 1].min(least + 1);
                            entries[0] = entries[0].min(least + 1);
                        }
                    }
                }
            }
            if tables == before {
                return tables;
            }
        }
    }

    #[test]
    fn tables_are_those_of_opensms_relaxation() {
        for tuple in ["3; 2,2,3; 1,2,2; 1,2,1", "2; 3,70; 1,3; 1,2", "3; 2,4,9; 1,3,3; 1,1,1"] {
            let whole = tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
            for seed in 0..6 {
                let draw = Draw {
                    cables: Amount::Percent(f64::from(seed as u32) * 9.0),
                    switches: Amount::Count(seed as usize / 2),
                    any_cable: false,
                    any_switch: true,
                    seed,
                };
                let mask: Degradation =
                    draw.degradation(&whole).expect("the fabric has enough parts");
                let fabric = whole.without(&mask);
                let hops = SwitchHops::new(&fabric);
                let tables: Vec<Vec<u8>> = fabric.switch_indices().map(|s| hops.table(s)).collect();
                assert!(tables == relaxed(&fabric), "{tuple}, seed {seed}");
            }
        }
    }
}
