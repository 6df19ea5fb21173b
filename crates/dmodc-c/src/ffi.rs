//! The functions that C calls: all unsafe code of this crate. Panics end here.
//!
//! Objects are numbers (see `handles`), so the only pointers are texts and buffers of the caller. Each is checked for null, and
//! its length comes with it or ends with a zero byte.
#![expect(unsafe_code, reason = "C has pointers")]

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use dmodc::fabric::AdapterKind;

use crate::builder::{Builder, CableEnd, EndPort};
use crate::error::{DmodcStatus, Failure, last_message, report};
use crate::handles::{self, Object, lock};
use crate::session::{EngineKind, PartChange, Session};

/// A switch.
#[repr(C)]
pub struct DmodcSwitch {
    /// Its GUID.
    pub guid: u64,
    /// Its own LID; 0 lets the library give one.
    pub lid: u32,
    /// Its number of ports, 1 to 254.
    pub ports: u8,
}

/// A node: a cabled end port of an adapter.
#[repr(C)]
pub struct DmodcNode {
    /// Its port GUID.
    pub guid: u64,
    /// Its base LID.
    pub lid: u32,
    /// It has 2^lmc LIDs.
    pub lmc: u8,
    /// The port of the switch that it is cabled to.
    pub switch_port: u8,
    /// The GUID of that switch.
    pub switch_guid: u64,
}

/// How many of each a fabric has.
#[repr(C)]
pub struct DmodcCounts {
    /// Switches.
    pub switches: u32,
    /// Nodes.
    pub nodes: u32,
    /// Cables between switches.
    pub cables: u32,
}

/// A part that fails or works again.
#[repr(C)]
pub struct DmodcChange {
    /// The GUID of a switch.
    pub guid: u64,
    /// A port of it: the cable in that port. 0 is the switch itself.
    pub port: u8,
    /// 0: the part fails. 1: it works again.
    pub works: u8,
}

/// An entry of a table that changed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DmodcEntry {
    /// The LID of the destination.
    pub lid: u32,
    /// The port before; 255 is no route.
    pub old_port: u8,
    /// The port now; 255 is no route.
    pub new_port: u8,
}

/// Whether routes are right.
#[repr(C)]
pub struct DmodcVerdict {
    /// Ordered pairs of nodes.
    pub pairs: u64,
    /// Pairs that arrive.
    pub delivered: u64,
    /// Pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Pairs that no live cables connect.
    pub cut_off: u64,
    /// 1 if every pair of leaves with nodes has a route that goes up, then down.
    pub valid: u8,
}

/// What following every pair of nodes found.
#[repr(C)]
pub struct DmodcCheck {
    /// The pairs that arrive, and those that do not.
    pub verdict: DmodcVerdict,
    /// Pairs whose packets loop.
    pub loops: u64,
    /// Pairs whose route goes up after it went down.
    pub up_down_violations: u64,
    /// 1 if packets cannot wait for each other in a circle.
    pub deadlock_free: u8,
}

/// An engine.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum DmodcEngine {
    /// The paper's algorithm, for any fabric.
    Dmodc = 0,
    /// Dmodc that keeps the routes of a reference wherever they work.
    Stable = 1,
    /// Dmodc with the paper's dividers everywhere.
    Paper = 2,
}

/// The purpose of an adapter.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum DmodcAdapterKind {
    /// A host.
    Host = 0,
    /// The aggregation node inside a switch.
    Aggregation = 1,
    /// A router to another subnet.
    Router = 2,
    /// A host that makes no leaf of its switch.
    Aside = 3,
}

/// Runs the body of a function. A panic becomes an error.
fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> DmodcStatus {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = format!("a defect of dmodc: {}", words.unwrap_or_default());
        Err(Failure::new(DmodcStatus::Internal, message))
    });
    report(result)
}

fn null(what: &str) -> Failure {
    Failure::new(DmodcStatus::BadArgument, format!("the argument '{what}' is a null pointer"))
}

fn bad(message: String) -> Failure {
    Failure::new(DmodcStatus::BadArgument, message)
}

