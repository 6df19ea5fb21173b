//! The flows of a pattern, step by step: lists of pairs that send at the same time.

use dmodc::judge::rates::StepSummary;
use dmodc::judge::risk::{
    Loads, Series, Step, StepKind, Traffic, halving, incast, phase, phase_count,
    recursive_doubling, ring, tree,
};
use dmodc::{End, Live, NodeIndex, Rails, Random};

use super::Pattern;

/// A pattern whose names are resolved to positions of the traffic.
#[derive(Clone, Debug)]
pub struct PatternFlows {
    /// The pattern.
    pub pattern: Pattern,
    /// Its pairs, if it is a list of pairs. Of storage, the pairs that write.
    pub pairs: Vec<(u32, u32)>,
    /// The positions that form a job, in their order. If hosts have several adapters, each rail is a job of its own, and
    /// all rails send at the same time.
    pub jobs: Vec<Vec<u32>>,
}

/// The loads of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum PatternRisk {
    /// All flows send at the same time.
    Single(Loads),
    /// It has several steps.
    Series(Series),
}

/// Why a pattern does not fit a fabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternProblem {
    /// A grid has more members than there are nodes.
    #[error("{pattern} needs {members} nodes, but there are {nodes}{}", if *.has_rails { " on a rail" } else { "" })]
    TooFewNodes {
        /// The pattern in the user's words.
        pattern: String,
        /// The members of the grid.
        members: u64,
        /// The nodes that there are.
        nodes: usize,
        /// Whether these are the nodes of one rail.
        has_rails: bool,
    },
    /// No node is a storage node, or all are.
    #[error("{pattern} matches {} of the nodes, so nobody sends to storage", if *.all { "all" } else { "none" })]
    NoStorage {
        /// The pattern in the user's words.
        pattern: String,
        /// Whether all nodes match.
        all: bool,
    },
}

impl PatternFlows {
    /// Returns a pattern that names no nodes, among these nodes by position.
    ///
    /// # Errors
    /// If the pattern does not fit the nodes.
    pub fn new(
        live: Live<'_>,
        nodes: &[NodeIndex],
        pattern: &Pattern,
    ) -> Result<Self, PatternProblem> {
        let jobs = match pattern.is_collective() {
            true => rails(live, nodes),
            false => vec![(0..nodes.len() as u32).collect()],
        };
        let mut flows = PatternFlows { pattern: pattern.clone(), pairs: Vec::new(), jobs };
        flows.find_storage(live, nodes)?;
        flows.check()?;
        Ok(flows)
    }

    /// Returns a pattern of a job: among these positions. Storage nodes need not be members: members send to those of all
    /// nodes.
    ///
    /// # Errors
    /// If the pattern does not fit the job.
    pub fn of_job(
        live: Live<'_>,
        nodes: &[NodeIndex],
        pattern: &Pattern,
        members: &[u32],
    ) -> Result<Self, PatternProblem> {
        let mut flows = PatternFlows::new(live, nodes, pattern)?;
        let mut is_member = vec![false; nodes.len()];
        members.iter().for_each(|&position| is_member[position as usize] = true);
        flows.pairs.retain(|(from, _)| is_member[*from as usize]);
        flows.jobs = match pattern.is_collective() && flows.jobs.len() > 1 {
            // The members of each rail keep their order.
            true => {
                let mut rail_of = vec![usize::MAX; nodes.len()];
                for (rail, positions) in flows.jobs.iter().enumerate() {
                    positions.iter().for_each(|&at| rail_of[at as usize] = rail);
                }
                let on_rail = |rail: usize| {
                    members.iter().copied().filter(|&at| rail_of[at as usize] == rail).collect()
                };
                let rails = (0..flows.jobs.len()).map(on_rail);
                rails.filter(|rail: &Vec<u32>| !rail.is_empty()).collect()
            }
            false => vec![members.to_vec()],
        };
        flows.check()?;
        Ok(flows)
    }

    /// Returns a pattern that is a list of pairs.
    pub fn of_pairs(pattern: &Pattern, pairs: Vec<(u32, u32)>) -> Self {
        PatternFlows { pattern: pattern.clone(), pairs, jobs: Vec::new() }
    }

