//! The report of the present state: one HTML page that needs no other files.

use dmodc::judge::risk::{Loads, Traffic};
use dmodc::judge::{Delivery, Islands};
use dmodc::{Fabric, SwitchIndex};
use dmodc_study::analysis::histogram;
use dmodc_study::report::{
    DeviceName, Histogram, HtmlReport, LostPairRow, PatternSection, Unroutable, WorstPortRow,
    html as page,
};
use dmodc_view::Workbench;

/// The greatest number of bars of a figure.
const BARS: u64 = 40;

/// How many of the worst ports are listed.
const WORST: usize = 50;

/// Returns the report.
pub(crate) fn html(bench: &Workbench) -> String {
    let traffic = bench.router().traffic();
    let loads = traffic.all_to_all();
    page(&HtmlReport {
        title: format!("{}, routed by {}", bench.setup().title(), bench.engine()),
        facts: facts(bench),
        patterns: vec![section(bench.fabric(), &traffic, &loads)],
        unroutable: unroutable(bench, &loads),
        hosts: vec![],
        made_by: format!("dmodc {} serve", env!("CARGO_PKG_VERSION")),
    })
}

fn facts(bench: &Workbench) -> Vec<(String, String)> {
    let (fabric, faults) = (bench.fabric(), bench.router().degradation());
    let mut facts = vec![
        ("nodes", fabric.nodes().len().to_string()),
        ("switches", fabric.switches().len().to_string()),
        ("cables between switches", fabric.inter_switch_cables().len().to_string()),
        ("failed switches", faults.dead_switches().count().to_string()),
        ("failed cables", faults.dead_cables().count().to_string()),
        ("engine", bench.engine().to_string()),
        ("reference of the engine stable", bench.setup().about_reference().to_owned()),
    ];
    if let Some(event) = bench.last_event() {
        facts.push(("last event", event.text.clone()));
        facts.push(("re-routed in", format!("{:.1} ms", event.milliseconds)));
        facts.push(("entries moved", event.entries.to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn device(fabric: &Fabric, s: SwitchIndex) -> DeviceName {
    let switch = fabric.switch(s);
    DeviceName {
        name: switch.name.to_string(),
        detail: format!("{}, LID {}", switch.guid, switch.lid.0),
    }
}

fn section(fabric: &Fabric, traffic: &Traffic<'_>, loads: &Loads) -> PatternSection {
    let mut worst: Vec<usize> = (0..loads.by_port.len()).collect();
    worst.sort_by_key(|&at| (std::cmp::Reverse(loads.by_port[at]), at));
    let row = |&at: &usize| {
        let port = traffic.ports()[at];
        WorstPortRow {
            switch: device(fabric, port.switch),
            port: port.port.0,
            peer: device(fabric, port.peer),
            load: loads.by_port[at] as f64,
            sources: None,
            destinations: loads.destinations.get(at).map(|&count| u64::from(count)),
        }
    };
    let bins = histogram(loads.by_port.iter().copied(), BARS);
    PatternSection {
        name: "All to all".into(),
        about:
            "Every node sends to every other node; a load is the number of flows through a port."
                .into(),
        max: loads.max() as f64,
        mean: loads.mean(),
        mean_over: "all ports".into(),
        max_bound: (loads.bound > 0).then_some(loads.bound as f64),
        mean_bound: None,
        rates: vec![],
        histogram: Histogram {
            value: "flows through a port".into(),
            count: "ports".into(),
            bars: bins.iter().map(|bin| (bin.from, bin.count)).collect(),
        },
        percentiles: vec![],
        worst: worst.iter().take(WORST).map(row).collect(),
        heat: None,
    }
}

fn unroutable(bench: &Workbench, loads: &Loads) -> Unroutable {
    let (router, fabric) = (bench.router(), bench.fabric());
    let delivery = Delivery::of_route(router.live(), &router.coverage());
    let islands = Islands::new(router.live());
    let examples = loads.lost.iter().map(|pair| {
        let node = fabric.node(pair.to);
        let is_connected = islands.connect(pair.from, node.switch);
        LostPairRow {
            from: device(fabric, pair.from),
            to: DeviceName {
                name: fabric.adapter_of(pair.to).name.to_string(),
                detail: node.guid.to_string(),
            },
            reason: if is_connected {
                "lost: the tables do not deliver it"
            } else {
                "cut off: no cables connect it"
            }
            .into(),
        }
    });
    Unroutable { pairs: delivery.unroutable(), of: delivery.pairs, examples: examples.collect() }
}
