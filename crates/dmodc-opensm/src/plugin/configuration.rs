//! The configuration in use. One that cannot be used is reported, and the last good one stays in use.

use std::time::Duration;

use serde_json::json;

use super::Plugin;
use crate::config::{Config, ConfigPath, HopTables, LoadedConfig};
use crate::files::DeadlineWorker;
use crate::opensm_options::{OpensmOptions, OptionUse};
use crate::subnet_manager::{LogLevel, SubnetManager};

/// The configuration between runs.
pub(super) struct ConfigKeeper {
    path: ConfigPath,
    reader: DeadlineWorker<Result<LoadedConfig, String>>,
    /// The last configuration that could be read.
    loaded: Option<LoadedConfig>,
    /// Why the present file cannot be read.
    unread: Option<String>,
    /// Why the present configuration does not fit the fabric.
    pub(super) misfit: Option<String>,
    /// The configuration of the last run that gave tables.
    pub(super) last_good: Option<Config>,
    /// Whether the configuration was read just now, for hop tables, and need not be read for the run.
    pub(super) is_fresh: bool,
}

/// The configuration for a run.
struct ChosenConfig {
    config: Config,
    /// Why a newer one is not used, if that is news.
    rejected: Option<String>,
}

impl ConfigKeeper {
    pub(super) fn new(path: ConfigPath) -> Self {
        ConfigKeeper {
            path,
            reader: DeadlineWorker::new(),
            loaded: None,
            unread: None,
            misfit: None,
            last_good: None,
            is_fresh: false,
        }
    }

    /// Returns the configuration that was read last.
    pub(super) fn present(&self) -> Option<&Config> {
        self.loaded.as_ref().map(|loaded| &loaded.complete)
    }

    /// Returns why the present configuration is not in use, if it is not.
    pub(super) fn error(&self) -> Option<String> {
        self.unread.clone().or_else(|| self.misfit.clone())
    }

    /// Reads the configuration, if the disk answers in time.
    fn read(
        &mut self,
        manager: &impl SubnetManager,
        options: OpensmOptions,
        patience: Duration,
    ) -> Result<ChosenConfig, String> {
        let (path, before) = (self.path.clone(), self.loaded.clone());
        let job = move || LoadedConfig::load(before, &path, &options);
        let loaded = match self.reader.ask(patience, |_| true, job) {
            Ok(loaded) => loaded,
            Err(why) => Err(format!("{}: {why}", self.path.path.display())),
        };
        match (loaded, &self.loaded) {
            (Ok(loaded), _) => {
                let config = loaded.complete.clone();
                self.loaded = Some(loaded);
                if self.unread.take().is_some() {
                    manager.log(
                        LogLevel::Info,
                        format_args!("the configuration is correct again and is used"),
                    );
                }
                Ok(ChosenConfig { config, rejected: None })
            }
            (Err(why), None) => Err(why),
            (Err(why), Some(before)) => {
                let config = before.complete.clone();
                let is_news = self.unread.as_ref() != Some(&why);
                self.unread = Some(why.clone());
                Ok(ChosenConfig { config, rejected: is_news.then_some(why) })
            }
        }
    }

    /// Returns the last good configuration, if `config` does not fit the fabric.
    fn instead_of(&mut self, config: &Config, why: String) -> Result<ChosenConfig, String> {
        let Some(good) = self.last_good.take_if(|good| good != config) else { return Err(why) };
        let is_news = self.misfit.as_ref() != Some(&why);
        self.misfit = Some(why.clone());
        Ok(ChosenConfig { config: good, rejected: is_news.then_some(why) })
    }
}

impl Plugin {
    /// Returns the configuration for a run. If the file cannot be used, this is the last one that could be.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn read_configuration(
        &mut self,
        manager: &impl SubnetManager,
    ) -> Result<Config, String> {
        let patience = self.patience.present();
        let chosen = self.configuration.read(manager, manager.options(), patience)?;
        Ok(self.report_rejected(manager, chosen))
    }

    /// Returns the last good configuration, if `config` does not fit the fabric.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn last_good_configuration(
        &mut self,
        manager: &impl SubnetManager,
        config: &Config,
        why: String,
    ) -> Result<Config, String> {
        let chosen = self.configuration.instead_of(config, why)?;
        Ok(self.report_rejected(manager, chosen))
    }

    fn report_rejected(&mut self, manager: &impl SubnetManager, chosen: ChosenConfig) -> Config {
        if let Some(why) = &chosen.rejected {
            let line = format_args!("{why}; the last correct configuration stays in use");
            manager.log(LogLevel::Error, line);
            self.event("configuration-error", json!({ "error": why }), None);
        }
        chosen.config
    }

    /// Logs once which of OpenSM's options are used and which are not.
    pub(super) fn log_options(&mut self, manager: &impl SubnetManager, config: &Config) {
        let mut lines = manager.options().log_lines(OptionUse {
            uses_roots: config.uses_opensm_roots,
            computes_hop_tables: config.hop_tables == HopTables::Dmodc,
        });
        lines.extend(config.refused_roots.clone());
        for line in &lines {
            if !self.logged_options.contains(line) {
                manager.log(LogLevel::Info, format_args!("{line}"));
            }
        }
        self.logged_options = lines;
    }
}
