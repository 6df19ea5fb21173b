//! The configuration: `/etc/dmodc.conf`, or the file that `DMODC_CONF` names.

use std::io;
use std::path::{Path, PathBuf};

use dmodc::{DestinationOrder, Fabric, Guid, LeafChoice, LeafRule, SwitchOrder};
use regex_lite::Regex;
use serde::Deserialize;

use crate::files::{self, Stamp};
use crate::given::Given;

/// Where it is unless `DMODC_CONF` says otherwise.
const USUAL: &str = "/etc/dmodc.conf";

/// More threads than that are a slip of the pen; OpenSM would wait for them.
const MOST_THREADS: usize = 1024;

/// A file of an administrator has no more bytes.
const LARGEST: u64 = 16 << 20;

/// What an administrator can choose. Everything has a default, and a missing file is all of them.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// How destinations are numbered before their numbers are saved.
    pub(crate) destination_order: Destinations,
    /// How port groups are sorted before their order is saved.
    pub(crate) switch_order: Switches,
    /// A file with the GUIDs of the highest switches, as OpenSM's `root_guid_file`.
    pub(crate) roots: Option<PathBuf>,
    /// What that file lists; it may change while the configuration does not.
    #[serde(skip)]
    root_guids: Option<Vec<Guid>>,
    /// Whether those are of OpenSM's file, and why that one is not used.
    #[serde(skip)]
    pub(crate) roots_are_given: bool,
    #[serde(skip)]
    pub(crate) refused: Option<String>,
    /// Leaves are the switches with so many nodes.
    pub(crate) leaf_min_nodes: Option<usize>,
    /// Leaves are the switches whose description matches.
    pub(crate) leaf_name: Option<String>,
    /// Hosts whose description matches make no leaf, and switches whose description matches are none.
    pub(crate) exclude: Option<String>,
    /// What routes are kept from; none is plain Dmodc.
    pub(crate) reference: Option<Source>,
    /// Threads; 0 is as many as there are processors.
    pub(crate) threads: usize,
    /// Fill entries between switches that have no up*down* route by shortest path; else as OpenSM has it.
    pub(crate) connect_roots: Option<bool>,
    /// What happens if nodes on leaves have no route to each other although cables connect them.
    pub(crate) on_lost: OnLost,
    /// Who computes the hop tables that multicast trees are made from.
    pub(crate) hop_tables: HopTables,
    /// Where both orders are kept.
    pub(crate) state_folder: PathBuf,
    /// A report of the last run, as JSON.
    pub(crate) status_file: Option<PathBuf>,
    /// The same for Prometheus's textfile collector.
    pub(crate) metrics_file: Option<PathBuf>,
    /// A line of JSON for every run.
    pub(crate) event_file: Option<PathBuf>,
    /// Panic in every run, to see OpenSM go on without us.
    pub(crate) panic: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            destination_order: Destinations::Topological,
            switch_order: Switches::Plane,
            roots: None,
            root_guids: None,
            roots_are_given: false,
            refused: None,
            leaf_min_nodes: None,
            leaf_name: None,
            exclude: None,
            reference: None,
            threads: 0,
            connect_roots: None,
            on_lost: OnLost::Keep,
            hop_tables: HopTables::Dmodc,
            state_folder: "/var/lib/dmodc".into(),
            status_file: None,
            metrics_file: None,
            event_file: None,
            panic: false,
        }
    }
}

/// As `--destination-order`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Destinations {
    Topological,
    Lid,
    Guid,
}

/// Where the reference is from.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "String")]
pub(crate) enum Source {
    /// From what OpenSM finds.
    Learn,
    /// From a file.
    File(PathBuf),
}

impl From<String> for Source {
    fn from(text: String) -> Self {
        match text.as_str() {
            "learn" => Source::Learn,
            _ => Source::File(text.into()),
        }
    }
}

/// Who computes hop tables.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HopTables {
    Dmodc,
    Opensm,
}

/// What becomes of tables that lose pairs of nodes on leaves.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnLost {
    /// They are used, and the log says what they lose.
    Keep,
    /// They are not: the run fails, and OpenSM takes the next engine of its list.
    NextEngine,
}

/// As `--switch-order`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switches {
    Plane,
    Guid,
}

impl From<Destinations> for DestinationOrder {
    fn from(order: Destinations) -> Self {
        match order {
            // Numbers are kept for years, so empty places have some, too.
            Destinations::Topological => DestinationOrder::Places,
            Destinations::Lid => DestinationOrder::Lid,
            Destinations::Guid => DestinationOrder::Guid,
        }
    }
}

impl From<Switches> for SwitchOrder {
    fn from(order: Switches) -> Self {
        match order {
            Switches::Plane => SwitchOrder::AgreedPlane,
            Switches::Guid => SwitchOrder::Guid,
        }
    }
}

