//! The plugin with a reference, without OpenSM: run by run.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dmodc::fabric::{Peer, Switch};
use dmodc::{
    Degradation, DestinationOrder, Dmodc, FabricBuilder, Guid, Joined, LeafRule, Live, NO_ROUTE,
    Pgft, Random, Routing, RoutingOptions, SavedOrders, Stable, SwitchIndex, SwitchOrder,
};
use dmodc_formats::orders;
use tempfile::TempDir;

use super::*;
use crate::plugin::Plugin;

/// OpenSM as far as a run needs it, with a folder for everything.
struct Desk {
    folder: TempDir,
    fabric: Fabric,
    tables: Tables,
    log: RefCell<Vec<String>>,
}

/// By GUID of the switch: the entries, without empty ones at the end.
type Tables = BTreeMap<Guid, Vec<u8>>;

impl Host for Desk {
    fn fabric(&mut self) -> Fabric {
        self.fabric.clone()
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<(u32, u32), String> {
        let lids = self.fabric.nodes().iter().map(|n| n.lid.0 + (1 << n.lmc) - 1);
        let most = lids.chain(self.fabric.switches().iter().map(|s| s.lid.0)).max();
        assert!(entries.len() <= most.unwrap_or(0) as usize + 1, "OpenSM has no room for more");
        self.tables.insert(switch, trimmed(entries.to_vec()));
        Ok((0, 0))
    }

    fn set_hops(&mut self, _: Guid, _: &[u16], _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn log(&self, level: Level, line: fmt::Arguments<'_>) {
        if level != Level::Verbose {
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

impl Desk {
    fn new(reference: &str) -> Self {
        let desk = Desk {
            folder: tempfile::tempdir().expect("a folder"),
            fabric: fabric("2; 1,1; 1,1; 1,1"),
            tables: Tables::new(),
            log: RefCell::default(),
        };
        let folder = desk.folder.path().display();
        let text = format!(
            "reference = '{}'\nstate_folder = '{folder}'\nstatus_file = '{folder}/status'\n\
             threads = 1\n",
            reference.replace("HERE", &folder.to_string())
        );
        fs::write(desk.path("dmodc.conf"), text).expect("it can be written");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A new OpenSM.
    fn plugin(&self) -> Plugin {
        Plugin::new((self.path("dmodc.conf"), true), Arc::new(|_, _| {}))
    }

    /// A run on this fabric; the tables that switches have then.
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
        let text = fs::read(self.path(LEARNED)).expect("it was learned");
        dmodc_formats::read(&text).expect("a fabric").fabric
    }

    fn orders(&self) -> SavedOrders {
        let text = fs::read(self.path("dmodc.orders")).expect("orders are saved");
        orders::read(&text).expect("orders")
    }

    /// What `dmodc route --engine stable --reference --orders` gives for this fabric.
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

    /// The log since the last look.
    fn said(&self) -> String {
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

/// What plain Dmodc gives.
fn plain(fabric: &Fabric) -> Tables {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    image(live, &Routing::new(live, &RoutingOptions::default()), &Dmodc)
}

fn fabric(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default())
}

/// Kills these switches and cables between switches.
fn without(fabric: &Fabric, switches: &[usize], cables: &[usize]) -> Fabric {
    let mut dead = Degradation::none(fabric);
    switches.iter().for_each(|s| dead.set_switch(SwitchIndex::new(*s), true));
    cables.iter().for_each(|c| dead.set_cable(dmodc::CableIndex::new(*c), true));
    fabric.without(&dead)
}

const THREE_LEVELS: &str = "3; 4,4,6; 1,4,2; 1,1,2";

/// Faults, repairs and restarts: always the tables of the moment, by the reference that was learned.
#[test]
fn what_is_learned_outlives_faults_and_restarts() {
    let mut desk = Desk::new("learn");
    let mut plugin = desk.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = desk.run(&mut plugin, &whole);
    assert_eq!(first, plain(&whole));
    assert_eq!(desk.learned(), whole);
    let mut random = Random::new(5, 0);
    for round in 0..20 {
        let spine = whole.switches().len() - 1 - random.below(30) as usize;
        let cables = [0; 4].map(|_| random.below(192) as usize);
        let switches = if random.below(2) == 0 { vec![spine] } else { vec![] };
        let now = without(&whole, &switches, &cables);
        if round % 5 == 4 {
            plugin = desk.plugin();
        }
        let tables = desk.run(&mut plugin, &now);
        assert_eq!(tables, desk.offline(&desk.learned(), &now));
        let last = &desk.status()["last"];
        assert_eq!(
            (&last["engine"], &last["reference"]["source"]),
            (&"stable".into(), &"learned".into())
        );
        assert_eq!(last["incremental"], round % 5 != 4);
        let missing = Joined::new(&whole, &now).expect("a part of it").changes.missing;
        assert_eq!(last["reference"]["missing"]["cables"], missing.cables);
        assert_eq!(last["reference"]["missing"]["switches"], missing.switches);
    }
    assert_eq!(desk.run(&mut plugin, &whole), first, "after full repair, the first tables");
    assert_eq!(desk.learned(), whole, "it never shrinks");
    assert!(desk.said().contains("; reference: missing "));
}

/// The same fabric from a source that lists no port behind the last one in use.
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

/// A discovery that lists fewer ports than before moves what the dead cable moves, and nothing is unlearned.
#[test]
fn ports_that_are_not_listed_any_more_are_dead_slots() {
    let mut desk = Desk::new("learn");
    let mut plugin = desk.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = desk.run(&mut plugin, &whole);
    let last_cables: Vec<usize> = (0..whole.inter_switch_cables().len()).step_by(7).collect();
    for renamed in [false, true] {
        for &dead in &last_cables {
            let now = without(&whole, &[], &[dead]);
            let listed = desk.run(&mut plugin, &now);
            let mut short = without_unused_ports(&now);
            if renamed {
                // A new name is news, and so the reference is learned again.
                short = with_another_name(&short, dead);
            }
            assert!(desk.run(&mut plugin, &short) == listed, "cable {dead}");
            assert_eq!(desk.status()["last"]["reference"]["missing"]["cables"], 1);
            let learned = desk.learned();
            let cables = learned.inter_switch_cables().len();
            assert_eq!(cables, whole.inter_switch_cables().len());
            let mut plugin = desk.plugin();
            assert!(desk.run(&mut plugin, &short) == listed, "after a restart");
        }
    }
    assert_eq!(desk.run(&mut plugin, &whole), first, "after full repair, the first tables");
}

/// The same fabric, in which one switch is called otherwise.
fn with_another_name(fabric: &Fabric, which: usize) -> Fabric {
    let name = fabric.switches()[which % fabric.switches().len()].name.clone();
    let mut text = Vec::new();
    json::write(fabric, &mut text).expect("memory is there");
    let text = String::from_utf8(text).expect("it is text");
    let text = text.replace(&format!("\"{name}\""), "\"another\"");
    dmodc_formats::read(text.as_bytes()).expect("a fabric").fabric
}

/// The first fabric is not valid; then parts come, one after the other.
#[test]
fn only_what_is_valid_is_learned_and_growth_renumbers_nobody() {
    let mut desk = Desk::new("learn");
    let mut plugin = desk.plugin();
    let whole = fabric(THREE_LEVELS);
    // The first leaf without its spines: it has nodes, and reaches nobody.
    let cut = without(&whole, &[], &[0, 1, 2, 3]);
    let tables = desk.run(&mut plugin, &cut);
    assert_eq!(tables, plain(&cut));
    assert!(!desk.path(LEARNED).exists());
    let last = &desk.status()["last"];
    let why = last["reference"]["refused"].as_str().expect("a reason").to_owned();
    assert!(last["engine"] == "dmodc" && why.starts_with("no fabric was seen yet"), "{why}");
    assert!(desk.said().contains("NO REFERENCE: no fabric was seen yet"));

    // Two pods of six, then four, then a repaired whole.
    fs::remove_file(desk.path("dmodc.orders")).expect("a new start");
    let mut plugin = desk.plugin();
    let pods = |count: usize| -> Fabric {
        let absent = (4 * count..24).chain(24 + 4 * count..48).collect::<Vec<_>>();
        without(&whole, &absent, &[])
    };
    let mut before = SavedOrders::default();
    for count in [2, 4, 6] {
        let now = pods(count);
        let tables = desk.run(&mut plugin, &now);
        assert_eq!(desk.learned().switches().len(), now.switches().len());
        assert_eq!(tables, desk.offline(&desk.learned(), &now));
        let saved = desk.orders();
        assert_eq!(saved.nodes[..before.nodes.len()], before.nodes, "nobody is renumbered");
        let news = &desk.status()["last"]["reference"]["new"];
        assert_eq!(news["switches"], 0, "what is new has joined the reference");
        before = saved;
    }
    // Smaller again, and not valid with something new: nothing is learned.
    desk.run(&mut plugin, &pods(3));
    assert_eq!(desk.learned().switches().len(), whole.switches().len());
    // Removed, it is learned again.
    fs::remove_file(desk.path(LEARNED)).expect("it is there");
    let four = pods(4);
    desk.run(&mut plugin, &four);
    assert_eq!(desk.learned().switches().len(), four.switches().len());
}

/// New parts in a fabric that is not valid: routed beside the reference, exactly as offline.
#[test]
fn what_is_new_in_an_invalid_fabric_waits() {
    let mut desk = Desk::new("learn");
    let mut plugin = desk.plugin();
    let whole = fabric(THREE_LEVELS);
    let part = without(&whole, &[20, 21, 22, 23, 44, 45, 46, 47], &[]);
    desk.run(&mut plugin, &part);
    // The new pod comes, while the first leaf is cut off; then one of its leaves dies.
    for dead in [vec![], vec![23], vec![24], vec![]] {
        let now = without(&whole, &dead, &[0, 1, 2, 3]);
        let tables = desk.run(&mut plugin, &now);
        assert_eq!(desk.learned(), part);
        assert_eq!(tables, desk.offline(&part, &now), "{dead:?}");
        assert_ne!(desk.status()["last"]["reference"]["new"]["switches"], 0);
    }
}

/// A spare switch in the place of a dead one is that one, by another GUID.
#[test]
fn a_replaced_switch_moves_nothing_else() {
    let mut desk = Desk::new("learn");
    let mut plugin = desk.plugin();
    let whole = fabric(THREE_LEVELS);
    let first = desk.run(&mut plugin, &whole);
    let (old, new) = (whole.switches()[30].guid, Guid(0xab));
    desk.run(&mut plugin, &without(&whole, &[30], &[]));
    let mut text = Vec::new();
    json::write(&whole, &mut text).expect("memory is there");
    let text =
        String::from_utf8(text).expect("it is text").replace(&old.to_string(), &new.to_string());
    let spare = dmodc_formats::read(text.as_bytes()).expect("a fabric").fabric;
    let mut tables = desk.run(&mut plugin, &spare);
    assert_eq!(tables, desk.offline(&desk.learned(), &spare));
    let its = tables.remove(&new).expect("it has tables");
    tables.insert(old, its);
    assert_eq!(tables, first, "with the old one's tables");
    let learned = desk.learned();
    assert_eq!(learned.switches().len(), whole.switches().len());
    assert!(learned.switches().iter().all(|s| s.guid != old));
}

#[test]
fn a_file_is_read_when_it_changes_and_never_written() {
    let mut desk = Desk::new("HERE/whole.json");
    let mut plugin = desk.plugin();
    let (whole, other) = (fabric(THREE_LEVELS), fabric("2; 18,36; 1,18; 1,1"));
    let now = without(&whole, &[30], &[5, 17]);
    let write = |desk: &Desk, fabric: &Fabric, seconds: u64| {
        let mut text = Vec::new();
        json::write(fabric, &mut text).expect("memory is there");
        fs::write(desk.path("whole.json"), &text).expect("it can be written");
        let when = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = fs::File::options().append(true).open(desk.path("whole.json"));
        file.and_then(|file| file.set_modified(when)).expect("it is ours");
    };
    // Not there, damaged, of another fabric: told, and routed without.
    let refused = |desk: &mut Desk, plugin: &mut Plugin, because: &str| {
        let tables = desk.run(plugin, &now);
        assert_eq!(tables, plain(&now), "{because}");
        let last = desk.status()["last"].clone();
        let why = last["reference"]["refused"].as_str().expect("a reason").to_owned();
        assert!(why.contains(because), "{why}");
        assert_eq!(last["engine"], "dmodc");
        let said = desk.said();
        assert!(said.contains(&format!("NO REFERENCE: {why}")), "{said}");
        // Again, it is applied to what is kept.
        desk.run(plugin, &now);
        assert_eq!(desk.status()["last"]["incremental"], true);
    };
    refused(&mut desk, &mut plugin, "whole.json: No such file");
    fs::write(desk.path("whole.json"), "{}").expect("it can be written");
    refused(&mut desk, &mut plugin, "whole.json:1:");
    write(&desk, &other, 10);
    refused(&mut desk, &mut plugin, "the reference is of another fabric: ");
    fs::remove_file(desk.path("dmodc.orders")).expect("numbers of the degraded one");

    let mut plugin = desk.plugin();
    write(&desk, &whole, 20);
    let tables = desk.run(&mut plugin, &now);
    assert_eq!(tables, desk.offline(&whole, &now));
    assert_eq!(desk.status()["last"]["reference"]["source"], "file");
    // Another one, of now: nothing is missing any more.
    write(&desk, &now, 30);
    let tables = desk.run(&mut plugin, &now);
    assert_eq!(tables, desk.offline(&now, &now));
    assert_eq!(desk.status()["last"]["reference"]["missing"]["switches"], 0);
    // Gone for a moment: the last one stays.
    fs::remove_file(desk.path("whole.json")).expect("it is there");
    assert_eq!(desk.run(&mut plugin, &now), tables);
    assert_eq!(desk.status()["last"]["engine"], "stable");
    assert!(!desk.path("whole.json").exists() && !desk.path(LEARNED).exists());
}

#[test]
fn a_learned_file_that_cannot_be_read_is_put_aside() {
    let mut desk = Desk::new("learn");
    fs::write(desk.path(LEARNED), "nonsense").expect("it can be written");
    let whole = fabric("2; 2,3; 1,2; 1,1");
    let mut plugin = desk.plugin();
    desk.run(&mut plugin, &whole);
    assert_eq!(desk.learned(), whole);
    assert_eq!(fs::read(desk.path("reference.unreadable")).ok(), Some(b"nonsense".to_vec()));
    assert!(desk.said().contains("reference.json:1:"));
    // What cannot be written is told, and tried again.
    fs::remove_file(desk.path(LEARNED)).expect("it is there");
    fs::create_dir(desk.path(LEARNED)).expect("a folder in its place");
    let mut plugin = desk.plugin();
    desk.run(&mut plugin, &whole);
    assert!(desk.said().contains("reference.json: "));
}
