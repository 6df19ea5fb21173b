//! The summary as Markdown, whose tables are aligned in plain text, too.

use dmodc::words::noun;

use super::{EngineTrials, Mean, Scenario, Standing, StudySummary};
use crate::figure::thousands;
use crate::study::chance::{MANY, Share};
use crate::study::measures::{Better, Measure, shown};

/// The text above the tables.
const HEAD: &str = "\
Each value is a mean over all random draws of the failed parts. A value in brackets after a congestion risk is the lower
bound that no routing can beat on these draws. \"Moved\" is the percentage of entries that differ from the engine's tables
of the healthy fabric. The value in brackets after it is the percentage that every up*down* routing has to change. (An
engine whose routes are not up*down* may move less.) An engine loses a pair if cables connect the pair and its tables do
not deliver it. Two engines are compared only on draws that both have measured and on which neither loses pairs.
";

/// The text about rates, if there are any.
const RATES: &str = "\
A mean rate is in units of a node's cable: the higher, the better. A mean completion is the mean time of equal messages, in
units of a message at full speed: the lower, the better.
";

impl StudySummary {
    /// Returns the summary as Markdown: all means, where this engine is the lowest, and its comparison with each other
    /// engine.
    ///
    /// # Errors
    /// If there is no such engine.
    pub fn markdown(&self, engine: &str) -> Result<String, String> {
        let at = self.engines.iter().position(|known| known == engine).ok_or_else(|| {
            let names = self.engines.join(", ");
            format!("the study has no engine '{engine}'; its engines are {names}")
        })?;
        let mut text = format!("# {}\n\n{HEAD}", self.study);
        if self.measures.iter().any(|measure| measure.better == Better::More) {
            text += RATES;
        }
        for scenarios in self.scenarios.chunk_by(|a, b| a.fabric == b.fabric) {
            let Scenario { fabric, nodes, switches, .. } = &scenarios[0];
            let counted = |digits: &str, what: &str| {
                let count = digits.parse().unwrap_or(0);
                format!("{} {}", thousands(digits), noun(count, what))
            };
            let (nodes, switches) = (counted(nodes, "node"), counted(switches, "switch"));
            text += &format!("\n## {fabric}: {nodes}, {switches}\n\n");
            text += &self.table(&["failed", "engine", "draws"], scenarios, |scenario| {
                self.means_of(scenario)
            });
            text += &self.refusals(scenarios);
            text += &self.chances(scenarios);
            if scenarios.iter().all(|scenario| scenario.engines[at].is_absent()) {
                continue;
            }
            let best = match self.measures.iter().any(|measure| measure.better == Better::More) {
                true => "best value of all engines (the highest rate, otherwise the lowest value)",
                false => "lowest value of all engines",
            };
            text += &format!("\n### Does {engine} have the {best}?\n\n");
            text +=
                &self.table(&["failed"], scenarios, |scenario| vec![self.verdict(scenario, at)]);
            text +=
                &format!("\n### {engine} compared with each other engine ({engine} : other)\n\n");
            text +=
                &self.table(&["failed", "other", "draws"], scenarios, |p| self.compare_all(p, at));
        }
        Ok(text)
    }

