//! The fabric, leaves and orders that the arguments ask for.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use dmodc::{
    Degradation, DestinationOrder, Fabric, LeafChoice, LeafRule, Live, NamePattern, NoLeafMeant,
    SavedOrders, SwitchOrder,
};
use dmodc_formats::{Reading, lft, node_types, npy, orders};
use regex_lite::Regex;

use crate::args::{FabricArgs, LeafArgs, OrderArgs};
use crate::source::{bytes, located, name, read_list};
use crate::text;

/// Returns a fabric. Problems of its file are reported on standard error.
pub(crate) fn fabric(args: &FabricArgs) -> Result<Fabric> {
    let reading = reading(args)?;
    for line in text::dirt(&reading.dirt) {
        eprintln!("dmodc: {}: {line}", name(&args.fabric));
    }
    Ok(reading.fabric)
}

/// Returns a fabric, with everything that its reader noticed.
pub(crate) fn reading(args: &FabricArgs) -> Result<Reading> {
    let path = &args.fabric;
    let text = bytes(path, |text| dmodc_formats::detect(text).is_some())?;
    let is_dump = lft::detect(&text) && dmodc_formats::detect(&text).is_none();
    if is_dump || npy::detect(&text) {
        bail!(
            "{}: this file has forwarding tables; give the description of a fabric first, then the tables",
            name(path)
        );
    }
    let reading = dmodc_formats::read(&text).map_err(|e| located(path, &text, &e))?;
    match reading.dirt.first() {
        Some(first) if args.strict => Err(located(path, &text, first)),
        _ => Ok(reading),
    }
}

/// Returns the fabric with the excluded hosts set aside, and the rule for leaves that the arguments ask for.
pub(crate) fn leaf_rule(args: &LeafArgs, fabric: Fabric) -> Result<(Fabric, LeafRule)> {
    let choice = leaf_choice(args)?;
    let fabric = choice.set_aside(fabric);
    let rule = choice.rule(&fabric).map_err(|nothing| match (nothing, &args.roots) {
        (NoLeafMeant::Roots, Some(path)) => {
            anyhow!(
                "{}: no GUID in this file belongs to a switch of the fabric; 'dmodc info' and the dump of the fabric show \
                 the right ones",
                name(path)
            )
        }
        (NoLeafMeant::TooFewNodes(most), _) => anyhow!(
            "--leaf-min-nodes is too large, so that no switch is a leaf; no switch has more than {}",
            text::counted(most, "node")
        ),
        (NoLeafMeant::AllExcluded, _) => {
            anyhow!("--exclude matches too much, so that no switch is a leaf; use a narrower expression")
        }
        _ => anyhow!(
            "--leaf-name does not match the description of any switch; 'dmodc info' shows examples of descriptions"
        ),
    })?;
    Ok((fabric, rule))
}

/// Returns what the arguments say about leaves.
pub(crate) fn leaf_choice(args: &LeafArgs) -> Result<LeafChoice> {
    let meant = |pattern: &Option<String>| -> Result<Option<NamePattern>> {
        let Some(text) = pattern else { return Ok(None) };
        let regex =
            Regex::new(text).with_context(|| format!("'{text}' is not a regular expression"))?;
        Ok(Some(Box::new(move |name| regex.is_match(name))))
    };
    let roots = args.roots.as_deref().map(saved_orders).transpose()?.map(|saved| saved.groups);
    Ok(LeafChoice {
        roots,
        at_least: args.leaf_min_nodes,
        named: meant(&args.leaf_name)?,
        excluded: meant(&args.exclude)?,
    })
}

fn saved_orders(path: &Path) -> Result<SavedOrders> {
    read_list(path, orders::read)
}

/// The orders that the arguments ask for.
pub(crate) struct OrderChoice {
    pub(crate) destinations: DestinationOrder,
    pub(crate) switches: SwitchOrder,
    /// The saved orders, if either comes from a file.
    pub(crate) saved: Option<SavedOrders>,
}

