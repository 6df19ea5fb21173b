//! The report of `dmodc order`, as text.

use std::fmt::Write as _;

use dmodc::advise::{Choice, JobRisk, PatternRisk};
use dmodc_formats::printable;
use dmodc_study::answers::order::OrderReport;

use crate::text::{counted, number};

/// The most hosts that are named one by one because they were left out.
const NAMED: usize = 10;

/// The report of a command in words.
pub(super) struct OrderText<'a>(pub(super) &'a OrderReport<'a>);

impl OrderText<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = self.left_out();
        let (hosts, of) = (counted(self.0.hosts.len(), "host"), &self.0.list.name);
        let _ = match &self.0.choice {
            None => writeln!(text, "{hosts} of {of} in fabric order"),
            Some(choice) => {
                let listed = number(self.0.list.hosts.len());
                let sharing = sharing(choice);
                writeln!(text, "{hosts} of {listed} of {of} chosen, in fabric order\n{sharing}")
            }
        };
        text += &self.rails_text();
        let first = match self.0.choice {
            Some(_) => format!("the first {hosts} of the list"),
            None => "the list as given".into(),
        };
        let tables = &self.0.tables;
        let _ = writeln!(text, "flows on the worst port, with the tables of {tables};");
        let _ = writeln!(
            text,
            "before: {first}; bound: the least that any routing could reach in the new order"
        );
        text += &self.table();
        text += match self.0.choice {
            None => "all-to-all does not depend on the order of hosts\n",
            Some(_) => "all-to-all depends on the choice of hosts, and not on their order\n",
        };
        if self.0.order.risk.undelivered > 0 {
            let pairs = counted(self.0.order.risk.undelivered, "node pair");
            let _ = writeln!(text, "NOT DELIVERED: {pairs} of these hosts");
        }
        text
    }

    /// Returns the risks as a table.
    fn table(&self) -> String {
        let (before, after) = (&self.0.before, &self.0.order.risk);
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
        if self.0.rails.len() < 2 {
            return String::new();
        }
        let rails = counted(self.0.rails.len(), "rail");
        let names: Vec<String> = self.0.rails.iter().map(|name| printable(name)).collect();
        match self.0.order.different {
            1 => format!("{rails} ({}) have the same order of hosts\n", names.join(", ")),
            different => format!(
                "{rails} ({}) have {different} different orders of hosts; this is the order of {}, which has the least risk over \
                 all rails\n",
                names.join(", "),
                names[self.0.order.rail]
            ),
        }
    }

    /// Returns the hosts that were left out.
    fn left_out(&self) -> String {
        let left = &self.0.list.left_out;
        let mut text = String::new();
        for host in left.iter().take(NAMED) {
            let _ = writeln!(text, "left out: {}", self.0.list.about(host));
        }
        if left.len() > NAMED {
            let _ = writeln!(text, "left out: {} more", counted(left.len() - NAMED, "host"));
        }
        text
    }
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
