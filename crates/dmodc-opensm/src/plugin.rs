//! One routing run, as OpenSM asks for it.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::{Degradation, Fabric, Guid, Lid, SwitchIndex, parallel};
use dmodc_formats::orders;
use serde_json::{Value, json};

use crate::balance::Balance;
use crate::config::{self, Config, HopTables, OnLost, Source};
use crate::engine::{Done, Kept, Wishes};
use crate::events::Event;
use crate::files::{Expected, Patient};
use crate::given::Given;
use crate::hops::Hops;
use crate::reference::{self, Known, Told};
use crate::status::{Report, Situation, Totals, now};
use crate::store::{self, Answer, Decision, Question, Store};
use crate::writer::{Log, Text, ToDisk, Work, Writer};

/// How long OpenSM waits for files to be read: in the first run, in which nothing is known yet, and later. What is not
/// there by then is used in a later run.
pub(crate) const PATIENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(1)];

/// How long OpenSM waits for files to be written when it ends.
const FAREWELL: Duration = Duration::from_secs(5);

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
    /// Switches with more than one LID in the fabric that was given last: they have 2^lmc.
    fn switch_lmc(&self) -> HashMap<Guid, u8> {
        HashMap::new()
    }
    /// What OpenSM was told.
    fn given(&self) -> Given {
        Given::default()
    }
    /// Writes the table of a switch; how many entries and blocks will change there.
    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<(u32, u32), String>;
    /// Writes the hop table of a switch: for each of these switches, an entry for each port.
    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String>;
    /// Writes a line into the log.
    fn log(&self, level: Level, line: fmt::Arguments<'_>);
}

/// OpenSM, and the errors of this run.
struct Recorded<'a, H> {
    host: &'a mut H,
    errors: RefCell<Vec<String>>,
}

/// No more errors of a run are told in the event file.
const MOST_ERRORS: usize = 20;

impl<H: Host> Host for Recorded<'_, H> {
    fn fabric(&mut self) -> Fabric {
        self.host.fabric()
    }

    fn switch_lmc(&self) -> HashMap<Guid, u8> {
        self.host.switch_lmc()
    }

    fn given(&self) -> Given {
        self.host.given()
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<(u32, u32), String> {
        self.host.write(switch, entries)
    }

    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String> {
        self.host.set_hops(switch, lids, hops)
    }

    fn log(&self, level: Level, line: fmt::Arguments<'_>) {
        self.host.log(level, line);
        let mut errors = self.errors.borrow_mut();
        if level == Level::Error && errors.len() < MOST_ERRORS {
            errors.push(line.to_string());
        }
    }
}

/// A fabric as OpenSM has it.
struct Collected {
    fabric: Fabric,
    switch_lmc: HashMap<Guid, u8>,
    took: Duration,
}

impl Collected {
    fn from(host: &mut impl Host) -> Self {
        let start = Instant::now();
        let fabric = host.fabric();
        let switch_lmc = host.switch_lmc();
        Collected { fabric, switch_lmc, took: start.elapsed() }
    }

    /// Leaves out the nodes that have no LID: nobody can send to them.
    fn without_lid_0(&mut self, host: &impl Host) {
        let fabric = &self.fabric;
        let is_nobody = |n: &_| fabric.node(*n).lid == Lid::UNKNOWN;
        let nobodies: Vec<_> = fabric.node_indices().filter(is_nobody).collect();
        let Some(&first) = nobodies.first() else { return };
        let (count, name) = (nobodies.len(), &fabric.adapter_of(first).name);
        let line =
            format_args!("{count} ports have no LID and are left out, such as one of '{name}'");
        host.log(Level::Error, line);
        let mut mask = Degradation::none(fabric);
        nobodies.iter().for_each(|n| mask.set_cable(fabric.node_cable(*n), true));
        self.fabric = fabric.without(&mask);
    }
}

/// Looks into the state folder; tests have slow ones.
type Look = Arc<dyn Fn(&Question) -> Answer + Send + Sync>;

