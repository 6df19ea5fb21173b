//! How OpenSM is started: its options, its folders, its command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dmodc::{Degradation, Guid, LeafRule, Live, Ranking, SwitchIndex};

use crate::error::LabError;
use crate::plugin::check_plugin;
use crate::sim::Sim;

/// How OpenSM is started.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The engine, by its name for `-R`.
    pub engine: &'a str,
    /// The library of our plugin. It also reports OpenSM's events while another engine routes.
    pub plugin: &'a Path,
    /// The engine that OpenSM uses if the first one fails; if `None`, there are no tables then.
    pub fallback: Option<&'a str>,
    /// More lines for our plugin's configuration.
    pub config: &'a str,
    /// Whether OpenSM dumps its tables after each sweep, for the judges. On a large fabric that takes longer than the
    /// sweep.
    pub dumps: bool,
    /// Where it runs, and where its files are.
    pub instance: Instance<'a>,
}

/// Which OpenSM it is, if there are several on one fabric: where it runs, and where its files are.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    /// The folder of its files, inside the lab's folder.
    pub folder: &'a str,
    /// The state folder of our plugin, if it differs from `folder`.
    pub state: Option<&'a Path>,
    /// The adapter on which it runs, by the simulator's name, and the GUID of its port; if `None`, the adapter of all
    /// other programs.
    pub host: Option<(&'a str, Guid)>,
    /// More lines for OpenSM's own configuration.
    pub options: &'a str,
    /// One more library that is loaded into OpenSM.
    pub library: Option<&'a Path>,
}

impl Default for Instance<'_> {
    fn default() -> Self {
        Instance { folder: "opensm", state: None, host: None, options: "", library: None }
    }
}

impl<'a> Setup<'a> {
    /// Returns the setup of an engine without a fallback.
    pub fn new(engine: &'a str, plugin: &'a Path) -> Self {
        Setup {
            engine,
            plugin,
            fallback: None,
            config: "",
            dumps: true,
            instance: Instance::default(),
        }
    }
}

/// The engines that make sense on a fat-tree.
pub const ENGINES: [&str; 9] =
    ["dmodc", "minhop", "updn", "dnup", "ftree", "sssp", "dfsssp", "lash", "nue"];

/// Writes the configuration of an OpenSM into its folder. Returns its command and the folder. Engines that take a list
/// of roots get one.
pub(super) fn command(sim: &Sim, setup: &Setup<'_>) -> Result<(Command, PathBuf), LabError> {
    let Setup { engine, plugin, instance, .. } = setup;
    let io = |error| LabError::Io("a folder for opensm".into(), error);
    let folder = sim.sandbox.folder.join(instance.folder);
    fs::create_dir_all(&folder).map_err(io)?;
    check_plugin(plugin)?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        if !path.exists() {
            fs::write(&path, text).map_err(io)?;
        }
        Ok::<_, LabError>(path)
    };
    let config = write("opensm.conf", format!("event_plugin_name dmodc\n{}", instance.options))?;
    let roots = write("roots", roots(sim))?;
    write("guid2lid", sim.guid_to_lid())?;
    let (files, state) = (folder.display(), instance.state.unwrap_or(&folder).display());
    let ours = write(
        "dmodc.conf",
        format!(
            "state_folder = \"{state}\"\nstatus_file = \"{files}/status.json\"\n\
             metrics_file = \"{files}/dmodc.prom\"\n{}\n",
            setup.config
        ),
    )?;
    let host = instance.host.map(|(host, _)| host).or(sim.sandbox.host.as_deref());
    let mut command = sim.sandbox.client_at("opensm", host, instance.library);
    command.env("OSM_CACHE_DIR", &folder).env("OSM_TMP_DIR", &folder);
    command.env("LD_LIBRARY_PATH", plugin.parent().unwrap_or(Path::new(".")));
    command.env("DMODC_CONF", ours).env("DMODC_EVENTS", folder.join("events"));
    if instance.library.is_some() {
        // The library of the slow disk reads these.
        command.env("DMODC_LAB_SLOW", sim.sandbox.folder.join("disk-is-slow"));
        command.env("DMODC_LAB_DISK", sim.sandbox.folder.join("state-"));
    }
    command.arg("-e").arg("-F").arg(config);
    command.arg("-f").arg(folder.join("opensm.log"));
    let fallback = setup.fallback.unwrap_or("no_fallback");
    // 0x01 logs errors, 0x02 the course of events, and 0x40 writes the dumps.
    let level = if setup.dumps { "0x43" } else { "0x03" };
    command.args(["-R", &format!("{engine},{fallback}"), "-D", level, "-d", "2"]);
    command.arg("--dump_files_dir").arg(&folder);
    let lmc = sim.fabric().nodes().iter().map(|node| node.lmc).max().unwrap_or(0);
    if lmc > 0 {
        command.arg("-l").arg(lmc.to_string());
    }
    if let Some(guid) = instance.host.map(|(_, guid)| guid).or(sim.attached_guid()) {
        command.arg("-g").arg(guid.to_string());
    }
    if matches!(*engine, "updn" | "dnup" | "ftree") {
        command.arg("-a").arg(roots);
    }
    if matches!(*engine, "lash" | "dfsssp" | "nue") {
        command.arg("-Q");
    }
    Ok((command, folder))
}

/// Returns OpenSM's `root_guid_file`: the switches of the highest rank in the part of the fabric that OpenSM sees.
fn roots(sim: &Sim) -> String {
    let fabric = sim.held();
    let healthy = Degradation::none(fabric);
    let ranking = Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect);
    let seen = |rank: &Vec<SwitchIndex>| -> Vec<SwitchIndex> {
        rank.iter().copied().filter(|&s| sim.is_seen(s)).collect()
    };
    let top = ranking.by_rank().iter().rev().map(seen).find(|top| !top.is_empty());
    top.iter().flatten().map(|&s| format!("{}\n", fabric.switch(s).guid)).collect()
}
