//! Several jobs that send at the same time: what each suffers from the others.
//!
//! Jobs go on in step: while the first job is in its step t, each other job is in its own step t, and starts again after its
//! last one. So every step of the longest job meets a step of each other job. The *interference* of a job is its risk
//! together with the others, divided by its risk alone. Nobody's routes depend on other jobs, so the risk together is never
//! less.

use std::collections::BTreeSet;

use dmodc::judge::rates::{FairRates, PatternRates, StepSummary};
use dmodc::judge::risk::Traffic;
use dmodc::parallel;

use super::steps::{PatternFlows, PatternSteps};
use super::{Pattern, TooManyFlows};

/// A job: its name, and its pattern among its nodes.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name.
    pub name: String,
    /// The number of its nodes.
    pub nodes: usize,
    /// The pattern, in positions of the traffic.
    pub flows: PatternFlows,
}

/// What several jobs do to each other.
#[derive(Clone, Debug)]
pub struct JobsFinding {
    /// The number of nodes that take part.
    pub nodes: usize,
    /// The number of steps: those of the longest job.
    pub steps: usize,
    /// The greatest load of a port by all jobs together.
    pub max: u64,
    /// The lower bound of `max` for any routing.
    pub bound: u64,
    /// Flows of all jobs that do not arrive, over all steps.
    pub undelivered: u64,
    /// The jobs, in their order.
    pub jobs: Vec<JobFinding>,
}

/// What a job suffers.
#[derive(Clone, Debug)]
pub struct JobFinding {
    /// The name.
    pub name: String,
    /// The pattern.
    pub pattern: Pattern,
    /// The number of its nodes.
    pub nodes: usize,
    /// Its greatest load of a port if it is alone.
    pub alone: u64,
    /// The lower bound of `alone` for any routing.
    pub bound: u64,
    /// The greatest load of a port that it uses, with the flows of all jobs.
    pub together: u64,
    /// That port, and the flows of each job there; `None` if the job uses no port between switches.
    pub worst: Option<SharedPort>,
    /// Its rates alone and together, if they were asked for.
    pub rates: Option<JobRates>,
}

/// A port that jobs share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPort {
    /// The index of the port in the traffic.
    pub port: usize,
    /// The flows of each job over it, in the order of the jobs.
    pub flows: Vec<u64>,
}

/// The rates of a job.
#[derive(Clone, Debug)]
pub struct JobRates {
    /// If no other job runs.
    pub alone: PatternRates,
    /// If all run. A step of the job that meets several steps of others has the means of their numbers.
    pub together: PatternRates,
}

/// One step of all jobs: the pairs of each.
type StepPairs = Vec<Vec<(u32, u32)>>;

/// The numbers of one step.
struct StepFinding {
    max: u64,
    bound: u64,
    undelivered: u64,
    jobs: Vec<JobStep>,
}

/// The numbers of a job in one step.
struct JobStep {
    alone: u64,
    bound: u64,
    together: u64,
    worst: Option<SharedPort>,
    rates: Option<[StepSummary; 2]>,
}

