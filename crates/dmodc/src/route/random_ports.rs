//! Random routes: each entry is drawn uniformly from its alternative ports P(s, d).
//!
//! The engine is the baseline of studies. Its routes are valid and free of deadlock wherever Dmodc's are, because the closer
//! sets are the same, but they are balanced by chance only. The draw of an entry depends on the seed, the
//! switch and the column alone. So the tables are the same for any number of threads, and an entry whose
//! alternatives a fault left alone stays as it was.

use super::{Coverage, Engine, RouteError, alternative_ports, validity};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::random::Random;
use crate::tables::{Columns, ForwardingTables, NO_ROUTE, Tile};

/// The engine `random`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomPorts {
    /// Other seeds draw other tables.
    pub seed: u64,
}

impl Engine for RandomPorts {
    fn name(&self) -> &str {
        "random"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        let route = |(tile, out): (Tile, &mut [u8])| self.tile(live, ready, &columns, &tile, out);
        parallel::map(tables.tiles_mut(), route).into_iter().collect::<Result<(), _>>()?;
        Ok(validity(live, ready, &columns)?)
    }
}

impl RandomPorts {
    fn tile(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        columns: &Columns,
        tile: &Tile,
        out: &mut [u8],
    ) -> Result<(), RouteError> {
        out.fill(NO_ROUTE);
        let width = tile.columns.len();
        let targets = &columns.switches()[tile.switches.clone()];
        let destinations = &columns.destinations()[tile.columns.clone()];
        let alive: Vec<bool> = destinations.iter().map(|d| d.end.is_alive(live)).collect();
        // Which entries a destination switch has.
        let mut spans = vec![0..0; live.fabric.switches().len()];
        for (at, target) in tile.switches.clone().zip(targets) {
            let span = columns.of_switch(at);
            spans[target.at()] = span.start - tile.columns.start..span.end - tile.columns.start;
        }
        // Switches come one after the other, each with all targets: one row of draws at a time.
        let mut row = RowOfDraws { switch: None, draws: vec![0; width] };
        alternative_ports(live, ready, targets, |s, target, ports| {
            if ports.is_empty() {
                return;
            }
            if row.switch != Some(s) {
                let mut random = Random::new(self.seed, (tile.index as u64) << 32 | s.at() as u64);
                row.draws.fill_with(|| random.below(1 << 32));
                row.switch = Some(s);
            }
            for at in spans[target.at()].clone().filter(|&at| alive[at]) {
                // 2³² draws over at most 254 ports: no port is preferred by more than a part in 10⁷.
                let port = (row.draws[at] * ports.len() as u64) >> 32;
                out[s.at() * width + at] = ports[port as usize].0;
            }
        })?;
        for &s in targets.iter().filter(|&&s| live.switch(s)) {
            for at in spans[s.at()].clone().filter(|&at| alive[at]) {
                out[s.at() * width + at] = destinations[at].port.0;
            }
        }
        Ok(())
    }
}

/// The draws for one row of a tile.
struct RowOfDraws {
    /// The switch of the row; `None` before the first one.
    switch: Option<SwitchIndex>,
    /// A draw for each column.
    draws: Vec<u64>,
}
