//! Faults on simulated fabrics with a real OpenSM: after each event the switches must hold the right tables.
//!
//! If a program is not installed, the test is skipped and says so; `scripts/test` installs all of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "a failed test shows its figures")]

mod support;

use dmodc::fabric::{Adapter, AdapterKind, Vertex};
use dmodc::{
    Degradation, Fabric, FabricBuilder, Guid, Lid, Live, PortNumber, Routing, RoutingOptions,
};
use dmodc_lab::{
    Lab, LabError, LabRow, Script, Soak, SoakKind, SoakLength, SoakProgress, SoakRow, TableVerdict,
};

use support::{DIRECTOR, FIGURE_1, ONE, THREE_LEVELS, fabric, plugin, sim, skip};

/// Returns the verdicts after the start and after each event. Each time the switches must hold the tables of the present
/// fabric, and `ibtracert` must follow them.
fn lab(fabric_: &Fabric, script: &str) -> Option<Vec<TableVerdict>> {
    let plugin = plugin()?;
    sim(&fabric(FIGURE_1))?;
    let script = Script::read(script.as_bytes()).unwrap();
    let lab = Lab { fabric: fabric_, plugin: &plugin, script: &script, judges: true };
    let rows = lab.run("dmodc", |row| println!("{row:?}")).unwrap();
    assert!(rows.iter().all(LabRow::is_right), "{rows:?}");
    let verdicts: Vec<TableVerdict> = rows.into_iter().filter_map(|row| row.verdict).collect();
    for verdict in &verdicts {
        assert_eq!(verdict.as_offline, Some(true), "{verdict:?}");
        assert_eq!(verdict.delivered + verdict.cut_off, verdict.pairs, "{verdict:?}");
        assert!(verdict.traced > 0 && verdict.followed == verdict.traced, "{verdict:?}");
    }
    Some(verdicts)
}

/// Random events on a small fabric: after each, the switches hold the tables that follow from the saved files, no pair is
/// lost that cables connect, restarts move nothing, and the plugin reports correctly.
#[test]
fn random_events_leave_the_tables_right() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let fabric = fabric(FIGURE_1);
    if sim(&fabric).is_none() {
        return;
    }
    let soak = Soak {
        fabric: &fabric,
        plugin: &plugin,
        length: SoakLength::Events(15),
        seed: 1,
        learns: false,
        only: None,
        dump: None,
    };
    let show = |progress: SoakProgress<'_>| match progress {
        SoakProgress::Skipped(why) => skip(why),
        SoakProgress::Event(row) => println!("{} {}: {:?}", row.number, row.event, row.wrong),
    };
    let (rows, summary) = soak.run(show).unwrap();
    assert_eq!((rows.len(), summary.events, summary.seed), (16, 16, 1));
    assert_eq!((rows[0].kind, rows[0].number), (SoakKind::Start, 0));
    assert_eq!(summary.kinds.values().sum::<usize>(), 16);
    let is_right = |row: &SoakRow| {
        let verdict = &row.verdict;
        // In so small a fabric a single flow is more than the twentieth by which balance is judged.
        let mut others = row.wrong.iter().filter(|wrong| !wrong.contains("BALANCE"));
        verdict.lost == 0 && verdict.sound && row.differences == 0 && others.next().is_none()
    };
    assert!(rows.iter().all(is_right), "{summary}\n{rows:#?}");
    assert!(summary.memory[0] > 0 && rows.iter().any(|row| row.verdict.entries_changed > 0));
}

/// Returns the same fabric with 2^lmc LIDs for each node, and an aggregation node inside each switch.
fn with_more_lids(fabric: &Fabric, lmc: u8) -> Fabric {
    let mut builder = FabricBuilder::new();
    let (count, mut lid) = (fabric.switches().len(), fabric.switches().len() as u32);
    let mut next = |lmc: u8| {
        lid = (lid >> lmc << lmc) + (1 << lmc);
        Lid(lid)
    };
    let mut switches = Vec::new();
    for (at, switch) in fabric.switches().iter().enumerate() {
        let (lid, ports) = (Lid(at as u32 + 1), switch.ports + 1);
        switches.push(builder.switch(dmodc::fabric::Switch { lid, ports, ..switch.clone() }));
    }
    assert_eq!(switches.len(), count);
    let mut end = |builder: &mut FabricBuilder, adapter: Adapter, at: (Vertex, PortNumber)| {
        let (guid, port) = (Guid(adapter.guid.0 + 1), PortNumber(1));
        let of = builder.adapter(adapter);
        builder.end_port(of, port, guid, next(lmc), lmc);
        builder.cable((of, port), at, Default::default());
    };
    for node in fabric.nodes() {
        let adapter = fabric.adapters()[node.adapter.at()].clone();
        end(&mut builder, adapter, (switches[node.switch.at()], node.switch_port));
    }
    for (at, switch) in fabric.switches().iter().enumerate() {
        let product = dmodc::fabric::Product { device: 0xcf09, ..switch.product };
        let (guid, kind) = (Guid(0xa000 + 16 * at as u64), AdapterKind::Aggregation);
        let name = "Mellanox Technologies Aggregation Node".into();
        let adapter = Adapter { guid, ports: 1, kind, name, product };
        end(&mut builder, adapter, (switches[at], PortNumber(switch.ports + 1)));
    }
    for cable in fabric.inter_switch_cables() {
        let [a, b] = [cable.a, cable.b].map(|(s, port)| (switches[s.at()], port));
        builder.cable(a, b, Default::default());
    }
    builder.finish().unwrap()
}

