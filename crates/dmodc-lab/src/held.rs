//! What the simulated switches hold, read back and followed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use dmodc::judge::{Check, Fate, check, trace};
use dmodc::{
    Degradation, End, Fabric, ForwardingTables, Lid, Live, NO_ROUTE, Random, Routing, SwitchIndex,
};
use dmodc_formats::ibnetdiscover;
use dmodc_formats::lft::{self, Lft};

use super::saved::Saved;
use super::{LabError, Sim};

/// On so many pairs `ibtracert` is sent, or fewer.
const TRACED: usize = 6;

/// What each switch holds: a port for each LID, by GUID.
pub(super) type Image = BTreeMap<u64, Vec<u8>>;

/// The fabric of the moment, and the tables that its switches hold.
pub(super) struct Held {
    /// As `ibnetdiscover` finds it.
    pub(super) fabric: Fabric,
    pub(super) tables: ForwardingTables,
    /// The tables once more.
    pub(super) image: Image,
}

impl Held {
    /// Reads what the simulated switches hold, packet by packet.
    pub(super) fn read(sim: &Sim) -> Result<Self, LabError> {
        let fabric = sim.discover()?;
        let lft = sim.tables(&fabric)?;
        let tables = Lft::tables(&[&lft], &fabric).map_err(dmodc::RouteError::from)?.remove(0);
        let whole = Degradation::none(&fabric);
        let image = image(Live::new(&fabric, &whole), &tables);
        Ok(Held { fabric, tables, image })
    }

    /// Writes fabric and tables into a folder, by the number of an event.
    pub(super) fn dump(&self, folder: &Path, number: usize) -> io::Result<()> {
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

    /// Judges the tables; what is up is as the saved orders have it.
    pub(super) fn check(&self, saved: &Saved) -> Check {
        let whole = Degradation::none(&self.fabric);
        let live = Live::new(&self.fabric, &whole);
        let routing = Routing::new(live, &saved.options());
        check(live, &routing.ranking(live), routing.orders(), &self.tables)
    }

    /// Sends `ibtracert` on some pairs that the tables deliver: on how many, and on how many of them it
    /// goes as they say.
    pub(super) fn follow(&self, sim: &Sim) -> (usize, usize) {
        let whole = Degradation::none(&self.fabric);
        let live = Live::new(&self.fabric, &whole);
        let nodes = live.fabric.nodes();
        let destinations = self.tables.columns().destinations();
        let mut random = Random::new(0, 6);
        let (mut traced, mut followed) = (0, 0);
        if nodes.is_empty() {
            return (traced, followed);
        }
        for _ in 0..TRACED {
            let from = &nodes[random.below(nodes.len() as u64) as usize];
            let column = random.below(destinations.len() as u64) as usize;
            let End::Node(to) = destinations[column].end else { continue };
            let (hops, fate) = trace(live, &self.tables, from.switch, column);
            if fate != Fate::Delivered || live.fabric.node(to).guid == from.guid {
                continue;
            }
            traced += 1;
            let to = live.fabric.node(to);
            let mut out = from.adapter_port.0;
            let mut way: Vec<(u8, Lid, u8)> = Vec::new();
            for hop in &hops {
                let into = hop.into.unwrap_or(from.switch_port);
                way.push((out, live.fabric.switch(hop.switch).lid, into.0));
                out = hop.out.map_or(NO_ROUTE, |port| port.0);
            }
            way.push((out, to.lid, to.adapter_port.0));
            let found = sim.way(from.lid, destinations[column].lid);
            followed += usize::from(found.is_ok_and(|found| found == way));
        }
        (traced, followed)
    }
}

/// Returns the tables of the live switches, towards what is alive.
pub(super) fn image(live: Live<'_>, tables: &ForwardingTables) -> Image {
    let destinations = tables.columns().destinations();
    let alive = || destinations.iter().enumerate().filter(|(_, d)| d.end.is_alive(live));
    let width = alive().map(|(_, d)| d.lid.0 as usize + 1).max().unwrap_or(0);
    let row = |s: SwitchIndex| {
        let mut row = vec![NO_ROUTE; width];
        for (column, d) in alive() {
            row[d.lid.0 as usize] = tables.port(s, column).map_or(NO_ROUTE, |port| port.0);
        }
        (live.fabric.switch(s).guid.0, row)
    };
    live.fabric.switch_indices().filter(|&s| live.switch(s)).map(row).collect()
}

/// Returns the entries in which they differ, each as the GUID of a switch and a LID. What one of them has not, is
/// empty.
pub(super) fn differences<'a>(
    a: &'a Image,
    b: &'a Image,
) -> impl Iterator<Item = (u64, usize)> + 'a {
    const NONE: &[u8] = &[];
    let guids = a.keys().chain(b.keys().filter(|guid| !a.contains_key(guid)));
    guids.flat_map(move |&guid| {
        let [a, b] = [a, b].map(|image| image.get(&guid).map_or(NONE, Vec::as_slice));
        let entry = |row: &[u8], lid: usize| row.get(lid).copied().unwrap_or(NO_ROUTE);
        let lids = 0..a.len().max(b.len());
        lids.filter(move |&lid| entry(a, lid) != entry(b, lid)).map(move |lid| (guid, lid))
    })
}

/// In how many entries they differ.
pub(super) fn differing(a: &Image, b: &Image) -> usize {
    differences(a, b).count()
}
