//! The loads of cables, by which they are coloured.

use std::str::FromStr;

use dmodc::fabric::Peer;
use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::{DirectedPort, Traffic};
use dmodc::{Fabric, Router};
use serde_json::{Value, json};

use crate::judgement::{SEED, sample_size};
use crate::names::switch_name;
use crate::problem::Problem;
use crate::setup::Setup;
use crate::workbench::Workbench;

/// Rates of larger fabrics would take too long.
const MOST_RATED: usize = 20_000;

/// How many of the worst ports are named.
const WORST: usize = 10;

/// The traffic that loads cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPattern {
    /// Everybody sends to everybody else.
    AllToAll,
    /// The worst of all shifts, or of a sample, for each port.
    Shifts,
    /// The worst of some random permutations, for each port.
    Permutations,
    /// One shift.
    Shift(usize),
    /// One random permutation, by its seed.
    Permutation(u64),
}

impl FromStr for LoadPattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::Invalid(format!(
                "there is no pattern '{text}'; expected a2a, sp, rp, shift:K or perm:SEED"
            ))
        };
        Ok(match text.split_once(':') {
            None => match text {
                "a2a" => LoadPattern::AllToAll,
                "sp" => LoadPattern::Shifts,
                "rp" => LoadPattern::Permutations,
                _ => return Err(wrong()),
            },
            Some(("shift", k)) => LoadPattern::Shift(k.parse().map_err(|_| wrong())?),
            Some(("perm", seed)) => LoadPattern::Permutation(seed.parse().map_err(|_| wrong())?),
            Some(_) => return Err(wrong()),
        })
    }
}

/// What is shown for each cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The number of flows.
    Flows,
    /// The smallest fair rate of the flows.
    Rate,
}

impl FromStr for Measure {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "flows" => Ok(Measure::Flows),
            "rate" => Ok(Measure::Rate),
            _ => Err(Problem::Invalid(format!(
                "there is no measure '{text}'; expected flows or rate"
            ))),
        }
    }
}

/// The loads of all directed ports.
struct PortLoads {
    /// The value of each port; `None` if nothing passes it and that has no value.
    by_port: Vec<Option<f64>>,
    bound: Option<f64>,
}

impl Workbench {
    /// Returns the loads of all cables for a pattern.
    ///
    /// # Errors
    /// If rates are asked for a pattern that has none, or for too large a fabric.
    pub fn loads(&self, pattern: &str, measure: &str) -> Result<Value, Problem> {
        let mut value = loads(self.setup(), self.router(), pattern, measure.parse()?)?;
        value["revision"] = json!(self.revision());
        Ok(value)
    }
}

/// Returns the loads of all cables of a router.
pub(crate) fn loads(
    setup: &Setup,
    router: &Router,
    pattern: &str,
    measure: Measure,
) -> Result<Value, Problem> {
    let parsed: LoadPattern = pattern.parse()?;
    let traffic = router.traffic();
    let loads = match measure {
        Measure::Flows => flows(&traffic, parsed),
        Measure::Rate => rates(router, &traffic, parsed)?,
    };
    let fabric = router.fabric();
    let is_rate = measure == Measure::Rate;
    let mut sorted: Vec<(usize, f64)> =
        loads.by_port.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    let sum: f64 = sorted.iter().map(|(_, value)| value).sum();
    let mean = sum / sorted.len().max(1) as f64;
    let worst_first = |a: &(usize, f64), b: &(usize, f64)| {
        let by_value = if is_rate { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) };
        by_value.then(a.0.cmp(&b.0))
    };
    let named = sorted.len().min(WORST);
    if named > 0 {
        sorted.select_nth_unstable_by(named - 1, worst_first);
    }
    sorted.truncate(named);
    sorted.sort_by(worst_first);
    let worst: Vec<Value> =
        sorted.iter().map(|&(at, value)| worst(fabric, traffic.ports()[at], value)).collect();
    Ok(json!({
        "pattern": pattern,
        "measure": if is_rate { "rate" } else { "flows" },
        "loads": by_cable(setup, &traffic, &loads.by_port, is_rate),
        "max": sorted.first().map_or(0.0, |(_, value)| *value),
        "bound": loads.bound,
        "mean": mean,
        "worst": worst,
    }))
}

