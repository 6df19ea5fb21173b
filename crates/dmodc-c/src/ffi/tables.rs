//! The tables of a router, and judgements of them.

use std::ffi::c_char;

use dmodc::judge::Delivery;

use super::pointers::{Buffer, check, guarded, put};
use super::router::read;
use crate::compute::compute;
use crate::error::{DmodcStatus, Failure};
use crate::handles;
use crate::records::{DMODC_NO_ROUTE, DmodcCheck, DmodcRouter, DmodcVerdict};

/// Writes the table of a switch by LID: element i is the port for LID i, 0 for the switch itself, and DMODC_NO_ROUTE if there is no route
/// or no such LID. The number of elements is one more than the greatest LID.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_row(
    router: DmodcRouter,
    switch_guid: u64,
    buffer: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let session = read(&router);
        session.check_switch(switch_guid)?;
        let buffer = Buffer { place: buffer, capacity, count };
        // SAFETY: our caller vouches for both.
        let row = unsafe { buffer.space(session.row_length(), DMODC_NO_ROUTE) }?;
        session.row(switch_guid, row)
    })
}

/// Writes the tables of all switches, one row after the other, in the order of the switches of dmodc_router_fabric. Each row is as
/// that of dmodc_router_row, and has row_length elements. The capacity must be at least rows times row_length. If it is not, both are
/// written, and nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_rows(
    router: DmodcRouter,
    buffer: *mut u8,
    capacity: usize,
    rows: *mut usize,
    row_length: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        check(rows, "rows")?;
        check(row_length, "row_length")?;
        let router = handles::router(router)?;
        let session = read(&router);
        let (switches, length) = (session.fabric().switches().len(), session.row_length());
        // SAFETY: our caller vouches for both.
        unsafe {
            put(rows, "rows", switches)?;
            put(row_length, "row_length", length)?;
        }
        let all = switches.checked_mul(length);
        let all = all.ok_or_else(|| {
            Failure::new(DmodcStatus::NoMemory, "the rows do not fit into memory")
        })?;
        let buffer = Buffer { place: buffer, capacity, count: &mut 0 };
        // SAFETY: our caller vouches for the buffer, and the count is our own.
        let buffer = unsafe { buffer.space(all, DMODC_NO_ROUTE) }?;
        let session = &*session;
        compute(|| session.rows(buffer))
    })
}

/// Lists all ports by which a switch may send to a LID so that routes stay free of deadlock. The port in the table is one of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_alternatives(
    router: DmodcRouter,
    switch_guid: u64,
    lid: u32,
    buffer: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let session = read(&router);
        let session = &*session;
        let found = compute(|| session.alternatives(switch_guid, lid))?;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill(&found) }
    })
}

fn verdict(valid: bool, delivery: Delivery) -> DmodcVerdict {
    DmodcVerdict {
        pairs: delivery.pairs,
        delivered: delivery.delivered,
        lost: delivery.lost,
        cut_off: delivery.cut_off,
        valid: u8::from(valid),
        reserved: [0; 7],
    }
}

/// Says whether the routes are valid, and how many pairs arrive. It is known from routing, so this takes no time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_verdict(
    router: DmodcRouter,
    found: *mut DmodcVerdict,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let (valid, delivery) = read(&router).verdict()?;
        // SAFETY: our caller vouches for it.
        unsafe { put(found, "found", verdict(valid, delivery)) }
    })
}

/// Follows every pair of nodes through the tables, and looks for loops and deadlocks. It takes seconds on large fabrics,
/// and minutes on the largest: routing never needs it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_check(
    router: DmodcRouter,
    found: *mut DmodcCheck,
) -> DmodcStatus {
    guarded(|| {
        check(found, "found")?;
        let router = handles::router(router)?;
        let session = read(&router);
        let session = &*session;
        let (valid, _) = session.verdict()?;
        let nodes = compute(|| session.check())?.nodes;
        let result = DmodcCheck {
            verdict: verdict(valid, nodes.delivery()),
            loops: nodes.loops,
            up_down_violations: nodes.up_down_violations,
            deadlock_free: u8::from(nodes.is_deadlock_free()),
            reserved: [0; 7],
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(found, "found", result) }
    })
}

/// Writes the digest of all tables as text with a zero byte at its end. The same tables of the same fabric have the
/// same digest on every machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_digest(
    router: DmodcRouter,
    buffer: *mut c_char,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let session = read(&router);
        let session = &*session;
        let text = compute(|| session.digest())?;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill_text(&text) }
    })
}
