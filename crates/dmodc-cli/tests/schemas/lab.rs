//! Documents that OpenSM takes part in. The results of the lab are also made without it, from the same types that the
//! program prints.

use std::collections::BTreeMap;
use std::path::Path;

use dmodc::{Degradation, Live, Pgft};
use dmodc_lab::{
    Handover, LabError, LabRow, SoakBalance, SoakKind, SoakRow, SoakSummary, TableVerdict,
    tables_of,
};
use serde_json::json;

use super::{CheckedDesk, DMODC, skip};

fn verdict(as_offline: Option<bool>) -> TableVerdict {
    TableVerdict {
        entries_changed: 7,
        pairs: 132,
        delivered: 130,
        lost: 0,
        cut_off: 2,
        sound: true,
        deadlock_free: true,
        digest: u64::MAX,
        as_offline,
        traced: 6,
        followed: 6,
    }
}

fn row(refused: Option<&str>, verdict: Option<TableVerdict>) -> LabRow {
    LabRow {
        event: "kill cables 1".into(),
        sweeps: 1,
        upload_s: 0.25,
        matrices_ms: 0.5,
        tables_ms: 1.5,
        routes_ms: refused.is_none().then_some(0.75),
        refused: refused.map(Into::into),
        verdict,
    }
}

fn soak_row(handover: Option<Handover>, sampled_shifts: Option<usize>) -> SoakRow {
    SoakRow {
        number: 1,
        event: "another manager takes over".into(),
        kind: SoakKind::Handover,
        sweeps: 1,
        upload_s: 0.25,
        verdict: verdict(Some(true)),
        roadless: 0,
        differences: 0,
        quiet: true,
        balance: SoakBalance { a2a: 10, a2a_fresh: 10, sp: 1.5, sp_fresh: 1.5, sampled_shifts },
        others_moved: 0,
        must_stay: true,
        handover,
        nudges: 0,
        stalls: 0,
        wrong: vec!["a sentence".into()],
    }
}

/// Checks results of the lab with every key, as if they came from OpenSM.
pub(crate) fn results(desk: &mut CheckedDesk) {
    let handover = Handover { is_shared: false, moved: 3, moved_if_shared: Some(0) };
    let summary = SoakSummary {
        kinds: BTreeMap::from([(SoakKind::Handover, 1), (SoakKind::RepairAll, 2)]),
        wrong: vec![1],
        worst_quiet: Some(1.0),
        worst_other: Some(1.25),
        handovers: vec![handover, Handover { moved_if_shared: None, ..handover }],
        memory: [1 << 20, 1 << 20],
        skipped: vec!["full-disk: it needs root".into()],
        ..SoakSummary::default()
    };
    let scripted = [
        row(None, Some(verdict(None))),
        row(Some("why"), Some(verdict(None))),
        row(Some("why"), None),
        row(None, None),
    ];
    let random = [soak_row(Some(handover), Some(175)), soak_row(None, None)];
    let report = json!({
        "schema": "dmodc/lab/4",
        "nodes": 12,
        "switches": 16,
        "sound": true,
        "right": false,
        "runs": [
            { "engine": "dmodc", "events": scripted },
            { "engine": "dmodc", "events": random, "soak": summary },
        ],
    });
    desk.check(&report.to_string(), "results of a lab");
    let whole = row(None, Some(verdict(Some(true))));
    let report = json!({ "schema": "dmodc/lab/4", "nodes": 12, "switches": 16, "sound": true,
        "right": true, "runs": [{ "engine": "updn", "events": [whole] }] });
    desk.check(&report.to_string(), "results of a lab");
}

/// Checks what OpenSM itself takes part in. Returns whether it is installed.
pub(crate) fn opensm(desk: &mut CheckedDesk) -> bool {
    let plugin = Path::new(DMODC).with_file_name("libdmodc.so");
    let fabric = "1; 2; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    match tables_of(Live::new(&fabric, &healthy), "minhop", &plugin, 60) {
        Err(
            why @ (LabError::Missing { .. } | LabError::NoPlugin(_) | LabError::EmptyPlugin(_)),
        ) => {
            skip(&format!("documents of OpenSM: {why}"));
            return false;
        }
        other => drop(other.unwrap()),
    }
    desk.json(&["route", "f.topo", "--engine", "opensm:minhop"]);
    desk.json(&["opensm", "lab", "f.topo", "--engine", "dmodc,minhop"]);
    desk.json(&["opensm", "lab", "f.topo", "--unchecked"]);
    desk.json(&["opensm", "lab", "f.topo", "--soak", "1"]);
    // Fat-tree routing of OpenSM refuses a single switch, and switches in a row with one node.
    let directors = "leaves=1,nodes=1,directors=1,lines=1,spines=1,cables=1";
    let pods = "pods=1,leaves=1,nodes=1,lower=1,upper=1,cores=1,reach=1";
    let shapes = ["--pgft", "1; 2; 1; 1", "--directors", directors, "--pods", pods];
    let bench = ["bench", "--dead", "0/0", "--rounds", "1", "--with-opensm=minhop,ftree"];
    desk.json(&[&bench[..], &shapes].concat());
    let plan = "name = \"theirs\"\ndraws = 1\nengines = [\"dmodc\", \"opensm:minhop\"]\npatterns = [\"a2a\"]\n\
                [[fabric]]\nfile = \"f.topo\"\nname = \"f\"\n[[degradation]]\ncables = [0]\n";
    desk.desk.write("theirs.toml", plan);
    desk.json(&["study", "run", "theirs.toml"]);
    desk.file("theirs.study/theirs.meta.json");
    true
}
