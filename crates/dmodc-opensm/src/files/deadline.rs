//! Waiting for a file system, but not for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Does one job at a time in a thread of its own, and waits for the result until a deadline. A result that is late is not
/// lost: a later call returns it.
pub(crate) struct DeadlineWorker<T> {
    /// Where the result of a job arrives that has missed its deadline.
    late: Option<Receiver<T>>,
}

impl<T: Send + 'static> DeadlineWorker<T> {
    pub(crate) fn new() -> Self {
        DeadlineWorker { late: None }
    }

    /// Returns the result of the job, or that of an earlier job which was late, if `fits` accepts it.
    ///
    /// # Errors
    /// If there is no result in time, or there will be none.
    pub(crate) fn ask(
        &mut self,
        patience: Duration,
        fits: impl Fn(&T) -> bool,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let end = Instant::now() + patience;
        let left = || end.saturating_duration_since(Instant::now());
        let not_in_time = || format!("the file system did not answer within {patience:.0?}");
        if let Some(late) = &self.late {
            match late.recv_timeout(left()) {
                Ok(answer) if fits(&answer) => {
                    self.late = None;
                    return Ok(answer);
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => self.late = None,
                // As long as one thread hangs, no second one is started.
                Err(RecvTimeoutError::Timeout) => return Err(not_in_time()),
            }
        }
        let (send, receive) = sync_channel(1);
        let work = move || {
            let _ = send.send(job());
        };
        let thread = thread::Builder::new().name("dmodc-read".into());
        thread
            .spawn(work)
            .map_err(|error| format!("cannot start a thread to read files: {error}"))?;
        match receive.recv_timeout(left()) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Disconnected) => {
                Err("internal error while reading files, please report it".into())
            }
            Err(RecvTimeoutError::Timeout) => {
                self.late = Some(receive);
                Err(not_in_time())
            }
        }
    }
}