fn worst(fabric: &Fabric, port: DirectedPort, value: f64) -> Value {
    json!({
        "part": format!("{}/{}", fabric.switch(port.switch).guid, port.port),
        "from": switch_name(fabric, port.switch),
        "port": port.port.0,
        "to": switch_name(fabric, port.peer),
        "value": value,
    })
}

fn flows(traffic: &Traffic<'_>, pattern: LoadPattern) -> PortLoads {
    let nodes = traffic.nodes().len();
    let sample = sample_size(nodes);
    let series = match pattern {
        LoadPattern::AllToAll => {
            let loads = traffic.all_to_all();
            return PortLoads {
                by_port: loads.by_port.iter().map(|&load| Some(load as f64)).collect(),
                bound: Some(loads.bound as f64),
            };
        }
        LoadPattern::Shift(_) | LoadPattern::Permutation(_) => {
            let loads = traffic.pairs(&one_permutation(traffic, pattern));
            return PortLoads {
                by_port: loads.by_port.iter().map(|&load| Some(load as f64)).collect(),
                bound: Some(loads.bound as f64),
            };
        }
        LoadPattern::Shifts => traffic.shifts((nodes > sample).then_some((sample, SEED))),
        LoadPattern::Permutations => traffic.permutations(sample.min(100), SEED),
    };
    PortLoads {
        by_port: series.worst_by_port.iter().map(|worst| Some(f64::from(worst.load))).collect(),
        bound: Some(f64::from(series.max_bound())),
    }
}

/// Returns the pairs of one shift or permutation, without those that send to themselves.
fn one_permutation(traffic: &Traffic<'_>, pattern: LoadPattern) -> Vec<(u32, u32)> {
    if traffic.nodes().is_empty() {
        return vec![];
    }
    let to = match pattern {
        LoadPattern::Permutation(seed) => traffic.permutation(seed, 0),
        LoadPattern::Shift(k) => traffic.shift(k % traffic.nodes().len()),
        _ => vec![],
    };
    (0..).zip(to).filter(|(from, to)| from != to).collect()
}

/// Returns the smallest fair rate of the flows over each port.
fn rates(
    router: &Router,
    traffic: &Traffic<'_>,
    pattern: LoadPattern,
) -> Result<PortLoads, Problem> {
    if !matches!(pattern, LoadPattern::Shift(_) | LoadPattern::Permutation(_)) {
        return Err(Problem::Invalid(
            "rates are those of one permutation; use shift:K or perm:SEED".into(),
        ));
    }
    let nodes = traffic.nodes().len();
    if nodes > MOST_RATED {
        return Err(Problem::Conflict(format!(
            "rates are computed for up to {MOST_RATED} nodes, and there are {nodes}"
        )));
    }
    let pairs = one_permutation(traffic, pattern);
    let rates = FairRates::new(router.fabric(), traffic).step(&pairs).rates;
    let mut by_port: Vec<Option<f64>> = vec![None; traffic.ports().len()];
    traffic.routes(&pairs, |pair, ports| {
        if let (Some(ports), Some(rate)) = (ports, rates[pair]) {
            for &port in ports {
                let least = &mut by_port[port as usize];
                *least = Some(least.map_or(rate, |least: f64| least.min(rate)));
            }
        }
    });
    Ok(PortLoads { by_port, bound: None })
}

/// Returns two values for each cable between switches: from its lower end in the drawing, and from its other end. The
/// drawing's order of ends is that of [`Workbench::scene`].
fn by_cable(
    setup: &Setup,
    traffic: &Traffic<'_>,
    by_port: &[Option<f64>],
    is_rate: bool,
) -> Vec<Value> {
    let fabric = setup.fabric();
    let none = if is_rate { Value::Null } else { json!(0) };
    let mut values = vec![none; 2 * fabric.inter_switch_cables().len()];
    for (port, value) in traffic.ports().iter().zip(by_port) {
        let Some(cabled) = fabric.port(port.switch, port.port) else { continue };
        let (Some(cable), Peer::Switch(..)) = (cabled.cable(), cabled.peer) else { continue };
        let ends = fabric.inter_switch_cables()[cable.at()];
        let is_second = setup.drawn_ends(&ends)[0] != (port.switch, port.port);
        if let Some(value) = value {
            values[2 * cable.at() + usize::from(is_second)] = match is_rate {
                true => json!(value),
                // Flows are whole numbers, and shorter without a point.
                false => json!(*value as u64),
            };
        }
    }
    values
}