    fn find_storage(&mut self, live: Live<'_>, nodes: &[NodeIndex]) -> Result<(), PatternProblem> {
        let Pattern::Storage(regex) = &self.pattern else { return Ok(()) };
        let is_storage: Vec<bool> =
            nodes.iter().map(|&n| regex.matches(End::Node(n).name(live.fabric))).collect();
        let of = |kind: bool| -> Vec<u32> {
            (0u32..).zip(&is_storage).filter(|(_, is)| **is == kind).map(|(at, _)| at).collect()
        };
        let (storage, others) = (of(true), of(false));
        if storage.is_empty() || others.is_empty() {
            let pattern = self.pattern.to_string();
            return Err(PatternProblem::NoStorage { pattern, all: others.is_empty() });
        }
        let to_all = |&from: &u32| storage.iter().map(move |&to| (from, to));
        self.pairs = others.iter().flat_map(to_all).collect();
        Ok(())
    }

    fn check(&self) -> Result<(), PatternProblem> {
        let Pattern::Neighbours(grid) = &self.pattern else { return Ok(()) };
        let smallest = self.jobs.iter().map(Vec::len).min().unwrap_or(0);
        let (nodes, members) = (smallest, grid.members());
        match members <= nodes as u64 {
            true => Ok(()),
            false => Err(PatternProblem::TooFewNodes {
                pattern: self.pattern.to_string(),
                members,
                nodes,
                has_rails: self.jobs.len() > 1,
            }),
        }
    }

    /// Counts the flows step by step. Patterns that have faster ways of counting do not need this.
    pub(crate) fn risk(&self, traffic: &Traffic<'_>, seed: u64) -> PatternRisk {
        let PatternSteps { count, draw, .. } = PatternSteps::new(traffic, self, seed);
        match self.pattern.is_series() {
            true => PatternRisk::Series(traffic.drawn_steps(count, draw)),
            false => PatternRisk::Single(traffic.pairs(&draw(0))),
        }
    }

    /// Returns whether all positions form one job, in their order.
    fn is_whole(&self, nodes: u32) -> bool {
        matches!(&self.jobs[..], [only] if only.iter().copied().eq(0..nodes))
    }

    fn largest_job(&self) -> usize {
        self.jobs.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns how many flows send at the same time, at most.
    pub(super) fn most_flows(&self, nodes: usize) -> usize {
        match &self.pattern {
            Pattern::AllToAll => nodes.saturating_mul(nodes.saturating_sub(1)),
            Pattern::Phases(in_flight) => {
                nodes.saturating_mul(nodes.saturating_sub(1).min(in_flight.get() as usize))
            }
            Pattern::Tree => 2 * nodes,
            Pattern::Neighbours(_) => 6 * nodes,
            _ => nodes.max(self.pairs.len()),
        }
    }
}

/// Returns the positions of these nodes on each rail. Without several rails this is one list of all positions.
pub fn rails(live: Live<'_>, nodes: &[NodeIndex]) -> Vec<Vec<u32>> {
    let rails = Rails::new(live);
    if rails.names.len() <= 1 {
        return vec![(0..nodes.len() as u32).collect()];
    }
    let mut rail_of = vec![None; live.fabric.nodes().len()];
    for host in &rails.hosts {
        for (rail, n) in host.nodes.iter().enumerate() {
            if let Some(n) = n {
                rail_of[n.at()] = Some(rail);
            }
        }
    }
    let mut by_rail = vec![Vec::new(); rails.names.len()];
    for (position, n) in (0u32..).zip(nodes) {
        if let Some(rail) = rail_of[n.at()] {
            by_rail[rail].push(position);
        }
    }
    by_rail.retain(|rail| !rail.is_empty());
    by_rail
}

/// The steps of a pattern.
pub(super) struct PatternSteps<'a> {
    pub(super) count: usize,
    /// Whether the steps are parts of one operation, one after the other; otherwise they are independent.
    pub(super) is_operation: bool,
    /// What each step is, where steps have names.
    pub(super) kinds: Vec<StepKind>,
    /// The part of a message that the flows of each step send: the whole divided by this number. Empty if all send the whole.
    pub(super) parts: Vec<u32>,
    pub(super) draw: Box<dyn Fn(usize) -> Vec<(u32, u32)> + Sync + 'a>,
}

impl<'a> PatternSteps<'a> {
    /// Returns the summary of a step with the times of the messages that its flows really send. Those of a summary are of
    /// whole messages.
    pub(super) fn timed(&self, at: usize, mut step: StepSummary) -> StepSummary {
        let parts = f64::from(self.parts.get(at).copied().unwrap_or(1));
        step.completion /= parts;
        step.mean_completion /= parts;
        step
    }

