//! The judge on a machine: the tables of a batch of states are judged where they are.
//!
//! | file | subject |
//! |---|---|
//! | `request` | what is asked, and what is answered |
//! | `tables` | what the judge knows of a fabric, whatever its state |
//! | `pool` | what the host prepares for each state: nodes, classes of switches, cuts |
//! | `draws` | random permutations and bisections |
//! | `arguments`, `memory` | what kernels read and write, and where |
//! | `batch` | the launches, in order |
//! | `finish` | from counts to judgements |
//! | `on_host` | states that no kernel judges |

mod arguments;
mod batch;
mod draws;
mod finish;
mod memory;
mod on_host;
mod pool;
mod request;
mod tables;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::{Degradation, Fabric, ForwardingTables, Live, parallel};

pub use batch::KernelTime;
pub use request::{DevicePattern, JudgeRequest, Judgement, PatternLoads, Update};
pub use tables::JudgeLimits;

use crate::buffer::Buffer;
use crate::error::GpuError;
use crate::router::GpuRouter;
use batch::Batch;
use finish::StateCounts;
use memory::{JudgeMemory, StateBytes};
use on_host::HostJudge;
use pool::PreparedState;
use tables::JudgeTables;

/// Judges the states of a [`GpuRouter`]. The numbers are those of the judge of the engine, [`dmodc::judge`].
#[derive(Debug)]
pub struct GpuJudge {
    fabric: Arc<Fabric>,
    tables: JudgeTables,
    memory: JudgeMemory,
    kept: Option<KeptTables>,
    judged_on_host: usize,
    measures_kernels: bool,
    times: JudgeTimes,
}

/// How long the last batch took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeTimes {
    /// The host prepared the states.
    pub prepare: Duration,
    /// The kernels ran, and their counts were copied.
    pub count: Duration,
    /// The host made judgements from counts.
    pub finish: Duration,
    /// The host judged the states that kernels could not judge, or not completely.
    pub on_host: Duration,
    /// Each kernel; empty unless kernels are [measured](GpuJudge::measure_kernels).
    pub kernels: Vec<KernelTime>,
}

/// The tables that later ones are compared with.
#[derive(Debug)]
struct KeptTables {
    /// The tables on the machine; `None` if the host judges all states of the fabric.
    buffer: Option<Buffer>,
    tables: ForwardingTables,
}

