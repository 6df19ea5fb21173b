//! What can be chosen about a router.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use dmodc::Guid;

use super::pointers::{array, check, guarded, put};
use crate::compute::compute;
use crate::error::{DmodcStatus, Failure};
use crate::handles::{self, Object, lock};
use crate::records::{DmodcFabric, DmodcSettings};
use crate::settings::{Settings, engine_of};

/// Makes settings for routers: the engine Dmodc, without a reference and orders, with leaves that are found by the cables. A router
/// takes them when it is made; later changes of the settings do not concern it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_settings_new(settings: *mut DmodcSettings) -> DmodcStatus {
    guarded(|| {
        check(settings, "settings")?;
        let number = handles::add(Object::Settings(Arc::new(Mutex::new(Settings::default()))));
        // SAFETY: our caller vouches for it.
        unsafe { put(settings, "settings", number) }
    })
}

/// Sets the engine, one of dmodc_engine.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_settings_set_engine(settings: DmodcSettings, engine: u32) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        lock(&settings).engine = engine_of(engine)?;
        Ok(())
    })
}

/// Sets the reference of the engine Stable: the fabric as it is when whole. 0 takes it back; then the engine infers the cables that
/// the fabric lacks. The fabric may be released before the settings.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_settings_set_reference(
    settings: DmodcSettings,
    reference: DmodcFabric,
) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        let reference = match reference {
            0 => None,
            number => Some(handles::fabric(number)?),
        };
        lock(&settings).reference = reference;
        Ok(())
    })
}

/// Sets the orders of an earlier router, so that numbers, and with them most routes, stay: the text of dmodc_router_save_orders, or of
/// the program dmodc. A length of 0 takes them back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_settings_set_orders(
    settings: DmodcSettings,
    bytes: *const u8,
    length: usize,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for it.
        let bytes = unsafe { array(bytes, length, "bytes") }?;
        let settings = handles::settings(settings)?;
        let orders = match bytes {
            [] => None,
            bytes => Some(compute(|| {
                let orders = dmodc_formats::orders::read(bytes);
                orders.map_err(|error| Failure::argument(format!("the orders: {error}")))
            })?),
        };
        lock(&settings).orders = orders.map(Arc::new);
        Ok(())
    })
}

/// Says whether the numbers of a router are meant to be saved: 1 gives numbers to empty places, too, so that a late host finds its
/// number waiting. 0 numbers what is there, as the program dmodc does without --save-orders. Orders that are set go before both.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_settings_set_lasting(settings: DmodcSettings, lasting: u32) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        lock(&settings).lasting = match lasting {
            0 | 1 => lasting == 1,
            _ => return Err(Failure::argument(format!("'lasting' is 0 or 1, not {lasting}"))),
        };
        Ok(())
    })
}

/// Returns GUIDs of the caller as a set; none if there is none.
///
/// # Safety
/// The pointer is null or not aligned, or points to this number of GUIDs.
unsafe fn guids(place: *const u64, count: usize) -> Result<Option<HashSet<Guid>>, Failure> {
    // SAFETY: our caller vouches for it.
    let guids = unsafe { array(place, count, "guids") }?;
    Ok((!guids.is_empty()).then(|| guids.iter().copied().map(Guid).collect()))
}

/// Says that exactly the switches with these GUIDs are leaves. One of them at least must be in the fabric. A count of 0 takes it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_settings_set_leaves(
    settings: DmodcSettings,
    guids: *const u64,
    count: usize,
) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        // SAFETY: our caller vouches for it.
        lock(&settings).leaves = unsafe { self::guids(guids, count) }?;
        Ok(())
    })
}

/// Says that ranks are counted down from the switches with these GUIDs, the roots. One of them at least must be in the fabric. A
/// count of 0 takes it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_settings_set_roots(
    settings: DmodcSettings,
    guids: *const u64,
    count: usize,
) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        // SAFETY: our caller vouches for it.
        lock(&settings).roots = unsafe { self::guids(guids, count) }?;
        Ok(())
    })
}

/// Says that leaves are the switches with at least this number of nodes. 0 takes it back. Leaves or roots that are set go before it.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_settings_set_least_nodes(
    settings: DmodcSettings,
    nodes: u32,
) -> DmodcStatus {
    guarded(|| {
        let settings = handles::settings(settings)?;
        lock(&settings).least_nodes = (nodes > 0).then_some(nodes as usize);
        Ok(())
    })
}