/// Writes a result to the place that the caller gave.
///
/// # Safety
/// The pointer is null, or may be written to.
unsafe fn put<T>(place: *mut T, what: &str, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not null, and the caller of this function vouches for the rest.
    unsafe { place.write(value) };
    Ok(())
}

/// Returns a record of the caller.
///
/// # Safety
/// The pointer is null, or points to a record that stays while it is used.
unsafe fn record<'a, T>(place: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller of this function vouches for it.
    unsafe { place.as_ref() }.ok_or_else(|| null(what))
}

/// Returns a text of the caller; a null pointer is an empty text.
///
/// # Safety
/// The pointer is null, or points to a text that ends with a zero byte and stays while it is used.
unsafe fn text<'a>(place: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if place.is_null() {
        return Ok("");
    }
    // SAFETY: it is not null, and the caller of this function vouches for the rest.
    let text = unsafe { CStr::from_ptr(place) };
    text.to_str().map_err(|_| bad(format!("the argument '{what}' is not UTF-8")))
}

/// Returns an array of the caller.
///
/// # Safety
/// The pointer is null, or points to `length` elements that stay while they are used.
unsafe fn array<'a, T>(place: *const T, length: usize, what: &str) -> Result<&'a [T], Failure> {
    match (place.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(what)),
        // SAFETY: it is not null, and the caller of this function vouches for the rest.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(place, length) }),
    }
}

/// Copies elements into a buffer of the caller, and writes their number. If the buffer is too small, only the number is written.
///
/// # Safety
/// The pointers are null, or may be written to: the buffer for `capacity` elements.
unsafe fn fill<T: Copy>(
    values: &[T],
    buffer: *mut T,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller of this function vouches for it.
    unsafe { put(count, "count", values.len()) }?;
    if capacity < values.len() {
        let message =
            format!("the buffer has room for {capacity} elements, and {} are needed", values.len());
        return Err(Failure::new(DmodcStatus::TooSmall, message));
    }
    if values.is_empty() {
        return Ok(());
    }
    if buffer.is_null() {
        return Err(null("buffer"));
    }
    // SAFETY: it is not null and has room, as the caller of this function vouches; our values are elsewhere.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), buffer, values.len()) };
    Ok(())
}

/// Returns the version of the library, such as "0.2.0".
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Copies the message of the last function of this thread that failed, with a zero byte at its end; cut off if the buffer is too
/// small. Returns the length of the whole message without the zero byte. The buffer may be null if `capacity` is 0.
///
/// # Safety
/// `buffer` is null, or may be written to for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_last_error(buffer: *mut c_char, capacity: usize) -> usize {
    let message = last_message();
    if !buffer.is_null() && capacity > 0 {
        // A cut within a letter would leave half a letter.
        let mut end = message.len().min(capacity - 1);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the buffer has `capacity` bytes, and `end` is less.
        unsafe {
            std::ptr::copy_nonoverlapping(message.as_ptr(), buffer.cast(), end);
            buffer.add(end).write(0);
        }
    }
    message.len()
}

/// Uses this number of threads for all computing, instead of one for each core. It must be called before anything is routed.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_set_threads(threads: u32) -> DmodcStatus {
    guarded(|| {
        if !(1..=1024).contains(&threads) {
            return Err(bad(format!("the number of threads is 1 to 1024, not {threads}")));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize);
        pool.build_global()
            .map_err(|error| bad(format!("the threads cannot be chosen any more: {error}")))
    })
}

/// Forgets an object. Calls in other threads that use it end as usual.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_release(object: u64) -> DmodcStatus {
    guarded(|| handles::remove(object).map(drop))
}

/// Begins a fabric.
///
/// # Safety
/// `builder` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_new(builder: *mut u64) -> DmodcStatus {
    guarded(|| {
        if builder.is_null() {
            return Err(null("builder"));
        }
        let number = handles::add(Object::Builder(Arc::new(Mutex::new(Builder::default()))));
        // SAFETY: our caller vouches for it.
        unsafe { put(builder, "builder", number) }
    })
}

