//! Runs without OpenSM: which pairs are connected, which are lost, and what happens then.

mod files;
mod reference;
mod schemas;
// Shared with the test of the documents that the program prints.
#[path = "../../../../dmodc-cli/tests/schemas/validator.rs"]
mod validator;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::sync::{Mutex, PoisonError};

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch};
use dmodc::{Degradation, Fabric, FabricBuilder, Guid, Lid, NO_ROUTE, Pgft, PortNumber};
use tempfile::TempDir;

use super::*;
use crate::opensm_options::OpensmOptions;
use crate::subnet_manager::TableChange;

/// A stand-in for OpenSM, with a folder for all files.
struct FakeOpensm {
    folder: TempDir,
    fabric: Fabric,
    tables: BTreeMap<Guid, Vec<u8>>,
    log: Arc<Mutex<Vec<(LogLevel, String)>>>,
    options: OpensmOptions,
}

impl SubnetManager for FakeOpensm {
    fn fabric(&mut self) -> Fabric {
        self.fabric.clone()
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<TableChange, String> {
        self.tables.insert(switch, entries.to_vec());
        Ok(TableChange::default())
    }

    fn set_hops(&mut self, _: Guid, _: &[u16], _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn options(&self) -> OpensmOptions {
        self.options.clone()
    }

    fn log(&self, level: LogLevel, line: fmt::Arguments<'_>) {
        self.lines().push((level, line.to_string()));
    }
}

impl FakeOpensm {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path().display();
        let config = config.replace("HERE", &here.to_string());
        let text = format!(
            "state_folder = '{here}'\nstatus_file = '{here}/status'\nthreads = 1\n{config}\n"
        );
        fs::write(folder.path().join("dmodc.conf"), text).expect("it can be written");
        let fabric = pgft("2; 1,1; 1,1; 1,1");
        let (tables, log) = (BTreeMap::new(), Arc::default());
        let options = OpensmOptions { port: Guid(0x77), ..OpensmOptions::default() };
        FakeOpensm { folder, fabric, tables, log, options }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<(LogLevel, String)>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config_path(&self) -> ConfigPath {
        ConfigPath { path: self.path("dmodc.conf"), must_exist: true }
    }

    fn logger(&self) -> Log {
        let log = self.log.clone();
        Arc::new(move |level, line: &str| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push((level, line.into()));
        })
    }

    /// Returns the plugin of an OpenSM that has just started.
    fn plugin(&self) -> Plugin {
        Plugin::new(self.config_path(), self.logger())
    }

    /// Runs on this fabric, and waits for all files that are written afterwards.
    fn run(&mut self, plugin: &mut Plugin, fabric: &Fabric) -> Result<(), String> {
        let outcome = self.run_alone(plugin, fabric);
        let patience = Duration::from_secs(120);
        assert!(plugin.state_writer.flush(patience) && plugin.report_writer.flush(patience));
        outcome
    }

    /// Runs on this fabric.
    fn run_alone(&mut self, plugin: &mut Plugin, fabric: &Fabric) -> Result<(), String> {
        self.fabric = fabric.clone();
        self.tables.clear();
        self.lines().clear();
        plugin.run(self)
    }

    /// Returns the first line of the log with these words.
    fn logged(&self, words: &str) -> Option<(LogLevel, String)> {
        self.lines().iter().find(|(_, line)| line.contains(words)).cloned()
    }

    /// Returns how many entries towards nodes are empty.
    fn empty_entries(&self) -> usize {
        let lids = self.fabric.nodes().iter().map(|node| node.lid.0 as usize);
        let is_empty = |row: &&Vec<u8>, lid: usize| row.get(lid).is_none_or(|e| *e == NO_ROUTE);
        lids.map(|lid| self.tables.values().filter(|row| is_empty(row, lid)).count()).sum()
    }

    fn status(&self) -> serde_json::Value {
        let text = fs::read(self.folder.path().join("status")).expect("a run was reported");
        serde_json::from_slice(&text).expect("it is JSON")
    }
}

fn pgft(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default())
}

/// Returns a fabric of switches with these numbers of nodes, and cables between them.
fn drawn(nodes: &[usize], cables: &[(usize, usize)]) -> Fabric {
    drawn_from(nodes, cables, 1)
}

/// Returns the same fabric, with this LID for the first node.
fn drawn_from(nodes: &[usize], cables: &[(usize, usize)], first: u32) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut switches = Vec::new();
    for at in 0..nodes.len() {
        let vertex = builder.switch(Switch {
            guid: Guid(0x100 + at as u64),
            lid: Lid(100 + at as u32),
            ports: 36,
            name: format!("s{at}").into(),
            product: Product::default(),
        });
        switches.push((vertex, 0));
    }
    let mut next = |at: usize| {
        switches[at].1 += 1;
        (switches[at].0, PortNumber(switches[at].1))
    };
    for &(a, b) in cables {
        let (a, b) = (next(a), next(b));
        builder.cable(a, b, Rate::NDR);
    }
    let places = nodes.iter().enumerate().flat_map(|(at, &count)| vec![at; count]);
    for (number, at) in places.enumerate() {
        let guid = Guid(0x1000 + number as u64);
        let adapter = builder.adapter(Adapter {
            guid,
            ports: 1,
            kind: AdapterKind::Host,
            name: format!("node-{number}").into(),
            product: Product::default(),
        });
        builder.end_port(adapter, PortNumber(1), guid, Lid(first + number as u32), 0);
        let port = next(at);
        builder.cable((adapter, PortNumber(1)), port, Rate::NDR);
    }
    builder.finish().expect("a drawing is consistent")
}

