//! The tables that the simulated switches hold, read back and followed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use dmodc::judge::{Check, Fate, check, trace};
use dmodc::{
    Degradation, End, Fabric, ForwardingTables, Live, NO_ROUTE, Random, Routing, RoutingOptions,
};
use dmodc_formats::ibnetdiscover;
use dmodc_formats::lft::{self, Lft};

use crate::error::LabError;
use crate::image::{TableImage, image};
use crate::sim::{Sim, TracedHop};

/// The number of pairs that are drawn for `ibtracert`; those that the tables do not deliver are left out.
const TRACED: usize = 6;

/// The present fabric, and the tables that its switches hold.
pub(crate) struct HeldTables {
    /// The fabric that `ibnetdiscover` finds.
    pub(crate) fabric: Fabric,
    pub(crate) tables: ForwardingTables,
    /// The same tables by GUID.
    pub(crate) image: TableImage,
}

/// How `ibtracert` compares with the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    /// The number of pairs that were traced.
    pub(crate) traced: usize,
    /// The number of them on which `ibtracert` took the ports of the tables.
    pub(crate) followed: usize,
}

impl HeldTables {
    /// Reads the tables of the simulated switches with management packets.
    pub(crate) fn read(sim: &Sim) -> Result<Self, LabError> {
        let fabric = sim.discover()?;
        let lft = sim.tables(&fabric)?;
        let tables = Lft::tables(&[&lft], &fabric).map_err(dmodc::RouteError::from)?.remove(0);
        let whole = Degradation::none(&fabric);
        let image = image(Live::new(&fabric, &whole), &tables);
        Ok(HeldTables { fabric, tables, image })
    }

    /// Writes fabric and tables into a folder, named after the number of an event.
    pub(crate) fn dump(&self, folder: &Path, number: usize) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let whole = Degradation::none(&self.fabric);
        let live = Live::new(&self.fabric, &whole);
        let mut fabric = BufWriter::new(File::create(folder.join(format!("{number:04}.topo")))?);
        ibnetdiscover::write(&self.fabric, &[], &mut fabric)?;
        fabric.flush()?;
        let mut tables = BufWriter::new(File::create(folder.join(format!("{number:04}.lft")))?);
        lft::write(live, &self.tables, &[], &mut tables)?;
        tables.flush()
    }

    /// Judges the tables. The options fix ranks and orders, and so which direction is up.
    pub(crate) fn check(&self, options: &RoutingOptions) -> Check {
        let whole = Degradation::none(&self.fabric);
        let live = Live::new(&self.fabric, &whole);
        let routing = Routing::new(live, options);
        check(live, &routing.ranking(live), routing.orders(), &self.tables)
    }

    /// Runs `ibtracert` on some pairs that the tables deliver, and compares its paths with the tables.
    pub(crate) fn follow(&self, sim: &Sim) -> Traces {
        let whole = Degradation::none(&self.fabric);
        let live = Live::new(&self.fabric, &whole);
        let nodes = live.fabric.nodes();
        let destinations = self.tables.columns().destinations();
        let mut random = Random::new(0, 6);
        let mut traces = Traces { traced: 0, followed: 0 };
        if nodes.is_empty() {
            return traces;
        }
        for _ in 0..TRACED {
            let from = &nodes[random.below(nodes.len() as u64) as usize];
            let column = random.below(destinations.len() as u64) as usize;
            let End::Node(to) = destinations[column].end else { continue };
            let (hops, fate) = trace(live, &self.tables, from.switch, column);
            if fate != Fate::Delivered || live.fabric.node(to).guid == from.guid {
                continue;
            }
            traces.traced += 1;
            let to = live.fabric.node(to);
            let mut out = from.adapter_port.0;
            let mut path: Vec<TracedHop> = Vec::new();
            for hop in &hops {
                let into = hop.into.unwrap_or(from.switch_port).0;
                path.push(TracedHop { out, lid: live.fabric.switch(hop.switch).lid, into });
                out = hop.out.map_or(NO_ROUTE, |port| port.0);
            }
            path.push(TracedHop { out, lid: to.lid, into: to.adapter_port.0 });
            let found = sim.trace(from.lid, destinations[column].lid);
            traces.followed += usize::from(found.is_ok_and(|found| found == path));
        }
        traces
    }
}
