//! The fabric that is served, and the live one that is followed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use dmodc::{Fabric, RoutingOptions};
use dmodc_server::follow::{FabricReader, Follow, FollowSource, read_once};
use dmodc_view::Setup;

use crate::args::{LeafArgs, ServeArgs};
use crate::commands::shown::{file, shown};
use crate::{input, source};

/// What is served.
pub(super) struct Served {
    pub(super) setup: Setup,
    pub(super) follow: Option<Follow>,
}

/// Reads everything that the arguments name.
pub(super) fn read(args: &ServeArgs) -> Result<Served> {
    let source = follow_source(args);
    let (title, fabric) = whole(args, source.as_ref())?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let options = RoutingOptions { leaves, ..RoutingOptions::default() };
    let setup = match &args.reference {
        None => Setup::inferred(title, fabric, &options),
        Some(path) => {
            let reference = file(path, args.shown.strict)?;
            let (reference, leaves) = input::leaf_rule(&args.leaves, reference)?;
            let options = RoutingOptions { leaves, ..RoutingOptions::default() };
            Setup::joined(title, &reference, &fabric, &options)
                .with_context(|| source::name(path))?
        }
    };
    let follow = match source {
        Some(source) => Some(Follow { source, every: every(args), reader: reader(&args.leaves)? }),
        None => None,
    };
    Ok(Served { setup, follow })
}

fn follow_source(args: &ServeArgs) -> Option<FollowSource> {
    let command = args.follow_command.clone().map(FollowSource::Command);
    let file = || args.follow_file.clone().map(FollowSource::File);
    let status = args.follow_status.clone();
    let events =
        || args.follow_events.clone().map(|events| FollowSource::Plugin { events, status });
    command.or_else(file).or_else(events)
}

/// Returns the fabric and its name: a preset, a file, or the first reading of what is followed.
fn whole(args: &ServeArgs, source: Option<&FollowSource>) -> Result<(String, Fabric)> {
    let named = shown(args.fabric.as_deref(), &args.shown)?;
    if let Some(named) = named {
        return Ok(named);
    }
    let source = source.context("there is no fabric to show")?;
    let text = read_once(source, every(args)).map_err(|error| anyhow!("{error}"))?;
    let reading = dmodc_formats::read(&text)
        .map_err(|error| source::located(Path::new(&source.name()), &text, &error))?;
    Ok((source.name(), reading.fabric))
}

/// Returns what reads the live fabric. Hosts that are excluded are set aside in every reading.
fn reader(leaves: &LeafArgs) -> Result<FabricReader> {
    let choice = input::leaf_choice(leaves)?;
    Ok(Box::new(move |text| {
        let reading = dmodc_formats::read(text).map_err(|error| error.to_string())?;
        Ok(choice.set_aside(reading.fabric))
    }))
}

/// Returns a number that belongs to the switches and cables of a fabric, by GUID (FNV-1a).
pub(super) fn cabling(fabric: &Fabric) -> u64 {
    let mix = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
    let switches = fabric
        .switches()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, switch| mix(hash, switch.guid.0));
    fabric.nodes().iter().fold(switches, |hash, node| mix(hash, node.guid.0))
}

/// Returns the time between two readings.
fn every(args: &ServeArgs) -> Duration {
    Duration::from_secs_f64(args.every)
}
