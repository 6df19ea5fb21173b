//! What all requests share: the workbench, the history, the listeners.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use dmodc::Degradation;
use dmodc_view::{ChangeRequest, Event, Problem, Setup, Workbench, part_id};
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

use crate::access::Access;
use crate::follow_status::FollowStatus;
use crate::history::{History, HistoryError};
use crate::jobs::Jobs;
use crate::lanes::Lanes;
use crate::metrics::{Metrics, PresentNumbers};
use crate::refusal::ChangeError;

/// How many events a slow page may be behind before it loses some.
const BEHIND: usize = 64;

/// Something that pages should know.
#[derive(Clone)]
pub(crate) struct News {
    /// The name of the event: `state`, `judged`, `job` or `scene`.
    pub(crate) name: &'static str,
    /// JSON.
    pub(crate) data: Arc<str>,
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

struct Inner {
    bench: RwLock<Workbench>,
    access: Access,
    history: History,
    metrics: Metrics,
    news: broadcast::Sender<News>,
    /// The state that was published last, for those who lost news.
    newest: watch::Sender<Arc<str>>,
    /// The newest judgement.
    judged: watch::Sender<Value>,
    /// Wakes the thread that judges.
    wake_judge: mpsc::Sender<()>,
    follow: Mutex<Option<FollowStatus>>,
    /// Answers come from pools of their own, so that re-routing never queues behind them.
    pools: Pools,
    lanes: Lanes,
    jobs: Jobs,
}

/// Returns milliseconds since 1970.
pub(crate) fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

/// Threads that compute answers. Who holds the lock of the workbench must never queue behind somebody who does not: a change
/// would wait for both.
pub(crate) struct Pools {
    /// For those who hold the lock of the workbench.
    pub(crate) locked: rayon::ThreadPool,
    /// For those who work on copies, which takes longer.
    pub(crate) apart: rayon::ThreadPool,
}

impl Pools {
    pub(crate) fn new() -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = |name: &'static str| {
            rayon::ThreadPoolBuilder::new().thread_name(move |at| format!("{name}-{at}")).build()
        };
        Ok(Pools { locked: pool("answer")?, apart: pool("apart")? })
    }
}

/// What [`Shared`] is made from.
pub(crate) struct Parts {
    pub(crate) bench: Workbench,
    pub(crate) access: Access,
    pub(crate) history: History,
    pub(crate) pools: Pools,
}

impl Shared {
    /// Takes the parts, and returns the end of the channel that wakes the judge.
    ///
    /// # Errors
    /// If the first event cannot be kept.
    pub(crate) fn new(parts: Parts) -> Result<(Self, mpsc::Receiver<()>), HistoryError> {
        let Parts { mut bench, access, history, pools } = parts;
        bench.number_events_from(history.last_sequence()? + 1);
        let metrics = Metrics::default();
        if let Some(event) = bench.last_event() {
            history.append(event)?;
            metrics.count_event(event);
        }
        let (wake_judge, woken) = mpsc::channel();
        let shared = Shared(Arc::new(Inner {
            bench: RwLock::new(bench),
            access,
            history,
            metrics,
            news: broadcast::Sender::new(BEHIND),
            newest: watch::Sender::new("null".into()),
            judged: watch::Sender::new(Value::Null),
            wake_judge,
            follow: Mutex::new(None),
            pools,
            lanes: Lanes::default(),
            jobs: Jobs::default(),
        }));
        shared.0.newest.send_replace(shared.state().to_string().into());
        shared.wake_judge();
        Ok((shared, woken))
    }

    /// Returns the workbench for a question.
    pub(crate) fn bench(&self) -> RwLockReadGuard<'_, Workbench> {
        self.0.bench.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn bench_mut(&self) -> RwLockWriteGuard<'_, Workbench> {
        self.0.bench.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn access(&self) -> &Access {
        &self.0.access
    }

    pub(crate) fn history(&self) -> &History {
        &self.0.history
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.0.lanes
    }