/// Everything that is kept between runs.
pub(crate) struct Plugin {
    config_path: (PathBuf, bool),
    /// The last configuration that could be read, why the present one cannot, and why it does not fit the fabric.
    config: Option<config::Read>,
    unread: Option<String>,
    misfit: Option<String>,
    /// Whether hop tables were just made with it.
    is_configured: bool,
    /// The configuration of the last run that gave tables.
    good: Option<Config>,
    pool: Option<(usize, rayon::ThreadPool)>,
    /// The fabric of the moment, if hop tables were just made from it.
    fabric: Option<Collected>,
    /// The tables, and what they were made with.
    kept: Option<Made>,
    /// What routes are kept from.
    reference: Known,
    store: Store,
    totals: Totals,
    /// Lines that are said once, until they are not true any more.
    said: Vec<String>,
    /// The writers of the state folder and of reports: a disk that hangs under one does not hold up the other.
    state: Writer,
    reports: Writer,
    balance: Balance,
    /// Folders in which nothing is left from dead processes.
    swept: HashSet<PathBuf>,
    configs: Patient<Result<config::Read, String>>,
    states: Patient<Answer>,
    look: Look,
    patience: [Duration; 2],
    has_looked: bool,
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
    fn told(&self, folder: &Path) -> Option<Told> {
        let path = reference::path(&self.config, folder)?;
        let changes = match (&self.refused, self.kept.changes()) {
            (None, Some(changes)) => Ok(changes),
            (why, _) => Err(why.clone().unwrap_or_default()),
        };
        Some(Told { is_learned: self.config.reference == Some(Source::Learn), path, changes })
    }
}

impl Plugin {
    pub(crate) fn new(config_path: (PathBuf, bool), log: Log) -> Self {
        Self::on_disk(config_path, log, Arc::new(File::sync_all))
    }

    fn on_disk(config_path: (PathBuf, bool), log: Log, sync: ToDisk) -> Self {
        let reports = Writer::new("dmodc-reports", log.clone(), sync.clone());
        let balance = Balance::new(log.clone(), reports.refresher());
        Plugin {
            config_path,
            config: None,
            unread: None,
            misfit: None,
            is_configured: false,
            good: None,
            pool: None,
            fabric: None,
            kept: None,
            reference: Known::default(),
            store: Store::default(),
            totals: Totals::default(),
            said: vec![],
            state: Writer::new("dmodc-state", log, sync).refreshes(&reports),
            reports,
            balance,
            swept: HashSet::new(),
            configs: Patient::new(),
            states: Patient::new(),
            look: Arc::new(store::look),
            patience: PATIENCE,
            has_looked: false,
        }
    }

    /// Routes the fabric of the moment into OpenSM's tables.
    ///
    /// # Errors
    /// One line for the log. Tables may be half written then.
    pub(crate) fn run(&mut self, host: &mut impl Host) -> Result<(), String> {
        self.totals.begin();
        let mut host = Recorded { host, errors: RefCell::default() };
        let result = catch_unwind(AssertUnwindSafe(|| self.try_run(&mut host)));
        let result = result.unwrap_or_else(|panic| {
            self.forget();
            Err(bug(panic.as_ref()))
        });
        self.has_looked = true;
        if let Err(error) = &result {
            self.totals.failures += 1;
            let errors = host.errors.into_inner();
            self.event("failure", json!({ "error": error, "errors": errors }), None);
            self.report(None, Some(error));
        }
        self.state.retry();
        self.reports.retry();
        result
    }

    /// After a panic what is kept may be half changed.
    pub(crate) fn forget(&mut self) {
        (self.pool, self.fabric, self.kept) = (None, None, None);
        (self.reference, self.store) = (Known::default(), Store::default());
    }

    /// OpenSM ends: what waits is written, but not for ever.
    pub(crate) fn end(&mut self) {
        self.balance.close();
        let start = Instant::now();
        self.state.flush(FAREWELL);
        self.reports.flush(FAREWELL.saturating_sub(start.elapsed()));
    }

    /// Fills OpenSM's hop tables, unless that is to be left to OpenSM; whether it did.
    ///
    /// # Errors
    /// One line for the log.
    pub(crate) fn hop_tables(&mut self, host: &mut impl Host) -> Result<bool, String> {
        (self.fabric, self.is_configured) = (None, false);
        let config = self.configuration(host)?;
        self.is_configured = true;
        assert!(!config.panic, "the configuration asks for a panic");
        if config.hop_tables == HopTables::Opensm {
            return Ok(false);
        }
        let collected = Collected::from(host);
        let start = Instant::now();
        let fabric = &collected.fabric;
        let lids: Vec<u16> = fabric.switches().iter().map(|s| s.lid.0 as u16).collect();
        let pool = self.pool(config.threads)?;
        let hops = pool.install(|| Hops::new(fabric));
        let switches: Vec<SwitchIndex> = fabric.switch_indices().collect();
        // A few at a time: all tables together are as large as OpenSM's own.
        for some in switches.chunks(64) {
            let tables = pool.install(|| parallel::map(some, |&s| hops.table(s)));
            for (&s, table) in some.iter().zip(&tables) {
                host.set_hops(fabric.switch(s).guid, &lids, table)?;
            }
        }
        let made = time(start.elapsed());
        host.log(Level::Verbose, format_args!("hop tables in {made}"));
        drop(hops);
        self.fabric = Some(collected);
        Ok(true)
    }

