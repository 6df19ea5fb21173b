//! Dmodk (Zahavi 2010): the closed form for healthy PGFTs, from the digits of switches alone.
//!
//! It shares neither costs nor dividers nor closer sets with Dmodc, so that the two check each other:
//! on a healthy PGFT they agree in every entry. With Π_l = w₁⋯w_l, a switch of level l that is not
//! above destination d sends to up port ⌊d / Π_l⌋ mod (w_{l+1}·p_{l+1}), else down to the child that
//! is, by parallel cable ⌊d / Π_l⌋ mod p_l. Towards a switch as
//! destination, the up ports below its level are determined by its digits, because only one plane leads to it; above that
//! level the formula decides.

use super::{Coverage, Engine, RouteError, validity};
use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::recognise::{Labels, recognise};
use crate::tables::{Destination, ForwardingTables, NO_ROUTE};

/// The engine `dmodk`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dmodk;

impl Engine for Dmodk {
    fn name(&self) -> &str {
        "dmodk"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let labels = recognise(live, &ready.ranking, &ready.groups, &ready.orders)?;
        let columns = tables.columns().clone();
        let rows: Vec<Option<SwitchFormula>> = live
            .fabric
            .switch_indices()
            .map(|s| live.switch(s).then(|| SwitchFormula::new(live, &labels, s)))
            .collect();
        parallel::for_each(tables.tiles_mut(), |(tile, out)| {
            let destinations = &columns.destinations()[tile.columns.clone()];
            let alive: Vec<bool> = destinations.iter().map(|d| d.end.is_alive(live)).collect();
            for (row, out) in rows.iter().zip(out.chunks_exact_mut(destinations.len())) {
                for ((entry, d), alive) in out.iter_mut().zip(destinations).zip(&alive) {
                    *entry = match row {
                        Some(row) if *alive => row.entry(&labels, d),
                        _ => NO_ROUTE,
                    };
                }
            }
        });
        // Leaves of a healthy PGFT reach each other; nodes on spines need not.
        Ok(validity(live, ready, &columns)?)
    }
}

/// What the formula needs of one switch.
struct SwitchFormula {
    s: SwitchIndex,
    /// Π_l.
    divider: u64,
    /// Ports by up port index `parent digit + j·w`.
    up: Vec<u8>,
    /// Ports by down port index `child digit + j·m`.
    down: Vec<u8>,
}

impl SwitchFormula {
    fn new(live: Live<'_>, labels: &Labels, s: SwitchIndex) -> Self {
        let (l, pgft) = (labels.level(s), &labels.pgft);
        let mut up = Vec::new();
        let mut down = Vec::new();
        for port in 1..=live.fabric.switch(s).ports {
            if let Peer::Switch(peer, _) = live.peer(s, PortNumber(port)) {
                match labels.level(peer) > l {
                    true => up.push((labels.digits(peer)[l], port)),
                    false => down.push((labels.digits(peer)[l - 1], port)),
                }
            }
        }
        SwitchFormula {
            s,
            divider: (1..=l).map(|i| u64::from(pgft.w(i))).product(),
            up: by_index(up),
            down: by_index(down),
        }
    }

    fn entry(&self, labels: &Labels, d: &Destination) -> u8 {
        if d.switch == self.s {
            return d.port.0;
        }
        let (here, there) = (labels.digits(self.s), labels.digits(d.switch));
        let (l, target) = (labels.level(self.s), labels.level(d.switch));
        let planes = l.min(target);
        if here[..planes] != there[..planes] {
            return NO_ROUTE;
        }
        let q = u64::from(d.number) / self.divider;
        let k = u64::from(d.k);
        if l > target && here[l..] == there[l..] {
            let (m, p) = (u64::from(labels.pgft.m(l)), u64::from(labels.pgft.p(l)));
            let j = (q + k) % p;
            return self.down[(u64::from(there[l - 1]) + j * m) as usize];
        }
        let (w, p) = (u64::from(labels.pgft.w(l + 1)), u64::from(labels.pgft.p(l + 1)));
        if l < target {
            return self.up[(u64::from(there[l]) + (q + k) % p * w) as usize];
        }
        // With k = 0 this is the paper's index q mod (w·p).
        let (group, j) = ((q + k) % w, (q / w + k / w) % p);
        self.up[(group + j * w) as usize]
    }
}

/// Returns ports by index: all digits with their first ports, then all with their second ports, and so on.
fn by_index(mut ports: Vec<(u32, u8)>) -> Vec<u8> {
    ports.sort_unstable();
    let mut indexed: Vec<(usize, u32, u8)> = Vec::with_capacity(ports.len());
    for group in ports.chunk_by(|a, b| a.0 == b.0) {
        indexed.extend(group.iter().enumerate().map(|(j, &(digit, port))| (j, digit, port)));
    }
    indexed.sort_unstable();
    indexed.into_iter().map(|(_, _, port)| port).collect()
}
