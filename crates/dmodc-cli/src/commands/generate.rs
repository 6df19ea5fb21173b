//! `dmodc generate`: fabrics from a tuple or by name.

use anyhow::{Result, anyhow};
use dmodc::fabric::PRESETS;
use dmodc::{GuidOrder, Pgft, Preset};
use serde_json::json;

use super::convert::deliver;
use crate::args::{Generate, GenerateArgs, GenerateOptions, GuidChoice};
use crate::text::{counted, number};
use crate::{Answer, output};

pub(super) fn run(args: GenerateArgs) -> Result<Answer> {
    match args.what {
        Generate::Pgft { tuple, options } => write(&tuple, &options)?,
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

fn write(pgft: &Pgft, options: &GenerateOptions) -> Result<()> {
    let (guids, how) = match options.guids {
        GuidChoice::Topological => (GuidOrder::Topological, "topological".into()),
        GuidChoice::Shuffled => {
            (GuidOrder::Shuffled(options.seed), format!("shuffled, seed {}", options.seed))
        }
    };
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
