//! The border between the page and Rust: all unsafe code of this crate.
//!
//! A module has one thread, and the page makes one call after the other.
#![expect(unsafe_code, reason = "the page reads and writes the memory of the module")]

use std::cell::RefCell;
use std::sync::Once;

use crate::answer::{answer_text, failure_text};
use crate::session::{Session, Surroundings};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    #[link_name = "now"]
    safe fn page_now() -> f64;
    #[link_name = "progress"]
    safe fn page_progress(done: u32, total: u32);
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::new(Surroundings {
        now: || page_now(),
        progress: |done, total| page_progress(done, total),
    }));
    /// Why the module failed, if it did.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Reserves bytes, and returns where they are.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Frees bytes that [`allocate`] or [`call`] returned.
///
/// # Safety
/// The place and the length are those of such bytes, which were not freed before.
#[unsafe(no_mangle)]
unsafe extern "C" fn release(place: *mut u8, length: usize) {
    // SAFETY: the caller promises that these bytes are a box of that length, which nobody uses any more.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(place, length)) });
}

/// Answers the request at a place, and returns where the answer is: its length and its text.
///
/// # Safety
/// The place and the length are those of bytes that [`allocate`] returned.
#[unsafe(no_mangle)]
unsafe extern "C" fn call(place: *const u8, length: usize) -> *mut u8 {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| note_failure(&panic.to_string()))));
    // SAFETY: the caller promises that these bytes are there, and nobody writes to them during the call.
    let request = unsafe { std::slice::from_raw_parts(place, length) };
    // A call that failed never gave the session back.
    let answer = SESSION.with(|session| match session.try_borrow_mut() {
        Ok(mut session) => answer_text(&mut session, request),
        Err(_) => failure_text(&failure()),
    });
    let length = (answer.len() as u32).to_le_bytes();
    Box::into_raw([&length[..], &answer].concat().into_boxed_slice()).cast()
}

fn note_failure(text: &str) {
    FAILURE.with(|failure| {
        // The first reason is the true one.
        failure.borrow_mut().get_or_insert_with(|| text.replace('\n', " "));
    });
}

fn failure() -> String {
    FAILURE.with(|failure| match &*failure.borrow() {
        Some(text) => {
            format!("the engine has failed ({text}); reload the page, and report this, please")
        }
        None => "the engine has run out of memory; reload the page".into(),
    })
}