/// Returns the orders that the arguments ask for.
pub(crate) fn order(args: &OrderArgs) -> Result<OrderChoice> {
    if let Some(path) = &args.orders {
        let saved = saved_orders(path)?;
        let destinations = DestinationOrder::Saved(saved.clone());
        let switches = SwitchOrder::Saved(saved.clone());
        return Ok(OrderChoice { destinations, switches, saved: Some(saved) });
    }
    let destinations = destination_order(&args.destination_order)?;
    let switches = switch_order(&args.switch_order)?;
    // If either comes from a file, absent devices are kept when both are saved again.
    let saved = match (&destinations, &switches) {
        (DestinationOrder::Saved(saved), SwitchOrder::Saved(groups)) => {
            let roots = groups.roots.clone().or_else(|| saved.roots.clone());
            let dividers = groups.dividers.clone().or_else(|| saved.dividers.clone());
            Some(SavedOrders { groups: groups.groups.clone(), roots, dividers, ..saved.clone() })
        }
        (DestinationOrder::Saved(saved), _) => {
            Some(SavedOrders { groups: vec![], ..saved.clone() })
        }
        (_, SwitchOrder::Saved(groups)) => {
            let SavedOrders { groups, roots, dividers, .. } = groups.clone();
            Some(SavedOrders { groups, roots, dividers, ..SavedOrders::default() })
        }
        _ => None,
    };
    Ok(OrderChoice { destinations, switches, saved })
}

fn destination_order(order: &str) -> Result<DestinationOrder> {
    let (kind, rest) = order.split_once(':').unwrap_or((order, ""));
    Ok(match (kind, rest) {
        ("topological", "") => DestinationOrder::Topological,
        ("lid", "") => DestinationOrder::Lid,
        ("guid", "") => DestinationOrder::Guid,
        ("types", path) if !path.is_empty() => {
            DestinationOrder::Types(read_list(Path::new(path), node_types::read)?)
        }
        ("type-regex", list) => {
            let types = node_types::from_list(list);
            DestinationOrder::Types(types.map_err(|e| anyhow!("--destination-order: {e}"))?)
        }
        ("file", path) if !path.is_empty() => {
            DestinationOrder::Saved(saved_orders(Path::new(path))?)
        }
        _ => bail!(
            "--destination-order must be topological, lid, guid, types:FILE, type-regex:REGEX,… or file:PATH, not \
             '{order}'"
        ),
    })
}

/// Reports types that no node of the fabric has: their expressions are probably wrong.
pub(crate) fn report_empty_types(order: &DestinationOrder, fabric: &Fabric) {
    let (DestinationOrder::Types(types) | DestinationOrder::TypedPlaces(types)) = order else {
        return;
    };
    // The last type is of nodes that match nothing; it may be empty.
    let named = types.names().iter().zip(types.counts(fabric)).rev().skip(1);
    for (name, _) in named.rev().filter(|(_, count)| *count == 0) {
        eprintln!("dmodc: --destination-order: no node has the type '{name}'");
    }
}

pub(crate) fn switch_order(order: &str) -> Result<SwitchOrder> {
    Ok(match order {
        "plane" => SwitchOrder::Plane,
        "guid" => SwitchOrder::Guid,
        other => match other.strip_prefix("file:") {
            Some(path) => SwitchOrder::Saved(saved_orders(Path::new(path))?),
            None => bail!("--switch-order must be plane, guid or file:PATH, not '{other}'"),
        },
    })
}

/// A fabric from a file. It has no faults: dead parts are simply not in the file.
pub(crate) struct HealthyFabric {
    pub(crate) fabric: Fabric,
    healthy: Degradation,
}

impl HealthyFabric {
    pub(crate) fn new(fabric: Fabric) -> Self {
        let healthy = Degradation::none(&fabric);
        HealthyFabric { fabric, healthy }
    }

    pub(crate) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.healthy)
    }
}