    /// Computes something from the workbench, whose lock the caller holds.
    pub(crate) fn compute<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.pools.locked.install(work)
    }

    /// Computes something without the workbench. The caller must not hold its lock.
    pub(crate) fn compute_apart<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.pools.apart.install(work)
    }

    /// Returns a listener to news.
    pub(crate) fn listen(&self) -> broadcast::Receiver<News> {
        self.0.news.subscribe()
    }

    /// Tells all pages. Nobody waits for a page: who is too slow loses news.
    pub(crate) fn publish(&self, name: &'static str, data: &Value) {
        // Without listeners there is nobody to tell.
        let _ = self.0.news.send(News { name, data: data.to_string().into() });
    }

    /// Tells all pages the present state.
    pub(crate) fn publish_present(&self) {
        // While the workbench is locked no newer state can be told before this one.
        let bench = self.bench();
        self.publish_state(&self.state_of(&bench));
    }

    fn publish_state(&self, state: &Value) {
        let data: Arc<str> = state.to_string().into();
        self.0.newest.send_replace(data.clone());
        let _ = self.0.news.send(News { name: "state", data });
    }

    /// Returns the state that was published last. This never waits for a change that is being made.
    pub(crate) fn newest_state(&self) -> Arc<str> {
        self.0.newest.borrow().clone()
    }

    /// Returns the present state, with what is followed.
    pub(crate) fn state(&self) -> Value {
        self.state_of(&self.bench())
    }

    fn state_of(&self, bench: &Workbench) -> Value {
        let mut state = bench.state();
        state["follow"] = self.follow_status().as_ref().map_or(Value::Null, FollowStatus::json);
        state
    }

    pub(crate) fn follow_status(&self) -> MutexGuard<'_, Option<FollowStatus>> {
        self.0.follow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change that somebody asked for, and returns the state after it. A fabric that is followed cannot be changed.
    pub(crate) fn change(&self, request: ChangeRequest) -> Result<Value, ChangeError> {
        // The engine is ours to choose, whatever the fabric is.
        let is_engine = matches!(request, ChangeRequest::Engine(_));
        if self.follow_status().is_some() && !is_engine {
            return Err(ChangeError::Problem(Problem::Conflict(
                "this page follows a live fabric, which cannot be broken or repaired from here"
                    .into(),
            )));
        }
        let request = self.by_guid(request)?;
        let mut bench = self.bench_mut();
        let event = bench.change(request)?.cloned();
        self.finish(&bench, event)
    }

    /// Replaces the names of parts by their GUIDs. Names are searched for, which takes long for a long list: nobody waits for
    /// that, because it needs no lock. Parts by GUID are found at once.
    fn by_guid(&self, request: ChangeRequest) -> Result<ChangeRequest, Problem> {
        let setup = self.bench().setup().clone();
        let id = |name: String| Ok(part_id(setup.fabric(), setup.find_part(&name)?));
        let ids = |names: Vec<String>| names.into_iter().map(id).collect::<Result<_, Problem>>();
        Ok(match request {
            ChangeRequest::Parts { fail, repair } => {
                ChangeRequest::Parts { fail: ids(fail)?, repair: ids(repair)? }
            }
            ChangeRequest::Scenario(mut scenario) => {
                scenario.failed = ids(scenario.failed)?;
                ChangeRequest::Scenario(scenario)
            }
            other => other,
        })
    }

    /// Makes the faults those of the fabric that is followed.
    pub(crate) fn follow_faults(&self, faults: &Degradation) -> Result<Value, ChangeError> {
        let mut bench = self.bench_mut();
        let event = bench.follow(faults)?.cloned();
        self.finish(&bench, event)
    }

    /// Puts another fabric on the workbench.
    pub(crate) fn replace(&self, setup: Setup) -> Result<Value, ChangeError> {
        let mut bench = self.bench_mut();
        let event = bench.replace(setup)?.clone();
        self.publish("scene", &json!({ "scene": bench.scene_number() }));
        self.finish(&bench, Some(event))
    }

    /// Keeps an event, and tells all pages. Nothing is told before it is kept.
    fn finish(&self, bench: &Workbench, event: Option<Event>) -> Result<Value, ChangeError> {
        let state = self.state_of(bench);
        let Some(event) = event else { return Ok(state) };
        let kept = self.0.history.append(&event);
        self.0.metrics.count_event(&event);
        self.publish_state(&state);
        self.wake_judge();
        match kept {
            Ok(()) => Ok(state),
            Err(error) => {
                self.0.metrics.history_errors.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Err(ChangeError::NotKept(error))
            }
        }
    }

    fn wake_judge(&self) {
        // The judge ends only with the program.
        let _ = self.0.wake_judge.send(());
    }

    /// Notes a judgement, and tells all pages.
    pub(crate) fn judged(&self, judgement: &Value) {
        let sequence = {
            let mut bench = self.bench_mut();
            bench.note_judgement(judgement);
            let event = bench.last_event();
            event.filter(|event| event.judgement.is_some()).map(|event| event.sequence)
        };
        if let Some(sequence) = sequence
            && self.0.history.note_judgement(sequence, judgement).is_err()
        {
            self.0.metrics.history_errors.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        self.0.judged.send_replace(judgement.clone());
        self.publish("judged", judgement);
    }

    /// Returns the judgement that is newest, and hears of newer ones.
    pub(crate) fn watch_judgement(&self) -> watch::Receiver<Value> {
        self.0.judged.subscribe()
    }

    /// Returns the present state in numbers.
    pub(crate) fn numbers(&self) -> PresentNumbers {
        let bench = self.bench();
        let event = bench.last_event();
        let failed = event.map(|event| event.all_failed).unwrap_or_default();
        let judgement = self.0.judged.borrow().clone();
        let is_present = judgement["revision"].as_u64() == Some(bench.revision());
        PresentNumbers {
            revision: bench.revision(),
            nodes: bench.fabric().nodes().len(),
            switches: bench.fabric().switches().len(),
            cables: bench.fabric().inter_switch_cables().len(),
            failed_switches: failed.switches,
            failed_cables: failed.cables,
            is_valid: event.is_some_and(|event| event.valid),
            history: self.0.history.size().unwrap_or_default(),
            judgement: if is_present { judgement } else { Value::Null },
        }
    }
}
