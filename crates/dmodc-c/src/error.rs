//! Codes and messages of errors.

use std::cell::RefCell;
use std::ffi::CStr;

/// The result of a function. Numbers never change their meaning.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmodcStatus {
    /// Done.
    Ok = 0,
    /// An argument is wrong: a null pointer, a number out of range, a text that is not UTF-8.
    BadArgument = 1,
    /// There is no such object: its number was never given, it is released, or it is an object of another kind.
    BadHandle = 2,
    /// The records or the file are no fabric, or the reference describes another fabric.
    BadFabric = 3,
    /// The fabric has no such switch, cable or LID.
    NotFound = 4,
    /// The engine cannot route this fabric.
    CannotRoute = 5,
    /// A buffer is too small. The number of elements that are needed was written.
    TooSmall = 6,
    /// There is not enough memory for the tables, or threads cannot be started.
    NoMemory = 7,
    /// A defect of this library.
    Internal = 8,
}

impl DmodcStatus {
    /// Returns the status with a number, if there is one.
    pub(crate) fn of(number: u32) -> Option<Self> {
        let all = [
            DmodcStatus::Ok,
            DmodcStatus::BadArgument,
            DmodcStatus::BadHandle,
            DmodcStatus::BadFabric,
            DmodcStatus::NotFound,
            DmodcStatus::CannotRoute,
            DmodcStatus::TooSmall,
            DmodcStatus::NoMemory,
            DmodcStatus::Internal,
        ];
        all.into_iter().find(|status| *status as u32 == number)
    }

    /// Returns the meaning of a code in a few words.
    pub(crate) fn words(self) -> &'static CStr {
        match self {
            DmodcStatus::Ok => c"done",
            DmodcStatus::BadArgument => c"an argument is wrong",
            DmodcStatus::BadHandle => c"there is no such object",
            DmodcStatus::BadFabric => c"the description is no fabric",
            DmodcStatus::NotFound => c"the fabric has no such part",
            DmodcStatus::CannotRoute => c"the engine cannot route this fabric",
            DmodcStatus::TooSmall => c"a buffer is too small",
            DmodcStatus::NoMemory => c"there is not enough memory",
            DmodcStatus::Internal => c"a defect of the library",
        }
    }
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

    /// Returns the failure of an argument that is wrong.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Failure::new(DmodcStatus::BadArgument, message)
    }

    /// Returns the failure to find a part.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Failure::new(DmodcStatus::NotFound, message)
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
            // While a thread ends its message may be gone already; the code is enough then.
            let _ = LAST.try_with(|last| *last.borrow_mut() = message);
            status
        }
    }
}

/// Returns the message of the last function of this thread that failed.
pub(crate) fn last_message() -> String {
    LAST.try_with(|last| last.borrow().clone()).unwrap_or_default()
}
