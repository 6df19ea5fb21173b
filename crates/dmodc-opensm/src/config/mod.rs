//! The configuration: `/etc/dmodc.conf`, or the file that `DMODC_CONF` names. `dmodc.conf.example` explains each key.

mod load;

use std::path::PathBuf;

use dmodc::{DestinationOrder, Fabric, Guid, LeafChoice, LeafRule, NodeTypes, SwitchOrder};
use dmodc_formats::node_types;
use regex_lite::Regex;
use serde::Deserialize;

pub(crate) use load::{ConfigPath, LoadedConfig};

/// The settings of an administrator. Each has a default; a missing file means all defaults.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// How destinations are numbered before their numbers are saved.
    pub(crate) destination_order: DestinationOrderSetting,
    /// The types by which destinations are numbered. Their file may change while the configuration does not.
    #[serde(skip)]
    node_types: Option<NodeTypes>,
    /// How port groups are sorted before their order is saved.
    pub(crate) switch_order: SwitchOrderSetting,
    /// A file with the GUIDs of the highest switches, as OpenSM's `root_guid_file`.
    pub(crate) roots: Option<PathBuf>,
    /// The GUIDs in that file, or in OpenSM's. They may change while the configuration does not.
    #[serde(skip)]
    root_guids: Option<Vec<Guid>>,
    /// Whether those GUIDs are from OpenSM's `root_guid_file`.
    #[serde(skip)]
    pub(crate) uses_opensm_roots: bool,
    /// Why OpenSM's `root_guid_file` is not used, if it cannot be.
    #[serde(skip)]
    pub(crate) refused_roots: Option<String>,
    /// Leaves are the switches with at least this number of nodes.
    pub(crate) leaf_min_nodes: Option<usize>,
    /// Leaves are the switches whose description matches.
    pub(crate) leaf_name: Option<String>,
    /// Hosts whose description matches do not make their switch a leaf, and switches whose description matches are no
    /// leaves.
    pub(crate) exclude: Option<String>,
    /// The source of the reference that routes stay close to. Without a reference, plain Dmodc routes.
    pub(crate) reference: Option<ReferenceSource>,
    /// The number of threads; 0 means one for each processor.
    pub(crate) threads: usize,
    /// Whether entries between switches without an up*down* route are filled by shortest path. `None` leaves it to
    /// OpenSM's option of that name.
    pub(crate) connect_roots: Option<bool>,
    /// What happens if nodes on leaves have no route to each other although cables connect them.
    pub(crate) on_lost: OnLost,
    /// Who computes the hop tables that multicast trees are made from.
    pub(crate) hop_tables: HopTables,
    /// The folder in which both orders are kept.
    pub(crate) state_folder: PathBuf,
    /// A report of the last run, as JSON.
    pub(crate) status_file: Option<PathBuf>,
    /// The same for Prometheus's textfile collector.
    pub(crate) metrics_file: Option<PathBuf>,
    /// A line of JSON for every run.
    pub(crate) event_file: Option<PathBuf>,
    /// Whether every run panics, to see OpenSM go on without the plugin.
    pub(crate) panic: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            destination_order: DestinationOrderSetting::Topological,
            node_types: None,
            switch_order: SwitchOrderSetting::Plane,
            roots: None,
            root_guids: None,
            uses_opensm_roots: false,
            refused_roots: None,
            leaf_min_nodes: None,
            leaf_name: None,
            exclude: None,
            reference: None,
            threads: 0,
            connect_roots: None,
            on_lost: OnLost::Keep,
            hop_tables: HopTables::Dmodc,
            state_folder: "/var/lib/dmodc".into(),
            status_file: None,
            metrics_file: None,
            event_file: None,
            panic: false,
        }
    }
}

/// `destination_order`, as `--destination-order` of the program.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub(crate) enum DestinationOrderSetting {
    Topological,
    Lid,
    Guid,
    /// `types:FILE`
    TypesFile(PathBuf),
    /// `type-regex:REGEX,…`
    TypeList(NodeTypes),
}

impl TryFrom<String> for DestinationOrderSetting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((&text, ""));
        match (kind, rest) {
            ("topological", "") => Ok(DestinationOrderSetting::Topological),
            ("lid", "") => Ok(DestinationOrderSetting::Lid),
            ("guid", "") => Ok(DestinationOrderSetting::Guid),
            ("types", path) if !path.is_empty() => {
                Ok(DestinationOrderSetting::TypesFile(path.into()))
            }
            ("type-regex", list) => {
                node_types::from_list(list).map(DestinationOrderSetting::TypeList)
            }
            _ => Err(format!(
                "destination_order must be topological, lid, guid, types:FILE or type-regex:REGEX,…, not '{text}'"
            )),
        }
    }
}

