//! Reading files: every error names the file, the line and the thing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail, ensure};
use dmodc::{
    Degradation, DestinationOrder, Fabric, LeafChoice, LeafRule, Live, NamePattern, NoLeafMeant,
    SavedOrders, SwitchOrder,
};
use dmodc_formats::lft::Lft;
use dmodc_formats::{ReadError, Reading, lft, npy, orders};

use regex_lite::Regex;

use crate::args::{FabricArgs, LeafArgs, OrderArgs};
use crate::{table_file, text};

/// How much of a file is looked at before the rest is read: enough to know what it is.
pub(crate) const BEGINNING: u64 = 4 << 20;

/// Whether something was read from standard input, which can be read once.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Returns standard input, which is there for one reader.
pub(crate) fn stdin() -> Result<io::StdinLock<'static>> {
    let is_second = STDIN_IS_READ.swap(true, Ordering::Relaxed);
    ensure!(!is_second, "only one input can come from standard input");
    Ok(io::stdin().lock())
}

/// The bytes of a file; `-` is standard input. A file whose beginning looks wrong is not read on.
fn bytes(path: &Path, looks_right: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(stdin()?),
        _ => Box::new(File::open(path).with_context(|| path.display().to_string())?),
    };
    source.by_ref().take(BEGINNING).read_to_end(&mut text).with_context(|| name(path))?;
    if looks_right(&text) {
        source.read_to_end(&mut text).with_context(|| name(path))?;
    }
    Ok(text)
}

pub(crate) fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".into(),
        _ => path.display().to_string(),
    }
}

/// Refuses to read two things from standard input, which is one stream.
pub(crate) fn only_one_from_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let from_stdin = paths.into_iter().filter(|path| path.as_os_str() == "-").count();
    ensure!(from_stdin < 2, "only one input can come from standard input; {from_stdin} are '-'");
    Ok(())
}

/// `file:line:column: what`, and the line with a caret below the place.
pub(crate) fn at(path: &Path, text: &[u8], error: &ReadError) -> anyhow::Error {
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
    let is_dump = lft::detect(&text) && dmodc_formats::detect(&text).is_none();
    if is_dump || npy::detect(&text) {
        bail!("{}: these are forwarding tables; expected a fabric", name(path));
    }
    let reading = dmodc_formats::read(&text).map_err(|e| at(path, &text, &e))?;
    match reading.dirt.first() {
        Some(first) if args.strict => Err(at(path, &text, first)),
        _ => Ok(reading),
    }
}

/// Tables, matched with their fabric.
pub(crate) fn tables(path: &Path, fabric: &Fabric, args: &FabricArgs) -> Result<Lft> {
    let lft = table_file::read(path, fabric)?;
    if let Some(first) = lft.dirt.first().filter(|_| args.strict) {
        bail!("{}:{first}", name(path));
    }
    for line in text::dirt(&lft.dirt) {
        eprintln!("dmodc: {}: {line}", name(path));
    }
    Ok(lft)
}

/// Refuses tables none of which is of a switch of the fabric. Tables of another state of the fabric are fine: what
/// does not match is reported.
pub(crate) fn is_of_this_fabric(path: &Path, lft: &Lft, fabric: &Fabric) -> Result<()> {
    match lft.unknown_switches.first() {
        Some(first) if lft.missing_switches.len() == fabric.switches().len() => {
            bail!("{}: {first} is no switch of the fabric, nor is any other one here", name(path))
        }
        _ => Ok(()),
    }
}

/// Returns the fabric with the excluded hosts set aside, and the rule for leaves that the arguments ask for.
pub(crate) fn leaf_rule(args: &LeafArgs, fabric: Fabric) -> Result<(Fabric, LeafRule)> {
    let choice = leaf_choice(args)?;
    let fabric = choice.set_aside(fabric);
    let rule = choice.rule(&fabric).map_err(|nothing| match (nothing, &args.roots) {
        (NoLeafMeant::Roots, Some(path)) => {
            anyhow!("{}: none of these GUIDs is a switch of the fabric", name(path))
        }
        (NoLeafMeant::TooFewNodes(most), _) => anyhow!(
            "--leaf-min-nodes leaves no leaf: the most nodes that a switch has are {}",
            text::number(most)
        ),
        (NoLeafMeant::AllExcluded, _) => anyhow!("--exclude leaves no leaf"),
        _ => anyhow!("--leaf-name matches the description of no switch"),
    })?;
    Ok((fabric, rule))
}

/// Returns what the arguments say about leaves.
pub(crate) fn leaf_choice(args: &LeafArgs) -> Result<LeafChoice> {
    let meant = |pattern: &Option<String>| -> Result<Option<NamePattern>> {
        let Some(text) = pattern else { return Ok(None) };
        let regex =
            Regex::new(text).with_context(|| format!("'{text}' is no regular expression"))?;
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

/// Names from a file, by one of the readers of lists.
pub(crate) fn list<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, ReadError>) -> Result<T> {
    let text = bytes(path, |_| true)?;
    read(&text).map_err(|e| at(path, &text, &e))
}

fn saved_orders(path: &Path) -> Result<SavedOrders> {
    list(path, orders::read)
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
            let roots = groups.roots.clone().or_else(|| saved.roots.clone());
            Some(SavedOrders { groups: groups.groups.clone(), roots, ..saved.clone() })
        }
        (DestinationOrder::Saved(saved), _) => {
            Some(SavedOrders { groups: vec![], ..saved.clone() })
        }
        (_, SwitchOrder::Saved(groups)) => {
            let (groups, roots) = (groups.groups.clone(), groups.roots.clone());
            Some(SavedOrders { groups, roots, ..SavedOrders::default() })
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
