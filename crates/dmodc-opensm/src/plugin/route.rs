//! From the present fabric to tables in memory: by faults and repairs where that is possible, whole otherwise.

use std::path::Path;
use std::sync::Arc;

use dmodc::words::counted;
use dmodc::{Fabric, SavedOrders};

use super::Plugin;
use super::run::RunInput;
use super::state::StateForRun;
use crate::config::Config;
use crate::kept_tables::{KeptTables, RouteMode};
use crate::snapshot::{ReferenceReport, snapshot_path};
use crate::state_folder::StateDecision;
use crate::subnet_manager::{LogLevel, SubnetManager};

/// The tables of the last run, and what they were made with.
pub(super) struct LastRouting {
    config: Config,
    /// The reference that there was, in use or not.
    reference: Option<Arc<Fabric>>,
    /// Why that reference is not in use, if it is not.
    refused: Option<String>,
    pub(super) tables: KeptTables,
}

impl LastRouting {
    /// Returns the report on the reference, if the configuration asks for one.
    pub(super) fn reference_report(&self, state_folder: &Path) -> Option<ReferenceReport> {
        let source = self.config.reference.clone()?;
        let path = snapshot_path(&self.config, state_folder);
        let changes = match (&self.refused, self.tables.changes()) {
            (None, Some(changes)) => Ok(changes),
            (why, _) => Err(why.clone().unwrap_or_default()),
        };
        Some(ReferenceReport { source, path, changes })
    }

    /// Returns whether tables that are made now would have the same inputs but for faults and repairs.
    fn serves(&self, input: &RunInput, reference: Option<&Arc<Fabric>>) -> bool {
        let is_same_reference = match (&self.reference, reference) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (Some(_), None) | (None, Some(_)) => false,
            // A learned reference may be learned from any run.
            (None, None) => !input.config.learns_reference(),
        };
        self.config == input.config
            && self.tables.has_switch_lmc(&input.choices.switch_lmc)
            && is_same_reference
    }
}

impl Plugin {
    /// Routes the fabric. The tables are in `self.last` then.
    pub(super) fn route(
        &mut self,
        manager: &impl SubnetManager,
        input: RunInput,
        state: StateForRun,
    ) -> Result<RouteMode, String> {
        self.pool(input.config.threads)?;
        let config = &input.config;
        let StateForRun { decision, snapshot } = state;
        let mut reference =
            self.reference.update(manager, config, snapshot, &mut self.state_writer);
        if decision.renumber {
            self.reference.unlearn(config);
            if config.learns_reference() {
                reference = None;
            }
        }
        if decision.adopted.is_none()
            && !decision.renumber
            && let Some(mode) = self.apply_changes(manager, &input, reference.as_ref())?
        {
            return Ok(mode);
        }
        let saved = self.take_orders(decision);
        self.route_whole(manager, input, saved, reference)?;
        Ok(RouteMode::Whole)
    }

    /// Applies faults and repairs to the last tables. Returns `None` if everything has to be routed.
    fn apply_changes(
        &mut self,
        manager: &impl SubnetManager,
        input: &RunInput,
        reference: Option<&Arc<Fabric>>,
    ) -> Result<Option<RouteMode>, String> {
        let Some(last) = self.last.as_mut().filter(|last| last.serves(input, reference)) else {
            return Ok(None);
        };
        let Some(threads) = &self.pool else {
            return Err("the threads for routing could not be started".into());
        };
        if reference.is_none() {
            last.refused = self.reference.missing.clone();
        }
        let updated = threads.pool.install(|| last.tables.update(&input.fabric));
        let Some((mode, delta)) = updated.map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let entries = counted(delta.entry_count(), "entry");
        let switches = counted(delta.switches().len(), "switch");
        manager.log(LogLevel::Verbose, format_args!("{entries} in {switches} changed"));
        Ok(Some(mode))
    }

    /// Forgets the last tables. Returns the orders to be kept.
    fn take_orders(&mut self, decision: StateDecision) -> Option<SavedOrders> {
        let last = self.last.take();
        match decision.adopted {
            _ if decision.renumber => None,
            Some(adopted) => Some(adopted),
            None => last.map(|last| last.tables.saved),
        }
    }

    /// Routes everything.
    fn route_whole(
        &mut self,
        manager: &impl SubnetManager,
        input: RunInput,
        saved: Option<SavedOrders>,
        reference: Option<Arc<Fabric>>,
    ) -> Result<(), String> {
        let Some(threads) = &self.pool else {
            return Err("the threads for routing could not be started".into());
        };
        let RunInput { config, fabric, choices, .. } = input;
        let mut orders = saved.clone();
        let join = || {
            let is_valid = || choices.connect_all_leaves(&fabric);
            self.reference.join(&config, &fabric, orders.as_mut(), is_valid)
        };
        let (with_reference, refused) = match &config.reference {
            None => (None, None),
            Some(_) => match threads.pool.install(join) {
                Ok(with_reference) => (Some(with_reference), None),
                Err(why) => {
                    manager
                        .log(LogLevel::Error, format_args!("routed without the reference: {why}"));
                    (None, Some(why))
                }
            },
        };
        // A reference that was inferred for another fabric is of no use any more.
        let earlier = reference.filter(|_| !config.infers_reference());
        let reference = with_reference.as_ref().map(|with| with.source.clone()).or(earlier);
        let tables = threads.pool.install(|| match with_reference {
            Some(with_reference) => KeptTables::with_reference(with_reference, choices, orders),
            None => KeptTables::new(Arc::unwrap_or_clone(fabric), choices, orders),
        });
        let tables = tables.map_err(|error| error.to_string())?;
        if let Some(line) = tables.single_root_line() {
            manager.log(LogLevel::Info, format_args!("{line}"));
        }
        self.state_folder.is_unsaved |= saved.as_ref() != Some(&tables.saved);
        self.last = Some(LastRouting { config, reference, refused, tables });
        Ok(())
    }
}