/// Faults of every kind in one running OpenSM: each time the switches hold what `dmodc route` computes for
/// what `ibnetdiscover` finds at that moment; after full repair, the first tables.
#[test]
fn after_every_fault_switches_hold_the_tables_of_the_moment() {
    let _one = ONE.lock();
    let faults = "kill cables 1 seed 1\nkill switches 1 seed 2\nrepair all\nkill cables 60 seed 3\n\
                  flap cable 3\nrepair all\ncut leaf\nrepair all\n";
    for (tuple, script) in [
        (FIGURE_1, "kill cables 2 seed 1\nrepair all\n"),
        (DIRECTOR, faults),
        (THREE_LEVELS, "kill cables 60 seed 3\nkill switches 2 seed 2\nrepair all\n"),
    ] {
        let Some(verdicts) = lab(&fabric(tuple), script) else { return };
        assert_eq!(verdicts.len(), 1 + script.lines().count());
        let (first, last) = (&verdicts[0], verdicts.last().unwrap());
        assert_eq!(first.digest, last.digest, "after full repair, the first tables");
        assert!(verdicts[1].entries_changed > 0);
    }
}

/// Four LIDs for each node, and aggregation nodes on every switch, spines too: every LID has its routes.
#[test]
fn several_lids_and_aggregation_nodes_are_routed() {
    let _one = ONE.lock();
    let fabric = with_more_lids(&fabric(FIGURE_1), 2);
    let script = "kill cables 1 seed 1\nkill switches 1 seed 2\nrepair all\n";
    let Some(verdicts) = lab(&fabric, script) else { return };
    let (nodes, switches) = (fabric.nodes().len(), fabric.switches().len());
    // 54 pairs of switches have no up*down* route: one LID of the switch, and four of what is inside it.
    let entries = switches * (4 * nodes + switches) - 54 * (1 + 4);
    assert_eq!(verdicts[0].entries_changed, entries, "every other entry is set");
    assert_eq!(verdicts[0].digest, verdicts[3].digest, "after full repair, the first tables");
}

/// OpenSM's own engines under the same faults; one that refuses is reported. (ftree knows no LMC.)
#[test]
fn peers_run_in_the_lab_too() {
    let _one = ONE.lock();
    let Some(plugin) = plugin() else { return };
    let whole = fabric(FIGURE_1);
    if sim(&whole).is_none() {
        return;
    }
    let script = Script::read(b"kill cables 1 seed 1\nrepair all\n").unwrap();
    let lab = Lab { fabric: &whole, plugin: &plugin, script: &script, judges: true };
    for engine in ["ftree", "updn"] {
        let rows = lab.run(engine, |_| ()).unwrap();
        assert!(rows.iter().all(LabRow::is_right), "{rows:?}");
        assert!(rows.iter().all(|row| row.verdict.as_ref().unwrap().as_offline.is_none()));
    }
    let rows = Lab { judges: false, ..lab }.run("updn", |_| ()).unwrap();
    assert!(rows.iter().all(|row| row.verdict.is_none() && row.upload_s > 0.0));
    match (Lab { fabric: &with_more_lids(&whole, 1), ..lab }).run("ftree", |_| ()) {
        Err(LabError::OtherEngine { engine, .. }) => assert_eq!(engine, "ftree"),
        other => panic!("{other:?}"),
    }
}

/// Leaves in a ring are no fat tree; inside OpenSM, too, they stay connected when a cable dies.
#[test]
fn a_ring_of_leaves_stays_connected() {
    let _one = ONE.lock();
    // A reader gives GUIDs as names come: two switches get higher ones than both their neighbours.
    let hosts = [0, 2, 4, 1, 3].map(|at| format!("Hca 1 \"h{at}\"\n[1] \"s{at}\"[1]\n\n"));
    let switches = [0, 1, 2, 3, 4].map(|at| {
        let (last, next) = ((at + 4) % 5, (at + 1) % 5);
        format!("Switch 8 \"s{at}\"\n[1] \"h{at}\"[1]\n[3] \"s{last}\"[4]\n[4] \"s{next}\"[3]\n\n")
    });
    let text = hosts.concat() + &switches.concat();
    let ring = dmodc_formats::read(text.as_bytes()).unwrap().fabric;
    let whole = Degradation::none(&ring);
    let routing = Routing::new(Live::new(&ring, &whole), &RoutingOptions::default());
    assert!(routing.unconnected().is_some(), "ranks from the leaves lose pairs");
    let script = "kill cable s1 s2\nrepair all\n";
    let Some(verdicts) = lab(&ring, script) else { return };
    assert_eq!(verdicts[0].digest, verdicts[2].digest, "after full repair, the first tables");
}
