//! Reading files: every error names the file, the line and the thing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dmodc::{
    Degradation, DestinationOrder, Fabric, LeafRule, Leaves, Live, SavedOrders, SwitchIndex,
    SwitchOrder,
};
use dmodc_formats::lft::Lft;
use dmodc_formats::{ReadError, Reading, lft, orders};

use regex_lite::Regex;

use crate::args::{FabricArgs, LeafArgs, OrderArgs};
use crate::text;

/// How much of a file is looked at before the rest is read: enough to know what it is.
const BEGINNING: u64 = 4 << 20;

/// The bytes of a file; `-` is standard input. A file whose beginning looks wrong is not read on.
fn bytes(path: &Path, looks_right: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path).with_context(|| path.display().to_string())?),
    };
    source.by_ref().take(BEGINNING).read_to_end(&mut text).with_context(|| name(path))?;
    if looks_right(&text) {
        source.read_to_end(&mut text).with_context(|| name(path))?;
    }
    Ok(text)
}

fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    }
}

/// `file:line:column: what`, and the line with a caret below the place.
fn at(path: &Path, text: &[u8], error: &ReadError) -> anyhow::Error {
    let said = format!("{}:{error}", name(path));
    match text::excerpt(text, error) {
        Some(excerpt) => anyhow!("{said}\n{excerpt}"),
        None => anyhow!("{said}"),
    }
}

/// A fabric. What is not as it should be goes to standard error.
pub(crate) fn fabric(args: &FabricArgs) -> Result<Fabric> {
    let reading = reading(args)?;
    for line in text::dirt(&reading.dirt) {
        eprintln!("dmodc: {}: {line}", name(&args.fabric));
    }
    Ok(reading.fabric)
}

/// A fabric, and what was noticed while reading it.
pub(crate) fn reading(args: &FabricArgs) -> Result<Reading> {
    let path = &args.fabric;
    let text = bytes(path, |text| dmodc_formats::detect(text).is_some())?;
    if lft::detect(&text) && dmodc_formats::detect(&text).is_none() {
        bail!("{}: these are forwarding tables; expected a fabric", name(path));
    }
    let reading = dmodc_formats::read(&text).map_err(|e| at(path, &text, &e))?;
    match reading.dirt.first() {
        Some(first) if args.strict => Err(at(path, &text, first)),
        _ => Ok(reading),
    }
}

/// Tables, matched with their fabric.
pub(crate) fn tables(path: &Path, fabric: &Fabric) -> Result<Lft> {
    let text = bytes(path, lft::detect)?;
    if dmodc_formats::detect(&text).is_some() && !lft::detect(&text) {
        bail!("{}: this is a fabric; expected forwarding tables", name(path));
    }
    let lft = lft::read(&text, fabric).map_err(|e| at(path, &text, &e))?;
    for line in text::dirt(&lft.dirt) {
        eprintln!("dmodc: {}: {line}", name(path));
    }
    Ok(lft)
}

/// The rule for leaves that the arguments ask for. Hosts to be excluded are set aside in the fabric.
pub(crate) fn leaf_rule(args: &LeafArgs, fabric: &mut Fabric) -> Result<LeafRule> {
    let regex =
        |text: &str| Regex::new(text).with_context(|| format!("'{text}' is no regular expression"));
    let excluded = args.exclude.as_deref().map(regex).transpose()?;
    if let Some(excluded) = &excluded {
        fabric.set_aside(|adapter| excluded.is_match(&adapter.name));
    }
    let rule = if let Some(path) = &args.roots {
        let listed = saved_orders(path)?.groups;
        let roots: Vec<SwitchIndex> =
            fabric.switch_indices().filter(|&s| listed.contains(&fabric.switch(s).guid)).collect();
        ensure!(!roots.is_empty(), "{}: none of these GUIDs is a switch of the fabric", name(path));
        LeafRule::Roots(roots)
    } else if let Some(least) = args.leaf_min_nodes {
        LeafRule::AtLeast(least)
    } else if let Some(pattern) = &args.leaf_name {
        let pattern = regex(pattern)?;
        let flags: Vec<bool> =
            fabric.switches().iter().map(|s| pattern.is_match(&s.name)).collect();
        ensure!(flags.contains(&true), "--leaf-name matches the description of no switch");
        LeafRule::These(flags)
    } else {
        LeafRule::Detect
    };
    let none =
        |s: SwitchIndex| excluded.as_ref().is_some_and(|e| e.is_match(&fabric.switch(s).name));
    if !fabric.switch_indices().any(none) || matches!(rule, LeafRule::Roots(_)) {
        return Ok(rule);
    }
    let healthy = Degradation::none(fabric);
    let found = Leaves::new(Live::new(fabric, &healthy), &rule).all;
    let is_leaf = |s: SwitchIndex| found.binary_search(&s).is_ok() && !none(s);
    Ok(LeafRule::These(fabric.switch_indices().map(is_leaf).collect()))
}

fn saved_orders(path: &Path) -> Result<SavedOrders> {
    let text = bytes(path, |_| true)?;
    orders::read(&text).map_err(|e| at(path, &text, &e))
}

/// The orders that the arguments ask for, and the saved ones among them.
pub(crate) fn order(
    args: &OrderArgs,
) -> Result<(DestinationOrder, SwitchOrder, Option<SavedOrders>)> {
    if let Some(path) = &args.orders {
        let saved = saved_orders(path)?;
        let destinations = DestinationOrder::Saved(saved.clone());
        return Ok((destinations, SwitchOrder::Saved(saved.clone()), Some(saved)));
    }
    let destinations = match args.destination_order.as_str() {
        "topological" => DestinationOrder::Topological,
        "lid" => DestinationOrder::Lid,
        "guid" => DestinationOrder::Guid,
        other => match other.strip_prefix("file:") {
            Some(path) => DestinationOrder::Saved(saved_orders(Path::new(path))?),
            None => {
                bail!("--destination-order is topological, lid, guid or file:PATH, not '{other}'")
            }
        },
    };
    let switches = switch_order(&args.switch_order)?;
    // Where either comes from a file, what is absent now is kept when both are saved again.
    let saved = match (&destinations, &switches) {
        (DestinationOrder::Saved(saved), SwitchOrder::Saved(groups)) => {
            Some(SavedOrders { groups: groups.groups.clone(), ..saved.clone() })
        }
        (DestinationOrder::Saved(saved), _) => {
            Some(SavedOrders { groups: vec![], ..saved.clone() })
        }
        (_, SwitchOrder::Saved(groups)) => {
            Some(SavedOrders { groups: groups.groups.clone(), ..SavedOrders::default() })
        }
        _ => None,
    };
    Ok((destinations, switches, saved))
}

pub(crate) fn switch_order(order: &str) -> Result<SwitchOrder> {
    Ok(match order {
        "plane" => SwitchOrder::Plane,
        "guid" => SwitchOrder::Guid,
        other => match other.strip_prefix("file:") {
            Some(path) => SwitchOrder::Saved(saved_orders(Path::new(path))?),
            None => bail!("--switch-order is plane, guid or file:PATH, not '{other}'"),
        },
    })
}

/// A fabric from a file has no faults beyond what it lacks.
pub(crate) struct Whole {
    pub(crate) fabric: Fabric,
    healthy: Degradation,
}

impl Whole {
    pub(crate) fn new(fabric: Fabric) -> Self {
        let healthy = Degradation::none(&fabric);
        Whole { fabric, healthy }
    }

    pub(crate) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.healthy)
    }
}