    /// Returns the steps of a pattern. All-to-all is one step with all its flows.
    pub(super) fn new(traffic: &'a Traffic<'_>, flows: &'a PatternFlows, seed: u64) -> Self {
        let nodes = traffic.nodes().len() as u32;
        let jobs = &flows.jobs;
        match &flows.pattern {
            Pattern::AllToAll => single(|| at_once(jobs, everybody)),
            Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::File(_) => {
                single(|| flows.pairs.clone())
            }
            Pattern::Ring => single(|| at_once(jobs, |members| ring(0..members))),
            Pattern::Tree => single(|| at_once(jobs, tree)),
            Pattern::Neighbours(grid) => {
                let neighbours = grid.neighbours();
                let of_job = move |members: u32| match u64::from(members) < grid.members() {
                    true => Vec::new(),
                    false => neighbours.clone(),
                };
                single(move || at_once(jobs, &of_job))
            }
            Pattern::RecursiveDoubling => operation(jobs, |members| recursive_doubling(0..members)),
            Pattern::Halving => operation(jobs, halving),
            Pattern::Phases(in_flight) => {
                let count = phase_count(flows.largest_job() as u32, *in_flight);
                let draw = move |i| at_once(jobs, |members| phase(members, *in_flight, i as u32));
                PatternSteps { count: count as usize, is_operation: true, ..drawn(draw) }
            }
            Pattern::Storage(_) => {
                let back = |&(from, to): &(u32, u32)| (to, from);
                let draw = move |i| match i {
                    0 => flows.pairs.clone(),
                    _ => flows.pairs.iter().map(back).collect(),
                };
                let kinds = vec![StepKind::Write, StepKind::Read];
                PatternSteps { count: 2, is_operation: true, kinds, ..drawn(draw) }
            }
            Pattern::Incast(senders) => {
                let draw = move |i| {
                    let order = traffic.permutation(seed, i);
                    let senders = senders.get() as usize;
                    in_order(jobs, &order).flat_map(|job| incast(&job, senders)).collect()
                };
                PatternSteps { count: Pattern::INCASTS, ..drawn(draw) }
            }
            Pattern::Permutations(count) => {
                independent(*count, move |i| permuted(jobs, &traffic.permutation(seed, i)))
            }
            Pattern::Bisections(count) => {
                independent(*count, move |i| match flows.is_whole(nodes) {
                    true => (0u32..).zip(traffic.bisection(seed, i)).collect(),
                    false => bisected(jobs, &traffic.permutation(seed, i)),
                })
            }
            Pattern::Shifts(sample) => {
                let all = flows.largest_job().saturating_sub(1);
                let shifts = match flows.is_whole(nodes) {
                    true => traffic.shift_sample(sample.map(|count| (count, seed))),
                    false => sampled(all, sample.map(|count| (count, seed))),
                };
                let shifts = shifts.unwrap_or_else(|| (1..=all).collect());
                let by = |members: u32, distance: usize| {
                    let to = move |from| ((from as usize + distance) % members as usize) as u32;
                    (0..members).map(|from| (from, to(from))).collect()
                };
                let count = shifts.len();
                independent(count, move |i| at_once(jobs, |members| by(members, shifts[i])))
            }
        }
    }
}

/// Returns the flows of everybody to everybody else.
fn everybody(members: u32) -> Vec<(u32, u32)> {
    let from_one = |from| (0..members).filter(move |&to| to != from).map(move |to| (from, to));
    (0..members).flat_map(from_one).collect()
}

/// Returns the members of each job in the order of a list of all positions.
fn in_order<'a>(jobs: &'a [Vec<u32>], order: &'a [u32]) -> impl Iterator<Item = Vec<u32>> + 'a {
    jobs.iter().map(|job| {
        let mut is_member = vec![false; order.len()];
        job.iter().for_each(|&position| is_member[position as usize] = true);
        order.iter().copied().filter(|&position| is_member[position as usize]).collect()
    })
}

/// Returns a permutation of the members of each job, given a random order of all positions.
fn permuted(jobs: &[Vec<u32>], order: &[u32]) -> Vec<(u32, u32)> {
    let targets = in_order(jobs, order);
    jobs.iter().zip(targets).flat_map(|(job, to)| job.iter().copied().zip(to)).collect()
}

