//! Reading files: every error names the file, the line and the thing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use dmodc::{Degradation, DestinationOrder, Fabric, Live, SavedOrders, SwitchOrder};
use dmodc_formats::lft::Lft;
use dmodc_formats::{ReadError, Reading, lft, orders};

use crate::args::OrderArgs;

/// The bytes of a file; `-` is standard input.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut text).context("standard input")?;
        return Ok(text);
    }
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    file.read_to_end(&mut text).with_context(|| path.display().to_string())?;
    Ok(text)
}

/// `file:line:column: what`.
fn at(path: &Path, error: &ReadError) -> anyhow::Error {
    let name = match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    };
    anyhow!("{name}:{error}")
}

/// A fabric.
pub(crate) fn fabric(path: &Path) -> Result<Fabric> {
    reading(path).map(|reading| reading.fabric)
}

/// A fabric, and what had to be added to it.
pub(crate) fn reading(path: &Path) -> Result<Reading> {
    let text = bytes(path)?;
    if lft::detect(&text) && dmodc_formats::detect(&text).is_none() {
        bail!("{}: these are forwarding tables; expected a fabric", path.display());
    }
    dmodc_formats::read(&text).map_err(|e| at(path, &e))
}

/// Tables, matched with their fabric.
pub(crate) fn tables(path: &Path, fabric: &Fabric) -> Result<Lft> {
    let text = bytes(path)?;
    if dmodc_formats::detect(&text).is_some() && !lft::detect(&text) {
        bail!("{}: this is a fabric; expected forwarding tables", path.display());
    }
    lft::read(&text, fabric).map_err(|e| at(path, &e))
}

fn saved_orders(path: &Path) -> Result<SavedOrders> {
    orders::read(&bytes(path)?).map_err(|e| at(path, &e))
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