    fn try_run<H: Host>(&mut self, host: &mut Recorded<'_, H>) -> Result<(), String> {
        let start = Instant::now();
        let mut config = match std::mem::take(&mut self.is_configured) {
            true => self.config.as_ref().ok_or("there is no configuration")?.complete.clone(),
            false => self.configuration(host)?,
        };
        assert!(!config.panic, "the configuration asks for a panic");
        let mut took = start.elapsed();
        let mut collected = self.fabric.take().unwrap_or_else(|| Collected::from(host));
        collected.without_lid_0(host);
        let start = Instant::now();
        let mut fits = true;
        let leaves = loop {
            let why = match config.leaf_rule(collected.fabric) {
                Ok((fabric, leaves)) => {
                    collected.fabric = fabric;
                    break leaves;
                }
                Err(why) => why,
            };
            collected = Collected::from(host);
            collected.without_lid_0(host);
            if !config.refuse_given_roots(&why) {
                config = self.last_good(host, &config, why)?;
                fits = false;
            }
        };
        if fits {
            self.misfit = None;
        }
        took += collected.took + start.elapsed();
        self.say_options(host, &config);
        let wishes = Wishes {
            leaves,
            destinations: config.destination_order.into(),
            switches: config.switch_order.into(),
            connect_roots: config.connect_roots.unwrap_or(false),
            switch_lmc: collected.switch_lmc,
        };
        let start = Instant::now();
        let fabric = Arc::new(collected.fabric);
        let (decision, seen) = self.look(host, &config, &fabric);
        let looked = start.elapsed();
        let counts = (fabric.nodes().len(), fabric.switches().len());
        let cables = fabric.inter_switch_cables().len();
        let for_event = config.event_file.as_ref().map(|_| fabric.clone());
        let start = Instant::now();
        let renumber = decision.renumber;
        let done = self.route(host, &config, (fabric, wishes), (decision, seen))?;
        let routed = start.elapsed();
        self.good = Some(config.clone());
        let made = self.kept.as_ref().ok_or("nothing was routed")?;
        let kept = &made.kept;
        let rule = config.leaf_words();
        let (outlook, lost_leaves, delivery) =
            (kept.outlook(), kept.lost_leaves(), kept.delivery());
        let warning = outlook.warning(&rule);
        if let Some(warning) = &warning {
            host.log(Level::Error, format_args!("{warning}"));
        }
        let reason = (delivery.lost > 0).then(|| outlook.reason(&rule, lost_leaves.is_some()));
        if let Some(reason) = &reason {
            let (lost, pairs) = (delivery.lost, delivery.pairs);
            host.log(
                Level::Error,
                format_args!(
                    "LOST: {lost} of {pairs} node pairs are not delivered although cables connect them: {reason}"
                ),
            );
        }
        match (lost_leaves, config.on_lost) {
            (None, _) => {}
            (Some(lost), OnLost::Keep) => host.log(
                Level::Error,
                format_args!("{lost}; the tables are used all the same (on_lost = \"keep\")"),
            ),
            (Some(lost), OnLost::NextEngine) => {
                self.save(&config);
                return Err(format!(
                    "{lost}; it is the next engine's turn (on_lost = \"next-engine\")"
                ));
            }
        }
        let (mut entries, mut blocks, mut moved) = (0, 0, 0);
        let start = Instant::now();
        for (guid, row) in kept.tables() {
            let written = host.write(guid, row)?;
            entries += u64::from(written.0);
            blocks += u64::from(written.1);
            moved += u64::from(written.1 > 0);
        }
        if renumber {
            let line = format_args!(
                "numbered anew as asked for: {entries} entries in {blocks} blocks of {moved} switches move"
            );
            host.log(Level::Info, line);
        }
        let folder = self.store.folder.clone().unwrap_or_else(|| config.state_folder.clone());
        let report = Report {
            nodes: counts.0,
            switches: counts.1,
            cables,
            done,
            coverage: kept.coverage(),
            delivery,
            reference: made.told(&folder),
            entries,
            blocks,
            moved,
            collected: took,
            looked,
            routed,
            written: start.elapsed(),
            warning,
            reason,
        };
        self.totals.add(&report);
        host.log(Level::Info, format_args!("{report}"));
        self.save(&config);
        let mut facts = report.event();
        facts["errors"] = json!(host.errors.take());
        self.event("run", facts, for_event);
        self.report(Some(&report), None);
        if let Some(made) = &self.kept {
            self.balance.measure(made.kept.numbered());
        }
        Ok(())
    }

