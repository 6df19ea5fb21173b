//! How a job is placed: its hosts in an order in which their traffic meets least.

use std::collections::HashMap;

use dmodc::advise::{JobRisk, Placement};
use dmodc::{RailHost, Rails};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::workbench::Workbench;

/// The greatest number of hosts of a job: measuring more would take longer than a person waits.
const MOST_HOSTS: usize = 4096;

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Its hosts.
    pub hosts: HostSelection,
    /// If some of the hosts are to be chosen: how many.
    #[serde(default)]
    pub choose: Option<usize>,
}

/// The hosts of a job, or those to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HostSelection {
    /// The word `all`.
    Word(String),
    /// A list of names.
    Names(Vec<String>),
}

impl Workbench {
    /// Returns the hosts of a job in an order in which their traffic meets least, and the risk before and after.
    ///
    /// # Errors
    /// If a host is unknown or listed twice, or there are too few or too many.
    pub fn order(&self, request: &JobRequest) -> Result<Value, Problem> {
        let router = self.router();
        let live = router.live();
        let rails = Rails::new(live);
        let listed = listed(&rails, &request.hosts)?;
        let count = request.choose.unwrap_or(listed.len());
        if !(1..=listed.len()).contains(&count) {
            return Err(Problem::Invalid(format!(
                "'choose' must be a number from 1 to {}, the number of hosts",
                listed.len()
            )));
        }
        if count > MOST_HOSTS {
            return Err(Problem::Conflict(format!(
                "jobs of up to {MOST_HOSTS} hosts are measured here; 'dmodc order' takes larger ones"
            )));
        }
        let ranking = &router.preprocessing().ranking;
        let placement = Placement::new(live, ranking, router.routing().orders(), router.tables());
        let all: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
        let first: Vec<&RailHost<'_>> = listed[..count].iter().map(|&at| all[at]).collect();
        let chosen: Vec<&RailHost<'_>> = match request.choose {
            Some(_) => {
                let choice = placement.choose(&all, &listed, count);
                choice.hosts.iter().map(|&at| all[at]).collect()
            }
            None => first.clone(),
        };
        let before = placement.risk(&first);
        let order = placement.order(&chosen);
        let hosts: Vec<&&RailHost<'_>> = order.order.iter().map(|&at| &chosen[at]).collect();
        let switch = |host: &RailHost<'_>| {
            let node = host.nodes.iter().flatten().next()?;
            Some(live.fabric.node(*node).switch.at())
        };
        Ok(json!({
            "hosts": hosts.iter().map(|host| host.host.name()).collect::<Vec<_>>(),
            "switches": hosts.iter().map(|host| switch(host)).collect::<Vec<_>>(),
            "before": risk(&before),
            "after": risk(&order.risk),
            "moved": !first.iter().zip(&hosts).all(|(a, b)| a.host == b.host),
        }))
    }
}

/// Returns the places of the hosts in the list of all.
fn listed(rails: &Rails<'_>, hosts: &HostSelection) -> Result<Vec<usize>, Problem> {
    let names = match hosts {
        HostSelection::Word(word) if word == "all" => return Ok((0..rails.hosts.len()).collect()),
        HostSelection::Word(word) => {
            return Err(Problem::Invalid(format!(
                "'hosts' must be a list of names or the word 'all', not '{word}'"
            )));
        }
        HostSelection::Names(names) => names,
    };
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, host) in rails.hosts.iter().enumerate() {
        places.entry(host.host.name()).or_insert(at);
    }
    let mut listed: Vec<usize> = Vec::with_capacity(names.len());
    for name in names {
        let at = places.get(name.trim()).copied();
        let at = at.ok_or_else(|| Problem::NotFound(format!("there is no host '{name}'")))?;
        if listed.contains(&at) {
            return Err(Problem::Invalid(format!("the host '{name}' is listed twice")));
        }
        listed.push(at);
    }
    if listed.is_empty() {
        return Err(Problem::Invalid("the list has no host".into()));
    }
    Ok(listed)
}

fn risk(risk: &JobRisk) -> Value {
    json!({
        "ring": risk.ring.risk,
        "ring_bound": risk.ring.bound,
        "sp": risk.shifts.risk,
        "sp_bound": risk.shifts.bound,
        "a2a": risk.all_to_all.risk,
        "a2a_bound": risk.all_to_all.bound,
        "undelivered": risk.undelivered,
    })
}
