//! One routing run, as OpenSM asks for it.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use dmodc::{Fabric, Guid, SavedOrders, SwitchIndex, parallel};
use dmodc_formats::orders;

use crate::config::{Config, HopTables, OnLost, Source};
use crate::engine::{Done, Kept, Wishes};
use crate::files;
use crate::hops::Hops;
use crate::reference::{self, Known, Told};
use crate::status::{Report, Totals};

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Info,
    Verbose,
}

/// OpenSM, as far as a run needs it.
pub(crate) trait Host {
    /// The fabric of the moment.
    fn fabric(&mut self) -> Fabric;
    /// Writes the table of a switch; how many entries and blocks will change there.
    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<(u32, u32), String>;
    /// Writes the hop table of a switch: for each of these switches, an entry for each port.
    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String>;
    /// Writes a line into the log.
    fn log(&self, level: Level, line: fmt::Arguments<'_>);
}

/// The file of both orders in the state folder.
const ORDERS: &str = "dmodc.orders";

/// Everything that is kept between runs.
pub(crate) struct Plugin {
    config_path: (PathBuf, bool),
    config: Option<(Option<SystemTime>, Config)>,
    pool: Option<(usize, rayon::ThreadPool)>,
    /// The fabric of the moment, if hop tables were just made from it, and how long reading it took.
    fabric: Option<(Fabric, Duration)>,
    /// The tables, and what they were made with.
    kept: Option<Made>,
    /// What routes are kept from.
    reference: Known,
    totals: Totals,
    /// Where runs are reported, as the last configuration that could be used had it.
    reports: [Option<PathBuf>; 2],
    /// Whether the orders still have to be written.
    is_unsaved: bool,
}

/// Tables, and what they were made with.
struct Made {
    config: Config,
    /// The reference that there was, and why it is not used.
    reference: Option<Arc<Fabric>>,
    refused: Option<String>,
    kept: Kept,
}

impl Made {
    fn told(&self) -> Option<Told> {
        let path = reference::path(&self.config)?;
        let changes = match (&self.refused, self.kept.changes()) {
            (None, Some(changes)) => Ok(changes),
            (why, _) => Err(why.clone().unwrap_or_default()),
        };
        Some(Told { is_learned: self.config.reference == Some(Source::Learn), path, changes })
    }
}

impl Plugin {
    pub(crate) fn new(config_path: (PathBuf, bool)) -> Self {
        Plugin {
            config_path,
            config: None,
            pool: None,
            fabric: None,
            kept: None,
            reference: Known::default(),
            totals: Totals::default(),
            reports: [None, None],
            is_unsaved: false,
        }
    }

    /// Routes the fabric of the moment into OpenSM's tables.
    ///
    /// # Errors
    /// One line for the log. Tables may be half written then.
    pub(crate) fn run(&mut self, host: &mut impl Host) -> Result<(), String> {
        let result = catch_unwind(AssertUnwindSafe(|| self.try_run(host)));
        let result = result.unwrap_or_else(|panic| {
            self.forget();
            Err(bug(panic.as_ref()))
        });
        if let Err(error) = &result {
            self.totals.failures += 1;
            self.report(host, None, Some(error));
        }
        result
    }

    /// After a panic what is kept may be half changed.
    pub(crate) fn forget(&mut self) {
        (self.config, self.pool, self.fabric, self.kept) = (None, None, None, None);
        self.reference = Known::default();
    }

    /// Fills OpenSM's hop tables, unless that is to be left to OpenSM; whether it did.
    ///
    /// # Errors
    /// One line for the log.
    pub(crate) fn hop_tables(&mut self, host: &mut impl Host) -> Result<bool, String> {
        self.fabric = None;
        let config = self.read_config()?;
        assert!(!config.panic, "the configuration asks for a panic");
        if config.hop_tables == HopTables::Opensm {
            return Ok(false);
        }
        let start = Instant::now();
        let fabric = host.fabric();
        let read = start.elapsed();
        let lids: Vec<u16> = fabric.switches().iter().map(|s| s.lid.0 as u16).collect();
        let pool = self.pool(config.threads)?;
        let hops = pool.install(|| Hops::new(&fabric));
        let switches: Vec<SwitchIndex> = fabric.switch_indices().collect();
        // A few at a time: all tables together are as large as OpenSM's own.
        for some in switches.chunks(64) {
            let tables = pool.install(|| parallel::map(some, |&s| hops.table(s)));
            for (&s, table) in some.iter().zip(&tables) {
                host.set_hops(fabric.switch(s).guid, &lids, table)?;
            }
        }
        let made = time(start.elapsed() - read);
        host.log(Level::Verbose, format_args!("hop tables in {made}"));
        drop(hops);
        self.fabric = Some((fabric, read));
        Ok(true)
    }