/// Adds a switch. `name` may be null.
///
/// # Safety
/// `description` and `name` are null or valid; `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_switch(
    builder: u64,
    description: *const DmodcSwitch,
    name: *const c_char,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for both.
        let (description, name) =
            unsafe { (record(description, "description")?, text(name, "name")?) };
        let builder = handles::builder(builder)?;
        lock(&builder).add_switch(description.guid, description.lid, description.ports, name)
    })
}

/// Adds a channel adapter with a number of ports. `name` may be null. `kind` is one of `dmodc_adapter_kind`.
///
/// # Safety
/// `name` is null, or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_add_adapter(
    builder: u64,
    guid: u64,
    ports: u8,
    kind: u32,
    name: *const c_char,
) -> DmodcStatus {
    guarded(|| {
        let kind = match kind {
            0 => AdapterKind::Host,
            1 => AdapterKind::Aggregation,
            2 => AdapterKind::Router,
            3 => AdapterKind::Aside,
            _ => return Err(bad(format!("{kind} is no kind of an adapter"))),
        };
        // SAFETY: our caller vouches for it.
        let name = unsafe { text(name, "name") }?;
        let builder = handles::builder(builder)?;
        lock(&builder).add_adapter(guid, ports, kind, name)
    })
}

/// Describes a port of an adapter: its own GUID, its base LID (0 lets the library give one) and its LMC. It is a node if a cable is
/// in it.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_builder_add_end_port(
    builder: u64,
    adapter_guid: u64,
    port: u8,
    port_guid: u64,
    lid: u32,
    lmc: u8,
) -> DmodcStatus {
    guarded(|| {
        let builder = handles::builder(builder)?;
        let end = EndPort { adapter: adapter_guid, port, guid: port_guid, lid, lmc };
        lock(&builder).add_end_port(end)
    })
}

/// Adds a cable between two ports of devices that are there.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_builder_add_cable(
    builder: u64,
    guid_a: u64,
    port_a: u8,
    guid_b: u64,
    port_b: u8,
) -> DmodcStatus {
    guarded(|| {
        let builder = handles::builder(builder)?;
        let (a, b) =
            (CableEnd { guid: guid_a, port: port_a }, CableEnd { guid: guid_b, port: port_b });
        lock(&builder).add_cable(a, b)
    })
}

/// Makes the fabric. The builder is empty afterwards, also after an error, and must still be released.
///
/// # Safety
/// `fabric` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_builder_finish(builder: u64, fabric: *mut u64) -> DmodcStatus {
    guarded(|| {
        if fabric.is_null() {
            return Err(null("fabric"));
        }
        let builder = handles::builder(builder)?;
        let made = std::mem::take(&mut *lock(&builder)).finish()?;
        let number = handles::add(Object::Fabric(Arc::new(made)));
        // SAFETY: our caller vouches for it.
        unsafe { put(fabric, "fabric", number) }
    })
}

/// Reads a fabric from text in any format that dmodc reads, such as that of `ibnetdiscover`.
///
/// # Safety
/// `bytes` is null or has `length` bytes; `fabric` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_read(
    bytes: *const u8,
    length: usize,
    fabric: *mut u64,
) -> DmodcStatus {
    guarded(|| {
        if fabric.is_null() {
            return Err(null("fabric"));
        }
        // SAFETY: our caller vouches for it.
        let bytes = unsafe { array(bytes, length, "bytes") }?;
        let reading = dmodc_formats::read(bytes)
            .map_err(|error| Failure::new(DmodcStatus::BadFabric, error.to_string()))?;
        let number = handles::add(Object::Fabric(Arc::new(reading.fabric)));
        // SAFETY: our caller vouches for it.
        unsafe { put(fabric, "fabric", number) }
    })
}

/// Counts the parts of a fabric.
///
/// # Safety
/// `counts` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_counts(fabric: u64, counts: *mut DmodcCounts) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let found = DmodcCounts {
            switches: fabric.switches().len() as u32,
            nodes: fabric.nodes().len() as u32,
            cables: fabric.inter_switch_cables().len() as u32,
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(counts, "counts", found) }
    })
}

