//! The report of `dmodc order`, as text and as JSON.

use std::fmt::Write as _;

use dmodc::advise::{Choice, JobRisk, PatternRisk};
use dmodc_formats::printable;
use serde_json::{Value, json};

use super::OrderReport;
use crate::text::{counted, number};

/// The most hosts that are named one by one because they were left out.
const NAMED: usize = 10;

impl OrderReport<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = self.left_out();
        let (hosts, of) = (counted(self.hosts.len(), "host"), &self.list.name);
        let _ = match &self.choice {
            None => writeln!(text, "{hosts} of {of} in fabric order"),
            Some(choice) => {
                let listed = number(self.list.hosts.len());
                let sharing = sharing(choice);
                writeln!(text, "{hosts} of {listed} of {of} chosen, in fabric order\n{sharing}")
            }
        };
        text += &self.rails_text();
        let first = match self.choice {
            Some(_) => format!("the first {hosts} of the list"),
            None => "the list as given".into(),
        };
        let tables = &self.tables;
        let _ = writeln!(text, "flows on the worst port, with the tables of {tables};");
        let _ = writeln!(
            text,
            "before: {first}; bound: the least that any routing could reach in the new order"
        );
        text += &self.table();
        text += match self.choice {
            None => "all-to-all does not depend on the order of hosts\n",
            Some(_) => "all-to-all depends on the choice of hosts, and not on their order\n",
        };
        if self.order.risk.undelivered > 0 {
            let pairs = counted(self.order.risk.undelivered, "node pair");
            let _ = writeln!(text, "NOT DELIVERED: {pairs} of these hosts");
        }
        text
    }

    /// Returns the risks as a table.
    fn table(&self) -> String {
        let (before, after) = (&self.before, &self.order.risk);
        let count = after.shift_count;
        let shifts = match count.measured < count.of {
            true => format!("shifts, mean of {} sampled", number(count.measured)),
            false => format!("shifts, mean of all {}", number(count.of)),
        };
        let mut text = format!("  {:<32}{:>9}{:>9}{:>9}\n", "", "before", "after", "bound");
        let mut row = |name: &str, of: fn(&JobRisk) -> PatternRisk, decimals: usize| {
            let [before, PatternRisk { risk, bound }] = [of(before), of(after)];
            let cell = |value: f64| match decimals {
                0 => number(value as u64),
                _ => format!("{value:.decimals$}"),
            };
            let cells = [before.risk, risk, bound].map(cell);
            let _ = writeln!(text, "  {name:<32}{:>9}{:>9}{:>9}", cells[0], cells[1], cells[2]);
        };
        row("ring", |risk| risk.ring, 0);
        row(&shifts, |risk| risk.shifts, 2);
        row("recursive doubling, worst step", |risk| risk.doubling, 0);
        row("all-to-all", |risk| risk.all_to_all, 0);
        text
    }

    /// Returns whether rails agree; an empty string if there is only one.
    fn rails_text(&self) -> String {
        if self.rails.len() < 2 {
            return String::new();
        }
        let rails = counted(self.rails.len(), "rail");
        let names: Vec<String> = self.rails.iter().map(|name| printable(name)).collect();
        match self.order.different {
            1 => format!("{rails} ({}) have the same order of hosts\n", names.join(", ")),
            different => format!(
                "{rails} ({}) have {different} different orders of hosts; this is the order of {}, which has the least risk over \
                 all rails\n",
                names.join(", "),
                names[self.order.rail]
            ),
        }
    }

    /// Returns the hosts that were left out.
    fn left_out(&self) -> String {
        let left = &self.list.left_out;
        let mut text = String::new();
        for host in left.iter().take(NAMED) {
            let _ = writeln!(text, "left out: {}", self.list.about(host));
        }
        if left.len() > NAMED {
            let _ = writeln!(text, "left out: {} more", counted(left.len() - NAMED, "host"));
        }
        text
    }

    pub(super) fn json(&self) -> String {
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

/// Returns what the chosen hosts share, in words.
fn sharing(choice: &Choice) -> String {
    let shared = match choice.sharing.ports {
        0 => "they share no port between switches with other hosts".into(),
        ports => format!(
            "they share {} between switches with other hosts, with at most {} on one",
            counted(ports, "port"),
            counted(choice.sharing.worst, "mixed flow")
        ),
    };
    match choice.is_best {
        true => format!("{shared}; no choice is better"),
        false => format!("{shared}; the best of {}", counted(choice.compared, "candidate")),
    }
}