    fn try_run(&mut self, host: &mut impl Host) -> Result<(), String> {
        let start = Instant::now();
        let mut config = self.read_config()?;
        assert!(!config.panic, "the configuration asks for a panic");
        config.read_roots()?;
        let (mut fabric, read_before) =
            self.fabric.take().unwrap_or_else(|| (host.fabric(), Duration::ZERO));
        let wishes = Wishes {
            leaves: config.leaf_rule(&mut fabric)?,
            destinations: config.destination_order.into(),
            switches: config.switch_order.into(),
            connect_roots: config.connect_roots,
        };
        let collected = read_before + start.elapsed();
        let (nodes, switches) = (fabric.nodes().len(), fabric.switches().len());
        let cables = fabric.inter_switch_cables().len();
        let start = Instant::now();
        let done = self.route(host, &config, fabric, wishes)?;
        let routed = start.elapsed();
        self.save(host, &config);
        let made = self.kept.as_ref().ok_or("nothing was routed")?;
        let kept = &made.kept;
        match (kept.lost_leaves(), config.on_lost) {
            (None, _) => {}
            (Some(lost), OnLost::Keep) => host.log(
                Level::Error,
                format_args!("{lost}; the tables are used all the same (on_lost = \"keep\")"),
            ),
            (Some(lost), OnLost::NextEngine) => {
                return Err(format!(
                    "{lost}; it is the next engine's turn (on_lost = \"next-engine\")"
                ));
            }
        }
        let (mut entries, mut blocks) = (0, 0);
        let start = Instant::now();
        for (guid, row) in kept.tables() {
            let written = host.write(guid, row)?;
            entries += u64::from(written.0);
            blocks += u64::from(written.1);
        }
        let report = Report {
            nodes,
            switches,
            cables,
            done,
            coverage: kept.coverage(),
            delivery: kept.delivery(),
            reference: made.told(),
            entries,
            blocks,
            collected,
            routed,
            written: start.elapsed(),
        };
        self.totals.add(&report);
        host.log(Level::Info, format_args!("{report}"));
        self.report(host, Some(&report), None);
        Ok(())
    }

    /// Reads the configuration, unless it is the one that was read last.
    fn read_config(&mut self) -> Result<Config, String> {
        let changed = fs::metadata(&self.config_path.0).and_then(|about| about.modified()).ok();
        if let Some((before, config)) = &self.config
            && *before == changed
        {
            return Ok(config.clone());
        }
        self.config = None;
        let config = Config::read(&self.config_path)?;
        self.reports = [config.status_file.clone(), config.metrics_file.clone()];
        self.config = Some((changed, config.clone()));
        Ok(config)
    }

    fn pool(&mut self, threads: usize) -> Result<&rayon::ThreadPool, String> {
        let pool = match self.pool.take() {
            Some((before, pool)) if before == threads => pool,
            _ => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| error.to_string())?,
        };
        Ok(&self.pool.insert((threads, pool)).1)
    }