/// Returns the fabric without the switches of these names.
fn without(fabric: &Fabric, names: &[&str]) -> Fabric {
    let mut dead = Degradation::none(fabric);
    for s in fabric.switch_indices().filter(|s| names.contains(&&*fabric.switch(*s).name)) {
        dead.set_switch(s, true);
    }
    fabric.without(&dead)
}

/// A ring of leaves with a tail is no fat tree, but connected.
#[test]
fn a_ring_of_leaves_is_connected_and_stays_so() {
    let ring = drawn(&[2; 6], &[(0, 2), (2, 4), (4, 1), (1, 3), (3, 0), (3, 5)]);
    let mut opensm = FakeOpensm::new("on_lost = \"next-engine\"");
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &ring).expect("nothing is lost");
    assert_eq!(opensm.empty_entries(), 0);
    let (level, line) = opensm.logged("not a fat tree").expect("it is logged");
    assert_eq!(level, LogLevel::Info);
    assert!(line.contains("ranks are counted from one root, 's"), "{line}");
    assert!(line.contains("node pairs would have no up*down* route"), "{line}");
    let root = line.split(['\'']).nth(1).expect("its name").to_string();

    // The same holds without its root and any other switch of the ring, and after a restart of OpenSM.
    for other in ["s0", "s1", "s2", "s4"].into_iter().filter(|other| *other != root) {
        let rest = without(&ring, &[&root, other]);
        opensm.run(&mut plugin, &rest).expect("what is left may fall apart, but loses nothing");
        let incremental = opensm.tables.clone();
        opensm.run(&mut opensm.plugin(), &rest).expect("nothing is lost");
        let trimmed = |tables: &BTreeMap<Guid, Vec<u8>>| -> Vec<Vec<u8>> {
            let used = |row: &Vec<u8>| row.iter().rposition(|entry| *entry != NO_ROUTE);
            tables.values().map(|row| row[..=used(row).unwrap_or(0)].to_vec()).collect()
        };
        assert_eq!(trimmed(&opensm.tables), trimmed(&incremental), "without {root} and {other}");
        let (_, line) = opensm.logged("not a fat tree").expect("it is logged");
        assert!(line.ends_with("saved with the orders"), "{line}");
    }
    opensm.run(&mut plugin, &ring).expect("nothing is lost");
    assert_eq!(opensm.empty_entries(), 0);
}

/// Cables connect two pods that are left with different planes, but no up*down* routes do.
#[test]
fn lost_leaf_pairs_are_kept_or_handed_over() {
    let whole = pgft("3; 2,2,3; 1,2,2; 1,1,1");
    let names: Vec<&str> = whole.switches().iter().map(|s| &*s.name).collect();
    let torn = without(&whole, &[names[6], names[9]]);
    for (config, is_kept) in [("", true), ("on_lost = \"next-engine\"", false)] {
        let mut opensm = FakeOpensm::new(config);
        let mut plugin = opensm.plugin();
        opensm.run(&mut plugin, &whole).expect("it is whole");
        assert_eq!(opensm.logged("LOST"), None);
        let outcome = opensm.run(&mut plugin, &torn);
        let logged = match is_kept {
            true => {
                outcome.expect("the tables are used");
                assert_eq!(opensm.tables.len(), torn.switches().len());
                let (level, line) = opensm.logged("leaf pairs have no").expect("it is logged");
                assert_eq!(level, LogLevel::Error);
                assert!(opensm.logged("node pairs are not delivered").is_some());
                assert!(line.contains("(on_lost = \"keep\")"), "{line}");
                line
            }
            false => {
                let line = outcome.expect_err("the next engine takes over");
                assert!(opensm.tables.is_empty(), "nothing was written");
                assert_eq!(opensm.status()["ok"], false);
                assert!(line.contains("(on_lost = \"next-engine\")"), "{line}");
                line
            }
        };
        let start = "LOST: 8 of 30 leaf pairs have no up*down* route, although cables connect them; \
                     an example is '";
        assert!(logged.starts_with(start), "{logged}");
        opensm.run(&mut plugin, &whole).expect("it is whole again");
        assert_eq!(opensm.empty_entries(), 0);
    }
}

/// Service nodes on spines and a leaf that no cable connects do not make OpenSM ask another engine.
#[test]
fn service_nodes_and_nodes_that_are_cut_off_never_hand_over() {
    // Leaves 0 to 3 on spines 4 and 5, with a service node on each spine; leaf 6 is alone.
    let cables = [0, 1, 2, 3].map(|leaf| [(leaf, 4), (leaf, 5)]).concat();
    let fabric = drawn(&[6, 6, 6, 6, 1, 1, 6], &cables);
    let mut opensm = FakeOpensm::new("on_lost = \"next-engine\"");
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &fabric).expect("nodes on connected leaves reach each other");
    let (level, line) = opensm.logged("LOST").expect("service nodes cannot reach each other");
    assert_eq!(level, LogLevel::Error);
    assert!(line.starts_with("LOST: 2 of 992 node pairs"), "{line}");
    assert!(line.contains("2 nodes are on switches that are not leaves, such as 's4'"), "{line}");
    assert!(opensm.empty_entries() > 0);
    let status = opensm.status();
    assert_eq!(
        (&status["verdict"]["lost"], &status["verdict"]["valid"]),
        (&2.into(), &false.into())
    );
}
