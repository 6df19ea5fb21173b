//! Pointers of the caller, checked as far as that is possible.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{DmodcStatus, Failure, report};

/// Runs the body of a function. A panic becomes an error.
pub(super) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> DmodcStatus {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(ToString::to_string);
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        // Dropping an unknown value could panic again.
        std::mem::forget(panic);
        let message = format!("a defect of dmodc: {}", words.unwrap_or_default());
        Err(Failure::new(DmodcStatus::Internal, message))
    });
    report(result)
}

/// Returns an error if a pointer is null or not aligned.
pub(super) fn check<T>(place: *const T, what: &str) -> Result<(), Failure> {
    match (place.is_null(), place.is_aligned()) {
        (true, _) => Err(Failure::argument(format!("the argument '{what}' is a null pointer"))),
        (false, false) => {
            let message = format!("the argument '{what}' is not aligned for its type");
            Err(Failure::argument(message))
        }
        (false, true) => Ok(()),
    }
}

/// Writes a result to the place that the caller gave.
///
/// # Safety
/// The pointer is null or not aligned, or may be written to.
pub(super) unsafe fn put<T>(place: *mut T, what: &str, value: T) -> Result<(), Failure> {
    check(place, what)?;
    // SAFETY: it was checked, and the caller of this function vouches for the rest.
    unsafe { place.write(value) };
    Ok(())
}

/// Returns a record of the caller.
///
/// # Safety
/// The pointer is null or not aligned, or points to a record.
pub(super) unsafe fn record<T: Copy>(place: *const T, what: &str) -> Result<T, Failure> {
    check(place, what)?;
    // SAFETY: it was checked, and the caller of this function vouches for the rest.
    Ok(unsafe { place.read() })
}

/// Returns a text of the caller; a null pointer is an empty text.
///
/// # Safety
/// The pointer is null, or points to a text that ends with a zero byte and stays while it is used.
pub(super) unsafe fn text<'a>(place: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if place.is_null() {
        return Ok("");
    }
    // SAFETY: it is not null, and the caller of this function vouches for the rest.
    let text = unsafe { CStr::from_ptr(place) };
    text.to_str().map_err(|_| Failure::argument(format!("the argument '{what}' is not UTF-8")))
}

/// Returns an error if no array can have this number of elements.
fn check_length<T>(length: usize, what: &str) -> Result<(), Failure> {
    match length > isize::MAX as usize / size_of::<T>() {
        true => Err(Failure::argument(format!("'{what}' cannot have {length} elements"))),
        false => Ok(()),
    }
}

/// Returns an array of the caller. It may be null if it is empty.
///
/// # Safety
/// The pointer is null or not aligned, or points to `length` elements that stay while they are used.
pub(super) unsafe fn array<'a, T>(
    place: *const T,
    length: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    check(place, what)?;
    check_length::<T>(length, what)?;
    // SAFETY: it was checked, and the caller of this function vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts(place, length) })
}

/// A buffer of the caller, and where the number of its elements is written.
pub(super) struct Buffer<T> {
    pub(super) place: *mut T,
    pub(super) capacity: usize,
    pub(super) count: *mut usize,
}

impl<T: Copy> Buffer<T> {
    /// Writes the number of elements, and returns the part of the buffer for them, filled with `value`. If the buffer is too small,
    /// only the number is written.
    ///
    /// # Safety
    /// The pointers are null or not aligned, or may be written to: the buffer for `capacity` elements.
    pub(super) unsafe fn space<'a>(&self, length: usize, value: T) -> Result<&'a mut [T], Failure> {
        // SAFETY: the caller of this function vouches for it.
        unsafe { put(self.count, "count", length) }?;
        let capacity = self.capacity;
        if capacity < length {
            let message =
                format!("the buffer has room for {capacity} elements, and {length} are needed");
            return Err(Failure::new(DmodcStatus::TooSmall, message));
        }
        if length == 0 {
            return Ok(&mut []);
        }
        check(self.place, "buffer")?;
        check_length::<T>(length, "buffer")?;
        for at in 0..length {
            // SAFETY: the buffer was checked and has room, as the caller of this function vouches.
            unsafe { self.place.add(at).write(value) };
        }
        // SAFETY: all elements were written just now, and the caller vouches that nobody else uses them.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.place, length) })
    }

    /// Copies elements into the buffer, and writes their number. If the buffer is too small, only the number is written.
    ///
    /// # Safety
    /// As for [`Buffer::space`].
    pub(super) unsafe fn fill(&self, values: &[T]) -> Result<(), Failure> {
        let Some(&first) = values.first() else {
            // SAFETY: the caller of this function vouches for it.
            return unsafe { put(self.count, "count", 0) };
        };
        // SAFETY: the caller of this function vouches for it.
        unsafe { self.space(values.len(), first) }?.copy_from_slice(values);
        Ok(())
    }
}

impl Buffer<c_char> {
    /// Copies a text into the buffer, with a zero byte at its end. A zero byte inside a text ends it.
    ///
    /// # Safety
    /// As for [`Buffer::space`].
    pub(super) unsafe fn fill_text(&self, text: &str) -> Result<(), Failure> {
        let bytes = text.bytes().take_while(|&byte| byte != 0).chain([0]);
        let letters: Vec<c_char> = bytes.map(|byte| byte as c_char).collect();
        // SAFETY: the caller of this function vouches for it.
        unsafe { self.fill(&letters) }
    }
}