    /// Returns a list of the engines that gave no tables for some draws, each with the reason of the first.
    fn refusals(&self, scenarios: &[Scenario]) -> String {
        let mut text = String::new();
        for (at, engine) in self.engines.iter().enumerate() {
            let all = || scenarios.iter().map(|scenario| &scenario.engines[at]);
            let refused: usize = all().map(|trials| trials.refused).sum();
            let Some(first) = all().find(|trials| trials.refused > 0) else { continue };
            let draws = refused + all().map(|trials| trials.measured.len()).sum::<usize>();
            let why = &first.why_refused;
            text += &format!(
                "- {engine} refused {refused} of {draws} {}: {why}\n",
                noun(draws as u64, "draw")
            );
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// Returns a list of how often engines lose pairs, for degradations with very many draws.
    fn chances(&self, scenarios: &[Scenario]) -> String {
        let mut text = String::new();
        for scenario in scenarios {
            let engines = scenario.engines.iter().zip(&self.engines);
            for (trials, engine) in engines.filter(|(trials, _)| trials.measured.len() >= MANY) {
                let lost = Share { count: trials.lost.len(), of: trials.measured.len() };
                let dead = scenario.dead();
                text += &format!("- {dead} failed: {engine} loses a pair in {lost}\n");
            }
        }
        match text.is_empty() {
            true => text,
            false => format!("\nIn brackets: the confidence interval of 95 %.\n\n{text}"),
        }
    }

    /// Returns a table with these columns and one for each measure.
    fn table(
        &self,
        first: &[&str],
        scenarios: &[Scenario],
        lines: impl Fn(&Scenario) -> Vec<Vec<String>>,
    ) -> String {
        let names = self.measures.iter().map(|measure| measure.name.clone());
        let mut table = vec![first.iter().map(|&name| name.into()).chain(names).collect()];
        table.extend(scenarios.iter().flat_map(lines));
        aligned(&table, first.len())
    }

    /// Returns a line for each engine that takes part.
    fn means_of(&self, scenario: &Scenario) -> Vec<Vec<String>> {
        let here = scenario.engines.iter().zip(&self.engines).filter(|(t, _)| !t.is_absent());
        let line = |(trials, engine): (&EngineTrials, &String)| {
            let mut count = trials.measured.len().to_string();
            if trials.refused > 0 {
                count += &format!(", refused in {}", trials.refused);
            }
            if let Some(most) = trials.lost.values().max() {
                let most = thousands(&most.to_string());
                count += &format!(", loses pairs in {} (up to {most})", trials.lost.len());
            }
            let mean = |(m, measure): (usize, &Measure)| match trials.mean(m) {
                None => String::new(),
                Some(Mean { value, least: None, .. }) => written(value, measure),
                Some(Mean { value, least: Some(least), .. }) => {
                    format!("{} ({})", written(value, measure), written(least, measure))
                }
            };
            let means = self.measures.iter().enumerate().map(mean);
            [scenario.dead(), engine.clone(), count].into_iter().chain(means).collect()
        };
        here.map(line).collect()
    }

    /// Returns, for each measure, whether an engine is the best; if not, the one that is farthest ahead of it.
    fn verdict(&self, scenario: &Scenario, engine: usize) -> Vec<String> {
        let loses = !scenario.engines[engine].lost.is_empty();
        let verdict = |(m, measure): (usize, &Measure)| {
            let Some(standing) = scenario.standing(self.compared(m), engine) else {
                return String::new();
            };
            match standing {
                Standing::Best => "yes".into(),
                Standing::Incomparable if loses => "it loses pairs".into(),
                Standing::Incomparable => "others lose pairs".into(),
                Standing::Behind { peer, mine, its } => format!(
                    "no: {} {} {} {}, {}",
                    self.engines[peer],
                    written(its.value, measure),
                    if measure.better == Better::Less { "<" } else { ">" },
                    written(mine.value, measure),
                    match mine.trials {
                        1 => "1 draw".into(),
                        trials => format!("{trials} draws"),
                    },
                ),
            }
        };
        let verdicts = self.measures.iter().enumerate().map(verdict);
        std::iter::once(scenario.dead()).chain(verdicts).collect()
    }

    /// Returns a line for each other engine.
    fn compare_all(&self, scenario: &Scenario, engine: usize) -> Vec<Vec<String>> {
        let line = |peer: usize| {
            let measures = 0..self.measures.len();
            let pairs: Vec<_> =
                measures.map(|m| scenario.pair(self.compared(m), engine, peer)).collect();
            let trials = pairs.iter().flatten().map(|(mine, _)| mine.trials).max()?;
            let pair = |(pair, measure): (&Option<(Mean, Mean)>, &Measure)| match pair {
                None => String::new(),
                Some((mine, its)) => {
                    format!("{} : {}", written(mine.value, measure), written(its.value, measure))
                }
            };
            let pairs = pairs.iter().zip(&self.measures).map(pair);
            let first = [scenario.dead(), self.engines[peer].clone(), trials.to_string()];
            Some(first.into_iter().chain(pairs).collect())
        };
        (0..self.engines.len()).filter_map(line).collect()
    }
}

impl Scenario {
    /// Returns what is dead, in words.
    fn dead(&self) -> String {
        let of = |asked: &str, what: &str| format!("{} {what}", shown(asked));
        match (self.cables_asked.as_str(), self.switches_asked.as_str()) {
            ("0", "0") => "nothing".into(),
            (cables, "0") => of(cables, "cables"),
            ("0", switches) => of(switches, "switches"),
            (cables, switches) => of(cables, "cables, ") + &of(switches, "switches"),
        }
    }
}

/// Returns a mean for people.
fn written(value: f64, measure: &Measure) -> String {
    match value {
        v if measure.is_percent() => format!("{v:.2} %"),
        v if v >= 100.0 => thousands(&format!("{v:.0}")),
        v => format!("{v:.2}"),
    }
}

/// Returns a Markdown table. The first columns are words, and are aligned to the left.
fn aligned(table: &[Vec<String>], words: usize) -> String {
    let columns = table.first().map_or(0, Vec::len);
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..columns)
        .map(|c| table.iter().map(|line| length(&line[c])).max().unwrap_or(0).max(3))
        .collect();
    let mut text = String::new();
    for (at, line) in table.iter().enumerate() {
        for (c, field) in line.iter().enumerate() {
            // A vertical bar would end the field.
            let field = field.replace('|', "/");
            match c < words {
                true => text += &format!("| {field:<width$} ", width = widths[c]),
                false => text += &format!("| {field:>width$} ", width = widths[c]),
            }
        }
        text += "|\n";
        if at == 0 {
            for (c, &width) in widths.iter().enumerate() {
                match c < words {
                    true => text += &format!("|{} ", "-".repeat(width + 1)),
                    false => text += &format!("| {}:", "-".repeat(width)),
                }
            }
            text += "|\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::StudyRow;

    /// Returns rows of two patterns; an engine has a value for each trial, or refuses it.
    fn rows(engines: &[(&str, &[Option<f64>])]) -> Vec<StudyRow> {
        let mut rows = Vec::new();
        for trial in 0..3 {
            for (engine, values) in engines {
                let Some(value) = values.get(trial) else { continue };
                for pattern in ["sp", "a2a"] {
                    let mut row = StudyRow::default();
                    for (column, text) in [
                        ("study", "s"),
                        ("fabric", "f|g"),
                        ("nodes", "1024"),
                        ("switches", "320"),
                        ("cables_asked", "1%"),
                        ("switches_asked", "0"),
                        ("engine", engine),
                        ("pattern", pattern),
                    ] {
                        row.set(column, text);
                    }
                    row.set("throw", trial + 1);
                    match value {
                        None => row.set("refused", "no"),
                        Some(value) => {
                            for (column, value) in
                                [("mean", *value), ("max", value * 1000.0), ("bound_mean", 1.0)]
                            {
                                row.set(column, value);
                            }
                            for (column, value) in
                                [("entries_moved", 3), ("entries_forced", 1), ("entries_total", 8)]
                            {
                                row.set(column, value);
                            }
                        }
                    }
                    rows.push(row);
                }
            }
        }
        rows
    }

    #[test]
    fn engines_are_compared_on_the_throws_that_both_have() {
        // On its own trials "slow" is lower than the mean of "ours"; on equal ones it is higher.
        let rows = rows(&[
            ("ours", &[Some(2.0), Some(4.0), Some(9.0)]),
            ("slow", &[Some(2.5), Some(4.0)]),
            ("never", &[None, None, None]),
        ]);
        let summary = StudySummary::new(&rows);
        let text = summary.markdown("ours").expect("it is an engine");
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).expect(start);
        assert!(line("| 1 % cables | ours ").contains("5.00 (1.00)"), "{text}");
        assert!(line("| 1 % cables | ours ").contains("| 37.50 % (12.50 %) |"), "{text}");
        assert!(line("| 1 % cables | never ").contains("| 0, refused in 3 |"), "{text}");
        assert!(text.contains("\n- never refused 3 of 3 draws: no\n"), "{text}");
        assert!(line("| 1 % cables | slow  | 2 ").contains("| 3.00 : 3.25 |"), "{text}");
        assert!(line("| 1 % cables |     yes |").contains("|     yes |    yes |"), "{text}");
        assert!(text.contains("## f|g: 1,024 nodes, 320 switches"), "{text}");
        let other = summary.markdown("slow").expect("it is an engine");
        assert!(other.contains("| no: ours 3.00 < 3.25, 2 draws |"), "{other}");
        assert!(summary.markdown("none").is_err_and(|what| what.contains("ours, slow, never")));

        let versus = super::super::csv(&summary.versus());
        let header = "fabric,nodes,cables_asked,switches_asked,measure,engine,peer,throws,engine_mean,peer_mean,least,engine_is";
        assert_eq!(versus.lines().next(), Some(header));
        assert!(
            versus.contains("\nf|g,1024,1%,0,sp_mean,ours,slow,2,3,3.25,1,lower\n"),
            "{versus}"
        );
        assert!(versus.contains(",a2a_max,slow,ours,2,3250,3000,,higher\n"), "{versus}");
        assert!(versus.contains(",entries_moved_percent,slow,ours,2,37.5,37.5,12.5,equal\n"));
        assert!(!versus.contains("never"));
        let means = super::super::csv(&summary.means());
        assert!(means.contains("\nf|g,1024,1%,0,never,0,3,0,,"), "{means}");
        assert!(means.lines().next().is_some_and(|line| line.contains(",sp_mean,sp_mean_least,")));
    }

    #[test]
    fn an_engine_that_loses_pairs_is_the_lowest_in_nothing() {
        let mut rows = rows(&[
            ("ours", &[Some(2.0), Some(4.0), Some(9.0)]),
            ("lossy", &[Some(0.0), Some(0.0), Some(0.0)]),
            ("once", &[Some(1.0), Some(5.0), Some(10.0)]),
        ]);
        for row in &mut rows {
            let lost = match (row.get("engine"), row.get("throw")) {
                ("lossy", _) => 6,
                ("once", "1") => 1234,
                _ => 0,
            };
            row.set("lost", lost);
            row.set("unroutable_pairs", lost);
        }
        let summary = StudySummary::new(&rows);
        let cells = |engine: &str| -> Vec<String> {
            let text = summary.markdown(engine).expect("it is an engine");
            let (_, verdicts) = text.split_once("the lowest").expect("it has a verdict");
            let line = verdicts.lines().find(|line| line.starts_with("| 1 % cables")).expect("one");
            line.split('|').map(|cell| cell.trim().to_string()).collect()
        };
        // sp mean, sp max, a2a max, entries moved, blocks, pairs, pairs without a route.
        assert_eq!(cells("ours")[2..6], ["yes", "yes", "yes", "yes"]);
        assert_eq!(cells("lossy")[2..6], ["it loses pairs"; 4]);
        assert_eq!(cells("once")[2], "no: ours 6.50 < 7.50, 2 draws");
        assert!(cells("once")[8].starts_with("no: ours 0.00 < 411"), "{:?}", cells("once"));
        let text = summary.markdown("ours").expect("it is an engine");
        assert!(text.contains("| 3, loses pairs in 3 (up to 6) "), "{text}");
        assert!(text.contains("| 3, loses pairs in 1 (up to 1,234) "), "{text}");
        let versus = super::super::csv(&summary.versus());
        assert!(!versus.contains(",sp_mean,lossy,"), "{versus}");
        assert!(versus.contains(",unroutable_pairs,lossy,ours,3,6,0,,higher\n"), "{versus}");
        let means = super::super::csv(&summary.means());
        assert!(means.contains(",once,3,0,1,"), "{means}");
    }

    #[test]
    fn tables_are_lined_up() {
        let line = |fields: [&str; 2]| fields.map(String::from).to_vec();
        let text = aligned(&[line(["failed", "sp mean"]), line(["nothing", "1|2"])], 1);
        let expected = "| failed  | sp mean |\n|-------- | -------:|\n| nothing |     1/2 |\n";
        assert_eq!(text, expected);
    }
}