impl GpuJudge {
    /// Prepares the judge of the states of a router.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn new(router: &GpuRouter) -> Result<Self, GpuError> {
        Self::with_limits(router, JudgeLimits::of(router))
    }

    /// Prepares the judge of the states of a router, with other limits than the usual ones.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn with_limits(router: &GpuRouter, limits: JudgeLimits) -> Result<Self, GpuError> {
        Ok(GpuJudge {
            fabric: router.fabric().clone(),
            tables: JudgeTables::new(router, limits)?,
            memory: JudgeMemory::default(),
            kept: None,
            judged_on_host: 0,
            measures_kernels: false,
            times: JudgeTimes::default(),
        })
    }

    /// Returns the bytes of memory of the machine that a state needs to be judged by these patterns, apart from those that the
    /// router needs.
    pub fn state_bytes(&self, router: &GpuRouter, patterns: &[DevicePattern]) -> usize {
        let (nodes, switches) = (self.fabric.nodes().len(), self.fabric.switches().len());
        StateBytes::new(router.device(), &self.tables).sum(nodes, switches, patterns)
    }

    /// Returns how many states of the last batch the host judged as a whole, because kernels could not. Such states take much longer.
    pub fn judged_on_host(&self) -> usize {
        self.judged_on_host
    }

    /// Measures each kernel by itself from now on. The whole takes longer then, because the host waits for each.
    pub fn measure_kernels(&mut self) {
        self.measures_kernels = true;
    }

    /// Returns how long the last batch took.
    pub fn times(&self) -> &JudgeTimes {
        &self.times
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
        let hold = || Buffer::holding(router.machine(), &router.padded(&tables));
        let buffer = self.tables.judges_some().then(hold).transpose()?;
        self.kept = Some(KeptTables { buffer, tables });
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
        assert_eq!(degradations.len(), router.routed(), "these states are not those of the batch");
        assert_eq!(degradations.len(), request.seeds.len(), "each state has seeds");
        assert!(!request.compares || self.kept.is_some(), "no tables were kept");
        self.times = JudgeTimes::default();
        let mut judgements = self.judge_by_kernels(router, degradations, request)?;
        let start = Instant::now();
        self.judged_on_host = judgements.iter().filter(|judged| judged.is_none()).count();
        self.judge_on_host(router, degradations, request, &mut judgements)?;
        self.times.on_host = start.elapsed();
        Ok(judgements.into_iter().flatten().collect())
    }

    /// Judges states with kernels. Returns `None` for those for which that does not suffice.
    fn judge_by_kernels(
        &mut self,
        router: &GpuRouter,
        degradations: &[Degradation],
        request: &JudgeRequest<'_>,
    ) -> Result<Vec<Option<Judgement>>, GpuError> {
        if !self.tables.can_judge(router) || degradations.is_empty() {
            return Ok(degradations.iter().map(|_| None).collect());
        }
        let fabric = self.fabric.clone();
        let live = |state: usize| Live::new(&fabric, &degradations[state]);
        let start = Instant::now();
        let states = parallel::map(0..degradations.len(), |state| {
            PreparedState::new(live(state), router.routing(), !router.by_host().contains(&state))
        });
        self.times.prepare = start.elapsed();
        let most_cuts = self.tables.most_cuts();
        if states.iter().any(|state| state.shape.cuts().len() > most_cuts) {
            return Ok(degradations.iter().map(|_| None).collect());
        }
        let start = Instant::now();
        let kept = self.kept.as_ref().filter(|_| request.compares);
        let mut batch = Batch {
            router,
            tables: &self.tables,
            memory: &mut self.memory,
            states: &states,
            kept: kept.and_then(|kept| kept.buffer.as_ref()).map(Buffer::address),
            times: self.measures_kernels.then(Default::default),
        };
        let counted = batch.count(request)?;
        self.times.kernels = batch.times.take().map_or(vec![], RefCell::into_inner);
        self.times.count = start.elapsed();
        let start = Instant::now();
        let columns = router.routing().columns().len();
        let judgements = parallel::map(states.iter().enumerate(), |(state, prepared)| {
            let tables = &self.tables;
            let counts =
                StateCounts { live: live(state), tables, prepared, counted: &counted, state };
            counts.judgement(request.patterns, request.compares, columns)
        });
        self.times.finish = start.elapsed();
        Ok(judgements)
    }

    /// Judges the states that are not judged yet, and completes those without costs on the machine.
    fn judge_on_host(
        &self,
        router: &GpuRouter,
        degradations: &[Degradation],
        request: &JudgeRequest<'_>,
        judgements: &mut [Option<Judgement>],
    ) -> Result<(), GpuError> {
        let kept = self.kept.as_ref().filter(|_| request.compares).map(|kept| &kept.tables);
        // In pieces, so that not all tables are on the host at once.
        let left: Vec<usize> = (0..judgements.len())
            .filter(|&state| judgements[state].is_none() || router.by_host().contains(&state))
            .collect();
        for states in left.chunks(parallel::threads()) {
            let tables: Vec<ForwardingTables> =
                states.iter().map(|&state| router.tables(state)).collect::<Result<_, _>>()?;
            let so_far: Vec<Option<Judgement>> =
                states.iter().map(|&state| judgements[state].take()).collect();
            let work = states.iter().zip(&tables).zip(so_far);
            let found = parallel::map(work, |((&state, tables), so_far)| {
                let live = Live::new(&self.fabric, &degradations[state]);
                let host = HostJudge { live, routing: router.routing(), tables, kept };
                match so_far {
                    Some(judgement) => host.complete(judgement),
                    None => host.judge(request.patterns, &request.seeds[state]),
                }
            });
            for (&state, found) in states.iter().zip(found) {
                judgements[state] = Some(found);
            }
        }
        Ok(())
    }
}
