//! Waiting for a file system, but not for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Does one thing at a time in a thread of its own and waits for it so long and no longer. What is late is not
/// lost: it is the answer of a later call.
pub(crate) struct Patient<T> {
    late: Option<Receiver<T>>,
}

impl<T: Send + 'static> Patient<T> {
    pub(crate) fn new() -> Self {
        Patient { late: None }
    }

    /// Returns what the job returned, or what an earlier one did if that was late and `fits` says that it serves.
    ///
    /// # Errors
    /// That there is no answer yet, or that there will be none.
    pub(crate) fn ask(
        &mut self,
        patience: Duration,
        fits: impl Fn(&T) -> bool,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let end = Instant::now() + patience;
        let left = || end.saturating_duration_since(Instant::now());
        let not_in_time = || format!("no answer from the file system in {patience:.0?}");
        if let Some(late) = &self.late {
            match late.recv_timeout(left()) {
                Ok(answer) if fits(&answer) => {
                    self.late = None;
                    return Ok(answer);
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => self.late = None,
                // As long as it hangs, no second thread hangs with it.
                Err(RecvTimeoutError::Timeout) => return Err(not_in_time()),
            }
        }
        let (send, receive) = sync_channel(1);
        let work = move || {
            let _ = send.send(job());
        };
        let thread = thread::Builder::new().name("dmodc-read".into());
        thread.spawn(work).map_err(|error| format!("no thread to read files: {error}"))?;
        match receive.recv_timeout(left()) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Disconnected) => Err("a bug in reading files".into()),
            Err(RecvTimeoutError::Timeout) => {
                self.late = Some(receive);
                Err(not_in_time())
            }
        }
    }
}
