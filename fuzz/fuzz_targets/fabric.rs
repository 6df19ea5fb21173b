//! For any bytes, reading a fabric does not panic, and neither does routing it. The tables have no loop, no route that
//! goes up after it went down, and no deadlock.
#![no_main]

use dmodc::{Degradation, Dmodc, Live, Routing, judge};
use libfuzzer_sys::fuzz_target;

/// The most entries of tables: more would take too long.
const MOST_ENTRIES: usize = 200_000;

fuzz_target!(|data: &[u8]| {
    let Ok(reading) = dmodc_formats::read(data) else { return };
    let fabric = &reading.fabric;
    let switches = fabric.switches().len();
    let destinations = switches + fabric.nodes().iter().map(|n| 1 << n.lmc).sum::<usize>();
    if switches * destinations >= MOST_ENTRIES {
        return;
    }
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let routing = Routing::new(live, &Default::default());
    let Ok((tables, _)) = routing.route(live, &Dmodc) else { return };
    let check = judge::check(live, &routing.ranking(live), routing.orders(), &tables);
    for scope in [check.nodes, check.everything] {
        assert_eq!((scope.loops, scope.up_down_violations, scope.cycle), (0, 0, None));
    }
});
