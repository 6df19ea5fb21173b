//! `dmodc generate`: fabrics from a tuple, from numbers of directors or pods, or by name.

use anyhow::{Context, Result, anyhow};
use dmodc::fabric::{PRESETS, Shape};
use dmodc::{Departures, GuidOrder, Preset};
use serde_json::json;

use super::convert::deliver;
use crate::args::{Generate, GenerateArgs, GenerateOptions, GuidChoice};
use crate::text::{counted, number};
use crate::{Answer, output};

pub(super) fn run(args: GenerateArgs) -> Result<Answer> {
    match args.what {
        Generate::Pgft { tuple, options } => write(&Shape::Pgft(tuple), &options)?,
        Generate::Directors { shape, options } => {
            write(&Shape::Directors(shape.shape()), &options)?;
        }
        Generate::Pods { shape, options } => write(&Shape::Pods(shape.shape()), &options)?,
        Generate::Preset { name: None, options } => list(&options)?,
        Generate::Preset { name: Some(name), options } => {
            write(&preset(&name)?.shape(), &options)?;
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

fn write(shape: &Shape, options: &GenerateOptions) -> Result<()> {
    let (guids, how) = guid_order(options);
    let mut fabric = shape.fabric(guids)?;
    let name = match shape {
        Shape::Pgft(pgft) => format!("PGFT({pgft})"),
        _ => format!("{} {shape}", shape.kind()),
    };
    let mut comment = format!(
        "{name}, {}, {}, GUIDs {how}",
        counted(shape.node_count(), "node"),
        counted(shape.switch_count(), "switch"),
    );
    let departures = options.departures.filter(|departures| *departures != Departures::NONE);
    if let Some(departures) = departures {
        fabric = departures.of(&fabric, options.seed).context("--departures")?;
        comment += &format!(", departures {departures}, seed {}", options.seed);
    }
    deliver(&fabric, options.format, &[comment], &options.output, |summary| {
        summary["schema"] = json!("dmodc/generate/1");
        summary["pgft"] = json!(shape.pgft().map(ToString::to_string));
        if shape.pgft().is_none() {
            summary[shape.kind()] = json!(shape.to_string());
        }
        if let Some(departures) = departures {
            summary["departures"] = json!(departures.to_string());
        }
    })
}

fn list(options: &GenerateOptions) -> Result<()> {
    if options.output.json {
        let presets: Vec<_> = PRESETS
            .iter()
            .map(|p| {
                let shape = p.shape();
                let mut preset = json!({
                    "name": p.name,
                    "pgft": shape.pgft().map(ToString::to_string),
                    "nodes": shape.node_count(),
                    "switches": shape.switch_count(),
                    "about": p.about,
                });
                if shape.pgft().is_none() {
                    preset[shape.kind()] = json!(shape.to_string());
                }
                preset
            })
            .collect();
        return output::print(&format!(
            "{:#}\n",
            json!({"schema": "dmodc/presets/1", "presets": presets})
        ));
    }
    let mut text = String::new();
    for p in PRESETS {
        let shape = p.shape();
        // The notations of other shapes are long; `--json` has them.
        let notation = shape.pgft().map_or(shape.kind().into(), ToString::to_string);
        text += &format!(
            "{:<17} {:>8} nodes  {:>7} switches  {notation:<38} {}\n",
            p.name,
            number(shape.node_count()),
            number(shape.switch_count()),
            p.about,
        );
    }
    output::print(&text)
}