/// Returns a bisection of the members of each job, given a random order of all positions.
fn bisected(jobs: &[Vec<u32>], order: &[u32]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for members in in_order(jobs, order) {
        let (one, other) = members.split_at(members.len() / 2);
        pairs.extend(one.iter().zip(other).flat_map(|(&a, &b)| [(a, b), (b, a)]));
    }
    pairs
}

/// Returns a sample of the shifts 1 … `all`, ascending; `None` if these are all shifts.
fn sampled(all: usize, sample: Option<(usize, u64)>) -> Option<Vec<usize>> {
    let (count, seed) = sample.filter(|&(count, _)| count < all)?;
    let mut shifts = Random::new(seed, 0).sample(all, count);
    shifts.iter_mut().for_each(|distance| *distance += 1);
    shifts.sort_unstable();
    Some(shifts)
}

/// Returns the flows of all jobs at the same time; `of` returns those of a job with this number of members.
fn at_once(jobs: &[Vec<u32>], of: impl Fn(u32) -> Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for job in jobs {
        let place = |(from, to): (u32, u32)| (job[from as usize], job[to as usize]);
        pairs.extend(of(job.len() as u32).into_iter().map(place));
    }
    pairs
}

/// Returns an operation of several steps. Jobs of different sizes do steps of one kind at the same time.
fn operation<'a>(jobs: &[Vec<u32>], of: impl Fn(u32) -> Vec<Step>) -> PatternSteps<'a> {
    let sizes = jobs.iter().map(|job| job.len() as u32);
    let longest = sizes.map(&of).max_by_key(Vec::len).unwrap_or_default();
    let mut order: Vec<StepKind> = longest.iter().map(|step| step.kind).collect();
    let all: Vec<Step> = jobs
        .iter()
        .flat_map(|job| of(job.len() as u32).into_iter().map(move |step| step.on(job)))
        .collect();
    for step in &all {
        if !order.contains(&step.kind) {
            let end = if step.kind == StepKind::FoldIn { 0 } else { order.len() };
            order.insert(end, step.kind);
        }
    }
    let of_kind = |kind: &StepKind| -> Vec<(u32, u32)> {
        let same = all.iter().filter(|step| step.kind == *kind);
        same.flat_map(|step| step.pairs.iter().copied()).collect()
    };
    let pairs: Vec<Vec<(u32, u32)>> = order.iter().map(of_kind).collect();
    // Messages of one kind are longest in the smallest job that has it.
    let parts_of = |kind: &StepKind| {
        all.iter().filter(|step| step.kind == *kind).map(|step| step.parts).min().unwrap_or(1)
    };
    let parts = order.iter().map(parts_of).collect();
    let draw = move |i: usize| pairs[i].clone();
    PatternSteps { count: order.len(), is_operation: true, parts, kinds: order, ..drawn(draw) }
}

/// Returns a pattern of one step.
fn single<'a>(flows: impl Fn() -> Vec<(u32, u32)> + Sync + 'a) -> PatternSteps<'a> {
    PatternSteps { count: 1, ..drawn(move |_| flows()) }
}

/// Returns steps that do not depend on each other.
fn independent<'a>(
    count: usize,
    draw: impl Fn(usize) -> Vec<(u32, u32)> + Sync + 'a,
) -> PatternSteps<'a> {
    PatternSteps { count, ..drawn(draw) }
}

fn drawn<'a>(draw: impl Fn(usize) -> Vec<(u32, u32)> + Sync + 'a) -> PatternSteps<'a> {
    PatternSteps {
        count: 0,
        is_operation: false,
        kinds: Vec::new(),
        parts: Vec::new(),
        draw: Box::new(draw),
    }
}

#[cfg(test)]
pub(super) mod test_fabric {
    use dmodc::judge::rates::FairRates;
    use dmodc::judge::risk::Traffic;
    use dmodc::{Degradation, Dmodc, Live, Pgft, Routing};

    /// Routes a whole PGFT, and calls `test` with it and its rates.
    pub(in super::super) fn routed(tuple: &str, test: impl FnOnce(Live<'_>, &FairRates<'_>)) {
        let fabric = tuple.parse::<Pgft>().expect("a tuple").fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &Default::default());
        let (tables, _) = routing.route(live, &Dmodc).expect("it fits");
        let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables);
        test(live, &FairRates::new(&fabric, &traffic));
    }
}
