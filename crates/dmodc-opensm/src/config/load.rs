//! Reading the configuration, and completing it with OpenSM's own options.

use std::io;
use std::path::{Path, PathBuf};

use dmodc::{Guid, NodeTypes};
use dmodc_formats::node_types;
use regex_lite::Regex;

use super::{Config, DestinationOrderSetting, refused_roots_line};
use crate::files::{self, FileStamp};
use crate::opensm_options::OpensmOptions;

/// The file that is read unless `DMODC_CONF` names another.
const DEFAULT_PATH: &str = "/etc/dmodc.conf";

/// The most threads that are accepted. A greater number is a slip of the pen, and OpenSM would wait for the threads.
const MOST_THREADS: usize = 1024;

/// The most bytes that a file of an administrator may have.
const LARGEST_FILE: u64 = 16 << 20;

/// Where the configuration is.
#[derive(Clone, Debug)]
pub(crate) struct ConfigPath {
    pub(crate) path: PathBuf,
    /// Whether a missing file is an error. Otherwise it means all defaults.
    pub(crate) must_exist: bool,
}

impl ConfigPath {
    /// Returns the path that the environment names, or the default one.
    pub(crate) fn from_environment() -> Self {
        match std::env::var_os("DMODC_CONF") {
            Some(path) => ConfigPath { path: path.into(), must_exist: true },
            None => ConfigPath { path: DEFAULT_PATH.into(), must_exist: false },
        }
    }
}

impl Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong.
    pub(crate) fn read(from: &ConfigPath) -> Result<Self, String> {
        let path = &from.path;
        match files::read(path, LARGEST_FILE) {
            Ok((bytes, _)) => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| format!("{}: the file is not UTF-8 text", path.display()))?;
                Config::parse(path, &text)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !from.must_exist => {
                Ok(Config::default())
            }
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, String> {
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
            return Err(format!(
                "{path}: threads must be at most {MOST_THREADS}, not {}",
                config.threads
            ));
        }
        Ok(config)
    }

    /// Reads the file that lists the roots again, if the configuration names one.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong.
    pub(super) fn read_roots(&mut self) -> Result<(), String> {
        self.root_guids = self.roots.as_deref().map(read_guids).transpose()?;
        Ok(())
    }

    /// Reads the types of nodes again, if the configuration names any.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong.
    pub(super) fn read_types(&mut self) -> Result<(), String> {
        self.node_types = match &self.destination_order {
            DestinationOrderSetting::TypesFile(path) => Some(read_types(path)?),
            DestinationOrderSetting::TypeList(types) => Some(types.clone()),
            _ => None,
        };
        Ok(())
    }

    /// Completes the configuration with OpenSM's options: the port in the names of files, the roots, and whether they
    /// are connected. Settings of dmodc.conf take precedence.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong.
    fn complete(&mut self, options: &OpensmOptions) -> Result<(), String> {
        let port = options.port.to_string();
        let fill = |path: &mut PathBuf| {
            if let Some(text) = path.to_str().filter(|text| text.contains("%g")) {
                *path = text.replace("%g", &port).into();
            }
        };
        fill(&mut self.state_folder);
        let reports = [&mut self.status_file, &mut self.metrics_file, &mut self.event_file];
        reports.into_iter().flatten().for_each(fill);
        self.connect_roots.get_or_insert(options.connect_roots);
        self.read_types()?;
        self.read_roots()?;
        if let Some(path) = options.roots.as_deref().filter(|_| self.has_no_leaf_setting()) {
            match read_guids(path) {
                Ok(guids) => (self.root_guids, self.uses_opensm_roots) = (Some(guids), true),
                Err(why) => self.refused_roots = Some(refused_roots_line(&why)),
            }
        }
        Ok(())
    }
}

/// A configuration as it was read and as it is used.
#[derive(Clone)]
pub(crate) struct LoadedConfig {
    stamp: Option<FileStamp>,
    /// The settings of the file alone.
    raw: Config,
    /// The same, completed with OpenSM's options.
    pub(crate) complete: Config,
}

impl LoadedConfig {
    /// Reads the configuration, unless the file is still the one that was read `before`, and the files that it names.
    ///
    /// # Errors
    /// One line that names the file, the line and what is wrong.
    pub(crate) fn load(
        before: Option<LoadedConfig>,
        from: &ConfigPath,
        options: &OpensmOptions,
    ) -> Result<Self, String> {
        let stamp = FileStamp::at(&from.path)
            .map_err(|error| format!("{}: {error}", from.path.display()))?;
        let raw = match before {
            Some(before) if before.stamp == stamp && stamp.is_some() => before.raw,
            _ => Config::read(from)?,
        };
        let mut complete = raw.clone();
        complete.complete(options)?;
        Ok(LoadedConfig { stamp, raw, complete })
    }
}

fn read_types(path: &Path) -> Result<NodeTypes, String> {
    let read = files::read(path, LARGEST_FILE);
    let (text, _) = read.map_err(|error| format!("{}: {error}", path.display()))?;
    node_types::read(&text).map_err(|error| format!("{}:{error}", path.display()))
}

fn read_guids(path: &Path) -> Result<Vec<Guid>, String> {
    let read = files::read(path, LARGEST_FILE);
    let (text, _) = read.map_err(|error| format!("{}: {error}", path.display()))?;
    let saved = dmodc_formats::orders::read(&text);
    Ok(saved.map_err(|error| format!("{}:{error}", path.display()))?.groups)
}
