//! For any bytes, reading them as orders does not panic. With any orders, a healthy fat-tree is routed completely. Orders
//! that are written and read again are the same.
#![no_main]

use std::sync::LazyLock;

use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, Live, Pgft, Routing, RoutingOptions, SwitchOrder,
    judge,
};
use dmodc_formats::orders;
use libfuzzer_sys::fuzz_target;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().expect("figure 1 of the paper");
    pgft.fabric(Default::default())
});

fuzz_target!(|data: &[u8]| {
    let Ok(saved) = orders::read(data) else { return };
    let mut text = Vec::new();
    orders::write(&saved, &FABRIC, &mut text).expect("memory takes everything");
    assert_eq!(orders::read(&text).as_ref(), Ok(&saved));

    let healthy = Degradation::none(&FABRIC);
    let live = Live::new(&FABRIC, &healthy);
    let options = RoutingOptions {
        destinations: DestinationOrder::Saved(saved.clone()),
        switches: SwitchOrder::Saved(saved.clone()),
        ..Default::default()
    };
    let routing = Routing::new(live, &options);
    let (tables, _) = routing.route(live, &Dmodc).expect("nothing is far away here");
    let check = judge::check(live, &routing.ranking(live), routing.orders(), &tables);
    assert!(check.nodes.is_sound() && check.nodes.up_down_violations == 0, "{check:?}");
    routing.orders().save(live).keep_absent(&saved);
});