/// Describes a switch by its index, from 0.
///
/// # Safety
/// `description` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_switch(
    fabric: u64,
    index: u32,
    description: *mut DmodcSwitch,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let count = fabric.switches().len();
        let found = fabric.switches().get(index as usize);
        let found = found
            .ok_or_else(|| bad(format!("there are {count} switches, so {index} is no index")))?;
        let found = DmodcSwitch { guid: found.guid.0, lid: found.lid.0, ports: found.ports };
        // SAFETY: our caller vouches for it.
        unsafe { put(description, "description", found) }
    })
}

/// Describes a node by its index, from 0.
///
/// # Safety
/// `description` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_fabric_node(
    fabric: u64,
    index: u32,
    description: *mut DmodcNode,
) -> DmodcStatus {
    guarded(|| {
        let fabric = handles::fabric(fabric)?;
        let count = fabric.nodes().len();
        let found = fabric.nodes().get(index as usize);
        let node =
            found.ok_or_else(|| bad(format!("there are {count} nodes, so {index} is no index")))?;
        let found = DmodcNode {
            guid: node.guid.0,
            lid: node.lid.0,
            lmc: node.lmc,
            switch_port: node.switch_port.0,
            switch_guid: fabric.switch(node.switch).guid.0,
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(description, "description", found) }
    })
}

/// Routes a fabric. `engine` is one of `dmodc_engine`. `reference` is the whole fabric for the engine stable, or 0: then the library
/// infers it. Parts that only the reference has have failed, and can be repaired.
///
/// # Safety
/// `router` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_new(
    fabric: u64,
    engine: u32,
    reference: u64,
    router: *mut u64,
) -> DmodcStatus {
    guarded(|| {
        if router.is_null() {
            return Err(null("router"));
        }
        let engine = match engine {
            0 => EngineKind::Dmodc,
            1 => EngineKind::Stable,
            2 => EngineKind::Paper,
            _ => return Err(bad(format!("{engine} is no engine"))),
        };
        let fabric = handles::fabric(fabric)?;
        let reference = match reference {
            0 => None,
            _ if engine != EngineKind::Stable => {
                return Err(bad("only the engine stable has a reference".into()));
            }
            number => Some(handles::fabric(number)?),
        };
        let session = Session::new(&fabric, engine, reference.as_deref())?;
        let number = handles::add(Object::Router(Arc::new(Mutex::new(session))));
        // SAFETY: our caller vouches for it.
        unsafe { put(router, "router", number) }
    })
}

/// Lets parts fail and work again, routes what that concerns, and returns the entries that changed. If a part is unknown, nothing
/// is changed. `delta` may be null if the difference does not matter.
///
/// # Safety
/// `changes` is null or has `count` elements; `delta` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_apply(
    router: u64,
    changes: *const DmodcChange,
    count: usize,
    delta: *mut u64,
) -> DmodcStatus {
    guarded(|| {
        // SAFETY: our caller vouches for it.
        let changes = unsafe { array(changes, count, "changes") }?;
        let changes: Vec<PartChange> = changes
            .iter()
            .map(|change| match change.works {
                0 | 1 => Ok(PartChange {
                    guid: change.guid,
                    port: change.port,
                    works: change.works == 1,
                }),
                other => Err(bad(format!("'works' is 0 or 1, not {other}"))),
            })
            .collect::<Result<_, Failure>>()?;
        let router = handles::router(router)?;
        let found = lock(&router).apply(&changes)?;
        if delta.is_null() {
            return Ok(());
        }
        let number = handles::add(Object::Delta(Arc::new(found)));
        // SAFETY: our caller vouches for it.
        unsafe { put(delta, "delta", number) }
    })
}

/// Counts the entries that changed, and the switches that they are in.
///
/// # Safety
/// The pointers are null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_delta_counts(
    delta: u64,
    switches: *mut usize,
    entries: *mut u64,
) -> DmodcStatus {
    guarded(|| {
        let delta = handles::delta(delta)?;
        // SAFETY: our caller vouches for both.
        unsafe {
            put(switches, "switches", delta.switches.len())?;
            put(entries, "entries", delta.entries)
        }
    })
}

