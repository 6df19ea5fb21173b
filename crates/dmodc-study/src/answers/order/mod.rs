//! The hosts of a job in an order in which their traffic meets least.

mod hosts;

pub use hosts::{HostList, LeftOutHost, ListedHosts};

use anyhow::{Result, ensure};
use dmodc::advise::{Choice, HostOrder, JobRisk, Placement};
use dmodc::{RailHost, Rails};
use serde_json::{Value, json};

/// Hosts in an order, and what it is worth.
pub struct OrderReport<'a> {
    /// The list that was given.
    pub list: HostList<'a>,
    /// The names of rails.
    pub rails: &'a [String],
    /// The hosts in their new order.
    pub hosts: Vec<&'a str>,
    /// The risk of the list as it was given; of its first hosts, if hosts were chosen.
    pub before: JobRisk,
    /// The new order and its risk.
    pub order: HostOrder,
    /// The hosts that were chosen, if that was asked for.
    pub choice: Option<Choice>,
    /// The tables, in words.
    pub tables: String,
}

/// Chooses hosts if that is asked for, puts them into order, and measures both orders.
///
/// # Errors
/// If more hosts are asked for than the list has.
pub fn measure<'a>(
    list: HostList<'a>,
    rails: &'a Rails<'a>,
    placement: &Placement<'_>,
    choose: Option<u32>,
    tables: String,
) -> Result<OrderReport<'a>> {
    let count = choose.map_or(list.hosts.len(), |count| count as usize);
    ensure!(
        count <= list.hosts.len(),
        "--choose asks for {count} hosts, but {} has only {}",
        list.name,
        list.hosts.len()
    );
    let all: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
    let choice = choose.map(|_| placement.choose(&all, &list.hosts, count));
    let first: Vec<&RailHost<'_>> = list.hosts[..count].iter().map(|&at| all[at]).collect();
    let chosen: Vec<&RailHost<'_>> = match &choice {
        Some(choice) => choice.hosts.iter().map(|&at| all[at]).collect(),
        None => first.clone(),
    };
    let order = placement.order(&chosen);
    let hosts = order.order.iter().map(|&at| chosen[at].host.name()).collect();
    let before = placement.risk(&first);
    Ok(OrderReport { list, rails: &rails.names, hosts, before, order, choice, tables })
}

impl OrderReport<'_> {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let count = self.order.risk.shift_count;
        let left_out = self
            .list
            .left_out
            .iter()
            .map(|host| json!({ "name": host.name, "line": host.line, "reason": host.why }));
        let report = json!({
            "schema": "dmodc/order/1",
            "hosts": self.hosts,
            "listed": self.list.hosts.len(),
            "left_out": left_out.collect::<Vec<_>>(),
            "tables": self.tables,
            "rails": self.rails,
            "rails_agree": self.order.different == 1,
            "order_of_rail": self.rails.get(self.order.rail),
            "shifts": { "measured": count.measured, "of": count.of },
            "before": risk(&self.before),
            "after": risk(&self.order.risk),
            "choice": self.choice.as_ref().map(choice),
        });
        format!("{report:#}\n")
    }
}

/// Returns the risks of an order. `sp` is the mean, all others are maxima.
fn risk(risk: &JobRisk) -> Value {
    let whole = |value: f64| value as u64;
    json!({
        "ring": whole(risk.ring.risk),
        "sp": risk.shifts.risk,
        "recursive_doubling": whole(risk.doubling.risk),
        "a2a": whole(risk.all_to_all.risk),
        "bounds": {
            "ring": whole(risk.ring.bound),
            "sp": risk.shifts.bound,
            "recursive_doubling": whole(risk.doubling.bound),
            "a2a": whole(risk.all_to_all.bound),
        },
        "unroutable_pairs": risk.undelivered,
    })
}

fn choice(choice: &Choice) -> Value {
    json!({
        "shared_ports": choice.sharing.ports,
        "worst_mixed_flows": choice.sharing.worst,
        "best": choice.is_best,
        "compared": choice.compared,
    })
}
