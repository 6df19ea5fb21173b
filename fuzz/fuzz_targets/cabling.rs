//! For any bytes, reading them as an intended cabling does not panic, and the steps of a comparison end at that cabling.
#![no_main]

use std::sync::LazyLock;

use dmodc::advise::compare::Comparison;
use dmodc::{Fabric, Pgft};
use dmodc_formats::cabling;
use libfuzzer_sys::fuzz_target;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| {
    let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().expect("figure 1 of the paper");
    pgft.fabric(Default::default())
});

fuzz_target!(|data: &[u8]| {
    let Ok(intended) = cabling::read(data) else { return };
    let Ok(comparison) = Comparison::new(&FABRIC, &intended) else { return };
    let mut cables = comparison.present.clone();
    for step in comparison.parts.concat() {
        step.apply(&mut cables).expect("steps can be done in their order");
    }
    assert_eq!(cables, comparison.intended);
    assert!(comparison.is_exact());
});