/// Returns the entries of one of the switches that changed, by its index from 0: the GUID of the switch, and its entries by LID. If the
/// buffer is too small, the function writes the number that it needs and returns TOO_SMALL.
///
/// # Safety
/// The pointers are null, or may be written to: `buffer` for `capacity` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_delta_entries(
    delta: u64,
    index: usize,
    guid: *mut u64,
    buffer: *mut DmodcEntry,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let delta = handles::delta(delta)?;
        let length = delta.switches.len();
        let found = delta.switches.get(index);
        let (own, entries) = found
            .ok_or_else(|| bad(format!("{length} switches changed, so {index} is no index")))?;
        let entry = |entry: &crate::session::ChangedEntry| DmodcEntry {
            lid: entry.lid,
            old_port: entry.old,
            new_port: entry.new,
        };
        let entries: Vec<DmodcEntry> = entries.iter().map(entry).collect();
        // SAFETY: our caller vouches for all of them.
        unsafe {
            put(guid, "guid", own.0)?;
            fill(&entries, buffer, capacity, count)
        }
    })
}

/// Returns the table of a switch by LID: element i is the port for LID i, or 255 if there is no route or no such LID. If the buffer is
/// too small, the function writes the number that it needs and returns TOO_SMALL.
///
/// # Safety
/// The pointers are null, or may be written to: `ports` for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_row(
    router: u64,
    switch_guid: u64,
    ports: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let router = lock(&router);
        let mut row = vec![0; router.row_length()];
        router.row(switch_guid, &mut row)?;
        // SAFETY: our caller vouches for both.
        unsafe { fill(&row, ports, capacity, count) }
    })
}

/// Returns all ports by which a switch may send to a LID so that routes stay free of deadlock. If the buffer is too small, the function
/// writes the number that it needs and returns TOO_SMALL.
///
/// # Safety
/// The pointers are null, or may be written to: `ports` for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_alternatives(
    router: u64,
    switch_guid: u64,
    lid: u32,
    ports: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let found = lock(&router).alternatives(switch_guid, lid)?;
        // SAFETY: our caller vouches for both.
        unsafe { fill(&found, ports, capacity, count) }
    })
}

fn verdict(valid: bool, delivery: dmodc::judge::Delivery) -> DmodcVerdict {
    DmodcVerdict {
        pairs: delivery.pairs,
        delivered: delivery.delivered,
        lost: delivery.lost,
        cut_off: delivery.cut_off,
        valid: u8::from(valid),
    }
}

/// Says whether the routes are valid, and how many pairs arrive. It is known from routing, so this takes no time.
///
/// # Safety
/// `found` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_verdict(
    router: u64,
    found: *mut DmodcVerdict,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let (valid, delivery) = lock(&router).verdict();
        // SAFETY: our caller vouches for it.
        unsafe { put(found, "found", verdict(valid, delivery)) }
    })
}

/// Follows every pair of nodes through the tables, and looks for loops and deadlocks. It takes a second on large fabrics.
///
/// # Safety
/// `found` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_check(router: u64, found: *mut DmodcCheck) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let router = lock(&router);
        let check = router.check().nodes;
        let result = DmodcCheck {
            verdict: verdict(router.verdict().0, check.delivery()),
            loops: check.loops,
            up_down_violations: check.up_down_violations,
            deadlock_free: u8::from(check.is_deadlock_free()),
        };
        // SAFETY: our caller vouches for it.
        unsafe { put(found, "found", result) }
    })
}

/// Writes the digest of all tables as text with a zero byte at its end: the same tables have the same digest, also in other programs of
/// dmodc. If the buffer is too small, the function writes the number of bytes that it needs and returns TOO_SMALL.
///
/// # Safety
/// The pointers are null, or may be written to: `digest` for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dmodc_router_digest(
    router: u64,
    digest: *mut c_char,
    capacity: usize,
    count: *mut usize,
) -> DmodcStatus {
    guarded(|| {
        let router = handles::router(router)?;
        let text = lock(&router).digest();
        let text: Vec<c_char> = text.bytes().chain([0]).map(|byte| byte as c_char).collect();
        // SAFETY: our caller vouches for both.
        unsafe { fill(&text, digest, capacity, count) }
    })
}