/// Counts the flows of all jobs, alone and together.
///
/// # Errors
/// If rates are asked for and too many flows send at the same time.
pub fn find_jobs(
    traffic: &Traffic<'_>,
    fair: Option<&FairRates<'_>>,
    jobs: &[Job],
    seed: u64,
) -> Result<JobsFinding, TooManyFlows> {
    if fair.is_some() {
        let flows = jobs.iter().map(|job| job.flows.most_flows(job.nodes)).sum::<usize>();
        if flows > FairRates::MOST_FLOWS {
            return Err(TooManyFlows { pattern: "the list of jobs".into(), flows });
        }
    }
    let steps: Vec<PatternSteps<'_>> =
        jobs.iter().map(|job| PatternSteps::new(traffic, &job.flows, seed)).collect();
    let count = steps.iter().map(|steps| steps.count).max().unwrap_or(0);
    let at = |step: usize| -> StepPairs {
        let of = |steps: &PatternSteps<'_>| match steps.count {
            0 => Vec::new(),
            count => (steps.draw)(step % count),
        };
        steps.iter().map(of).collect()
    };
    let found: Vec<StepFinding> =
        parallel::map(0..count, |step| find_step(traffic, fair, &at(step)));
    let most = |of: &dyn Fn(&StepFinding) -> u64| found.iter().map(of).max().unwrap_or(0);
    let of_job = |(at, job): (usize, &Job)| {
        let steps_of_job = || found.iter().map(move |step| &step.jobs[at]);
        let most = |of: &dyn Fn(&JobStep) -> u64| steps_of_job().map(of).max().unwrap_or(0);
        let together = most(&|step| step.together);
        JobFinding {
            name: job.name.clone(),
            pattern: job.flows.pattern.clone(),
            nodes: job.nodes,
            alone: most(&|step| step.alone),
            bound: most(&|step| step.bound),
            together,
            worst: steps_of_job()
                .find(|step| step.together == together)
                .and_then(|step| step.worst.clone()),
            rates: fair.map(|_| rates(&steps[at], steps_of_job())),
        }
    };
    let members = jobs.iter().flat_map(|job| job.flows.jobs.iter().flatten());
    Ok(JobsFinding {
        nodes: members.collect::<BTreeSet<_>>().len(),
        steps: count,
        max: most(&|step| step.max),
        bound: most(&|step| step.bound),
        undelivered: found.iter().map(|step| step.undelivered).sum(),
        jobs: jobs.iter().enumerate().map(of_job).collect(),
    })
}

fn find_step(
    traffic: &Traffic<'_>,
    fair: Option<&FairRates<'_>>,
    pairs: &StepPairs,
) -> StepFinding {
    let all = traffic.pairs(&pairs.concat());
    let alone: Vec<_> = pairs.iter().map(|pairs| traffic.pairs(pairs)).collect();
    let together = fair.map(|fair| fair.step(&pairs.concat()));
    let mut first = 0;
    let of_job = |(at, own): (usize, &Vec<(u32, u32)>)| {
        let loads = &alone[at].by_port;
        let used = (0..loads.len()).filter(|&port| loads[port] > 0);
        // Of several ports with the same load, the first.
        let worst = used.max_by_key(|&port| (all.by_port[port], std::cmp::Reverse(port)));
        let places = first..first + own.len();
        first += own.len();
        let rates = fair
            .zip(together.as_ref())
            .map(|(fair, together)| [fair.step(own).summary(), together.summary_of(places)]);
        JobStep {
            alone: alone[at].max(),
            bound: alone[at].bound,
            together: worst.map_or(0, |port| all.by_port[port]),
            worst: worst.map(|port| SharedPort {
                port,
                flows: alone.iter().map(|loads| loads.by_port[port]).collect(),
            }),
            rates,
        }
    };
    let jobs = pairs.iter().enumerate().map(of_job).collect();
    StepFinding { max: all.max(), bound: all.bound, undelivered: all.undelivered, jobs }
}

/// Returns the rates of a job over its own steps, alone and together with others.
fn rates<'a>(steps: &PatternSteps<'_>, found: impl Iterator<Item = &'a JobStep>) -> JobRates {
    let mut by_own_step: Vec<Vec<[StepSummary; 2]>> = vec![Vec::new(); steps.count];
    for (at, step) in found.enumerate().filter(|_| steps.count > 0) {
        by_own_step[at % steps.count].extend(step.rates);
    }
    let of = |which: usize| {
        let own_step = |(at, met): (usize, &Vec<[StepSummary; 2]>)| {
            let summaries: Vec<StepSummary> = met.iter().map(|rates| rates[which]).collect();
            steps.timed(at, StepSummary::average(&summaries))
        };
        let steps_of_job = by_own_step.iter().enumerate().map(own_step).collect();
        PatternRates { steps: steps_of_job, is_collective: steps.is_operation }
    };
    JobRates { alone: of(0), together: of(1) }
}

