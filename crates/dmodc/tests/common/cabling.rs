//! Cables by device and port, which tests exchange.

use std::collections::BTreeSet;

use dmodc::advise::compare::{Cabling, CablingEnd};
use dmodc::fabric::{FabricBuilder, Rate, Vertex};
use dmodc::{Fabric, PortNumber, Random};

/// The two ends of a cable.
pub type Cable = [CablingEnd; 2];

/// Returns a fabric with the same devices and other cables. What cannot be built is left out.
pub fn recabled(fabric: &Fabric, cables: &[Cable]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut devices: Vec<Vertex> =
        fabric.switches().iter().map(|switch| builder.switch(switch.clone())).collect();
    devices.extend(fabric.adapters().iter().map(|adapter| builder.adapter(adapter.clone())));
    for node in fabric.nodes() {
        let adapter = devices[fabric.switches().len() + node.adapter.at()];
        builder.end_port(adapter, node.adapter_port, node.guid, node.lid, node.lmc);
    }
    for [a, b] in cables {
        builder.cable((devices[a.device], a.port), (devices[b.device], b.port), Rate::NDR);
    }
    builder.finish_sound().0
}

/// Returns the cables of a fabric.
pub fn cables(fabric: &Fabric) -> Vec<Cable> {
    Cabling::of(fabric).cables.iter().map(|cable| cable.ends).collect()
}

/// Exchanges two cable ends, any of both cables. Returns whether a fabric can be cabled so: no cable leads to its own device or
/// joins two adapters.
pub fn swap(random: &mut Random, fabric: &Fabric, cables: &mut [Cable]) -> bool {
    let pick = |random: &mut Random| {
        (random.below(cables.len() as u64) as usize, random.below(2) as usize)
    };
    let ((c, i), (d, j)) = (pick(random), pick(random));
    if c == d {
        return false;
    }
    let (one, other) = (cables[c][i], cables[d][j]);
    let fits = |kept: CablingEnd, new: CablingEnd| {
        let switches = fabric.switches().len();
        kept.device != new.device && kept.device.min(new.device) < switches
    };
    let is_possible = fits(cables[c][1 - i], other) && fits(cables[d][1 - j], one);
    if is_possible {
        (cables[c][i], cables[d][j]) = (other, one);
    }
    is_possible
}

/// A cabling that two fabrics share whatever their devices are called and numbered.
pub fn named(fabric: &Fabric) -> BTreeSet<[(u64, PortNumber); 2]> {
    let Cabling { devices, cables, .. } = Cabling::of(fabric);
    let end = |end: CablingEnd| (devices[end.device].guid.unwrap().0, end.port);
    let sorted = |ends: Cable| {
        let mut ends = ends.map(end);
        ends.sort_unstable();
        ends
    };
    cables.iter().map(|cable| sorted(cable.ends)).collect()
}
