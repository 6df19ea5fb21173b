//! Computing on another thread, without the interpreter's lock, until it is done or interrupted.
//!
//! The thread that called waits without the lock, and looks for signals twenty times a second. If there is one, the call ends
//! with the exception at once. The work is told to stop, and ends where it looks for that: before the next pattern, chunk of
//! faults, cell or switch. Until then its thread goes on with data of its own.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// How long the caller waits before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether work goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Going(Arc<AtomicBool>);

impl Going {
    pub(crate) fn goes_on(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

thread_local! {
    /// Whether this thread is inside the function of an engine.
    static IS_IN_ENGINE: Cell<bool> = const { Cell::new(false) };
}

/// Calls the function of an engine. Inside, nothing else can be computed: all threads may be waiting for this one.
pub(crate) fn in_engine<T>(call: impl FnOnce() -> T) -> T {
    let before = IS_IN_ENGINE.replace(true);
    let result = call();
    IS_IN_ENGINE.set(before);
    result
}

/// Does work on another thread, and returns its result.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Going) -> anyhow::Result<T> + Send + 'static,
) -> PyResult<T> {
    if IS_IN_ENGINE.get() {
        let text = "an engine cannot route, judge or read tables: it only chooses ports";
        return Err(errors::make(py, "EngineError", (text,)));
    }
    let going = Going::default();
    let (sender, mut receiver) = channel();
    let its = going.clone();
    let thread = thread::Builder::new().name("dmodc".into()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&its)));
        // If the caller was interrupted, nobody listens.
        let _ = sender.send(result);
    })?;
    loop {
        let answer;
        (answer, receiver) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        match answer {
            Ok(result) => {
                let _ = py.detach(move || thread.join());
                return match result {
                    Ok(result) => result.map_err(|error| errors::exception(py, &error)),
                    Err(panic) => Err(internal(py, &*panic)),
                };
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| going.stop())?,
            Err(RecvTimeoutError::Disconnected) => return Err(internal(py, &"the thread ended")),
        }
    }
}

/// Returns the exception for a mistake in this library.
fn internal(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    errors::make(py, "DmodcError", (format!("a mistake in dmodc, please report it: {text}"),))
}