/// `switch_order`, as `--switch-order` of the program.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SwitchOrderSetting {
    Plane,
    Guid,
}

/// `reference`: where the reference is from.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "String")]
pub(crate) enum ReferenceSource {
    /// It is learned from the fabrics that OpenSM finds.
    Learn,
    /// It is inferred from the present fabric: missing cables are added to it.
    Inferred,
    /// It is read from a file of the administrator.
    File(PathBuf),
}

impl From<String> for ReferenceSource {
    fn from(text: String) -> Self {
        match text.as_str() {
            "learn" => ReferenceSource::Learn,
            "inferred" => ReferenceSource::Inferred,
            _ => ReferenceSource::File(text.into()),
        }
    }
}

/// `hop_tables`: who computes them.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HopTables {
    Dmodc,
    Opensm,
}

/// `on_lost`: what becomes of tables that lose pairs of nodes on leaves.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnLost {
    /// The tables are used, and the log names the lost pairs.
    Keep,
    /// The run fails, and OpenSM takes the next engine of its list.
    NextEngine,
}

impl From<SwitchOrderSetting> for SwitchOrder {
    fn from(order: SwitchOrderSetting) -> Self {
        match order {
            SwitchOrderSetting::Plane => SwitchOrder::AgreedPlane,
            SwitchOrderSetting::Guid => SwitchOrder::Guid,
        }
    }
}

impl Config {
    /// Returns how destinations are numbered when they are first seen.
    pub(crate) fn destinations(&self) -> DestinationOrder {
        match (&self.destination_order, &self.node_types) {
            (DestinationOrderSetting::Lid, _) => DestinationOrder::Lid,
            (DestinationOrderSetting::Guid, _) => DestinationOrder::Guid,
            // Numbers are kept for years, so ports that are empty now get some, too.
            (_, Some(types)) => DestinationOrder::TypedPlaces(types.clone()),
            (_, None) => DestinationOrder::Places,
        }
    }

    /// Returns whether the reference is to be learned.
    pub(crate) fn learns_reference(&self) -> bool {
        self.reference == Some(ReferenceSource::Learn)
    }

    /// Returns whether the reference is to be inferred.
    pub(crate) fn infers_reference(&self) -> bool {
        self.reference == Some(ReferenceSource::Inferred)
    }

    /// Stops using the roots of OpenSM's `root_guid_file`. Returns whether they were in use.
    pub(crate) fn refuse_opensm_roots(&mut self, why: &str) -> bool {
        let was_used = std::mem::take(&mut self.uses_opensm_roots);
        if was_used {
            self.root_guids = None;
            self.refused_roots = Some(refused_roots_line(why));
        }
        was_used
    }

    /// Returns whether no setting says which switches are leaves or roots.
    fn has_no_leaf_setting(&self) -> bool {
        self.roots.is_none() && self.leaf_min_nodes.is_none() && self.leaf_name.is_none()
    }

    /// Returns the rule for leaves as people would write it.
    pub(crate) fn leaf_rule_text(&self) -> String {
        match (&self.roots, self.leaf_min_nodes, &self.leaf_name) {
            (Some(path), ..) => format!("roots = {}", path.display()),
            (_, Some(count), _) => format!("leaf_min_nodes = {count}"),
            (.., Some(name)) => format!("leaf_name = \"{name}\""),
            _ if self.root_guids.is_some() => "root_guid_file of OpenSM".into(),
            _ => "leaves detected from the cabling".into(),
        }
    }

    /// Returns the fabric with the excluded hosts set aside, and the rule for its leaves.
    ///
    /// # Errors
    /// If a setting matches nothing in the fabric.
    pub(crate) fn leaf_rule(&self, fabric: Fabric) -> Result<(Fabric, LeafRule), String> {
        let regex = |text: &Option<String>| text.as_deref().and_then(|text| Regex::new(text).ok());
        let (leaf_name, exclude) = (regex(&self.leaf_name), regex(&self.exclude));
        let choice = LeafChoice {
            roots: self.root_guids.clone(),
            at_least: self.leaf_min_nodes,
            named: leaf_name.map(|regex| Box::new(move |name: &str| regex.is_match(name)) as _),
            excluded: exclude.map(|regex| Box::new(move |name: &str| regex.is_match(name)) as _),
        };
        let fabric = choice.set_aside(fabric);
        let rule = choice.rule(&fabric).map_err(|error| error.to_string())?;
        Ok((fabric, rule))
    }
}

fn refused_roots_line(why: &str) -> String {
    format!("root_guid_file of OpenSM is not used: {why}")
}

#[cfg(test)]
mod tests;
