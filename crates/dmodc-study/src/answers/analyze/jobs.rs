//! Several jobs at the same time, as text and JSON.

use std::fmt::Write as _;
use std::path::Path;

use crate::analysis::{Job, JobFinding, JobsFinding, Pattern, PatternFlows, SharedPort, find_jobs};
use anyhow::{Context, Result, anyhow};
use dmodc::judge::rates::{FairRates, PatternRates};
use dmodc::judge::risk::Traffic;
use dmodc::{Live, NodeIndex, Orders};
use dmodc_formats::hosts::{ListedJob, read_jobs};
use dmodc_formats::printable;
use serde_json::{Value, json};

use super::super::names::NodeNames;
use super::super::source;
use super::super::text::{counted, number, switch};
use super::in_destination_order;
use super::rates::short;

/// What jobs are made of.
pub struct JobContext<'a> {
    /// The fabric.
    pub live: Live<'a>,
    /// Nodes by name.
    pub names: &'a NodeNames<'a>,
    /// The order of destinations.
    pub orders: &'a Orders,
    /// The traffic over the tables.
    pub traffic: &'a Traffic<'a>,
}

impl JobContext<'_> {
    /// Reads the jobs of a file and judges them.
    ///
    /// # Errors
    /// If the file cannot be read, or a job is not possible.
    pub fn find(
        &self,
        path: &Path,
        fair: Option<&FairRates<'_>>,
        seed: u64,
    ) -> Result<JobsFinding> {
        let mut positions = vec![None; self.names.count()];
        for (position, n) in (0u32..).zip(self.traffic.nodes()) {
            positions[n.at()] = Some(position);
        }
        let listed = source::read_list(path, read_jobs)?;
        let jobs: Vec<Job> =
            listed.iter().map(|job| self.job(path, job, &positions)).collect::<Result<_>>()?;
        Ok(find_jobs(self.traffic, fair, &jobs, seed)?)
    }

    fn job(&self, path: &Path, job: &ListedJob, positions: &[Option<u32>]) -> Result<Job> {
        let name = printable(&job.name.name);
        let place = || format!("{}:{}", source::name(path), job.name.line);
        let pattern: Pattern = job.pattern.parse().with_context(place)?;
        if let Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::File(_) = pattern {
            let expected = Pattern::OF_ALL_NODES;
            return Err(anyhow!("{pattern} is not a pattern of a job: expected {expected}"))
                .with_context(place);
        }
        let mut nodes: Vec<NodeIndex> = Vec::new();
        for host in &job.hosts {
            nodes.extend(self.names.meant(path, host)?);
        }
        in_destination_order(&mut nodes, self.orders);
        let members: Vec<u32> = nodes.iter().filter_map(|n| positions[n.at()]).collect();
        if members.is_empty() {
            return Err(anyhow!("job '{name}' has no node that sends; are all of its nodes dead?"))
                .with_context(place);
        }
        let flows = PatternFlows::of_job(self.live, self.traffic.nodes(), &pattern, &members)
            .with_context(|| format!("{}: job '{name}'", place()))?;
        Ok(Job { name: job.name.name.clone(), nodes: members.len(), flows })
    }

    /// Returns the jobs in words.
    pub fn text(&self, found: &JobsFinding) -> String {
        let mut text = format!(
            "\njobs: {} with {}, all at the same time, {}\n",
            counted(found.jobs.len(), "job"),
            counted(found.nodes, "node"),
            counted(found.steps, "step"),
        );
        let _ =
            writeln!(text, "  together: risk {}, bound {}", number(found.max), number(found.bound));
        for job in &found.jobs {
            let interference = match job.alone {
                0 => String::new(),
                alone => format!(" ({:.2} × alone)", job.together as f64 / alone as f64),
            };
            let _ = writeln!(
                text,
                "  {}: {} of {}; alone risk {}, bound {}; with the others risk {}{interference}",
                printable(&job.name),
                job.pattern,
                counted(job.nodes, "node"),
                number(job.alone),
                number(job.bound),
                number(job.together),
            );
            if let Some(rates) = job.rates.as_ref().filter(|rates| rates.alone.flows() > 0) {
                let _ = writeln!(
                    text,
                    "    fair rates: alone mean {}, with the others {}; equal messages: the last arrives after {} and {}",
                    short(rates.alone.mean()),
                    short(rates.together.mean()),
                    short(rates.alone.completion()),
                    short(rates.together.completion()),
                );
            }
            if let Some(worst) = job.worst.as_ref().filter(|_| job.together > job.alone) {
                let _ = writeln!(text, "    meets {}", self.met(found, job, worst));
            }
        }
        text
    }

    fn met(&self, found: &JobsFinding, job: &JobFinding, worst: &SharedPort) -> String {
        let port = self.traffic.ports()[worst.port];
        let fabric = self.live.fabric;
        let others = found.jobs.iter().zip(&worst.flows);
        let others: Vec<String> = others
            .filter(|(other, flows)| **flows > 0 && other.name != job.name)
            .map(|(other, flows)| {
                format!("{} ({})", printable(&other.name), counted(*flows, "flow"))
            })
            .collect();
        format!(
            "{} at {} port {} to {}",
            others.join(", "),
            switch(fabric, port.switch),
            port.port.0,
            switch(fabric, port.peer),
        )
    }

    /// Returns the jobs as JSON.
    pub fn json(&self, found: &JobsFinding) -> Value {
        let job = |job: &JobFinding| {
            let mut value = json!({
                "name": job.name,
                "pattern": job.pattern.to_string(),
                "nodes": job.nodes,
                "alone": { "max": job.alone, "bound": job.bound },
                "together": { "max": job.together },
                "interference": (job.alone > 0).then(|| job.together as f64 / job.alone as f64),
                "worst_port": job.worst.as_ref().map(|worst| self.port_json(found, worst)),
            });
            if let Some(rates) = &job.rates {
                value["alone"]["rates"] = rates_json(&rates.alone);
                value["together"]["rates"] = rates_json(&rates.together);
            }
            value
        };
        json!({
            "nodes": found.nodes,
            "steps": found.steps,
            "max": found.max,
            "bound": found.bound,
            "unroutable_flows": found.undelivered,
            "jobs": found.jobs.iter().map(job).collect::<Vec<Value>>(),
        })
    }

    fn port_json(&self, found: &JobsFinding, worst: &SharedPort) -> Value {
        let port = self.traffic.ports()[worst.port];
        let guid = |s| self.live.fabric.switch(s).guid.to_string();
        let flows = found.jobs.iter().zip(&worst.flows);
        let flows = flows.map(|(job, flows)| json!({ "job": job.name, "flows": flows }));
        json!({
            "switch": guid(port.switch),
            "port": port.port.0,
            "peer": guid(port.peer),
            "flows": flows.collect::<Vec<Value>>(),
        })
    }
}

fn rates_json(rates: &PatternRates) -> Value {
    let known = |value: f64| (rates.flows() > 0).then_some(value);
    json!({
        "mean": known(rates.mean()),
        "p1": known(rates.p1()),
        "min": known(rates.min()),
        "completion": known(rates.completion()),
        "mean_completion": known(rates.mean_completion()),
    })
}
