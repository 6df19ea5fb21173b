//! How much balance the numbers in use cost, measured in a thread of its own after OpenSM has its tables.
//!
//! Numbers are kept for years, and may come to fit the fabric less well than fresh ones would. Measuring that means to
//! route twice and to judge both tables, which takes longer than a run, so a thread does it on one processor. If several
//! runs wait for it, only the newest is measured.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use dmodc::advise::NumbersCost;
use dmodc::{Degradation, Fabric, Live, Routing};
use serde_json::{Value, json};

use crate::subnet_manager::{Log, LogLevel, panic_line};
use crate::writer::RefreshReports;

/// Advice for operators whose numbers cost balance.
const ADVICE: &str = "when most routes may move, run 'dmodc opensm renumber' to get new numbers";

/// The fabric of a run, and how it is numbered.
pub(crate) struct NumberedFabric {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) absent: Degradation,
    pub(crate) routing: Routing,
    /// Whether all known parts are present. Otherwise the balance may return together with the absent parts, and nobody
    /// should renumber.
    pub(crate) is_whole: bool,
}

/// The run that waits to be measured, and the last result.
#[derive(Default)]
struct BalanceState {
    /// The newest run that is not measured yet.
    waiting: Option<NumberedFabric>,
    is_busy: bool,
    is_closing: bool,
    cost: Option<NumbersCost>,
    /// The last line in the log, so that none is repeated.
    last_line: Option<String>,
}

/// The state, shared by the thread and the handle.
struct SharedBalance {
    state: Mutex<BalanceState>,
    wake: Condvar,
    log: Log,
    refresh: RefreshReports,
}

impl SharedBalance {
    fn lock(&self) -> MutexGuard<'_, BalanceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle of a thread that measures. The thread starts with the first run.
pub(crate) struct BalanceMonitor {
    shared: Arc<SharedBalance>,
    is_running: bool,
}

/// Lets reports read what was measured last.
#[derive(Clone)]
pub(crate) struct MeasuredBalance(Arc<SharedBalance>);

impl MeasuredBalance {
    /// Returns the costs as the status file has them, or null if nothing was measured.
    pub(crate) fn json(&self) -> Value {
        let state = self.0.lock();
        state.cost.map_or(Value::Null, |cost| {
            json!({
                "a2a": cost.all_to_all,
                "fresh_a2a": cost.fresh_all_to_all,
                "sp": cost.shifts,
                "fresh_sp": cost.fresh_shifts,
                "ratio": cost.ratio(),
                "noticeable": cost.is_noticeable(),
                "is_of_last_run": state.waiting.is_none() && !state.is_busy,
            })
        })
    }

    /// Returns the congestion risk with the numbers in use divided by the risk with fresh numbers.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.0.lock().cost.map(|cost| cost.ratio())
    }
}

impl BalanceMonitor {
    pub(crate) fn new(log: Log, refresh: RefreshReports) -> Self {
        let (state, wake) = Default::default();
        BalanceMonitor {
            shared: Arc::new(SharedBalance { state, wake, log, refresh }),
            is_running: false,
        }
    }

    pub(crate) fn measured(&self) -> MeasuredBalance {
        MeasuredBalance(self.shared.clone())
    }

    /// Hands over a run to be measured.
    pub(crate) fn measure(&mut self, numbered: NumberedFabric) {
        self.shared.lock().waiting = Some(numbered);
        if !self.is_running {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("dmodc-balance".into());
            // Without a thread the balance is not reported, and nothing else is lost.
            self.is_running = thread.spawn(move || measure_all(&shared)).is_ok();
        }
        self.shared.wake.notify_one();
    }

    /// Stops the thread, and keeps it from logging.
    pub(crate) fn close(&self) {
        self.shared.lock().is_closing = true;
        self.shared.wake.notify_one();
    }
}

impl Drop for BalanceMonitor {
    fn drop(&mut self) {
        self.close();
    }
}

