//! Wrong arguments give a code and a message, called from Rust: null for every pointer, numbers of objects that are none, and routes
//! that no engine can compute.
#![expect(unsafe_code, reason = "the functions are meant for C")]

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use dmodc_engine::error::DmodcStatus;
use dmodc_engine::ffi::{
    builder::*, delta::*, fabric::*, library::*, router::*, settings::*, tables::*,
};
use dmodc_engine::records::*;

/// Returns the message of the last error of this thread.
fn message() -> String {
    let mut buffer = [0 as c_char; 400];
    // SAFETY: the buffer has this length, and ends with a zero byte then.
    unsafe {
        dmodc_last_error(buffer.as_mut_ptr(), buffer.len());
        CStr::from_ptr(buffer.as_ptr()).to_str().unwrap().to_string()
    }
}

fn fails(found: DmodcStatus, expected: DmodcStatus, words: &str) {
    let message = message();
    assert_eq!(found, expected, "{message}");
    assert!(message.contains(words), "'{message}' does not contain '{words}'");
}

/// Returns the fabric of a chain of switches with a node at each, and its router. The switches have the GUIDs 1 to `length`, and port 3 of
/// each has the cable to the next. Another cable is between the ports 4 of the switches at one quarter and at three quarters.
fn chain(length: u64) -> (DmodcFabric, DmodcStatus, DmodcRouter) {
    let (mut builder, mut fabric, mut router) = (0, 0, 0);
    let ok = |status| assert_eq!(status, DmodcStatus::Ok, "{}", message());
    // SAFETY: all pointers are those of records and numbers here.
    unsafe {
        ok(dmodc_builder_new(&mut builder));
        for guid in 1..=length {
            let switch = DmodcSwitch { guid, ports: 4, ..DmodcSwitch::default() };
            ok(dmodc_builder_add_switch(builder, &switch, null()));
            let own = 10_000 + guid;
            let adapter = DmodcAdapter { guid: own, ports: 1, ..DmodcAdapter::default() };
            ok(dmodc_builder_add_adapter(builder, &adapter, c"node".as_ptr()));
            let end =
                DmodcEndPort { adapter_guid: own, guid: own, port: 1, ..DmodcEndPort::default() };
            ok(dmodc_builder_add_end_port(builder, &end));
            let cable = |guid_b, port_a, port_b| DmodcCable {
                guid_a: guid,
                guid_b,
                port_a,
                port_b,
                ..DmodcCable::default()
            };
            ok(dmodc_builder_add_cable(builder, &cable(own, 1, 1)));
            if guid > 1 {
                ok(dmodc_builder_add_cable(builder, &cable(guid - 1, 2, 3)));
            }
            if length >= 4 && guid == length / 4 * 3 {
                ok(dmodc_builder_add_cable(builder, &cable(length / 4, 4, 4)));
            }
        }
        ok(dmodc_builder_finish(builder, &mut fabric));
        ok(dmodc_release(builder));
        let status = dmodc_router_new(fabric, 0, &mut router);
        (fabric, status, router)
    }
}

/// Without its other cable, a chain of 300 switches has routes that are too long. The fault stays, but there are no tables until it is
/// repaired, or until a cut makes two chains.
#[test]
fn routes_that_are_too_long_are_an_error_until_a_change_helps() {
    let (fabric, status, router) = chain(300);
    assert_eq!(status, DmodcStatus::Ok, "{}", message());
    let change = |guid, port, works| DmodcChange { guid, port, works, ..DmodcChange::default() };
    let mut row = [0u8; 1000];
    let (mut count, mut delta, mut entries) = (0, 0, 0);
    // SAFETY: all pointers are those of variables here.
    unsafe {
        for _ in 0..2 {
            let cut = dmodc_router_apply(router, &change(75, 4, 0), 1, null_mut());
            fails(cut, DmodcStatus::CannotRoute, "");
            let status = dmodc_router_row(router, 1, row.as_mut_ptr(), row.len(), &mut count);
            fails(status, DmodcStatus::CannotRoute, "no tables");
            let mut verdict = DmodcVerdict::default();
            let status = dmodc_router_verdict(router, &mut verdict);
            fails(status, DmodcStatus::CannotRoute, "no tables");
        }
        // Repaired: compared with the last tables, nothing is different.
        let repaired = dmodc_router_apply(router, &change(75, 4, 1), 1, &mut delta);
        assert_eq!(repaired, DmodcStatus::Ok, "{}", message());
        dmodc_delta_counts(delta, &mut count, &mut entries);
        assert_eq!((count, entries), (0, 0));
        dmodc_release(delta);
        // Cut twice: the delta begins with the last tables, not with those that never were.
        let last = rows(router);
        fails(
            dmodc_router_apply(router, &change(75, 4, 0), 1, null_mut()),
            DmodcStatus::CannotRoute,
            "",
        );
        let halves = dmodc_router_apply(router, &change(150, 3, 0), 1, &mut delta);
        assert_eq!(halves, DmodcStatus::Ok, "{}", message());
        let now = rows(router);
        let differing = last.iter().zip(&now).filter(|(a, b)| a != b).count();
        dmodc_delta_counts(delta, &mut count, &mut entries);
        assert_eq!(entries, differing as u64);
        assert!(differing > 1000);
        let mut plan = 0;
        assert_eq!(dmodc_plan_new(router, delta, 0, &mut plan), DmodcStatus::Ok, "{}", message());
        dmodc_release(plan);
        dmodc_release(delta);
    }
    for object in [fabric, router] {
        assert_eq!(dmodc_release(object), DmodcStatus::Ok);
    }
}

