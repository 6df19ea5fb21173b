//! One routing run, stage by stage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::judge::Delivery;
use dmodc::words::counted;
use dmodc::{Fabric, LeafRule};
use serde_json::json;

use super::collect::CollectedFabric;
use super::{Plugin, panic_if_asked_for};
use crate::config::{Config, OnLost};
use crate::kept_tables::RoutingChoices;
use crate::status::{FabricSize, RunReport, RunTimes, UploadSize};
use crate::subnet_manager::{ErrorRecorder, LogLevel, SubnetManager};

/// The fabric of a run, and how it is to be routed.
pub(super) struct RunInput {
    pub(super) config: Config,
    pub(super) fabric: Arc<Fabric>,
    pub(super) choices: RoutingChoices,
    /// How long it took to collect all this.
    took: Duration,
}

/// The node pairs that tables deliver, and why they lose some.
struct LossReport {
    delivery: Delivery,
    leaf_warning: Option<String>,
    loss_reason: Option<String>,
}

impl Plugin {
    pub(super) fn try_run<M: SubnetManager>(
        &mut self,
        manager: &mut ErrorRecorder<'_, M>,
    ) -> Result<(), String> {
        let input = self.collect(manager)?;
        self.log_options(manager, &input.config);
        let start = Instant::now();
        let state = self.read_state(manager, &input.config, &input.fabric);
        let (look, collect) = (start.elapsed(), input.took);
        let config = input.config.clone();
        let size = FabricSize::of(&input.fabric);
        let fabric_for_event = config.event_file.as_ref().map(|_| input.fabric.clone());
        let renumber = state.decision.renumber;

        let start = Instant::now();
        let mode = self.route(manager, input, state)?;
        let route = start.elapsed();
        self.configuration.last_good = Some(config.clone());
        let LossReport { delivery, leaf_warning, loss_reason } =
            self.report_losses(manager, &config)?;

        let start = Instant::now();
        let upload = self.write_tables(manager)?;
        let write = start.elapsed();
        if renumber {
            let UploadSize { entries, blocks, switches } = upload;
            let line = format_args!(
                "new numbers as requested: {} in {} of {} change",
                counted(entries, "entry"),
                counted(blocks, "block"),
                counted(switches, "switch"),
            );
            manager.log(LogLevel::Info, line);
        }

        let folder =
            self.state_folder.in_use.clone().unwrap_or_else(|| config.state_folder.clone());
        let last = self.last.as_ref().ok_or("nothing was routed")?;
        let report = RunReport {
            size,
            mode,
            coverage: last.tables.coverage(),
            delivery,
            reference: last.reference_report(&folder),
            upload,
            times: RunTimes { collect, look, route, write },
            leaf_warning,
            loss_reason,
        };
        let numbered = last.tables.numbered();
        self.totals.add(&report);
        manager.log(LogLevel::Info, format_args!("{report}"));
        self.save_state(&config);
        let mut facts = report.event();
        facts["errors"] = json!(manager.take_errors());
        self.event("run", facts, fabric_for_event);
        self.report(Some(&report), None);
        self.balance.measure(numbered);
        Ok(())
    }

    /// Reads the configuration and the fabric, unless both were just read for hop tables, and finds the leaves.
    fn collect(&mut self, manager: &mut impl SubnetManager) -> Result<RunInput, String> {
        let start = Instant::now();
        let mut config = match std::mem::take(&mut self.configuration.is_fresh) {
            true => self.configuration.present().ok_or("there is no configuration")?.clone(),
            false => self.read_configuration(manager)?,
        };
        panic_if_asked_for(&config);
        let read_config = start.elapsed();
        let mut collected = self.collected.take().unwrap_or_else(|| CollectedFabric::read(manager));
        collected.leave_out_nodes_without_lid(manager);
        let start = Instant::now();
        let (collected, leaves) = self.find_leaves(manager, &mut config, collected)?;
        let choices = RoutingChoices {
            leaves,
            destinations: config.destinations(),
            switches: config.switch_order.into(),
            connect_roots: config.connect_roots.unwrap_or(false),
            switch_lmc: collected.switch_lmc,
        };
        let took = read_config + collected.took + start.elapsed();
        Ok(RunInput { config, fabric: Arc::new(collected.fabric), choices, took })
    }

    /// Finds the leaves. Returns also the fabric, in which excluded hosts are set aside. A configuration that does not fit the fabric is given up step by step: first OpenSM's roots, then
    /// the whole of it for the last good one.
    fn find_leaves(
        &mut self,
        manager: &mut impl SubnetManager,
        config: &mut Config,
        mut collected: CollectedFabric,
    ) -> Result<(CollectedFabric, LeafRule), String> {
        let mut fits = true;
        loop {
            let why = match config.leaf_rule(collected.fabric) {
                Ok((fabric, leaves)) => {
                    if fits {
                        self.configuration.misfit = None;
                    }
                    return Ok((CollectedFabric { fabric, ..collected }, leaves));
                }
                Err(why) => why,
            };
            collected = CollectedFabric::read(manager);
            collected.leave_out_nodes_without_lid(manager);
            if !config.refuse_opensm_roots(&why) {
                *config = self.last_good_configuration(manager, config, why)?;
                fits = false;
            }
        }
    }

    /// Logs the pairs that the tables lose. If leaf pairs are among them, the configuration decides whether the tables are
    /// used.
    ///
    /// # Errors
    /// If the next engine of OpenSM is to take over.
    fn report_losses(
        &mut self,
        manager: &impl SubnetManager,
        config: &Config,
    ) -> Result<LossReport, String> {
        let tables = &self.last.as_ref().ok_or("nothing was routed")?.tables;
        let (placement, lost_leaf_pairs) = (tables.node_placement(), tables.lost_leaf_pairs());
        let delivery = tables.delivery();
        let rule = config.leaf_rule_text();
        let leaf_warning = placement.warning(&rule);
        if let Some(warning) = &leaf_warning {
            manager.log(LogLevel::Error, format_args!("{warning}"));
        }
        let loss_reason =
            (delivery.lost > 0).then(|| placement.likely_reason(&rule, lost_leaf_pairs.is_some()));
        if let Some(reason) = &loss_reason {
            let (lost, pairs) = (delivery.lost, delivery.pairs);
            manager.log(
                LogLevel::Error,
                format_args!(
                    "LOST: {lost} of {} are not delivered, although cables connect them; likely reason: {reason}",
                    counted(pairs, "node pair")
                ),
            );
        }
        match (lost_leaf_pairs, config.on_lost) {
            (None, _) => {}
            (Some(lost), OnLost::Keep) => manager.log(
                LogLevel::Error,
                format_args!("{lost}; the tables are used anyway (on_lost = \"keep\")"),
            ),
            (Some(lost), OnLost::NextEngine) => {
                self.save_state(config);
                return Err(format!(
                    "{lost}; these tables are not used (on_lost = \"next-engine\")"
                ));
            }
        }
        Ok(LossReport { delivery, leaf_warning, loss_reason })
    }

    /// Writes the tables of all switches to OpenSM.
    fn write_tables(&self, manager: &mut impl SubnetManager) -> Result<UploadSize, String> {
        let tables = &self.last.as_ref().ok_or("nothing was routed")?.tables;
        let mut upload = UploadSize::default();
        for (guid, row) in tables.tables() {
            let change = manager.write(guid, row)?;
            upload.entries += u64::from(change.entries);
            upload.blocks += u64::from(change.blocks);
            upload.switches += u64::from(change.blocks > 0);
        }
        Ok(upload)
    }
}