    /// Returns the configuration. One that cannot be used is not, as long as there was a better one.
    fn configuration(&mut self, host: &impl Host) -> Result<Config, String> {
        let (path, before, given) = (self.config_path.clone(), self.config.clone(), host.given());
        let job = move || config::Read::again(before, &path, &given);
        let patience = self.patience[usize::from(self.has_looked)];
        let read = match self.configs.ask(patience, |_| true, job) {
            Ok(read) => read,
            Err(why) => Err(format!("{}: {why}", self.config_path.0.display())),
        };
        match (read, &self.config) {
            (Ok(read), _) => {
                let config = read.complete.clone();
                self.config = Some(read);
                if self.unread.take().is_some() {
                    host.log(Level::Info, format_args!("the configuration can be read again"));
                }
                Ok(config)
            }
            (Err(why), None) => Err(why),
            (Err(why), Some(before)) => {
                let config = before.complete.clone();
                if self.unread.as_ref() != Some(&why) {
                    self.unread = Some(why.clone());
                    self.reject(host, &why);
                }
                Ok(config)
            }
        }
    }

    /// Says that a configuration cannot be used.
    fn reject(&mut self, host: &impl Host, why: &str) {
        host.log(Level::Error, format_args!("{why}; the configuration of before stays in use"));
        self.event("configuration-error", json!({ "error": why }), None);
    }

    /// Returns the configuration of before, if this one does not fit the fabric.
    fn last_good(
        &mut self,
        host: &impl Host,
        config: &Config,
        why: String,
    ) -> Result<Config, String> {
        match self.good.take_if(|good| good != config) {
            Some(good) => {
                if self.misfit.as_ref() != Some(&why) {
                    self.misfit = Some(why.clone());
                    self.reject(host, &why);
                }
                Ok(good)
            }
            None => Err(why),
        }
    }

