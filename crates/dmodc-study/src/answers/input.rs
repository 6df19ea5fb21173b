//! The fabric, leaves and orders that somebody asks for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use dmodc::{
    Degradation, DestinationOrder, Fabric, LeafChoice, LeafRule, Live, NamePattern, NoLeafMeant,
    SavedOrders, SwitchOrder,
};
use dmodc_formats::{Reading, lft, node_types, npy, orders};
use regex_lite::Regex;

use super::source::{bytes, located, name, read_list};
use super::text;

/// Which switches are leaves, if detection is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeafRequest {
    /// A file with the GUIDs of the switches from which ranks are counted downwards.
    pub roots: Option<PathBuf>,
    /// A switch is a leaf if it has at least this number of nodes.
    pub min_nodes: Option<usize>,
    /// A switch is a leaf if its description matches this regular expression.
    pub name: Option<String>,
    /// Hosts and switches whose description matches this regular expression make no leaves.
    pub exclude: Option<String>,
}

/// How destinations are numbered and port groups sorted, in the notation of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRequest {
    /// The order of destinations.
    pub destinations: String,
    /// The order of switches.
    pub switches: String,
    /// A file with both, which decides if there is one.
    pub saved: Option<PathBuf>,
}

impl Default for OrderRequest {
    fn default() -> Self {
        OrderRequest { destinations: "topological".into(), switches: "plane".into(), saved: None }
    }
}

/// Returns the fabric in a file, with everything that its reader noticed. `-` is standard input.
///
/// # Errors
/// If it cannot be read, or `is_strict` is set and something in it is damaged.
pub fn reading(path: &Path, is_strict: bool) -> Result<Reading> {
    let text = bytes(path, |text| dmodc_formats::detect(text).is_some())?;
    reading_of(path, &text, is_strict)
}

/// Returns the fabric that a text describes. Errors name the text by `path`.
///
/// # Errors
/// If it cannot be read, or `is_strict` is set and something in it is damaged.
pub fn reading_of(path: &Path, text: &[u8], is_strict: bool) -> Result<Reading> {
    let is_dump = lft::detect(text) && dmodc_formats::detect(text).is_none();
    if is_dump || npy::detect(text) {
        bail!(
            "{}: this file has forwarding tables; give the description of a fabric first, then the tables",
            name(path)
        );
    }
    let reading = dmodc_formats::read(text).map_err(|e| located(path, text, &e))?;
    match reading.dirt.first() {
        Some(first) if is_strict => Err(located(path, text, first)),
        _ => Ok(reading),
    }
}

/// Returns the fabric with the excluded hosts set aside, and the rule for leaves.
///
/// # Errors
/// If no switch would be a leaf, or something in the request cannot be read.
pub fn leaf_rule(request: &LeafRequest, fabric: Fabric) -> Result<(Fabric, LeafRule)> {
    let choice = leaf_choice(request)?;
    let fabric = choice.set_aside(fabric);
    let rule = choice.rule(&fabric).map_err(|nothing| match (nothing, &request.roots) {
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

/// Returns what a request says about leaves.
///
/// # Errors
/// If a file cannot be read, or a regular expression is none.
pub fn leaf_choice(request: &LeafRequest) -> Result<LeafChoice> {
    let meant = |pattern: &Option<String>| -> Result<Option<NamePattern>> {
        let Some(text) = pattern else { return Ok(None) };
        let regex =
            Regex::new(text).with_context(|| format!("'{text}' is not a regular expression"))?;
        Ok(Some(Box::new(move |name| regex.is_match(name))))
    };
    let roots = request.roots.as_deref().map(saved_orders).transpose()?.map(|saved| saved.groups);
    Ok(LeafChoice {
        roots,
        at_least: request.min_nodes,
        named: meant(&request.name)?,
        excluded: meant(&request.exclude)?,
    })
}

fn saved_orders(path: &Path) -> Result<SavedOrders> {
    read_list(path, orders::read)
}

/// The orders that somebody asks for.
#[derive(Clone, Debug)]
pub struct OrderChoice {
    /// How destinations are numbered.
    pub destinations: DestinationOrder,
    /// How port groups are sorted.
    pub switches: SwitchOrder,
    /// The saved orders, if either comes from a file.
    pub saved: Option<SavedOrders>,
}

/// Returns the orders that a request asks for.
///
/// # Errors
/// If it asks for something that there is not, or a file cannot be read.
pub fn order(request: &OrderRequest) -> Result<OrderChoice> {
    if let Some(path) = &request.saved {
        let saved = saved_orders(path)?;
        let destinations = DestinationOrder::Saved(saved.clone());
        let switches = SwitchOrder::Saved(saved.clone());
        return Ok(OrderChoice { destinations, switches, saved: Some(saved) });
    }
    let destinations = destination_order(&request.destinations)?;
    let switches = switch_order(&request.switches)?;
    // If either comes from a file, absent devices are kept when both are saved again.
    let saved = match (&destinations, &switches) {
        (DestinationOrder::Saved(saved), SwitchOrder::Saved(groups)) => {
            let roots = groups.roots.clone().or_else(|| saved.roots.clone());
            let with_dividers = if groups.dividers.is_some() { groups } else { saved };
            let SavedOrders { dividers, given_roots, .. } = with_dividers.clone();
            let groups = groups.groups.clone();
            Some(SavedOrders { groups, roots, dividers, given_roots, ..saved.clone() })
        }
        (DestinationOrder::Saved(saved), _) => {
            Some(SavedOrders { groups: vec![], ..saved.clone() })
        }
        (_, SwitchOrder::Saved(groups)) => {
            let SavedOrders { groups, roots, dividers, given_roots, .. } = groups.clone();
            Some(SavedOrders { groups, roots, dividers, given_roots, ..SavedOrders::default() })
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

/// Returns the types that no node of the fabric has: their expressions are probably wrong.
pub fn empty_types<'a>(order: &'a DestinationOrder, fabric: &Fabric) -> Vec<&'a str> {
    let (DestinationOrder::Types(types) | DestinationOrder::TypedPlaces(types)) = order else {
        return Vec::new();
    };
    // The last type is of nodes that match nothing; it may be empty.
    let named = types.names().iter().zip(types.counts(fabric)).rev().skip(1);
    named.rev().filter(|(_, count)| *count == 0).map(|(name, _)| &**name).collect()
}

/// Returns the order of switches that a word stands for.
///
/// # Errors
/// If it is none.
pub fn switch_order(order: &str) -> Result<SwitchOrder> {
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
#[derive(Clone, Debug)]
pub struct HealthyFabric {
    /// The fabric.
    pub fabric: Fabric,
    healthy: Degradation,
}

impl HealthyFabric {
    /// Takes a fabric without faults.
    pub fn new(fabric: Fabric) -> Self {
        let healthy = Degradation::none(&fabric);
        HealthyFabric { fabric, healthy }
    }

    /// Returns the fabric in its present state.
    pub fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.healthy)
    }
}
