//! Computing on another thread, without the interpreter's lock, until it is done or interrupted.
//!
//! The thread that called waits without the lock, and looks for signals twenty times a second. If there is one, the call ends
//! with the exception at once. The work is told to stop, and ends where it looks for that: before the next pattern, chunk of
//! faults, cell or switch. Until then its thread goes on with data of its own.
//!
//! - **The end of Python.** Work that goes on may call the function of an engine. It must not while Python takes itself apart, so
//!   `close` forbids further calls, and waits for those that have begun. Calls of other Python threads that are under way do not
//!   return any more: the exception would be printed while Python takes its output apart, which ends the process with an error.
//! - **Forks.** A process that forks has none of its threads in the child, where waiting for them would never end. So a child has
//!   a pool of its own, and its calls take turns.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

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

/// How long the end of Python waits for functions of engines.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// Whether Python ends, so that nothing may call it any more.
static IS_CLOSING: AtomicBool = AtomicBool::new(false);

/// The thread that ends Python.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();

/// The number of threads that call Python now, or are about to.
static CALLING: AtomicUsize = AtomicUsize::new(0);

/// Calls Python from another thread. Returns nothing if Python ends.
pub(crate) fn call_python<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CALLING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    CALLING.fetch_add(1, Ordering::SeqCst);
    let _leave = Leave;
    if IS_CLOSING.load(Ordering::SeqCst) { None } else { Python::try_attach(call) }
}

/// Forbids further calls of Python from other threads, and waits for those that have begun. Python calls this when it ends.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    CLOSER.get_or_init(|| thread::current().id());
    IS_CLOSING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let start = Instant::now();
        while CALLING.load(Ordering::SeqCst) > 0 && start.elapsed() < LAST_PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Holds this thread back if another one ends Python. As a rule the process is gone before that is over; Python itself holds its
/// threads back in the same way, but only later.
fn wait_for_the_end(py: Python<'_>) {
    let is_closer = || CLOSER.get() == Some(&thread::current().id());
    if IS_CLOSING.load(Ordering::SeqCst) && !is_closer() {
        py.detach(|| thread::sleep(LAST_PATIENCE));
    }
}

/// The process that computed first. It uses the threads that every program has.
static FIRST_PROCESS: OnceLock<u32> = OnceLock::new();

/// The threads of a process that came from a fork, and its number. Those of a process before are kept as they are: there is nobody
/// to be stopped.
static OF_CHILD: Mutex<Vec<(u32, ThreadPool)>> = Mutex::new(Vec::new());

/// Does work on threads that this process has.
fn on_own_threads<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    let process = std::process::id();
    if *FIRST_PROCESS.get_or_init(|| process) == process {
        return work();
    }
    let mut pools = OF_CHILD.lock().unwrap_or_else(PoisonError::into_inner);
    if pools.last().is_none_or(|pool| pool.0 != process) {
        pools.push((process, ThreadPoolBuilder::new().build()?));
    }
    let pool = &pools[pools.len() - 1].1;
    pool.install(work)
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
        let result = catch_unwind(AssertUnwindSafe(|| on_own_threads(|| work(&its))));
        // If the caller was interrupted, nobody listens.
        let _ = sender.send(result);
    })?;
    loop {
        let answer;
        (answer, receiver) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        match answer {
            Ok(result) => {
                let _ = py.detach(move || thread.join());
                wait_for_the_end(py);
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
