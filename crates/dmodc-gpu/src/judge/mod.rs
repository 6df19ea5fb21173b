//! The judge on a machine: the tables of a batch of states are judged where they are.

mod on_host;
mod request;

use std::sync::Arc;

use dmodc::{Degradation, Fabric, ForwardingTables, Live, parallel};

pub use request::{DevicePattern, JudgeRequest, Judgement, PatternLoads, Update};

use crate::error::GpuError;
use crate::router::GpuRouter;
use on_host::HostJudge;

/// Judges the states of a [`GpuRouter`].
#[derive(Debug)]
pub struct GpuJudge {
    fabric: Arc<Fabric>,
    /// The tables that later ones are compared with.
    kept: Option<ForwardingTables>,
}

impl GpuJudge {
    /// Prepares the judge of the states of a router.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn new(router: &GpuRouter) -> Result<Self, GpuError> {
        Ok(GpuJudge { fabric: router.fabric().clone(), kept: None })
    }

    /// Keeps the tables of a state of the last batch: later tables are compared with them.
    ///
    /// # Errors
    /// If the machine fails or has too little memory.
    pub fn keep(&mut self, router: &GpuRouter, state: usize) -> Result<(), GpuError> {
        self.keep_tables(router, router.tables(state)?)
    }

    /// Keeps tables of the host: later tables are compared with them.
    ///
    /// # Errors
    /// If the machine fails or has too little memory.
    ///
    /// # Panics
    /// If the tables have other columns than those of the router.
    pub fn keep_tables(
        &mut self,
        router: &GpuRouter,
        tables: ForwardingTables,
    ) -> Result<(), GpuError> {
        assert_eq!(tables.columns(), router.routing().columns(), "tables of another shape");
        self.kept = Some(tables);
        Ok(())
    }

    /// Judges the states of the last batch of a router, which are these degradations.
    ///
    /// # Errors
    /// If the machine fails or has too little memory.
    ///
    /// # Panics
    /// If the router is another one, the degradations are not those of the last batch, the seeds are not complete, or tables are to
    /// be compared and none were kept.
    pub fn judge(
        &mut self,
        router: &GpuRouter,
        degradations: &[Degradation],
        request: &JudgeRequest<'_>,
    ) -> Result<Vec<Judgement>, GpuError> {
        assert!(Arc::ptr_eq(&self.fabric, router.fabric()), "this judge is of another router");
        assert!(!request.compares || self.kept.is_some(), "no tables were kept");
        let tables: Vec<ForwardingTables> =
            (0..degradations.len()).map(|state| router.tables(state)).collect::<Result<_, _>>()?;
        let judge = |state: usize| {
            let host = HostJudge {
                live: Live::new(&self.fabric, &degradations[state]),
                routing: router.routing(),
                tables: &tables[state],
                kept: self.kept.as_ref().filter(|_| request.compares),
            };
            host.judge(request.patterns, &request.seeds[state])
        };
        Ok(parallel::map(0..degradations.len(), judge))
    }
}
