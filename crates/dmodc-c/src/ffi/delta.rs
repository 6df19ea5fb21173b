//! The entries that changed, and plans to write them.

use std::sync::{Arc, PoisonError};

use super::pointers::{Buffer, check, guarded, put};
use crate::compute::compute;
use crate::error::{DmodcStatus, Failure};
use crate::handles::{self, Object};
use crate::records::{DmodcDelta, DmodcEntry, DmodcPlan, DmodcRouter, DmodcWrite};

/// Counts the switches that have an entry that changed, and all entries that changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_delta_counts(
    delta: DmodcDelta,
    switches: *mut usize,
    entries: *mut u64,
) -> DmodcStatus {
    guarded(|| {
        check(switches, "switches")?;
        check(entries, "entries")?;
        let delta = handles::delta(delta)?;
        // SAFETY: our caller vouches for both.
        unsafe {
            put(switches, "switches", delta.switches.len())?;
            put(entries, "entries", delta.entry_count())
        }
    })
}

/// Returns the entries of one of the switches that changed, by its index from 0: the GUID of the switch, and its entries, ascending by
/// LID. Switches that have failed are among them; their tables are empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_delta_entries(
    delta: DmodcDelta,
    index: usize,
    switch_guid: *mut u64,
    buffer: *mut DmodcEntry,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let delta = handles::delta(delta)?;
        let found = delta.switches.get(index).ok_or_else(|| {
            let message = format!(
                "there is no switch {index}: there are {}, counted from 0",
                delta.switches.len()
            );
            Failure::not_found(message)
        })?;
        // SAFETY: our caller vouches for all of them.
        unsafe {
            put(switch_guid, "switch_guid", found.guid.0)?;
            Buffer { place: buffer, capacity, count }.fill(&found.entries)
        }
    })
}

/// Plans in which order the entries of a delta can be written, so that no packet loops and nothing is lost that both tables deliver. The
/// delta must be that of the last change of the router. There are as few rounds as that takes, or up to the given number of rounds, at
/// most 1024, if that saves writes. It takes about as long as dmodc_router_check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_plan_new(
    router: DmodcRouter,
    delta: DmodcDelta,
    rounds: u32,
    plan: *mut DmodcPlan,
) -> DmodcStatus {
    guarded(|| {
        check(plan, "plan")?;
        let (router, delta) = (handles::router(router)?, handles::delta(delta)?);
        let mut session = router.write().unwrap_or_else(PoisonError::into_inner);
        let session = &mut *session;
        let made = compute(|| session.plan(&delta, rounds))?;
        let number = handles::add(Object::Plan(Arc::new(made)));
        // SAFETY: our caller vouches for it.
        unsafe { put(plan, "plan", number) }
    })
}

/// Counts the rounds and the writes of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_plan_counts(
    plan: DmodcPlan,
    rounds: *mut u32,
    writes: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        check(rounds, "rounds")?;
        check(writes, "writes")?;
        let plan = handles::plan(plan)?;
        // SAFETY: our caller vouches for both.
        unsafe {
            put(rounds, "rounds", plan.rounds)?;
            put(writes, "writes", plan.writes.len())
        }
    })
}

/// Returns one of the writes of a plan, by its index from 0, and the entries of the block that become new then. The other entries of
/// the block stay as they are at that moment. Writes are sorted by round; those of one round may be made in any order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_plan_write(
    plan: DmodcPlan,
    index: usize,
    write: *mut DmodcWrite,
    buffer: *mut DmodcEntry,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let plan = handles::plan(plan)?;
        let found = plan.writes.get(index).ok_or_else(|| {
            let message = format!(
                "there is no write {index}: there are {}, counted from 0",
                plan.writes.len()
            );
            Failure::not_found(message)
        })?;
        // SAFETY: our caller vouches for all of them.
        unsafe {
            put(write, "write", found.write)?;
            Buffer { place: buffer, capacity, count }.fill(&found.entries)
        }
    })
}
