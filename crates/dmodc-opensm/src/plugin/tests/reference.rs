//! Runs without OpenSM whose configuration asks for a reference.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use dmodc::fabric::{Peer, Switch};
use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, FabricBuilder, Guid, InferredWhole, Joined,
    LeafRule, Live, NO_ROUTE, Pgft, Random, Routing, RoutingOptions, SavedOrders, Stable,
    SwitchIndex, SwitchOrder,
};
use dmodc_formats::{json, orders};
use tempfile::TempDir;

use super::super::*;
use crate::subnet_manager::TableChange;

/// The file of the learned reference.
const LEARNED_SNAPSHOT: &str = "reference.json";

/// A stand-in for OpenSM whose plugin has a reference, with a folder for all files.
struct OpensmWithReference {
    folder: TempDir,
    fabric: Fabric,
    tables: Tables,
    log: RefCell<Vec<String>>,
}

/// The entries of each switch, by GUID and without the empty ones at the end.
type Tables = BTreeMap<Guid, Vec<u8>>;

impl SubnetManager for OpensmWithReference {
    fn fabric(&mut self) -> Fabric {
        self.fabric.clone()
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<TableChange, String> {
        let lids = self.fabric.nodes().iter().map(|n| n.lid.0 + (1 << n.lmc) - 1);
        let most = lids.chain(self.fabric.switches().iter().map(|s| s.lid.0)).max();
        assert!(entries.len() <= most.unwrap_or(0) as usize + 1, "OpenSM has no room for more");
        self.tables.insert(switch, trimmed(entries.to_vec()));
        Ok(TableChange::default())
    }

    fn set_hops(&mut self, _: Guid, _: &[u16], _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn log(&self, level: LogLevel, line: fmt::Arguments<'_>) {
        if level != LogLevel::Verbose {
            self.log.borrow_mut().push(line.to_string());
        }
    }
}

fn trimmed(mut row: Vec<u8>) -> Vec<u8> {
    while row.last() == Some(&NO_ROUTE) {
        row.pop();
    }
    row
}

impl OpensmWithReference {
    fn new(reference: &str) -> Self {
        let opensm = OpensmWithReference {
            folder: tempfile::tempdir().expect("a folder"),
            fabric: fabric("2; 1,1; 1,1; 1,1"),
            tables: Tables::new(),
            log: RefCell::default(),
        };
        let folder = opensm.folder.path().display();
        let text = format!(
            "reference = '{}'\nstate_folder = '{folder}'\nstatus_file = '{folder}/status'\n\
             threads = 1\n",
            reference.replace("HERE", &folder.to_string())
        );
        fs::write(opensm.path("dmodc.conf"), text).expect("it can be written");
        opensm
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the plugin of an OpenSM that has just started.
    fn plugin(&self) -> Plugin {
        let path = ConfigPath { path: self.path("dmodc.conf"), must_exist: true };
        Plugin::new(path, Arc::new(|_, _| {}))
    }

    /// Runs on this fabric. Returns the tables that switches have then.
    fn run(&mut self, plugin: &mut Plugin, fabric: &Fabric) -> Tables {
        self.fabric = fabric.clone();
        self.tables.clear();
        plugin.run(self).expect("it can be routed");
        plugin.end();
        assert_eq!(self.tables.len(), fabric.switches().len());
        self.tables.clone()
    }

    fn status(&self) -> serde_json::Value {
        let text = fs::read(self.path("status")).expect("a run was reported");
        serde_json::from_slice(&text).expect("it is JSON")
    }

    fn learned(&self) -> Fabric {
        let text = fs::read(self.path(LEARNED_SNAPSHOT)).expect("it was learned");
        dmodc_formats::read(&text).expect("a fabric").fabric
    }

    fn orders(&self) -> SavedOrders {
        let text = fs::read(self.path("dmodc.orders")).expect("orders are saved");
        orders::read(&text).expect("orders")
    }

    /// Returns the tables of `dmodc route --engine stable --reference --orders` for this fabric.
    fn offline(&self, reference: &Fabric, now: &Fabric) -> Tables {
        let saved = self.orders();
        let options = RoutingOptions {
            destinations: DestinationOrder::Saved(saved.clone()),
            switches: SwitchOrder::Saved(saved.clone()),
            ..RoutingOptions::default()
        };
        let mut orders = Routing::orders_of(reference, &options);
        orders.keep_absent(&saved);
        let joined = Joined::new(reference, now).expect("it is of this fabric");
        joined.hand_over(&mut orders);
        let routing = joined.routing(LeafRule::Detect, &orders);
        let engine = Stable { reference: Arc::new(joined.reference(&routing)) };
        image(Live::new(&joined.fabric, &joined.now), &routing, &engine)
    }

    /// Returns the log since the last call.
    fn take_log(&self) -> String {
        self.log.take().join("\n")
    }
}

fn image(live: Live<'_>, routing: &Routing, engine: &dyn dmodc::Engine) -> Tables {
    let (tables, _) = routing.route(live, engine).expect("it can be routed");
    let row = |s: SwitchIndex| {
        let mut row = vec![NO_ROUTE; 1 << 16];
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if d.end.is_alive(live) {
                row[d.lid.0 as usize] = tables.port(s, column).map_or(NO_ROUTE, |port| port.0);
            }
        }
        (live.fabric.switch(s).guid, trimmed(row))
    };
    live.switches().map(row).collect()
}

/// Returns the tables of plain Dmodc.
fn plain(fabric: &Fabric) -> Tables {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    image(live, &Routing::new(live, &RoutingOptions::default()), &Dmodc)
}

fn fabric(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default())
}

/// Returns the fabric without these switches and cables between switches.
fn without(fabric: &Fabric, switches: &[usize], cables: &[usize]) -> Fabric {
    let mut dead = Degradation::none(fabric);
    switches.iter().for_each(|s| dead.set_switch(SwitchIndex::new(*s), true));
    cables.iter().for_each(|c| dead.set_cable(dmodc::CableIndex::new(*c), true));
    fabric.without(&dead)
}

const THREE_LEVELS: &str = "3; 4,4,6; 1,4,2; 1,1,2";

/// Over faults, repairs and restarts, the tables are always those that follow from the present fabric and the learned
/// reference.
#[test]
fn a_learned_reference_outlives_faults_and_restarts() {
    let mut opensm = OpensmWithReference::new("learn");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = opensm.run(&mut plugin, &whole);
    assert_eq!(first, plain(&whole));
    assert_eq!(opensm.learned(), whole);
    let mut random = Random::new(5, 0);
    for round in 0..20 {
        let spine = whole.switches().len() - 1 - random.below(30) as usize;
        let cables = [0; 4].map(|_| random.below(192) as usize);
        let switches = if random.below(2) == 0 { vec![spine] } else { vec![] };
        let now = without(&whole, &switches, &cables);
        if round % 5 == 4 {
            plugin = opensm.plugin();
        }
        let tables = opensm.run(&mut plugin, &now);
        assert_eq!(tables, opensm.offline(&opensm.learned(), &now));
        let last = &opensm.status()["last"];
        assert_eq!(
            (&last["engine"], &last["reference"]["source"]),
            (&"stable".into(), &"learned".into())
        );
        assert_eq!(last["incremental"], round % 5 != 4);
        let missing = Joined::new(&whole, &now).expect("a part of it").changes.missing;
        assert_eq!(last["reference"]["missing"]["cables"], missing.cables);
        assert_eq!(last["reference"]["missing"]["switches"], missing.switches);
    }
    assert_eq!(opensm.run(&mut plugin, &whole), first, "after full repair, the first tables");
    assert_eq!(opensm.learned(), whole, "it never shrinks");
    assert!(opensm.take_log().contains("; reference: missing "));
}

/// Returns the same fabric as a source reports it that lists no port after the last one in use.
fn without_unused_ports(fabric: &Fabric) -> Fabric {
    let mut b = FabricBuilder::new();
    let rate = dmodc::fabric::Rate::default();
    let mut switches = Vec::new();
    for (s, switch) in fabric.switch_indices().zip(fabric.switches()) {
        let used = fabric.ports_of(s).iter().rposition(|port| port.peer != Peer::None);
        let ports = used.map_or(0, |last| last as u8 + 1);
        switches.push(b.switch(Switch { ports, ..switch.clone() }));
    }
    for (n, node) in fabric.node_indices().zip(fabric.nodes()) {
        let of = b.adapter(fabric.adapter_of(n).clone());
        b.end_port(of, node.adapter_port, node.guid, node.lid, node.lmc);
        let at = (switches[node.switch.at()], node.switch_port);
        b.cable((of, node.adapter_port), at, rate);
    }
    for cable in fabric.inter_switch_cables() {
        let [x, y] = [cable.a, cable.b].map(|(s, port)| (switches[s.at()], port));
        b.cable(x, y, rate);
    }
    b.finish().expect("a part of a fabric")
}

/// A discovery that lists fewer ports than before moves only the routes that the dead cable moves, and the reference keeps
/// all its parts.
#[test]
fn ports_that_are_not_listed_any_more_are_dead_slots() {
    let mut opensm = OpensmWithReference::new("learn");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = opensm.run(&mut plugin, &whole);
    let last_cables: Vec<usize> = (0..whole.inter_switch_cables().len()).step_by(7).collect();
    for renamed in [false, true] {
        for &dead in &last_cables {
            let now = without(&whole, &[], &[dead]);
            let listed = opensm.run(&mut plugin, &now);
            let mut short = without_unused_ports(&now);
            if renamed {
                // A new name is a change, so that the reference is learned again.
                short = with_another_name(&short, dead);
            }
            assert!(opensm.run(&mut plugin, &short) == listed, "cable {dead}");
            assert_eq!(opensm.status()["last"]["reference"]["missing"]["cables"], 1);
            let learned = opensm.learned();
            let cables = learned.inter_switch_cables().len();
            assert_eq!(cables, whole.inter_switch_cables().len());
            let mut plugin = opensm.plugin();
            assert!(opensm.run(&mut plugin, &short) == listed, "after a restart");
        }
    }
    assert_eq!(opensm.run(&mut plugin, &whole), first, "after full repair, the first tables");
}

/// Returns the same fabric, in which one switch has another name.
fn with_another_name(fabric: &Fabric, which: usize) -> Fabric {
    let name = fabric.switches()[which % fabric.switches().len()].name.clone();
    let mut text = Vec::new();
    json::write(fabric, &mut text).expect("memory is there");
    let text = String::from_utf8(text).expect("it is text");
    let text = text.replace(&format!("\"{name}\""), "\"another\"");
    dmodc_formats::read(text.as_bytes()).expect("a fabric").fabric
}

/// The first fabric is not valid and is not learned. Later fabrics grow, and each is learned.
#[test]
fn only_valid_fabrics_are_learned_and_growth_renumbers_nobody() {
    let mut opensm = OpensmWithReference::new("learn");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    // The first leaf has nodes but no spines, and reaches nobody.
    let cut = without(&whole, &[], &[0, 1, 2, 3]);
    let tables = opensm.run(&mut plugin, &cut);
    assert_eq!(tables, plain(&cut));
    assert!(!opensm.path(LEARNED_SNAPSHOT).exists());
    let last = &opensm.status()["last"];
    let why = last["reference"]["refused"].as_str().expect("a reason").to_owned();
    assert!(last["engine"] == "dmodc" && why.starts_with("no reference was learned yet"), "{why}");
    assert!(opensm.take_log().contains("NO REFERENCE: no reference was learned yet"));

    // The fabric grows from two pods to four and to all six.
    fs::remove_file(opensm.path("dmodc.orders")).expect("a new start");
    let mut plugin = opensm.plugin();
    let pods = |count: usize| -> Fabric {
        let absent = (4 * count..24).chain(24 + 4 * count..48).collect::<Vec<_>>();
        without(&whole, &absent, &[])
    };
    let mut before = SavedOrders::default();
    for count in [2, 4, 6] {
        let now = pods(count);
        let tables = opensm.run(&mut plugin, &now);
        assert_eq!(opensm.learned().switches().len(), now.switches().len());
        assert_eq!(tables, opensm.offline(&opensm.learned(), &now));
        let saved = opensm.orders();
        assert_eq!(saved.nodes[..before.nodes.len()], before.nodes, "nobody is renumbered");
        let news = &opensm.status()["last"]["reference"]["new"];
        assert_eq!(news["switches"], 0, "what is new has joined the reference");
        before = saved;
    }
    // A smaller fabric does not shrink the reference.
    opensm.run(&mut plugin, &pods(3));
    assert_eq!(opensm.learned().switches().len(), whole.switches().len());
    // When the snapshot is removed, the reference is learned again.
    fs::remove_file(opensm.path(LEARNED_SNAPSHOT)).expect("it is there");
    let four = pods(4);
    opensm.run(&mut plugin, &four);
    assert_eq!(opensm.learned().switches().len(), four.switches().len());
}

/// New parts of a fabric that is not valid are routed without becoming part of the reference, exactly as offline.
#[test]
fn new_parts_of_an_invalid_fabric_wait() {
    let mut opensm = OpensmWithReference::new("learn");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    let part = without(&whole, &[20, 21, 22, 23, 44, 45, 46, 47], &[]);
    opensm.run(&mut plugin, &part);
    // The new pod joins while the first leaf is cut off; then one of its leaves dies.
    for dead in [vec![], vec![23], vec![24], vec![]] {
        let now = without(&whole, &dead, &[0, 1, 2, 3]);
        let tables = opensm.run(&mut plugin, &now);
        assert_eq!(opensm.learned(), part);
        assert_eq!(tables, opensm.offline(&part, &now), "{dead:?}");
        assert_ne!(opensm.status()["last"]["reference"]["new"]["switches"], 0);
    }
}

/// A spare switch in the place of a dead one is treated as that switch with another GUID.
#[test]
fn a_replaced_switch_moves_nothing_else() {
    let mut opensm = OpensmWithReference::new("learn");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = opensm.run(&mut plugin, &whole);
    let (old, new) = (whole.switches()[30].guid, Guid(0xab));
    opensm.run(&mut plugin, &without(&whole, &[30], &[]));
    let mut text = Vec::new();
    json::write(&whole, &mut text).expect("memory is there");
    let text =
        String::from_utf8(text).expect("it is text").replace(&old.to_string(), &new.to_string());
    let spare = dmodc_formats::read(text.as_bytes()).expect("a fabric").fabric;
    let mut tables = opensm.run(&mut plugin, &spare);
    assert_eq!(tables, opensm.offline(&opensm.learned(), &spare));
    let its = tables.remove(&new).expect("it has tables");
    tables.insert(old, its);
    assert_eq!(tables, first, "with the old one's tables");
    let learned = opensm.learned();
    assert_eq!(learned.switches().len(), whole.switches().len());
    assert!(learned.switches().iter().all(|s| s.guid != old));
}

#[test]
fn a_file_is_read_when_it_changes_and_never_written() {
    let mut opensm = OpensmWithReference::new("HERE/whole.json");
    let mut plugin = opensm.plugin();
    let (whole, other) = (fabric(THREE_LEVELS), fabric("2; 18,36; 1,18; 1,1"));
    let now = without(&whole, &[30], &[5, 17]);
    let write = |opensm: &OpensmWithReference, fabric: &Fabric, seconds: u64| {
        let mut text = Vec::new();
        json::write(fabric, &mut text).expect("memory is there");
        fs::write(opensm.path("whole.json"), &text).expect("it can be written");
        let when = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = fs::File::options().append(true).open(opensm.path("whole.json"));
        file.and_then(|file| file.set_modified(when)).expect("it is ours");
    };
    // A file that is not there, damaged or of another fabric is reported, and routing goes on without it.
    let refused = |opensm: &mut OpensmWithReference, plugin: &mut Plugin, because: &str| {
        let tables = opensm.run(plugin, &now);
        assert_eq!(tables, plain(&now), "{because}");
        let last = opensm.status()["last"].clone();
        let why = last["reference"]["refused"].as_str().expect("a reason").to_owned();
        assert!(why.contains(because), "{why}");
        assert_eq!(last["engine"], "dmodc");
        let logged = opensm.take_log();
        assert!(logged.contains(&format!("NO REFERENCE: {why}")), "{logged}");
        // The next run is applied to the kept tables.
        opensm.run(plugin, &now);
        assert_eq!(opensm.status()["last"]["incremental"], true);
    };
    refused(&mut opensm, &mut plugin, "whole.json: No such file");
    fs::write(opensm.path("whole.json"), "{}").expect("it can be written");
    refused(&mut opensm, &mut plugin, "whole.json:1:");
    write(&opensm, &other, 10);
    refused(&mut opensm, &mut plugin, "the reference describes another fabric: ");
    fs::remove_file(opensm.path("dmodc.orders")).expect("numbers of the degraded one");

    let mut plugin = opensm.plugin();
    write(&opensm, &whole, 20);
    let tables = opensm.run(&mut plugin, &now);
    assert_eq!(tables, opensm.offline(&whole, &now));
    assert_eq!(opensm.status()["last"]["reference"]["source"], "file");
    // With a snapshot of the present fabric nothing is missing any more.
    write(&opensm, &now, 30);
    let tables = opensm.run(&mut plugin, &now);
    assert_eq!(tables, opensm.offline(&now, &now));
    assert_eq!(opensm.status()["last"]["reference"]["missing"]["switches"], 0);
    // When the file vanishes, the last reference stays in use.
    fs::remove_file(opensm.path("whole.json")).expect("it is there");
    assert_eq!(opensm.run(&mut plugin, &now), tables);
    assert_eq!(opensm.status()["last"]["engine"], "stable");
    assert!(!opensm.path("whole.json").exists() && !opensm.path(LEARNED_SNAPSHOT).exists());
}

#[test]
fn a_learned_file_that_cannot_be_read_is_put_aside() {
    let mut opensm = OpensmWithReference::new("learn");
    fs::write(opensm.path(LEARNED_SNAPSHOT), "nonsense").expect("it can be written");
    let whole = fabric("2; 2,3; 1,2; 1,1");
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &whole);
    assert_eq!(opensm.learned(), whole);
    assert_eq!(fs::read(opensm.path("reference.unreadable")).ok(), Some(b"nonsense".to_vec()));
    assert!(opensm.take_log().contains("reference.json:1:"));
    // A failure to write is reported, and writing is tried again.
    fs::remove_file(opensm.path(LEARNED_SNAPSHOT)).expect("it is there");
    fs::create_dir(opensm.path(LEARNED_SNAPSHOT)).expect("a folder in its place");
    let mut plugin = opensm.plugin();
    opensm.run(&mut plugin, &whole);
    assert!(opensm.take_log().contains("reference.json: "));
}

