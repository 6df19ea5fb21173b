//! Following a live fabric: a command or a file that is read again and again, or the event file of the plugin for OpenSM.
//!
//! Differences between two readings become events by themselves. Nothing is ever written to the fabric.

mod plugin_events;
mod readings;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dmodc::Fabric;

use crate::follow_status::FollowStatus;
use crate::refusal::ChangeError;
use crate::shared::{Shared, now_ms};

/// Reads the text of a fabric. It is the caller's, so that options for leaves and hosts apply to every reading.
pub type FabricReader = Box<dyn Fn(&[u8]) -> Result<Fabric, String> + Send>;

/// Where the live fabric is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowSource {
    /// A command that prints the fabric, such as `ibnetdiscover`.
    Command(String),
    /// A file that another program writes.
    File(PathBuf),
    /// The files of the plugin for OpenSM.
    Plugin {
        /// Its event file.
        events: PathBuf,
        /// Its status file.
        status: Option<PathBuf>,
    },
}

impl FollowSource {
    /// Returns its name for people.
    pub fn name(&self) -> String {
        match self {
            FollowSource::Command(command) => command.clone(),
            FollowSource::File(path) | FollowSource::Plugin { events: path, .. } => {
                path.display().to_string()
            }
        }
    }
}

/// A live fabric.
pub struct Follow {
    /// Where it is read.
    pub source: FollowSource,
    /// The time between two readings.
    pub every: Duration,
    /// Reads the text.
    pub reader: FabricReader,
}

/// Returns the text of a fabric, read once.
///
/// # Errors
/// If the command or the file fails.
pub fn read_once(source: &FollowSource, every: Duration) -> Result<Vec<u8>, String> {
    readings::read(source, readings::patience(every))
}

/// Starts to follow.
///
/// # Errors
/// If the system refuses a thread.
pub(crate) fn start(shared: &Shared, follow: Follow) -> io::Result<()> {
    *shared.follow_status() = Some(FollowStatus {
        source: follow.source.name(),
        every: follow.every,
        seen_ms: None,
        error: None,
        plugin: None,
    });
    let shared = shared.clone();
    std::thread::Builder::new().name("follow".into()).spawn(move || match &follow.source {
        FollowSource::Plugin { events, status } => {
            plugin_events::run(&shared, events, status.as_deref(), follow.every);
        }
        _ => readings::run(&shared, &follow),
    })?;
    Ok(())
}

/// Takes a reading. A defect that shows with one must not end the following of all later ones.
fn guarded(take: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(take));
    result.unwrap_or_else(|_| Err("this reading shows a defect of dmodc; please report it".into()))
}

/// Notes how a reading went, and tells pages if that is news.
fn note(shared: &Shared, result: Result<(), String>) {
    let metrics = shared.metrics();
    metrics.follow_readings.fetch_add(1, Ordering::Relaxed);
    let now = now_ms() as u64;
    let mut is_news = false;
    if let Some(status) = &mut *shared.follow_status() {
        match result {
            Ok(()) => {
                is_news = status.error.take().is_some() || status.seen_ms.is_none();
                status.seen_ms = Some(now);
                metrics.follow_seen_ms.store(now, Ordering::Relaxed);
            }
            Err(error) => {
                metrics.follow_errors.fetch_add(1, Ordering::Relaxed);
                is_news = status.error.as_ref() != Some(&error);
                status.error = Some(error);
            }
        }
    }
    if is_news {
        shared.publish_present();
    }
}

/// Returns the words for a change that failed.
fn words(error: ChangeError) -> String {
    match error {
        ChangeError::Problem(problem) => problem.to_string(),
        ChangeError::NotKept(error) => format!("the event is not in the history: {error}"),
    }
}