impl Config {
    /// The file to be read, and whether it must be there.
    pub(crate) fn path() -> (PathBuf, bool) {
        match std::env::var_os("DMODC_CONF") {
            Some(path) => (path.into(), true),
            None => (USUAL.into(), false),
        }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// One line that names file, line and thing.
    pub(crate) fn read((path, must_exist): &(PathBuf, bool)) -> Result<Self, String> {
        match files::read(path, LARGEST) {
            Ok((bytes, _)) => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| format!("{}: it is not UTF-8", path.display()))?;
                Config::parse(path, &text)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => {
                Ok(Config::default())
            }
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let config: Config = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text[..at].matches('\n').count();
            let message = error.message().replace('\n', " ");
            format!("{}:{line}: {message}", path.display())
        })?;
        for (name, pattern) in [("leaf_name", &config.leaf_name), ("exclude", &config.exclude)] {
            if let Some(Err(error)) = pattern.as_deref().map(Regex::new) {
                return Err(format!("{}: {name}: {error}", path.display()));
            }
        }
        if config.threads > MOST_THREADS {
            let path = path.display();
            return Err(format!("{path}: threads: {} is more than {MOST_THREADS}", config.threads));
        }
        Ok(config)
    }

    /// Reads the roots anew, if a file lists them.
    ///
    /// # Errors
    /// One line that names file, line and thing.
    fn read_roots(&mut self) -> Result<(), String> {
        self.root_guids = self.roots.as_deref().map(read_guids).transpose()?;
        Ok(())
    }

    /// Completes it with what OpenSM was given: the port in the names of files, roots, and whether they are connected.
    /// What dmodc.conf says goes before.
    ///
    /// # Errors
    /// One line that names file, line and thing.
    fn complete(&mut self, given: &Given) -> Result<(), String> {
        let port = given.port.to_string();
        let fill = |path: &mut PathBuf| {
            if let Some(text) = path.to_str().filter(|text| text.contains("%g")) {
                *path = text.replace("%g", &port).into();
            }
        };
        fill(&mut self.state_folder);
        let reports = [&mut self.status_file, &mut self.metrics_file, &mut self.event_file];
        reports.into_iter().flatten().for_each(fill);
        self.connect_roots.get_or_insert(given.connect_roots);
        self.read_roots()?;
        if let Some(path) = given.roots.as_deref().filter(|_| self.leaves_are_open()) {
            match read_guids(path) {
                Ok(guids) => (self.root_guids, self.roots_are_given) = (Some(guids), true),
                Err(why) => {
                    self.refused = Some(format!("OpenSM's root_guid_file is not used: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Does without the roots that OpenSM was given, if they are in use; whether they were.
    pub(crate) fn refuse_given_roots(&mut self, why: &str) -> bool {
        let was = std::mem::take(&mut self.roots_are_given);
        if was {
            self.root_guids = None;
            self.refused = Some(format!("OpenSM's root_guid_file is not used: {why}"));
        }
        was
    }

    /// Whether nothing here says which switches are leaves or roots.
    pub(crate) fn leaves_are_open(&self) -> bool {
        self.roots.is_none() && self.leaf_min_nodes.is_none() && self.leaf_name.is_none()
    }

    /// Returns how leaves are found, for people.
    pub(crate) fn leaf_words(&self) -> String {
        match (&self.roots, self.leaf_min_nodes, &self.leaf_name) {
            (Some(path), ..) => format!("roots = {}", path.display()),
            (_, Some(count), _) => format!("leaf_min_nodes = {count}"),
            (.., Some(name)) => format!("leaf_name = \"{name}\""),
            _ if self.root_guids.is_some() => "OpenSM's root_guid_file".into(),
            _ => "leaves by how switches are cabled".into(),
        }
    }

    /// Returns the fabric with the excluded hosts set aside, and the rule for its leaves.
    ///
    /// # Errors
    /// If no switch of the fabric is meant.
    pub(crate) fn leaf_rule(&self, fabric: Fabric) -> Result<(Fabric, LeafRule), String> {
        let regex = |text: &Option<String>| text.as_deref().and_then(|text| Regex::new(text).ok());
        let (leaf_name, exclude) = (regex(&self.leaf_name), regex(&self.exclude));
        let choice = LeafChoice {
            roots: self.root_guids.clone(),
            at_least: self.leaf_min_nodes,
            named: leaf_name.map(|regex| Box::new(move |name: &str| regex.is_match(name)) as _),
            excluded: exclude.map(|regex| Box::new(move |name: &str| regex.is_match(name)) as _),
        };
        let fabric = choice.set_aside(fabric);
        let rule = choice.rule(&fabric).map_err(|error| error.to_string())?;
        Ok((fabric, rule))
    }
}

/// A configuration, as it was read and as it is used.
#[derive(Clone)]
pub(crate) struct Read {
    stamp: Option<Stamp>,
    /// As the file has it.
    raw: Config,
    pub(crate) complete: Config,
}

impl Read {
    /// Reads the configuration, unless it is the one that was read last, and what it names.
    ///
    /// # Errors
    /// One line that names file, line and thing.
    pub(crate) fn again(
        before: Option<Read>,
        path: &(PathBuf, bool),
        given: &Given,
    ) -> Result<Self, String> {
        let stamp = Stamp::at(&path.0).map_err(|error| format!("{}: {error}", path.0.display()))?;
        let raw = match before {
            Some(before) if before.stamp == stamp && stamp.is_some() => before.raw,
            _ => Config::read(path)?,
        };
        let mut complete = raw.clone();
        complete.complete(given)?;
        Ok(Read { stamp, raw, complete })
    }
}

fn read_guids(path: &Path) -> Result<Vec<Guid>, String> {
    let read = files::read(path, LARGEST);
    let (text, _) = read.map_err(|error| format!("{}: {error}", path.display()))?;
    let saved = dmodc_formats::orders::read(&text);
    Ok(saved.map_err(|error| format!("{}:{error}", path.display()))?.groups)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("dmodc.conf"), text)
    }

    #[test]
    fn everything_has_a_default() {
        assert_eq!(parse(""), Ok(Config::default()));
        let missing = (PathBuf::from("/nonexistent/dmodc.conf"), false);
        assert_eq!(Config::read(&missing), Ok(Config::default()));
        assert!(Config::read(&(missing.0, true)).is_err_and(|e| e.contains("/nonexistent")));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = parse("threads = 2\nthread = 1\n").unwrap_err();
        assert!(error.starts_with("dmodc.conf:2: unknown field `thread`"), "{error}");
        let error = parse("\n\nswitch_order = \"planes\"").unwrap_err();
        assert!(error.starts_with("dmodc.conf:3: unknown variant `planes`"), "{error}");
        assert!(parse("threads = \"many\"").unwrap_err().starts_with("dmodc.conf:1:"));
        assert!(parse("exclude = \"(\"").unwrap_err().contains("exclude"));
        let error = parse("on_lost = \"minhop\"").unwrap_err();
        assert!(error.starts_with("dmodc.conf:1: unknown variant `minhop`"), "{error}");
        assert!(parse("reference = 1").unwrap_err().starts_with("dmodc.conf:1:"));
        assert!(parse("= \0").is_err());
    }

    #[test]
    fn files_that_never_end_and_threads_without_number_are_refused() {
        let read = |path: &str| Config::read(&(path.into(), true)).unwrap_err();
        assert_eq!(read("/dev/zero"), "/dev/zero: it is a device, and not a regular file");
        assert!(read("/").starts_with("/: "));
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert!(read(&pipe.display().to_string()).contains("it is a pipe"));
        assert_eq!(parse("threads = 1024").map(|config| config.threads), Ok(1024));
        assert!(parse("threads = 1025").unwrap_err().contains("threads: 1025 is more than 1024"));
    }

    #[test]
    fn a_reference_is_learned_or_a_file() {
        let reference = |text: &str| parse(text).expect("it is right").reference;
        assert_eq!(reference("reference = \"learn\""), Some(Source::Learn));
        assert_eq!(reference("reference = \"./learn\""), Some(Source::File("./learn".into())));
        assert_eq!(reference(""), None);
    }

    #[test]
    fn other_roots_make_another_configuration() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("roots");
        let mut config = parse(&format!("roots = '{}'", path.display())).expect("it is right");
        fs::write(&path, "0x1\n").expect("it can be written");
        config.read_roots().expect("they are listed");
        let before = config.clone();
        fs::write(&path, "0x2\n").expect("it can be written");
        config.read_roots().expect("they are listed");
        assert_ne!(config, before);
    }

    #[test]
    fn the_example_is_right_and_says_the_defaults() {
        let example = include_str!("../dmodc.conf.example");
        assert_eq!(parse(example), Ok(Config::default()));
        // With the comment signs gone it names every key, and each is known.
        let all: String = example
            .lines()
            .filter_map(|line| line.strip_prefix('#'))
            .filter(|line| line.contains(" = ") && !line.starts_with(' '))
            .map(|line| format!("{line}\n"))
            .collect();
        let config = parse(&all).expect("every key is known");
        assert_eq!(all.lines().count(), 16);
        assert_eq!(config.on_lost, OnLost::Keep);
        let other = parse("on_lost = \"next-engine\"").expect("it is known");
        assert_eq!(other.on_lost, OnLost::NextEngine);
        assert_eq!(config.state_folder, Config::default().state_folder);
    }
}
