//! Threads of our own, on which everything is computed.
//!
//! A thread of the caller may have a small stack, and the program may have a pool of `rayon` threads already. So whatever takes
//! more than a look into a list runs on threads that this file makes. Calls take turns: each has all threads for itself. If two
//! ran at once, a thread that waits for one would begin the other on top of the same stack, and with many callers nothing would
//! bound its depth.
//!
//! A process that forks has no threads in the child, where waiting for them would never end. The child makes new ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{DmodcStatus, Failure};

/// The stack of each thread, in bytes. A quarter of a megabyte is known to be enough.
const STACK: usize = 4 << 20;

/// The greatest number of threads.
pub(crate) const MOST_THREADS: u32 = 1024;

/// The threads, and whom they were made for.
struct Threads {
    process: u32,
    wanted: usize,
    pool: ThreadPool,
}

/// The threads; whoever holds this lock has the turn.
static TURN: Mutex<Option<Threads>> = Mutex::new(None);

/// Threads that a process before a fork had. There is nobody to be stopped, so they are kept as they are.
static LEFT: Mutex<Vec<Threads>> = Mutex::new(Vec::new());

/// The number of threads that later calls use; 0 is one for each core.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads that later calls use; 0 is one for each core.
pub(crate) fn set_threads(threads: u32) -> Result<(), Failure> {
    if threads > MOST_THREADS {
        let message = format!("the number of threads is 0 to {MOST_THREADS}, not {threads}");
        return Err(Failure::argument(message));
    }
    WANTED.store(threads as usize, Ordering::Relaxed);
    Ok(())
}

fn make(wanted: usize) -> Result<Threads, Failure> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(wanted)
        .stack_size(STACK)
        .thread_name(|at| format!("dmodc-{at}"))
        .build()
        .map_err(|error| {
            Failure::new(DmodcStatus::NoMemory, format!("threads cannot be started: {error}"))
        })?;
    Ok(Threads { process: std::process::id(), wanted, pool })
}

/// Runs `work` on the threads, when it is its turn. A panic passes through. The caller may hold the lock of an object; `work`
/// must take none.
pub(crate) fn compute<R: Send>(
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    // A panic elsewhere leaves the threads as they were.
    let mut turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = WANTED.load(Ordering::Relaxed);
    if turn.as_ref().is_some_and(|threads| threads.process != std::process::id()) {
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).extend(turn.take());
    }
    let threads = match turn.take() {
        Some(threads) if threads.wanted == wanted => turn.insert(threads),
        _ => turn.insert(make(wanted)?),
    };
    threads.pool.install(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_threads_can_change() {
        for wanted in [3, 1, 5] {
            set_threads(wanted).unwrap();
            let found = compute(|| Ok(rayon::current_num_threads())).unwrap();
            // Other tests may set it in between, but only this one does here.
            assert_eq!(found, wanted as usize);
        }
        assert!(set_threads(MOST_THREADS + 1).is_err());
        set_threads(0).unwrap();
    }

    #[test]
    fn a_panic_passes_and_the_next_call_works() {
        let panicked = std::panic::catch_unwind(|| compute::<()>(|| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(compute(|| Ok(7)).unwrap(), 7);
    }
}
