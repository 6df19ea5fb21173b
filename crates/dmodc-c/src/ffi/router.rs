//! Routers: a fabric, its faults and its tables.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::pointers::{Buffer, array, check, guarded, put};
use crate::builder::check_reserved;
use crate::compute::compute;
use crate::delta::ExactDelta;
use crate::error::{DmodcStatus, Failure};
use crate::handles::{self, Object, lock};
use crate::records::{DmodcChange, DmodcDelta, DmodcFabric, DmodcRouter, DmodcSettings};
use crate::session::Session;
use crate::settings::Settings;

/// Returns a router for reading. After a panic in a change, the session itself knows that its tables mean nothing.
pub(super) fn read(router: &RwLock<Session>) -> RwLockReadGuard<'_, Session> {
    router.read().unwrap_or_else(PoisonError::into_inner)
}

/// Routes a fabric for the first time. The settings may be 0: then they are those of dmodc_settings_new. With a reference, parts that
/// only the reference has belong to the router, too: they have failed, and can work again. The fabric and the settings may be
/// released before the router.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_new(
    fabric: DmodcFabric,
    settings: DmodcSettings,
    router: *mut DmodcRouter,
) -> DmodcStatus {
    guarded(|| {
        check(router, "router")?;
        let fabric = handles::fabric(fabric)?;
        let settings = match settings {
            0 => Settings::default(),
            number => lock(&*handles::settings(number)?).clone(),
        };
        let session = compute(|| Session::new(&fabric, &settings))?;
        let number = handles::add(Object::Router(Arc::new(RwLock::new(session))));
        // SAFETY: our caller vouches for it.
        unsafe { put(router, "router", number) }
    })
}

/// Lets parts fail and work again, routes what that concerns, and returns the entries that changed: exactly those. If a part is
/// unknown, nothing is changed. The delta may be null if it is not wanted. Changes can be made again and in any order: a part that has
/// failed may fail again. If the fabric can no longer be routed, the changes stay, but functions that read the tables return
/// DMODC_STATUS_CANNOT_ROUTE until a later change succeeds, whose delta begins with the last tables that there were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_apply(
    router: DmodcRouter,
    changes: *const DmodcChange,
    count: usize,
    delta: *mut DmodcDelta,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for it.
        let changes = unsafe { array(changes, count, "changes") }?;
        for change in changes {
            check_reserved(&change.reserved)?;
            if change.works > 1 {
                let message = format!("'works' is 0 or 1, not {}", change.works);
                return Err(Failure::argument(message));
            }
        }
        if !delta.is_null() {
            check(delta, "delta")?;
        }
        let router = handles::router(router)?;
        let mut session = router.write().unwrap_or_else(PoisonError::into_inner);
        let session = &mut *session;
        let found = compute(|| session.apply(changes))?;
        if delta.is_null() {
            return Ok(());
        }
        // SAFETY: our caller vouches for it.
        unsafe { put_delta(delta, found) }
    })
}

/// Gives a delta a number.
///
/// # Safety
/// The pointer is null or not aligned, or may be written to.
unsafe fn put_delta(place: *mut DmodcDelta, delta: ExactDelta) -> Result<(), Failure> {
    check(place, "delta")?;
    let number = handles::add(Object::Delta(Arc::new(delta)));
    // SAFETY: our caller vouches for it.
    unsafe { put(place, "delta", number) }
}

/// Returns the entries of the newer router's tables that differ from those of the older one, by the GUID of the switch and the LID. When
/// a fabric has grown, it is made anew, and this is what has to be written. A switch or a LID that the older one does not have had no
/// route; switches that only the older one has are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_compare(
    older: DmodcRouter,
    newer: DmodcRouter,
    delta: *mut DmodcDelta,
) -> DmodcStatus {
    guarded(|| {
        check(delta, "delta")?;
        let (a, b) = (handles::router(older)?, handles::router(newer)?);
        let found = if older == newer {
            let both = read(&a);
            compute(|| both.since(&both))?
        } else if older < newer {
            // Locks are taken in the order of numbers, so that two calls never wait for each other.
            let (a, b) = (read(&a), read(&b));
            compute(|| b.since(&a))?
        } else {
            let (b, a) = (read(&b), read(&a));
            compute(|| b.since(&a))?
        };
        // SAFETY: our caller vouches for it.
        unsafe { put_delta(delta, found) }
    })
}

/// Lists the parts that have failed, so that dmodc_router_apply of another router can be given the same ones. A cable is named once. The
/// cables of a switch that has failed are listed only if they have failed themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_failed(
    router: DmodcRouter,
    buffer: *mut DmodcChange,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let failed = read(&router).failed();
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill(&failed) }
    })
}

/// Returns the fabric of a router as a new object. It has everything, also what has failed and what only the reference has. The rows of
/// dmodc_router_rows are in the order of its switches. It can be the reference of a later router.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_fabric(
    router: DmodcRouter,
    fabric: *mut DmodcFabric,
) -> DmodcStatus {
    guarded(|| {
        check(fabric, "fabric")?;
        let router = handles::router(router)?;
        let all = read(&router).fabric().clone();
        let number = handles::add(Object::Fabric(all));
        // SAFETY: our caller vouches for it.
        unsafe { put(fabric, "fabric", number) }
    })
}

/// Lists the GUIDs of the live switches that are leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_leaves(
    router: DmodcRouter,
    buffer: *mut u64,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let leaves = read(&router).leaves();
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill(&leaves) }
    })
}

/// Writes the numbers of all destinations and switches as text, for dmodc_settings_set_orders after the next start, or for the program
/// dmodc (--orders). The text has no zero byte at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_save_orders(
    router: DmodcRouter,
    buffer: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let session = read(&router);
        let session = &*session;
        let text = compute(|| session.orders())?;
        // SAFETY: our caller vouches for both.
        unsafe { Buffer { place: buffer, capacity, count }.fill(&text) }
    })
}
