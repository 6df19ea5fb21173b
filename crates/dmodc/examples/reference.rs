//! Routes a damaged fabric so that its routes stay those of the whole one wherever they can.
//!
//! `cargo run --example reference`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use dmodc::{Change, Degradation, Pgft, Router};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let whole = "3; 4,4,4; 1,4,4; 1,1,1".parse::<Pgft>()?.fabric(Default::default());
    // In practice, both fabrics are read from files: the machine as it was built, and as it is today.
    let mut faults = Degradation::none(&whole);
    faults.remove(&whole, "L2-0")?;
    let today = whole.without(&faults);
    let stable = Router::by_reference(&whole, &today)?;
    println!("today: {}", stable.check().nodes.delivery());

    // What the next fault moves, compared with plain Dmodc.
    for mut router in [stable, Router::of(today)?] {
        let spine = router.fabric().find_part("L3-5")?;
        let delta = router.apply(&[Change::Dies(spine)])?;
        println!("{}: {} entries change", router.engine().name(), delta.entry_count());
        assert!(router.coverage().is_valid());
    }
    Ok(())
}