/// Returns the whole that is inferred from a fabric.
fn inferred(fabric: &Fabric) -> Fabric {
    InferredWhole::new(fabric, &LeafRule::Detect).expect("it is regular").fabric
}

/// The reference is inferred whenever everything is routed. In between, faults and repairs are applied, and so is a cable
/// that was missing from the first day.
#[test]
fn a_reference_is_inferred_from_the_present_fabric() {
    let mut opensm = OpensmWithReference::new("inferred");
    let mut plugin = opensm.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = without(&whole, &[], &[3, 100]);
    assert_eq!(inferred(&first), whole);
    let tables = opensm.run(&mut plugin, &first);
    assert_eq!(tables, opensm.offline(&whole, &first));
    let reference = opensm.status()["last"]["reference"].clone();
    assert_eq!(reference["source"], "inferred");
    assert_eq!(reference["file"], serde_json::Value::Null);
    assert_eq!(reference["missing"]["cables"], 2);
    assert!(opensm.take_log().contains("; inferred reference: missing 2 cables; "));
    assert!(!opensm.path(LEARNED_SNAPSHOT).exists());
    for cables in [vec![3, 50, 100], vec![100, 101, 102], vec![]] {
        let now = without(&whole, &[], &cables);
        let tables = opensm.run(&mut plugin, &now);
        assert_eq!(tables, opensm.offline(&whole, &now), "{cables:?}");
        assert_eq!(opensm.status()["last"]["incremental"], true);
    }
    // After a restart, the orders are the same, and what is inferred depends on the present fabric alone.
    let mut random = Random::new(3, 0);
    for _ in 0..10 {
        let now = without(&whole, &[40], &[0; 3].map(|_| random.below(192) as usize));
        let mut plugin = opensm.plugin();
        let tables = opensm.run(&mut plugin, &now);
        assert_eq!(tables, opensm.offline(&inferred(&now), &now));
    }
}