    /// Says which of OpenSM's options are heeded and which are not, once.
    fn say_options(&mut self, host: &impl Host, config: &Config) {
        let hops_are_ours = config.hop_tables == HopTables::Dmodc;
        let mut lines = host.given().words(config.roots_are_given, hops_are_ours);
        lines.extend(config.refused.clone());
        for line in &lines {
            if !self.said.contains(line) {
                host.log(Level::Info, format_args!("{line}"));
            }
        }
        self.said = lines;
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

    /// Looks at what is in the state folder, and at the reference.
    fn look(
        &mut self,
        host: &impl Host,
        config: &Config,
        fabric: &Fabric,
    ) -> (Decision, Option<reference::Seen>) {
        self.store.configure(&config.state_folder);
        let path = self.store.orders();
        let (written, announced) = match &path {
            Some(path) => self.state.stamps(path),
            None => (None, None),
        };
        let has_orders = self.kept.is_some();
        let known = [self.store.read, written, announced].into_iter().flatten();
        let question = Question {
            top: config.state_folder.clone(),
            own: config.state_folder.join(host.given().port.to_string()),
            in_use: self.store.folder.clone(),
            orders: known.filter(|_| has_orders).collect(),
            switches: fabric.switches().len(),
            guids: store::guids_of(fabric),
            reference: self.reference.question(config, &self.state),
        };
        let (look, asked) = (self.look.clone(), question.clone());
        let job = move || look(&asked);
        let patience = self.patience[usize::from(self.has_looked)];
        let answer = self.states.ask(patience, |answer| answer.serves(&question), job);
        let mut log = |level, line: String| host.log(level, format_args!("{line}"));
        match answer {
            Ok(mut answer) => {
                let seen = answer.reference.take();
                // The answer may be from before we wrote the file ourselves.
                let (written, announced) = match &path {
                    Some(path) => self.state.stamps(path),
                    None => (None, None),
                };
                if has_orders {
                    answer.is_ours(&[written, announced]);
                }
                let decision = self.store.take(answer, written, has_orders, &mut log);
                if decision.adopted.is_some()
                    && let Some(path) = self.store.orders()
                {
                    self.state.forget(&path);
                }
                (decision, seen)
            }
            Err(why) => {
                self.store.miss(&why, has_orders, &mut log);
                (Decision::default(), None)
            }
        }
    }

    fn route(
        &mut self,
        host: &mut impl Host,
        config: &Config,
        (fabric, wishes): (Arc<Fabric>, Wishes),
        (decision, seen): (Decision, Option<reference::Seen>),
    ) -> Result<Done, String> {
        self.pool(config.threads)?;
        let Some((_, pool)) = &self.pool else { return Err("there are no threads".into()) };
        let mut reference = self.reference.look(host, config, seen, &mut self.state);
        if decision.renumber {
            self.reference.unlearn(config);
            if config.reference == Some(Source::Learn) {
                reference = None;
            }
        }
        let is_same = |before: &Option<Arc<Fabric>>| match (before, &reference) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            // Every run may be the one to learn from.
            (before, now) => {
                before.is_none() && now.is_none() && config.reference != Some(Source::Learn)
            }
        };
        if let Some(made) = &mut self.kept
            && decision.adopted.is_none()
            && !decision.renumber
            && made.config == *config
            && made.kept.has_lids(&wishes.switch_lmc)
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
        let made = self.kept.take();
        let saved = match decision.adopted {
            _ if decision.renumber => None,
            Some(adopted) => Some(adopted),
            None => made.map(|made| made.kept.saved),
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
            None => Kept::new(Arc::unwrap_or_clone(fabric), wishes, orders),
        });
        let kept = kept.map_err(|error| error.to_string())?;
        if let Some(ranks) = kept.ranks() {
            host.log(Level::Info, format_args!("{ranks}"));
        }
        self.store.is_unsaved |= saved.as_ref() != Some(&kept.saved);
        self.kept = Some(Made { config: config.clone(), reference, refused, kept });
        Ok(Done::Anew)
    }

    /// Hands over what is new in the state folder to be written.
    fn save(&mut self, config: &Config) {
        let Some(path) = self.store.orders() else { return };
        if let Some(folder) = path.parent()
            && self.swept.insert(folder.into())
        {
            self.state.file(folder, Work::Sweep);
        }
        // As long as the file cannot be replaced, the request stays.
        let request = match self.store.blocked {
            None => self.store.grant(),
            Some(_) => None,
        };
        let is_learned = config.reference == Some(Source::Learn);
        let with = request.is_some() && is_learned;
        self.reference.save(&mut self.state, with.then_some(&*path));
        if let Some(made) = &self.kept
            && self.store.blocked.is_none()
            && (self.store.is_unsaved || request.is_some())
        {
            let (saved, fabric) = (made.kept.saved.clone(), made.kept.fabric().clone());
            let text: Text = Arc::new(move |_| {
                let mut text = Vec::new();
                orders::write(&saved, &fabric, &mut text).map(|()| text)
            });
            let expected = Expected::Exactly(self.store.read);
            self.state.file(&path, Work::Replace { text, expected });
            self.store.is_unsaved = false;
        }
        if let Some(request) = request {
            self.state.file(&request, Work::RemoveAfter(path));
        }
    }

    /// Hands over a line of the event file.
    fn event(&mut self, kind: &'static str, facts: Value, fabric: Option<Arc<Fabric>>) {
        let path = self.config.as_ref().and_then(|config| config.complete.event_file.clone());
        let Some(path) = path else { return };
        let known = fabric.as_ref().and_then(|_| self.store.listed.take());
        let run = self.totals.number();
        self.reports.event(&path, Event { kind, time: now(), run, facts, fabric, known });
    }

    /// Tells whoever reads files what happened.
    fn report(&mut self, report: Option<&Report>, error: Option<&str>) {
        let Some(config) = self.config.as_ref().map(|config| &config.complete) else { return };
        let paths = [config.status_file.clone(), config.metrics_file.clone()];
        let situation = Situation {
            config_error: self.unread.clone().or_else(|| self.misfit.clone()),
            folder: self.store.folder.clone(),
            blocked: self.store.blocked.clone(),
            is_unsaved: self.store.is_unsaved,
            state: self.state.watch(),
            numbers: self.balance.measured(),
        };
        for path in paths.iter().flatten() {
            if let Some(folder) = path.parent()
                && self.swept.insert(folder.into())
            {
                self.reports.file(folder, Work::Sweep);
            }
        }
        let [status, metrics] = paths;
        if let Some(path) = status {
            let value = self.totals.json(report, error);
            let situation = situation.clone();
            let text = Arc::new(move |own: &_| Ok(situation.status(&value, own).into_bytes()));
            self.reports.report(&path, text);
        }
        if let Some(path) = metrics {
            let lines = self.totals.metrics(report);
            let text = Arc::new(move |own: &_| Ok(situation.metrics(&lines, own).into_bytes()));
            self.reports.report(&path, text);
        }
    }
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