    fn route(
        &mut self,
        host: &mut impl Host,
        config: &Config,
        fabric: Fabric,
        wishes: Wishes,
    ) -> Result<Done, String> {
        self.pool(config.threads)?;
        let Some((_, pool)) = &self.pool else { return Err("there are no threads".into()) };
        let reference = self.reference.look(host, config);
        let is_same = |before: &Option<Arc<Fabric>>| match (before, &reference) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            // Every run may be the one to learn from.
            (before, now) => {
                before.is_none() && now.is_none() && config.reference != Some(Source::Learn)
            }
        };
        if let Some(made) = &mut self.kept
            && made.config == *config
            && is_same(&made.reference)
        {
            if reference.is_none() {
                made.refused = self.reference.missing.clone();
            }
            let updated = pool.install(|| made.kept.update(&fabric));
            if let Some((done, delta)) = updated.map_err(|error| error.to_string())? {
                let entries = delta.entry_count();
                host.log(
                    Level::Verbose,
                    format_args!("{entries} entries of {} switches moved", delta.switches().len()),
                );
                return Ok(done);
            }
        }
        let path = config.state_folder.join(ORDERS);
        let saved = match self.kept.take() {
            Some(made) => Some(made.kept.saved),
            None => read_orders(host, &path),
        };
        let mut orders = saved.clone();
        let mut join =
            || self.reference.join(config, &fabric, orders.as_mut(), || wishes.connect(&fabric));
        let by = config.reference.as_ref().map(|_| pool.install(&mut join));
        let (by, refused) = match by {
            Some(Err(why)) => {
                host.log(Level::Error, format_args!("routed without a reference: {why}"));
                (None, Some(why))
            }
            Some(Ok(by)) => (Some(by), None),
            None => (None, None),
        };
        let reference = by.as_ref().map(|by| by.source.clone()).or(reference);
        let kept = pool.install(|| match by {
            Some(by) => Kept::by_reference(by, wishes, orders),
            None => Kept::new(fabric, wishes, orders),
        });
        let kept = kept.map_err(|error| error.to_string())?;
        if let Some(ranks) = kept.ranks() {
            host.log(Level::Info, format_args!("{ranks}"));
        }
        self.is_unsaved |= saved.as_ref() != Some(&kept.saved) || !path.exists();
        self.kept = Some(Made { config: config.clone(), reference, refused, kept });
        Ok(Done::Anew)
    }

    /// Writes the orders if they are new, and what was learned. What cannot be written is tried again in the
    /// next run.
    fn save(&mut self, host: &impl Host, config: &Config) {
        self.reference.save(host);
        let Some(made) = self.kept.as_ref().filter(|_| self.is_unsaved) else { return };
        let path = config.state_folder.join(ORDERS);
        match write_orders(&path, &made.kept) {
            Ok(()) => self.is_unsaved = false,
            Err(error) => host.log(
                Level::Error,
                format_args!("{}: {error}; after a restart routes may move", path.display()),
            ),
        }
    }

    /// Tells whoever reads files what happened.
    fn report(&self, host: &impl Host, report: Option<&Report>, error: Option<&str>) {
        let [status, metrics] = &self.reports;
        let write = |path: &Option<PathBuf>, text: String| {
            let Some(path) = path else { return };
            if let Err(error) = files::replace(path, text.as_bytes()) {
                host.log(Level::Error, format_args!("{}: {error}", path.display()));
            }
        };
        write(status, self.totals.json(report, error));
        write(metrics, self.totals.metrics(report));
    }
}

/// The orders of an earlier run. Those that cannot be read are put aside.
fn read_orders(host: &impl Host, path: &Path) -> Option<SavedOrders> {
    let read = match fs::read(path) {
        Ok(text) => orders::read(&text).map_err(|error| format!(":{error}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => Err(format!(": {error}")),
    };
    match read {
        Ok(saved) => Some(saved),
        Err(error) => {
            let aside = path.with_extension("unreadable");
            let moved = fs::rename(path, &aside).is_ok();
            host.log(
                Level::Error,
                format_args!(
                    "{}{error}; numbering anew{}",
                    path.display(),
                    if moved {
                        format!(", the file is now {}", aside.display())
                    } else {
                        String::new()
                    },
                ),
            );
            None
        }
    }
}

fn write_orders(path: &Path, kept: &Kept) -> std::io::Result<()> {
    let mut text = Vec::new();
    orders::write(&kept.saved, kept.fabric(), &mut text)?;
    files::replace(path, &text)
}

/// A panic as one line.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a bug: {}", text.unwrap_or("no message"))
}

/// A duration for people.
pub(crate) fn time(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
