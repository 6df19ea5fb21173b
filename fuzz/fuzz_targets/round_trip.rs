//! A fabric that can be read can be written and read again. JSON gives the same fabric; ibnetdiscover text gives the same
//! but for the things that it has no words for:
//! - nodes come in the order of their adapters;
//! - control characters in descriptions become blanks;
//! - the kind of an adapter follows from its device number and description, while JSON has a member for it;
//! - a fabric without any switch is refused.
#![no_main]

use dmodc::fabric::{Adapter, AdapterKind, Node, Product, Rate};
use dmodc::{Fabric, Guid, Lid};
use dmodc_formats::{DirtKind, Format, ibnetdiscover, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(reading) = dmodc_formats::read(data) else { return };
    let fabric = reading.fabric;

    let mut text = Vec::new();
    json::write(&fabric, &mut text).expect("memory takes everything");
    let again = dmodc_formats::read(&text).expect("our own JSON");
    assert_eq!(again.fabric, fabric);

    if fabric.switches().is_empty() {
        return;
    }
    text.clear();
    ibnetdiscover::write(&fabric, &[], &mut text).expect("memory takes everything");
    let again = dmodc_formats::read(&text).expect("our own text");
    assert!(again.dirt.iter().all(|(kind, _)| kind == DirtKind::UnknownRate), "{:?}", again.dirt);
    assert_eq!(again.given_lids, 0);
    assert_eq!(switches(&again.fabric), switches(&fabric));
    assert_eq!(adapters(&again.fabric), adapters(&fabric));
    assert_eq!(nodes(&again.fabric), nodes(&fabric));
    assert_eq!(again.fabric.inter_switch_cables(), fabric.inter_switch_cables());
    for (after, before) in again.fabric.adapters().iter().zip(fabric.adapters()) {
        if reading.format != Format::Json && !before.name.contains(char::is_control) {
            assert_eq!(after.kind, before.kind, "{}", before.name);
        }
    }
});

fn printable(name: &str) -> String {
    name.replace(char::is_control, " ")
}

fn switches(fabric: &Fabric) -> Vec<(Guid, Lid, u8, String, Product, Vec<Rate>)> {
    let rates = |s| fabric.ports_of(s).iter().map(|port| port.rate).collect();
    fabric
        .switch_indices()
        .map(|s| (fabric.switch(s), rates(s)))
        .map(|(s, rates)| (s.guid, s.lid, s.ports, printable(&s.name), s.product, rates))
        .collect()
}

fn adapters(fabric: &Fabric) -> Vec<(Guid, u8, bool, String, Product)> {
    let router = |a: &Adapter| a.kind == AdapterKind::Router;
    fabric
        .adapters()
        .iter()
        .map(|a| (a.guid, a.ports, router(a), printable(&a.name), a.product))
        .collect()
}

fn nodes(fabric: &Fabric) -> Vec<Node> {
    let mut nodes = fabric.nodes().to_vec();
    nodes.sort_by_key(|node| node.guid);
    nodes
}
