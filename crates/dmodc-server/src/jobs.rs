//! Long work with progress, which can be cancelled.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dmodc_view::Problem;
use dmodc_view::what_if::{WhatIfRequest, what_if};
use serde_json::{Value, json};

use crate::shared::Shared;

/// How many jobs run at once.
const MOST_RUNNING: usize = 2;

/// How many finished jobs are remembered.
const MOST_FINISHED: usize = 16;

/// Pages hear of progress no more often than this.
const REPORTS: Duration = Duration::from_millis(200);

/// How far a job is.
#[derive(Clone, Debug)]
enum JobState {
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
    fn begin(&self) -> Option<(u64, Arc<AtomicBool>)> {
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

    fn set(&self, number: u64, state: JobState) {
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

/// Starts to try every fault, and returns the number of the job; `None` if too many jobs are running.
pub(crate) fn start_what_if(shared: &Shared, request: WhatIfRequest) -> Option<u64> {
    let (number, is_cancelled) = shared.jobs().begin()?;
    let own = shared.clone();
    let work = move || try_faults(&own, request, number, &is_cancelled);
    if let Err(error) = std::thread::Builder::new().name(format!("job-{number}")).spawn(work) {
        shared.jobs().set(number, JobState::Failed(format!("there is no thread for it: {error}")));
    }
    Some(number)
}

/// Tries every fault, and notes how that goes.
fn try_faults(shared: &Shared, request: WhatIfRequest, number: u64, is_cancelled: &AtomicBool) {
    shared.metrics().running_jobs.fetch_add(1, Ordering::Relaxed);
    let mut last: Option<Instant> = None;
    let mut on_progress = |done: usize, total: usize| {
        if is_cancelled.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        shared.jobs().set(number, JobState::Running { done, total });
        if last.is_none_or(|last| last.elapsed() >= REPORTS) {
            last = Some(Instant::now());
            publish(shared, number);
        }
        ControlFlow::Continue(())
    };
    let work = || {
        // The job works on a copy, so that the fabric can change meanwhile.
        let (router, revision) = {
            let bench = shared.bench();
            (bench.router().clone(), bench.revision())
        };
        // Two jobs on one pool would stall each other: a thread of the one that waits takes up all of the other.
        let pool = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("what-if-{at}"));
        let pool = pool.build().map_err(|error| Problem::Conflict(error.to_string()))?;
        let answer = pool.install(|| what_if(&router, request, &mut on_progress));
        answer.map(|mut answer| {
            answer["revision"] = json!(revision);
            answer
        })
    };
    let state = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(Ok(answer)) => JobState::Done(Arc::new(answer)),
        Ok(Err(Problem::Cancelled)) => JobState::Cancelled,
        Ok(Err(problem)) => JobState::Failed(problem.to_string()),
        Err(_) => JobState::Failed("the job ended by a defect of dmodc; please report it".into()),
    };
    shared.jobs().set(number, state);
    shared.metrics().running_jobs.fetch_sub(1, Ordering::Relaxed);
    publish(shared, number);
}
fn publish(shared: &Shared, number: u64) {
    if let Some(job) = shared.jobs().get(number, false) {
        shared.publish("job", &job);
    }
}
