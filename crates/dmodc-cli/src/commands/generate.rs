//! `dmodc generate`: fabrics from a tuple, from numbers of directors, or by name.

use anyhow::{Result, anyhow};
use dmodc::fabric::{Directors, PRESETS};
use dmodc::{GuidOrder, Pgft, Preset};
use serde_json::json;

use super::convert::deliver;
use crate::args::{DirectorsArgs, Generate, GenerateArgs, GenerateOptions, GuidChoice};
use crate::text::{counted, number};
use crate::{Answer, output};

pub(super) fn run(args: GenerateArgs) -> Result<Answer> {
    match args.what {
        Generate::Pgft { tuple, options } => write(&tuple, &options)?,
        Generate::Directors { shape, options } => write_directors(&shape, &options)?,
        Generate::Preset { name: None, options } => list(&options)?,
        Generate::Preset { name: Some(name), options } => {
            write(&preset(&name)?.pgft(), &options)?;
        }
    }
    Ok(Answer::Yes)
}

/// Returns the preset of this name.
pub(super) fn preset(name: &str) -> Result<&'static Preset> {
    Preset::named(name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
        anyhow!("there is no preset '{name}'; the presets are {}", names.join(", "))
    })
}

/// Returns the order of GUIDs, and its name.
fn guid_order(options: &GenerateOptions) -> (GuidOrder, String) {
    match options.guids {
        GuidChoice::Topological => (GuidOrder::Topological, "topological".into()),
        GuidChoice::Shuffled => {
            (GuidOrder::Shuffled(options.seed), format!("shuffled, seed {}", options.seed))
        }
    }
}

fn write_directors(args: &DirectorsArgs, options: &GenerateOptions) -> Result<()> {
    let &DirectorsArgs { leaves, nodes, directors, lines, spines, cables, parallel } = args;
    let shape = Directors { leaves, nodes, directors, lines, spines, cables, parallel };
    let (guids, how) = guid_order(options);
    let fabric = shape.fabric(guids)?;
    let comment = format!(
        "{} with {} each; {} with {} and {} each; {} of each leaf; {} in the place of each cable; GUIDs {how}",
        counted(leaves as usize, "leaf switch"),
        counted(nodes as usize, "node"),
        counted(directors as usize, "director"),
        counted(lines as usize, "line chip"),
        counted(spines as usize, "spine chip"),
        counted(cables as usize, "cable"),
        counted(parallel as usize, "parallel cable"),
    );
    deliver(&fabric, options.format, &[comment], &options.output, |summary| {
        summary["schema"] = json!("dmodc/generate/1");
        summary["pgft"] = json!(null);
    })
}

fn write(pgft: &Pgft, options: &GenerateOptions) -> Result<()> {
    let (guids, how) = guid_order(options);
    let fabric = pgft.fabric(guids);
    let comment = format!(
        "PGFT({pgft}), {}, {}, GUIDs {how}",
        counted(pgft.count(0), "node"),
        counted(pgft.switch_count(), "switch"),
    );
    deliver(&fabric, options.format, &[comment], &options.output, |summary| {
        summary["schema"] = json!("dmodc/generate/1");
        summary["pgft"] = json!(pgft.to_string());
    })
}

fn list(options: &GenerateOptions) -> Result<()> {
    if options.output.json {
        let presets: Vec<_> = PRESETS
            .iter()
            .map(|p| {
                let pgft = p.pgft();
                json!({
                    "name": p.name,
                    "pgft": p.tuple,
                    "nodes": pgft.count(0),
                    "switches": pgft.switch_count(),
                    "about": p.about,
                })
            })
            .collect();
        return output::print(&format!(
            "{:#}\n",
            json!({"schema": "dmodc/presets/1", "presets": presets})
        ));
    }
    let mut text = String::new();
    for p in PRESETS {
        let pgft = p.pgft();
        text += &format!(
            "{:<15} {:>8} nodes  {:>7} switches  {:<38} {}\n",
            p.name,
            number(pgft.count(0)),
            number(pgft.switch_count()),
            p.tuple,
            p.about,
        );
    }
    output::print(&text)
}
