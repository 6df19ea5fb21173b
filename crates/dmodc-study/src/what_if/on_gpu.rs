//! Faults on a GPU: many at once, each routed and judged whole.
//!
//! Faults that take nodes away have other positions than the baseline, so the processor tries them, as without a GPU.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dmodc::fabric::Part;
use dmodc::judge::risk::{Loads, SeriesPattern};
use dmodc::{Degradation, RouteError, parallel};
use dmodc_gpu::{
    DevicePattern, GpuError, GpuJudge, GpuRouter, JudgeRequest, Judgement, Machine, PatternLoads,
};

use super::{CHUNK, FaultSurvey, NumberedOutcome, Outcome, SeriesNumbers, SharedState};
use super::{SurveyError, SurveyProgress};
use crate::gpu_engine::GpuInputs;
use crate::journal::FinishedCell;

/// The most faults that are tried at once: a whole number of chunks.
const MOST_FAULTS: usize = 4 * CHUNK;

/// The present tables in the memory of a GPU, with which those after faults are compared.
struct PresentOnGpu {
    router: GpuRouter,
    judge: GpuJudge,
    capacity: usize,
}

impl FaultSurvey<'_> {
    /// Tries chunks on a GPU.
    pub(super) fn try_on_gpu(
        &self,
        machine: &Arc<dyn Machine>,
        chunks: &[usize],
        shared: &Mutex<SharedState>,
        each: impl Fn(SurveyProgress) -> ControlFlow<()> + Sync,
    ) -> Result<Vec<NumberedOutcome>, SurveyError> {
        let mut on_gpu = self.present_on_gpu(machine, MOST_FAULTS)?;
        let mut all = vec![];
        for batch in chunks.chunks((on_gpu.capacity / CHUNK).max(1)) {
            let faults: Vec<usize> = batch.iter().flat_map(|&chunk| self.chunk(chunk)).collect();
            let (mut outcomes, mut left) = (vec![], &faults[..]);
            while !left.is_empty() {
                let (now, later) = left.split_at(left.len().min(on_gpu.capacity));
                match self.outcomes_on_gpu(&mut on_gpu, now) {
                    // The judge takes its memory when it is asked.
                    Err(SurveyError::Gpu(GpuError::OutOfMemory { .. })) if on_gpu.capacity > 1 => {
                        let half = on_gpu.capacity / 2;
                        // Memory is given back before more is asked for.
                        drop(on_gpu);
                        on_gpu = self.present_on_gpu(machine, half)?;
                    }
                    found => {
                        outcomes.extend(found?);
                        left = later;
                    }
                }
            }
            let mut shared = shared.lock().expect("no thread panicked with the journal");
            let mut of_chunk = outcomes.iter();
            let finished: Vec<FinishedCell> = batch
                .iter()
                .map(|&cell| {
                    let lines = of_chunk.by_ref().take(self.chunk(cell).len());
                    FinishedCell { cell, rows: lines.map(|(_, outcome)| outcome.line()).collect() }
                })
                .collect();
            if let Some(journal) = &mut shared.journal {
                journal.add_all(&finished)?;
            }
            shared.progress.done += outcomes.len();
            all.append(&mut outcomes);
            if each(shared.progress).is_break() {
                return Err(SurveyError::Stopped);
            }
        }
        Ok(all)
    }

    /// Puts the present state on a GPU, with room for this number of faults at once, or for as many as fit.
    fn present_on_gpu(
        &self,
        machine: &Arc<dyn Machine>,
        mut capacity: usize,
    ) -> Result<PresentOnGpu, SurveyError> {
        let present = self.present.router();
        let fabric = Arc::new(present.fabric().clone());
        loop {
            let inputs =
                GpuInputs { machine, fabric: &fabric, routing: present.routing(), capacity };
            let made = inputs.router(&**present.engine()).and_then(|router| {
                let Some(router) = router else { return Ok(None) };
                let mut judge = GpuJudge::new(&router)?;
                judge.keep_tables(&router, present.tables().clone())?;
                Ok(Some(PresentOnGpu { router, judge, capacity }))
            });
            match made {
                Ok(Some(made)) => return Ok(made),
                Ok(None) => return Err(SurveyError::NotOnGpu(present.engine().name().into())),
                Err(GpuError::OutOfMemory { .. }) if capacity > 1 => capacity /= 2,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the outcomes of these faults.
    fn outcomes_on_gpu(
        &self,
        gpu: &mut PresentOnGpu,
        faults: &[usize],
    ) -> Result<Vec<NumberedOutcome>, SurveyError> {
        let (on_processor, on_gpu): (Vec<usize>, Vec<usize>) =
            faults.iter().partition(|&&at| self.takes_nodes(at));
        let mut outcomes = self.outcomes_on_host(&on_processor)?;
        let states: Vec<Degradation> = on_gpu.iter().map(|&at| self.after(at)).collect();
        let patterns: Vec<(DevicePattern, u64)> = self.present.patterns().map(on_device).collect();
        let (patterns, seeds): (Vec<DevicePattern>, Vec<u64>) =
            std::iter::once((DevicePattern::AllToAll, 0)).chain(patterns).unzip();
        let seeds = vec![seeds; states.len()];
        let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares: true };
        gpu.router.route(&states)?;
        let judgements = gpu.judge.judge(&gpu.router, &states, &request)?;
        let judged = judgements.into_iter().map(Self::outcome);
        outcomes.extend(on_gpu.into_iter().zip(judged));
        outcomes.sort_unstable_by_key(|(at, _)| *at);
        Ok(outcomes)
    }

    /// Returns whether a fault may take nodes away.
    fn takes_nodes(&self, at: usize) -> bool {
        let fabric = self.present.router().fabric();
        let fault = self.faults.get(at);
        fault.parts().iter().any(|&part| match part {
            Part::Switch(s) => !fabric.nodes_of(s).is_empty(),
            Part::Cable(c) => c.at() >= fabric.inter_switch_cables().len(),
        })
    }

    /// Returns the state after a fault.
    fn after(&self, at: usize) -> Degradation {
        let mut state = self.present.router().degradation().clone();
        let fault = self.faults.get(at);
        fault.parts().iter().for_each(|&part| state.set(part, true));
        state
    }

    /// Tries faults on the processor, on as many threads as there is memory for.
    fn outcomes_on_host(&self, faults: &[usize]) -> Result<Vec<NumberedOutcome>, SurveyError> {
        let next = AtomicUsize::new(0);
        let work = |_| -> Result<Vec<NumberedOutcome>, RouteError> {
            let (mut what_if, mut outcomes) = (self.present.what_if(), vec![]);
            while let Some(&at) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                outcomes.push(self.attempt(&mut what_if, at)?);
            }
            Ok(outcomes)
        };
        let mut outcomes = vec![];
        for part in parallel::map(0..self.copies().min(faults.len()), work) {
            outcomes.extend(part?);
        }
        Ok(outcomes)
    }

    /// Returns the outcome of a fault with this judgement.
    fn outcome(judgement: Judgement) -> Outcome {
        let (mut all_to_all, mut series) = (Loads::default(), vec![]);
        for loads in judgement.patterns {
            match loads {
                PatternLoads::Single(loads) => all_to_all = loads,
                PatternLoads::Series(found) => series.push(SeriesNumbers {
                    permutations: found.maxima.len() as u32,
                    sum: found.maxima.iter().map(|&max| u64::from(max)).sum(),
                    max: found.max(),
                    bound_sum: found.bounds.iter().map(|&bound| u64::from(bound)).sum(),
                }),
            }
        }
        let max = all_to_all.max();
        let update = judgement.update.expect("it was asked for");
        Outcome {
            delivered: judgement.delivery.delivered,
            lost: judgement.delivery.lost,
            cut_off: judgement.delivery.cut_off,
            a2a: max,
            a2a_bound: all_to_all.bound,
            worst: judgement.worst,
            series,
            entries: update.live_changes.entries,
            blocks: update.live_changes.blocks,
            switches: update.live_changes.switches,
            pairs: update.pairs,
            undelivered: judgement.undelivered,
        }
    }
}

/// Returns a series as the GPU knows it, with its seed.
fn on_device(pattern: SeriesPattern) -> (DevicePattern, u64) {
    match pattern {
        SeriesPattern::AllShifts => (DevicePattern::Shifts, 0),
        SeriesPattern::Shifts { count, seed } => (DevicePattern::SampledShifts(count), seed),
        SeriesPattern::Random { count, seed } => (DevicePattern::Permutations(count), seed),
    }
}