/// A fabric that is too irregular is routed by plain Dmodc. When the configuration changes, so does the reference.
#[test]
fn where_nothing_can_be_inferred_plain_dmodc_routes() {
    let mut opensm = OpensmWithReference::new("inferred");
    let mut plugin = opensm.plugin();
    let ring = ring_of_leaves();
    for _ in 0..2 {
        assert_eq!(opensm.run(&mut plugin, &ring), plain(&ring));
        let last = opensm.status()["last"].clone();
        let why = last["reference"]["refused"].as_str().expect("a reason").to_owned();
        assert!(why.starts_with("no whole fabric can be inferred: 6 of 6 cables"), "{why}");
        assert_eq!(last["engine"], "dmodc");
        assert!(opensm.take_log().contains(&format!("NO REFERENCE: {why}")));
    }
    let text = fs::read_to_string(opensm.path("dmodc.conf")).expect("it is there");
    fs::write(opensm.path("dmodc.conf"), text.replace("'inferred'", "'learn'")).expect("ours");
    opensm.run(&mut plugin, &ring);
    assert_eq!(opensm.status()["last"]["reference"]["source"], "learned");
    assert_eq!(opensm.learned(), ring);
}

/// Returns six leaves that are cabled as a ring, with a node each.
fn ring_of_leaves() -> Fabric {
    let pgft = fabric("2; 1,6; 1,2; 1,1");
    let mut b = FabricBuilder::new();
    let rate = dmodc::fabric::Rate::default();
    let leaves: Vec<_> = pgft.switches()[..6].iter().map(|s| b.switch(s.clone())).collect();
    for (n, node) in pgft.node_indices().zip(pgft.nodes()) {
        let of = b.adapter(pgft.adapter_of(n).clone());
        b.end_port(of, node.adapter_port, node.guid, node.lid, node.lmc);
        b.cable((of, node.adapter_port), (leaves[node.switch.at()], node.switch_port), rate);
    }
    for at in 0..6 {
        let [left, right] = [2, 3].map(dmodc::PortNumber);
        b.cable((leaves[at], right), (leaves[(at + 1) % 6], left), rate);
    }
    b.finish().expect("a ring")
}
