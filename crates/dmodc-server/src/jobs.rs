//! Long work with progress, which can be cancelled.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

/// How many jobs run at once.
const MOST_RUNNING: usize = 2;

/// How many finished jobs are remembered.
const MOST_FINISHED: usize = 16;

/// How far a job is.
#[derive(Clone, Debug)]
pub(crate) enum JobState {
    Running { done: usize, total: usize },
    Done(Arc<Value>),
    Cancelled,
    Failed(String),
}

/// One job.
#[derive(Clone, Debug)]
struct Job {
    state: JobState,
    is_cancelled: Arc<AtomicBool>,
}

/// All jobs.
#[derive(Default)]
pub(crate) struct Jobs {
    next: AtomicU64,
    jobs: Mutex<BTreeMap<u64, Job>>,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a job, and returns its number; `None` if too many are running.
    pub(crate) fn begin(&self) -> Option<(u64, Arc<AtomicBool>)> {
        let mut jobs = self.lock();
        let running = |job: &&Job| matches!(job.state, JobState::Running { .. });
        if jobs.values().filter(running).count() >= MOST_RUNNING {
            return None;
        }
        while jobs.len() > MOST_FINISHED {
            let finished = jobs.iter().find(|(_, job)| !running(job)).map(|(&number, _)| number);
            match finished {
                Some(number) => jobs.remove(&number),
                None => break,
            };
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let state = JobState::Running { done: 0, total: 0 };
        jobs.insert(number, Job { state, is_cancelled: is_cancelled.clone() });
        Some((number, is_cancelled))
    }

    pub(crate) fn set(&self, number: u64, state: JobState) {
        if let Some(job) = self.lock().get_mut(&number) {
            job.state = state;
        }
    }

    /// Returns a job.
    pub(crate) fn get(&self, number: u64, with_result: bool) -> Option<Value> {
        let job = self.lock().get(&number)?.clone();
        let mut value = json!({ "job": number, "kind": "whatif", "error": null, "result": null });
        let (word, done, total) = match &job.state {
            JobState::Running { done, total } => ("running", *done, *total),
            JobState::Done(result) => {
                if with_result {
                    value["result"] = (**result).clone();
                }
                let tried = result["tried"].as_u64().unwrap_or(0) as usize;
                ("done", tried, tried)
            }
            JobState::Cancelled => ("cancelled", 0, 0),
            JobState::Failed(error) => {
                value["error"] = json!(error);
                ("failed", 0, 0)
            }
        };
        value["state"] = json!(word);
        value["done"] = json!(done);
        value["total"] = json!(total);
        Some(value)
    }

    /// Cancels a job, and returns whether it was running; `None` if there is none of that number.
    pub(crate) fn cancel(&self, number: u64) -> Option<bool> {
        let jobs = self.lock();
        let job = jobs.get(&number)?;
        job.is_cancelled.store(true, Ordering::Relaxed);
        Some(matches!(job.state, JobState::Running { .. }))
    }
}
