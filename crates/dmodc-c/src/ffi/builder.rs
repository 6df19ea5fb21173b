//! Fabrics from records.

use std::ffi::c_char;
use std::sync::{Arc, Mutex};

use super::pointers::{check, guarded, put, record, text};
use crate::builder::Builder;
use crate::compute::compute;
use crate::error::DmodcStatus;
use crate::handles::{self, Object, lock};
use crate::records::{
    DmodcAdapter, DmodcBuilder, DmodcCable, DmodcEndPort, DmodcFabric, DmodcSwitch,
};

/// Begins a fabric that is made from records: devices first, then the ports of adapters and the cables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_new(builder: *mut DmodcBuilder) -> DmodcStatus {
    guarded(|| {
        check(builder, "builder")?;
        let number = handles::add(Object::Builder(Arc::new(Mutex::new(Builder::default()))));
        // SAFETY: our caller vouches for it.
        unsafe { put(builder, "builder", number) }
    })
}

/// Adds a switch. The name is UTF-8, and may be null. Where cables do not decide the order of leaves, names do, with numbers in them
/// compared as numbers; so the same fabric with other names can have other tables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_switch(
    builder: DmodcBuilder,
    description: *const DmodcSwitch,
    name: *const c_char,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for both.
        let (description, name) =
            unsafe { (record(description, "description")?, text(name, "name")?) };
        let builder = handles::builder(builder)?;
        lock(&builder).add_switch(&description, name)
    })
}

/// Adds a channel adapter. The name is UTF-8, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_adapter(
    builder: DmodcBuilder,
    description: *const DmodcAdapter,
    name: *const c_char,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for both.
        let (description, name) =
            unsafe { (record(description, "description")?, text(name, "name")?) };
        let builder = handles::builder(builder)?;
        lock(&builder).add_adapter(&description, name)
    })
}

/// Describes a port of an adapter that was added. Every port with a cable in it needs a description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_end_port(
    builder: DmodcBuilder,
    description: *const DmodcEndPort,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for it.
        let description = unsafe { record(description, "description") }?;
        let builder = handles::builder(builder)?;
        lock(&builder).add_end_port(&description)
    })
}

/// Adds a cable between two ports of devices that were added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_cable(
    builder: DmodcBuilder,
    description: *const DmodcCable,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for it.
        let description = unsafe { record(description, "description") }?;
        let builder = handles::builder(builder)?;
        lock(&builder).add_cable(&description)
    })
}

/// Makes the fabric. The builder is empty afterwards, also if the records do not fit together, and must still be released; the
/// message then names the first thing that does not fit. A null pointer is an error that leaves the builder as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_finish(
    builder: DmodcBuilder,
    fabric: *mut DmodcFabric,
) -> DmodcStatus {
    guarded(|| {
        check(fabric, "fabric")?;
        let builder = handles::builder(builder)?;
        let records = std::mem::take(&mut *lock(&builder));
        let made = compute(move || records.finish())?;
        let number = handles::add(Object::Fabric(Arc::new(made)));
        // SAFETY: our caller vouches for it.
        unsafe { put(fabric, "fabric", number) }
    })
}
