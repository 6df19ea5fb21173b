//! The library itself.

use std::ffi::c_char;

use super::pointers::guarded;
use crate::compute;
use crate::error::{DmodcStatus, last_message};
use crate::handles;

/// Returns the version of the library that runs, such as "0.2.0". The text stays for good. DMODC_VERSION is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns what a code of dmodc_status means in a few words. The text stays for good.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_status_text(status: u32) -> *const c_char {
    DmodcStatus::of(status).map_or(c"an unknown code", DmodcStatus::words).as_ptr()
}

/// Copies the message of the last function of this thread that failed, with a zero byte at its end. If the buffer is too small, the
/// message is cut off. Returns the length of the whole message without the zero byte. The buffer may be null if the capacity is 0.
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

/// Sets the number of threads that compute from the next call on: 1 to 1024, or 0 for one for each core, as in the beginning.
/// Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_set_threads(threads: u32) -> DmodcStatus {
    guarded(|| compute::set_threads(threads))
}

/// Forgets an object of any kind. Calls in other threads that use it end as usual, and objects that were made from it stay.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_release(object: u64) -> DmodcStatus {
    guarded(|| handles::remove(object).map(drop))
}

/// Returns the number of objects that are not released. A program that releases everything finds 0 at its end.
#[unsafe(no_mangle)]
pub extern "C" fn dmodc_object_count() -> usize {
    handles::count()
}
