//! The outcomes as CSV: one line for every fault, in the order of the faults.

use std::io::Write as _;

use anyhow::Result;

use dmodc_study::answers::whatif::{WhatifReport, part_name};

use crate::output::Out;

pub(super) fn write(report: &WhatifReport<'_>, out: &mut Out) -> Result<()> {
    write!(out, "part,second_part,interrupted,lost,cut_off,a2a,a2a_bound")?;
    for pattern in report.patterns {
        let key = pattern.key();
        write!(out, ",{key},{key}_max,{key}_bound")?;
    }
    writeln!(out, ",entries,blocks,switches,pairs")?;
    for (at, outcome) in report.outcomes {
        let parts = report.faults.get(*at).parts();
        let mut names = parts.iter().map(|&part| part_name(report.fabric, part));
        let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        write!(
            out,
            "{first},{second},{},{},{},{},{}",
            report.interrupted(outcome),
            outcome.lost,
            outcome.cut_off,
            outcome.a2a,
            outcome.a2a_bound
        )?;
        for risk in &outcome.series {
            write!(out, ",{},{},{}", risk.mean(), risk.max, risk.mean_bound())?;
        }
        writeln!(
            out,
            ",{},{},{},{}",
            outcome.entries, outcome.blocks, outcome.switches, outcome.pairs
        )?;
    }
    Ok(())
}