/// Measures one run after the other, until the handle is dropped.
fn measure_all(shared: &SharedBalance) {
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
    loop {
        let numbered = {
            let mut state = shared.lock();
            loop {
                if state.is_closing {
                    return;
                }
                if let Some(numbered) = state.waiting.take() {
                    state.is_busy = true;
                    break numbered;
                }
                state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let measure = || {
            let live = Live::new(&numbered.fabric, &numbered.absent);
            NumbersCost::new(live, &numbered.routing)
        };
        let is_whole = numbered.is_whole;
        let cost = catch_unwind(AssertUnwindSafe(|| pool.install(measure)));
        let cost = match cost {
            Ok(cost) => cost.map_err(|error| error.to_string()),
            Err(panic) => Err(panic_line(panic.as_ref())),
        };
        drop(numbered);
        let line = note(&mut shared.lock(), cost, is_whole);
        if let Some((level, line)) = line {
            (shared.log)(level, &line);
        }
        (shared.refresh)();
    }
}

/// Notes the result. Returns the line for the log, if it is news.
fn note(
    state: &mut BalanceState,
    cost: Result<NumbersCost, String>,
    is_whole: bool,
) -> Option<(LogLevel, String)> {
    state.is_busy = false;
    let line = match cost {
        Ok(cost) => {
            state.cost = Some(cost);
            let is_logged = cost.is_noticeable() && is_whole;
            is_logged.then(|| (LogLevel::Info, format!("{cost}; {ADVICE}")))
        }
        Err(why) => {
            state.cost = None;
            let line = format!("could not measure the balance of the numbers in use: {why}");
            Some((LogLevel::Error, line))
        }
    };
    let text = line.as_ref().map(|(_, line)| line.clone());
    let is_news = state.last_line != text && !state.is_closing;
    state.last_line = text;
    line.filter(|_| is_news)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{DestinationOrder, Guid, Pgft, RoutingOptions, SavedOrders};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Balanced numbers are not mentioned in the log. Others are, once.
    #[test]
    fn numbers_that_do_not_fit_are_mentioned_once() {
        let fabric =
            "2; 6,12; 1,6; 1,1".parse::<Pgft>().expect("a tuple").fabric(Default::default());
        let fabric = Arc::new(fabric);
        let (logged, log_lines) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let logged = Mutex::new(logged);
        let log: Log = Arc::new(move |_, line| {
            let _ = logged.lock().map(|logged| logged.send(line.to_string()));
        });
        let done = Mutex::new(done);
        let refresh: RefreshReports = Arc::new(move || {
            let _ = done.lock().map(|done| done.send(()));
        });
        let mut balance = BalanceMonitor::new(log, refresh);
        assert_eq!(balance.measured().json(), Value::Null);
        let mut reversed: Vec<Guid> = fabric.nodes().iter().map(|n| n.guid).collect();
        reversed.swap(3, 40);
        reversed.swap(10, 61);
        let orders = [
            DestinationOrder::Topological,
            DestinationOrder::Saved(SavedOrders::plain(reversed.clone())),
            DestinationOrder::Saved(SavedOrders::plain(reversed)),
            DestinationOrder::Topological,
        ];
        let mut noticeable = Vec::new();
        for destinations in orders {
            let absent = Degradation::none(&fabric);
            let options = RoutingOptions { destinations, ..RoutingOptions::default() };
            let routing = Routing::new(Live::new(&fabric, &absent), &options);
            let is_whole = true;
            balance.measure(NumberedFabric { fabric: fabric.clone(), absent, routing, is_whole });
            is_done.recv_timeout(Duration::from_secs(60)).expect("it is measured");
            noticeable.push(balance.measured().json()["noticeable"].clone());
        }
        assert_eq!(noticeable, [false, true, true, false]);
        let lines: Vec<String> = log_lines.try_iter().collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with(
                "routes would be more even with new numbers of destinations: by the engine dmodc, the worst port has "
            ),
            "{lines:?}"
        );
        assert!(lines[0].ends_with("'dmodc opensm renumber' to get new numbers"), "{lines:?}");
    }
}
