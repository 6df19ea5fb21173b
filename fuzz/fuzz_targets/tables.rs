//! For any bytes, reading them as tables of a fabric does not panic, and neither does judging them. If one half of the
//! bytes is taken as old tables and the other as new ones, no mixture of both delivers a pair that one of them loses.
#![no_main]

use std::sync::LazyLock;

use dmodc::{Degradation, Fabric, Live, Pgft, Routing, judge};
use dmodc_formats::lft::{self, Lft};
use dmodc_formats::npy;
use libfuzzer_sys::fuzz_target;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().expect("figure 1 of the paper");
    pgft.fabric(Default::default())
});

fuzz_target!(|data: &[u8]| {
    let read = lft::read_in_parts(data, &FABRIC, 1);
    assert_eq!(read, lft::naive::read(data, &FABRIC), "the result depends on where the text is cut");
    // The same bytes as an array with its labels. They hardly ever fit.
    let at = data.len() / 2;
    let _ = npy::read(&data[..at], &data[at..], &FABRIC);
    let Ok(whole) = read else { return };
    let healthy = Degradation::none(&FABRIC);
    let live = Live::new(&FABRIC, &healthy);
    let routing = Routing::new(live, &Default::default());
    let (ranking, orders) = (routing.ranking(live), routing.orders());
    let check = |dumps: &[&Lft]| {
        let tables = Lft::tables(dumps, &FABRIC).expect("tables of 16 switches fit");
        match &tables[..] {
            [old, new] => judge::check_union(live, &ranking, orders, old, new),
            tables => judge::check(live, &ranking, orders, &tables[0]),
        }
    };
    let delivered = |dumps: &[&Lft]| {
        let all = check(dumps).everything;
        assert_eq!(all.pairs, all.delivered + all.lost + all.loops);
        all.delivered
    };
    delivered(&[&whole]);

    let (old, new) = data.split_at(data.len() / 2);
    if let (Ok(old), Ok(new)) = (lft::read(old, &FABRIC), lft::read(new, &FABRIC)) {
        let both = delivered(&[&old, &new]);
        assert!(both <= delivered(&[&old, &old]).min(delivered(&[&new, &new])));
    }
});
