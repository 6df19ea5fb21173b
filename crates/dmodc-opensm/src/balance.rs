//! What the numbers in use cost, found out behind OpenSM's back.
//!
//! Numbers are kept for years, and may come to fit the fabric less well than fresh ones would. Finding that out means routing twice and
//! judging both, which takes longer than a run, so a thread of its own does it, on one processor. Of several runs only the newest waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use dmodc::advise::NumbersCost;
use dmodc::{Degradation, Fabric, Live, Routing};
use serde_json::{Value, json};

use crate::plugin::{Level, bug};
use crate::writer::{Log, Refresh};

/// What is asked of an operator whose numbers cost balance.
const ADVICE: &str =
    "'dmodc opensm renumber' numbers anew at the next sweep, which moves most routes";

/// A fabric of some run, and how it is numbered.
pub(crate) struct Numbered {
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) absent: Degradation,
    pub(crate) routing: Routing,
    /// Whether nothing that is known is absent. Otherwise the balance may be back with what is absent, and nobody should number anew.
    pub(crate) is_whole: bool,
}

#[derive(Default)]
struct Desk {
    waiting: Option<Numbered>,
    is_busy: bool,
    is_closing: bool,
    cost: Option<NumbersCost>,
    /// What the log said last.
    said: Option<String>,
}

struct Shared {
    desk: Mutex<Desk>,
    wake: Condvar,
    log: Log,
    refresh: Refresh,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that measures. It begins with the first run.
pub(crate) struct Balance {
    shared: Arc<Shared>,
    is_running: bool,
}

/// What was measured last, for texts.
#[derive(Clone)]
pub(crate) struct Measured(Arc<Shared>);

impl Measured {
    /// The costs for scripts; null as long as nothing was measured.
    pub(crate) fn json(&self) -> Value {
        let desk = self.0.lock();
        desk.cost.map_or(Value::Null, |cost| {
            json!({
                "a2a": cost.all_to_all,
                "fresh_a2a": cost.fresh_all_to_all,
                "sp": cost.shifts,
                "fresh_sp": cost.fresh_shifts,
                "ratio": cost.ratio(),
                "noticeable": cost.is_noticeable(),
                "is_of_last_run": desk.waiting.is_none() && !desk.is_busy,
            })
        })
    }

    /// How many times the fresh risk it is.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.0.lock().cost.map(|cost| cost.ratio())
    }
}

impl Balance {
    pub(crate) fn new(log: Log, refresh: Refresh) -> Self {
        let (desk, wake) = Default::default();
        Balance { shared: Arc::new(Shared { desk, wake, log, refresh }), is_running: false }
    }

    pub(crate) fn measured(&self) -> Measured {
        Measured(self.shared.clone())
    }

    /// Hands over a run to be measured.
    pub(crate) fn measure(&mut self, numbered: Numbered) {
        self.shared.lock().waiting = Some(numbered);
        if !self.is_running {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("dmodc-balance".into());
            // Without a thread there is nothing to say of balance, and nothing else is lost.
            self.is_running = thread.spawn(move || work(&shared)).is_ok();
        }
        self.shared.wake.notify_one();
    }

    /// Says nothing any more.
    pub(crate) fn close(&self) {
        self.shared.lock().is_closing = true;
        self.shared.wake.notify_one();
    }
}

impl Drop for Balance {
    fn drop(&mut self) {
        self.close();
    }
}

/// The thread.
fn work(shared: &Shared) {
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
    loop {
        let numbered = {
            let mut desk = shared.lock();
            loop {
                if desk.is_closing {
                    return;
                }
                if let Some(numbered) = desk.waiting.take() {
                    desk.is_busy = true;
                    break numbered;
                }
                desk = shared.wake.wait(desk).unwrap_or_else(PoisonError::into_inner);
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
            Err(panic) => Err(bug(panic.as_ref())),
        };
        drop(numbered);
        let line = note(&mut shared.lock(), cost, is_whole);
        if let Some((level, line)) = line {
            (shared.log)(level, &line);
        }
        (shared.refresh)();
    }
}

/// Notes what was found. Returns what the log is to say, if that is news.
fn note(
    desk: &mut Desk,
    cost: Result<NumbersCost, String>,
    is_whole: bool,
) -> Option<(Level, String)> {
    desk.is_busy = false;
    let line = match cost {
        Ok(cost) => {
            desk.cost = Some(cost);
            let is_said = cost.is_noticeable() && is_whole;
            is_said.then(|| (Level::Info, format!("{cost}; {ADVICE}")))
        }
        Err(why) => {
            desk.cost = None;
            Some((Level::Error, format!("what the numbers in use cost is not known: {why}")))
        }
    };
    let said = line.as_ref().map(|(_, line)| line.clone());
    let is_news = desk.said != said && !desk.is_closing;
    desk.said = said;
    line.filter(|_| is_news)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{DestinationOrder, Guid, Pgft, RoutingOptions, SavedOrders};
    use std::sync::mpsc;
    use std::time::Duration;

    /// Balanced numbers are not mentioned, others are, once.
    #[test]
    fn numbers_that_do_not_fit_are_mentioned_once() {
        let fabric =
            "2; 6,12; 1,6; 1,1".parse::<Pgft>().expect("a tuple").fabric(Default::default());
        let fabric = Arc::new(fabric);
        let (said, heard) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let said = Mutex::new(said);
        let log: Log = Arc::new(move |_, line| {
            let _ = said.lock().map(|said| said.send(line.to_string()));
        });
        let done = Mutex::new(done);
        let refresh: Refresh = Arc::new(move || {
            let _ = done.lock().map(|done| done.send(()));
        });
        let mut balance = Balance::new(log, refresh);
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
            balance.measure(Numbered { fabric: fabric.clone(), absent, routing, is_whole });
            is_done.recv_timeout(Duration::from_secs(60)).expect("it is measured");
            noticeable.push(balance.measured().json()["noticeable"].clone());
        }
        assert_eq!(noticeable, [false, true, true, false]);
        let lines: Vec<String> = heard.try_iter().collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("the numbers in use cost balance: all-to-all"), "{lines:?}");
        assert!(lines[0].ends_with("which moves most routes"), "{lines:?}");
    }
}
