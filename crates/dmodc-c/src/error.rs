//! Codes and messages of errors.

use std::cell::RefCell;

/// The result of a function. Numbers never change their meaning.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmodcStatus {
    /// Done.
    Ok = 0,
    /// An argument is wrong: a null pointer, a number out of range, a text that is not UTF-8.
    BadArgument = 1,
    /// There is no such object: its number was never given, or it is released.
    BadHandle = 2,
    /// The records or the file are no fabric.
    BadFabric = 3,
    /// The fabric has no such switch, cable or LID.
    NotFound = 4,
    /// The engine cannot route this fabric.
    CannotRoute = 5,
    /// A buffer is too small. The number of elements that it needs was written.
    TooSmall = 6,
    /// The tables do not fit into memory.
    NoMemory = 7,
    /// A defect of this library.
    Internal = 8,
}

/// Why a function did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: DmodcStatus,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: DmodcStatus, message: impl Into<String>) -> Self {
        Failure { status, message: message.into() }
    }
}

thread_local! {
    /// The message of the last function of this thread that failed.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the code of a result, and keeps its message.
pub(crate) fn report(result: Result<(), Failure>) -> DmodcStatus {
    match result {
        Ok(()) => DmodcStatus::Ok,
        Err(Failure { status, message }) => {
            LAST.with_borrow_mut(|last| *last = message);
            status
        }
    }
}

/// Returns the message of the last function of this thread that failed.
pub(crate) fn last_message() -> String {
    LAST.with_borrow(Clone::clone)
}