/// Returns all rows of a router.
fn rows(router: DmodcRouter) -> Vec<u8> {
    let (mut rows, mut length) = (0, 0);
    // SAFETY: the buffer has the capacity that is passed.
    unsafe {
        dmodc_router_rows(router, null_mut(), 0, &mut rows, &mut length);
        let mut all = vec![0; rows * length];
        let status = dmodc_router_rows(router, all.as_mut_ptr(), all.len(), &mut rows, &mut length);
        assert_eq!(status, DmodcStatus::Ok, "{}", message());
        all
    }
}

/// A record of any type, by its place.
fn place<T: Default>(value: &mut T) -> *mut T {
    value
}

/// Each pointer in turn is null. What else is wrong does not matter, but the message names the argument or the object.
#[test]
fn every_null_pointer_is_an_error() {
    use DmodcStatus::BadArgument;
    let (fabric, _, router) = chain(3);
    let (mut builder, mut settings, mut delta, mut plan) = (0, 0, 0, 0);
    let (mut count, mut number, mut index) = (0usize, 0u64, 0u32);
    let mut bytes = [0u8; 64];
    let change = DmodcChange { guid: 1, port: 3, ..DmodcChange::default() };
    // SAFETY: pointers are null, or those of variables here.
    unsafe {
        dmodc_builder_new(&mut builder);
        dmodc_settings_new(&mut settings);
        assert_eq!(dmodc_router_apply(router, &change, 1, &mut delta), DmodcStatus::Ok);
        assert_eq!(dmodc_plan_new(router, delta, 0, &mut plan), DmodcStatus::Ok);
        let text = bytes.as_mut_ptr().cast::<c_char>();
        let octets = bytes.as_mut_ptr();
        fails(dmodc_builder_new(null_mut()), BadArgument, "'builder'");
        fails(dmodc_builder_add_switch(builder, null(), null()), BadArgument, "'description'");
        fails(dmodc_builder_add_adapter(builder, null(), null()), BadArgument, "'description'");
        fails(dmodc_builder_add_end_port(builder, null()), BadArgument, "'description'");
        fails(dmodc_builder_add_cable(builder, null()), BadArgument, "'description'");
        fails(dmodc_builder_finish(builder, null_mut()), BadArgument, "'fabric'");
        fails(dmodc_fabric_read(null(), 5, &mut number), BadArgument, "'bytes'");
        fails(dmodc_fabric_read(octets, 5, null_mut()), BadArgument, "'fabric'");
        fails(dmodc_fabric_write(fabric, null_mut(), 1 << 20, &mut count), BadArgument, "'buffer'");
        fails(dmodc_fabric_write(fabric, octets, 64, null_mut()), BadArgument, "'count'");
        fails(dmodc_fabric_counts(fabric, null_mut()), BadArgument, "'counts'");
        fails(dmodc_fabric_switch(fabric, 0, null_mut()), BadArgument, "'description'");
        fails(
            dmodc_fabric_switch_name(fabric, 0, null_mut(), 9, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(dmodc_fabric_switch_name(fabric, 0, text, 9, null_mut()), BadArgument, "'count'");
        fails(dmodc_fabric_find_switch(fabric, 1, null_mut()), BadArgument, "'index'");
        fails(dmodc_fabric_node(fabric, 0, null_mut()), BadArgument, "'description'");
        fails(
            dmodc_fabric_node_name(fabric, 0, null_mut(), 9, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(dmodc_fabric_node_name(fabric, 0, text, 9, null_mut()), BadArgument, "'count'");
        fails(dmodc_fabric_cable(fabric, 0, null_mut()), BadArgument, "'description'");
        fails(dmodc_settings_new(null_mut()), BadArgument, "'settings'");
        fails(dmodc_settings_set_orders(settings, null(), 1), BadArgument, "'bytes'");
        fails(dmodc_settings_set_leaves(settings, null(), 1), BadArgument, "'guids'");
        fails(dmodc_settings_set_roots(settings, null(), 1), BadArgument, "'guids'");
        fails(dmodc_router_new(fabric, 0, null_mut()), BadArgument, "'router'");
        fails(dmodc_router_apply(router, null(), 1, null_mut()), BadArgument, "'changes'");
        fails(dmodc_router_compare(router, router, null_mut()), BadArgument, "'delta'");
        fails(dmodc_router_failed(router, null_mut(), 9, &mut count), BadArgument, "'buffer'");
        fails(dmodc_router_failed(router, null_mut(), 9, null_mut()), BadArgument, "'count'");
        fails(dmodc_router_fabric(router, null_mut()), BadArgument, "'fabric'");
        fails(dmodc_router_leaves(router, null_mut(), 9, &mut count), BadArgument, "'buffer'");
        fails(dmodc_router_leaves(router, &mut number, 1, null_mut()), BadArgument, "'count'");
        fails(
            dmodc_router_save_orders(router, null_mut(), 1 << 20, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(dmodc_router_save_orders(router, octets, 64, null_mut()), BadArgument, "'count'");
        fails(dmodc_router_row(router, 1, null_mut(), 64, &mut count), BadArgument, "'buffer'");
        fails(dmodc_router_row(router, 1, octets, 64, null_mut()), BadArgument, "'count'");
        fails(
            dmodc_router_rows(router, null_mut(), 64, &mut count, &mut 0),
            BadArgument,
            "'buffer'",
        );
        fails(dmodc_router_rows(router, octets, 64, null_mut(), &mut 0), BadArgument, "'rows'");
        fails(
            dmodc_router_rows(router, octets, 64, &mut 0, null_mut()),
            BadArgument,
            "'row_length'",
        );
        fails(
            dmodc_router_alternatives(router, 1, 1, null_mut(), 9, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(
            dmodc_router_alternatives(router, 1, 1, octets, 9, null_mut()),
            BadArgument,
            "'count'",
        );
        fails(dmodc_router_verdict(router, null_mut()), BadArgument, "'found'");
        fails(dmodc_router_check(router, null_mut()), BadArgument, "'found'");
        fails(dmodc_router_digest(router, null_mut(), 99, &mut count), BadArgument, "'buffer'");
        fails(dmodc_router_digest(router, text, 64, null_mut()), BadArgument, "'count'");
        fails(dmodc_delta_counts(delta, null_mut(), &mut number), BadArgument, "'switches'");
        fails(dmodc_delta_counts(delta, &mut count, null_mut()), BadArgument, "'entries'");
        fails(
            dmodc_delta_entries(delta, 0, null_mut(), null_mut(), 0, &mut count),
            BadArgument,
            "'switch_guid'",
        );
        fails(
            dmodc_delta_entries(delta, 0, &mut number, null_mut(), 99, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(
            dmodc_delta_entries(delta, 0, &mut number, null_mut(), 99, null_mut()),
            BadArgument,
            "'count'",
        );
        fails(dmodc_plan_new(router, delta, 0, null_mut()), BadArgument, "'plan'");
        fails(dmodc_plan_counts(plan, null_mut(), &mut count), BadArgument, "'rounds'");
        fails(dmodc_plan_counts(plan, &mut index, null_mut()), BadArgument, "'writes'");
        let mut write = DmodcWrite::default();
        fails(
            dmodc_plan_write(plan, 0, null_mut(), null_mut(), 0, &mut count),
            BadArgument,
            "'write'",
        );
        fails(
            dmodc_plan_write(plan, 0, place(&mut write), null_mut(), 99, &mut count),
            BadArgument,
            "'buffer'",
        );
        fails(
            dmodc_plan_write(plan, 0, place(&mut write), null_mut(), 99, null_mut()),
            BadArgument,
            "'count'",
        );
        // Places that are not aligned, and arrays that cannot be.
        let words = [0u64; 4];
        let crooked = words.as_ptr().cast::<u8>().add(1);
        fails(dmodc_fabric_counts(fabric, crooked.cast_mut().cast()), BadArgument, "not aligned");
        fails(dmodc_settings_set_roots(settings, crooked.cast(), 2), BadArgument, "not aligned");
        fails(
            dmodc_settings_set_roots(settings, words.as_ptr(), usize::MAX),
            BadArgument,
            "elements",
        );
    }
    for object in [builder, settings, delta, plan, router, fabric] {
        assert_eq!(dmodc_release(object), DmodcStatus::Ok);
    }
}

/// Every function with an object refuses objects of another kind, and numbers that are none.
#[test]
fn every_wrong_object_is_an_error() {
    use DmodcStatus::BadHandle;
    let (fabric, _, router) = chain(3);
    let mut released = 0;
    let (mut count, mut number) = (0usize, 0u64);
    // SAFETY: pointers are null where the number of the object is looked at first, or those of variables here.
    unsafe {
        dmodc_settings_new(&mut released);
        assert_eq!(dmodc_release(released), DmodcStatus::Ok);
        let no_router = [0, 1, u64::MAX, released, fabric];
        for wrong in no_router {
            let change = DmodcChange { guid: 1, ..DmodcChange::default() };
            for status in [
                dmodc_router_apply(wrong, &change, 1, null_mut()),
                dmodc_router_compare(wrong, router, &mut number),
                dmodc_router_compare(router, wrong, &mut number),
                dmodc_router_failed(wrong, null_mut(), 0, &mut count),
                dmodc_router_fabric(wrong, &mut number),
                dmodc_router_leaves(wrong, null_mut(), 0, &mut count),
                dmodc_router_save_orders(wrong, null_mut(), 0, &mut count),
                dmodc_router_row(wrong, 1, null_mut(), 0, &mut count),
                dmodc_router_rows(wrong, null_mut(), 0, &mut count, &mut 0),
                dmodc_router_alternatives(wrong, 1, 1, null_mut(), 0, &mut count),
                dmodc_router_verdict(wrong, null_mut()),
                dmodc_router_check(wrong, &mut DmodcCheck::default()),
                dmodc_router_digest(wrong, null_mut(), 0, &mut count),
                dmodc_plan_new(wrong, wrong, 0, &mut number),
            ] {
                fails(status, BadHandle, "");
            }
        }
        for wrong in [0, 1, u64::MAX, released, router] {
            let switch = DmodcSwitch { guid: 1, ports: 1, ..DmodcSwitch::default() };
            let adapter = DmodcAdapter { guid: 1, ports: 1, ..DmodcAdapter::default() };
            for status in [
                dmodc_builder_add_switch(wrong, &switch, null()),
                dmodc_builder_add_adapter(wrong, &adapter, null()),
                dmodc_builder_add_end_port(wrong, &DmodcEndPort::default()),
                dmodc_builder_add_cable(wrong, &DmodcCable::default()),
                dmodc_builder_finish(wrong, &mut number),
                dmodc_fabric_write(wrong, null_mut(), 0, &mut count),
                dmodc_fabric_counts(wrong, null_mut()),
                dmodc_fabric_switch(wrong, 0, null_mut()),
                dmodc_fabric_switch_name(wrong, 0, null_mut(), 0, &mut count),
                dmodc_fabric_find_switch(wrong, 0, null_mut()),
                dmodc_fabric_node(wrong, 0, null_mut()),
                dmodc_fabric_node_name(wrong, 0, null_mut(), 0, &mut count),
                dmodc_fabric_cable(wrong, 0, null_mut()),
                dmodc_settings_set_engine(wrong, 0),
                dmodc_settings_set_reference(wrong, 0),
                dmodc_settings_set_orders(wrong, null(), 0),
                dmodc_settings_set_lasting(wrong, 0),
                dmodc_settings_set_leaves(wrong, null(), 0),
                dmodc_settings_set_roots(wrong, null(), 0),
                dmodc_settings_set_least_nodes(wrong, 0),
                dmodc_router_new(wrong, 0, &mut number),
                dmodc_delta_counts(wrong, &mut count, &mut number),
                dmodc_delta_entries(wrong, 0, null_mut(), null_mut(), 0, &mut count),
                dmodc_plan_counts(wrong, &mut 0, &mut count),
                dmodc_plan_write(wrong, 0, null_mut(), null_mut(), 0, &mut count),
            ] {
                fails(status, BadHandle, "");
            }
        }
    }
    fails(dmodc_release(released), BadHandle, "released");
    for object in [router, fabric] {
        assert_eq!(dmodc_release(object), DmodcStatus::Ok);
    }
}

/// Calls need little stack of the caller.
#[test]
fn callers_may_have_small_stacks() {
    let threads: Vec<_> = (0..64)
        .map(|_| {
            let body = || {
                let (fabric, status, router) = chain(40);
                assert_eq!(status, DmodcStatus::Ok);
                let mut check = DmodcCheck::default();
                // SAFETY: the record is here.
                assert_eq!(unsafe { dmodc_router_check(router, &mut check) }, DmodcStatus::Ok);
                assert_eq!((check.loops, check.deadlock_free), (0, 1));
                for object in [router, fabric] {
                    assert_eq!(dmodc_release(object), DmodcStatus::Ok);
                }
            };
            std::thread::Builder::new().stack_size(256 << 10).spawn(body).unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
