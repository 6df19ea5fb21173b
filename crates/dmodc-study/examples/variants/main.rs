//! Other ways to place the destinations that a fault displaces, on the same trials as the engine `stable`: a record of ideas
//! that lost.
//!
//! All variants but `dmodc` and `random` keep the slots of the reference; they differ in the port that a
//! destination takes whose slot is lost ([`choice`]). `relief` and [`repair`] change the winner's tables once more.
//! Everything is routed [naively](naive), one entry after the other, and the winner is compared with
//! [`Stable`](dmodc::Stable) in each trial. `docs/src/explanation/variants.md` has the results.
//!
//! `cargo run --release -p dmodc-study --example variants -- DRAWS OUT.csv [NAME=DUMP...] > table.md`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

mod choice;
mod fabric;
mod naive;
mod repair;

use std::error::Error;
use std::fmt::Write;

use dmodc::parallel;
use fabric::{FaultLevel, Figures, NamedFabric, VariantFabric};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Returns the mean figures of one row.
fn mean(of: &[Figures]) -> Figures {
    let mean =
        |figure: &dyn Fn(&Figures) -> f64| of.iter().map(figure).sum::<f64>() / of.len() as f64;
    Figures {
        sp: mean(&|f| f.sp),
        rp: mean(&|f| f.rp),
        a2a: mean(&|f| f.a2a),
        sp_bound: mean(&|f| f.sp_bound),
        rp_bound: mean(&|f| f.rp_bound),
        a2a_bound: mean(&|f| f.a2a_bound),
        moved: mean(&|f| f.moved),
    }
}

/// Returns the mean figures of all rows over the draws.
fn means(fabric: &VariantFabric, level: FaultLevel, draws: u64) -> Outcome<Vec<Figures>> {
    let all = parallel::map(0..draws, |seed| fabric.figures(level, seed));
    let all = all.into_iter().collect::<Outcome<Vec<_>>>()?;
    let row = |at: usize| all.iter().map(|trial| trial[at]).collect::<Vec<_>>();
    Ok((0..fabric.names().count()).map(|at| mean(&row(at))).collect())
}

/// Returns a field in the notation of CSV.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.into(),
    }
}

/// Measures a fabric, adds its lines to the CSV, and shows its table.
fn measure(named: NamedFabric, draws: u64, csv: &mut String) -> Outcome<()> {
    let (name, in_csv, levels) = (named.name.clone(), quoted(&named.name), named.levels);
    match named.notation {
        Some(notation) => println!("\n{name}: `{notation}`\n"),
        None => println!("\n{name}\n"),
    }
    let fabric = VariantFabric::new(named)?;
    let mut lines: Vec<String> = fabric.names().map(|name| format!("| {name} |")).collect();
    let (mut head, mut rule) = (String::from("| SP · RP · A2A · moved |"), String::from("|---|"));
    let (mut bounds, mut slow) = (String::from("| *bound* |"), String::new());
    for &(cables, switches) in levels {
        let means = means(&fabric, (cables, switches), draws)?;
        for ((row, line), f) in fabric.names().zip(&mut lines).zip(&means) {
            let Figures { sp, rp, a2a, sp_bound, rp_bound, a2a_bound, moved } = f;
            writeln!(
                csv,
                "{in_csv},{cables},{switches},{row},{draws},{sp:.4},{rp:.4},{a2a:.1},\
                 {sp_bound:.4},{rp_bound:.4},{a2a_bound:.1},{moved:.3}"
            )?;
            write!(line, " {sp:.2} · {rp:.2} · {a2a:.0} · {moved:.2} % |")?;
        }
        let Figures { sp_bound, rp_bound, a2a_bound, .. } = means[0];
        write!(bounds, " {sp_bound:.2} · {rp_bound:.2} · {a2a_bound:.0} |")?;
        if let Some((route, repair)) = fabric.times((cables, switches))? {
            let ratio = repair.as_secs_f64() / route.as_secs_f64();
            write!(slow, " {:.0} ms, {ratio:.0} re-routes |", repair.as_secs_f64() * 1000.0)?;
        }
        match cables > 0.0 {
            true => write!(head, " {cables} % cables |")?,
            false => write!(head, " {switches} % switches |")?,
        }
        rule.push_str("---|");
    }
    println!("{head}\n{rule}\n{}\n{bounds}", lines.join("\n"));
    if !slow.is_empty() {
        println!("| *repair takes* |{slow}");
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let (Some(draws), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: variants DRAWS OUT.csv [NAME=DUMP...]".into());
    };
    let draws: u64 = draws.parse().map_err(|why| format!("DRAWS: '{draws}': {why}"))?;
    if draws == 0 {
        return Err("DRAWS must be at least 1: there is no mean over no trials".into());
    }
    let mut csv = String::from(
        "fabric,cables_percent,switches_percent,variant,throws,sp,rp,a2a,sp_bound,rp_bound,a2a_bound,moved_percent\n",
    );
    for fabric in NamedFabric::all(args)? {
        measure(fabric, draws, &mut csv)?;
    }
    // The file is written whole or not at all: a reader never sees half of it.
    let partial = format!("{path}.partial");
    std::fs::write(&partial, csv)?;
    Ok(std::fs::rename(partial, path)?)
}