#[cfg(test)]
mod tests {
    use super::super::steps::test_fabric::routed;
    use super::*;

    /// A job that shares no link with others is as fast as alone, whatever the numbers of steps.
    #[test]
    fn jobs_that_do_not_meet_lose_nothing() {
        routed("2; 8,4; 1,2; 1,1", |live, fair| {
            let traffic = fair.traffic();
            let job = |pattern: &str, members: std::ops::Range<u32>| {
                let pattern: Pattern = pattern.parse().expect("a pattern");
                let members: Vec<u32> = members.collect();
                let flows = PatternFlows::of_job(live, traffic.nodes(), &pattern, &members);
                Job {
                    name: pattern.to_string(),
                    nodes: members.len(),
                    flows: flows.expect("it fits"),
                }
            };
            for other in 17..24 {
                for pattern in ["recursive-doubling", "halving", "ring", "sp"] {
                    let jobs = [job(pattern, 0..16), job("a2a:phases", 16..other)];
                    let found = find_jobs(traffic, Some(fair), &jobs, 1).expect("few flows");
                    assert_eq!(found.nodes, other as usize);
                    for job in &found.jobs {
                        let JobRates { alone, together } = job.rates.as_ref().expect("rates");
                        assert!(
                            (alone.completion() - together.completion()).abs() < 1e-9,
                            "{}",
                            job.name
                        );
                        assert!((alone.mean() - together.mean()).abs() < 1e-9, "{}", job.name);
                    }
                }
            }
        });
    }

    /// Two rings that do not share a leaf do not meet; two over the same leaves do, at the cables between them.
    #[test]
    fn jobs_meet_where_they_share_ports() {
        routed("2; 4,4; 1,2; 1,1", |live, fair| {
            let traffic = fair.traffic();
            let job = |name: &str, pattern: &str, members: &[u32]| {
                let pattern: Pattern = pattern.parse().expect("a pattern");
                let flows = PatternFlows::of_job(live, traffic.nodes(), &pattern, members);
                Job { name: name.into(), nodes: members.len(), flows: flows.expect("it fits") }
            };
            let of = |jobs: &[Job]| find_jobs(traffic, Some(fair), jobs, 1).expect("few flows");
            let apart = of(&[job("a", "ring", &[0, 1, 2, 3]), job("b", "ring", &[4, 5, 6, 7])]);
            assert_eq!((apart.max, apart.jobs[0].together, &apart.jobs[0].worst), (0, 0, &None));
            // Both have members on two leaves with two cables up, so that the cables carry the flows of both.
            let a = job("a", "a2a", &[0, 1, 4, 5]);
            let b = job("b", "a2a:phases", &[2, 3, 6, 7]);
            let found = of(&[a, b]);
            let [first, second] = &found.jobs[..] else { panic!("two jobs") };
            assert_eq!((found.steps, first.alone, first.bound), (3, 2, 2));
            assert!(first.together > first.alone && second.together > second.alone);
            let shared = first.worst.as_ref().expect("a port");
            assert_eq!(shared.flows.iter().sum::<u64>(), first.together);
            let rates = first.rates.as_ref().expect("rates");
            assert!(rates.together.mean() <= rates.alone.mean() + 1e-9);
            // Alone a job has the same numbers as without other jobs.
            let only = of(&[job("b", "a2a:phases", &[2, 3, 6, 7])]);
            let [only] = &only.jobs[..] else { panic!("one job") };
            assert_eq!((only.alone, only.together), (second.alone, second.alone));
            assert_eq!(only.rates.as_ref().map(|rates| rates.together.completion()), Some(3.0));
            let [known, now] =
                [&only.rates, &second.rates].map(|rates| rates.as_ref().expect("rates"));
            assert_eq!(
                (known.alone.mean(), known.together.mean()),
                (now.alone.mean(), now.alone.mean())
            );
        });
    }
}
