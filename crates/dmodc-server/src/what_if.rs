//! The job that tries every fault.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dmodc_view::Problem;
use dmodc_view::what_if::{WhatIfRequest, what_if};
use serde_json::json;

use crate::jobs::JobState;
use crate::shared::Shared;

/// Pages hear of progress no more often than this.
const REPORTS: Duration = Duration::from_millis(200);

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
