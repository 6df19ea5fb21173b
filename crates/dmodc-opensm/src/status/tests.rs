//! The same numbers in the log, in the status file and in the metrics file.

use crate::config::ReferenceSource;
use dmodc::fabric::{Changes, Counts};

use super::*;

fn report() -> RunReport {
    RunReport {
        size: FabricSize { nodes: 12, switches: 16, cables: 32 },
        mode: RouteMode::Incremental { faults: 1, repairs: 0 },
        coverage: Coverage::default(),
        delivery: Delivery { pairs: 132, delivered: 126, lost: 4, cut_off: 2 },
        reference: None,
        upload: UploadSize { entries: 7, blocks: 3, switches: 2 },
        times: RunTimes {
            collect: Duration::from_micros(120),
            look: Duration::ZERO,
            route: Duration::from_micros(310),
            write: Duration::from_micros(50),
        },
        leaf_warning: None,
        loss_reason: None,
    }
}

#[test]
fn a_run_is_one_line() {
    assert_eq!(
        report().to_string(),
        "12 nodes, 16 switches, 32 cables between switches; 1 fault and 0 repairs routed in 0.31 ms (read in \
         0.12 ms, written in 0.05 ms); NOT ALL DELIVERED: 126 of 132 node pairs delivered, 4 lost, 2 cut \
         off; 7 entries in 3 blocks changed"
    );
    let delivery = Delivery { pairs: 132, delivered: 130, lost: 0, cut_off: 2 };
    let line = RunReport { delivery, ..report() }.to_string();
    assert!(line.contains("; valid; 130 of 132 node pairs delivered, 2 cut off; "), "{line}");
}

#[test]
fn a_reference_is_reported_everywhere() {
    let missing = Counts { switches: 1, nodes: 0, cables: 3 };
    let changes = Changes { missing, ..Changes::default() };
    let reported = |changes| ReferenceReport {
        source: ReferenceSource::Learn,
        path: Some("/state/reference.json".into()),
        changes,
    };
    let used = RunReport { reference: Some(reported(Ok(changes))), ..report() };
    assert!(used.to_string().contains("; reference: missing 1 switch, 3 cables; 7 entries"));
    let totals = RunTotals::default();
    let json = |report: &RunReport| -> Value { totals.json(Some(report), None) };
    let last = &json(&used)["last"];
    assert_eq!(
        (&last["engine"], &last["reference"]["missing"]["cables"]),
        (&"stable".into(), &3.into())
    );
    let metrics = totals.metrics(Some(&used));
    assert!(metrics.contains("\ndmodc_reference_used 1\n"));
    assert!(metrics.contains("\ndmodc_reference_missing_cables 3\n"));
    let refused = RunReport { reference: Some(reported(Err("why".into()))), ..report() };
    assert!(refused.to_string().contains("; NO REFERENCE: why; "));
    let last = &json(&refused)["last"];
    assert_eq!((&last["engine"], &last["reference"]["refused"]), (&"dmodc".into(), &"why".into()));
    assert!(totals.metrics(Some(&refused)).contains("\ndmodc_reference_used 0\n"));
    assert_eq!(json(&report())["last"]["reference"], Value::Null);
}

#[test]
fn scripts_and_prometheus_read_the_same() {
    let mut totals = RunTotals::default();
    totals.add(&report());
    let json = totals.json(Some(&report()), None);
    assert_eq!(json["last"]["entries_changed"], 7);
    assert_eq!(json["ok"], true);
    for (key, name, count) in [
        ("pairs", "pairs", 132),
        ("delivered", "delivered_pairs", 126),
        ("lost", "lost_pairs", 4),
        ("cut_off", "cut_off_pairs", 2),
    ] {
        assert_eq!(json["last"][key], count);
        assert_eq!(json["verdict"][key], count);
        let line = format!("\ndmodc_{name} {count}\n");
        assert!(totals.metrics(Some(&report())).contains(&line), "{line}");
    }
    let metrics = totals.metrics(Some(&report()));
    assert!(metrics.contains("# TYPE dmodc_runs_total counter\ndmodc_runs_total 1\n"));
    assert!(metrics.contains("dmodc_valid 1\n"));
    let failed = totals.metrics(None);
    assert!(failed.contains("dmodc_last_run_ok 0\n") && !failed.contains("dmodc_valid"));
    let json = totals.json(None, Some("why"));
    assert_eq!((&json["error"], &json["verdict"]), (&"why".into(), &Value::Null));
}
