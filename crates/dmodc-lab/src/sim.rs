//! ibsim: a simulated fabric, and the faults and queries that it allows.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::fabric::{CableEnds, Part};
use dmodc::{CableIndex, Degradation, Fabric, Guid, Lid, PortNumber, SwitchIndex};
use dmodc_formats::lft::{self, Lft};
use tempfile::TempDir;

use crate::attachment::Attachment;
use crate::error::LabError;
use crate::netlist::{Netlist, adapter_id, stand_in, switch_id};
use crate::process::{FolderCleaner, KilledOnDrop, Sandbox};

/// The longest that the simulator may take to read a fabric, in seconds.
const START: u64 = 300;

/// The files to which the simulator prints, in the lab's folder.
const OUTPUT: &str = "ibsim.out";
const ERRORS: &str = "ibsim.err";

/// A running simulator with one fabric. It ends when this value is dropped.
pub struct Sim {
    fabric: Fabric,
    /// The same fabric with the GUIDs that it has in the simulator.
    held: Fabric,
    attachment: Attachment,
    /// The parts that are dead in the simulator.
    dead: Degradation,
    pub(crate) sandbox: Sandbox,
    console: ChildStdin,
    process: KilledOnDrop,
    folder: TempDir,
    _cleaner: FolderCleaner,
}

/// A hop of a traced path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedHop {
    /// The port through which the packet leaves the previous device.
    pub out: u8,
    /// The LID of the device that it reaches.
    pub lid: Lid,
    /// The port through which it enters that device.
    pub into: u8,
}

impl Sim {
    /// Starts a simulator with this fabric.
    ///
    /// # Errors
    /// If the fabric does not fit into the simulator, programs are missing, or they fail.
    pub fn start(fabric: &Fabric) -> Result<Self, LabError> {
        let held = stand_in(fabric);
        let netlist = Netlist::of(&held);
        let netlist = netlist.map_err(|error| LabError::Io("the fabric".into(), error))?;
        Sim::start_with(fabric, held, &netlist)
    }

    /// Starts a simulator with a netlist that may hold more or fewer devices and cables than the stand-in.
    pub(crate) fn start_with(
        fabric: &Fabric,
        held: Fabric,
        netlist: &Netlist,
    ) -> Result<Self, LabError> {
        fabric.infiniband_lids().map_err(LabError::TooLarge)?;
        let io = |what: &'static str| move |error| LabError::Io(what.into(), error);
        let folder =
            tempfile::Builder::new().prefix("dmodc-lab-").tempdir().map_err(io("a folder"))?;
        let mut sandbox = Sandbox::new(folder.path().into())?;
        let attachment = Attachment::of(fabric);
        sandbox.host = attachment.node.map(|n| adapter_id(held.adapter_of(n).guid));
        let cleaner = FolderCleaner::new(folder.path()).map_err(io("a folder"))?;
        fs::write(folder.path().join("net"), &netlist.text).map_err(io("the fabric"))?;
        let (process, console) = spawn(&sandbox, netlist)?;
        let mut sim = Sim {
            fabric: fabric.clone(),
            held,
            attachment,
            dead: Degradation::none(fabric),
            sandbox,
            console,
            process,
            folder,
            _cleaner: cleaner,
        };
        sim.wait_until_ready()?;
        sim.sandbox.share_network(sim.process.0.id());
        Ok(sim)
    }

    fn wait_until_ready(&mut self) -> Result<(), LabError> {
        let output = self.sandbox.folder.join(OUTPUT);
        let start = Instant::now();
        while !fs::read_to_string(&output).is_ok_and(|text| text.contains("simulator ready")) {
            if !self.process.is_alive() {
                let errors = fs::read_to_string(self.sandbox.folder.join(ERRORS));
                let errors = errors.unwrap_or_default();
                let last = errors.lines().last().unwrap_or("it printed nothing");
                return Err(LabError::Failed(format!("ibsim ended unexpectedly: {last}")));
            }
            if start.elapsed().as_secs() > START {
                return Err(LabError::TimedOut("starting ibsim".into(), START));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the folder of all files of this simulator and of the programs on it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the fabric with its true GUIDs, as given to [`start`](Self::start).
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns which parts are dead in the simulator.
    pub fn dead(&self) -> &Degradation {
        &self.dead
    }

    /// Returns the fabric with the GUIDs that it has in the simulator, which programs on the simulated fabric
    /// print. Its indices are those of [`fabric`](Self::fabric).
    pub fn held(&self) -> &Fabric {
        &self.held
    }

    /// Returns the switch of the node at which programs are attached. It must not be cut off.
    pub fn attached(&self) -> Option<SwitchIndex> {
        self.attachment.node.map(|n| self.fabric.node(n).switch)
    }

    /// Returns the GUID of the port at which programs are attached.
    pub(crate) fn attached_guid(&self) -> Option<Guid> {
        self.attachment.node.map(|n| self.held.node(n).guid)
    }

    /// Returns whether cables connect a switch with the node at which programs are attached, dead ones included.
    pub(crate) fn is_seen(&self, s: SwitchIndex) -> bool {
        self.attachment.sees[s.at()]
    }

    /// Kills and repairs parts on the simulator's console until exactly the parts of `wanted` are dead.
    ///
    /// # Errors
    /// If the console is closed.
    pub fn degrade(&mut self, wanted: &Degradation) -> Result<(), LabError> {
        let mut lines = Vec::new();
        let changed: Vec<Part> = wanted.difference(&self.dead).collect();
        // Repairs come first: `ReLink` of a switch joins all its cables, the dead ones too, which are unlinked again.
        for part in changed.iter().filter(|part| !is_dead(wanted, part)) {
            lines.push(format!("ReLink {}", self.console_name(part)));
            if let Part::Switch(s) = *part {
                for c in wanted.dead_cables().filter(|&c| self.touches(c, s)) {
                    lines.push(format!("Unlink {}", self.console_name(&Part::Cable(c))));
                }
                for other in wanted.dead_switches() {
                    lines.push(format!("Unlink {}", self.console_name(&Part::Switch(other))));
                }
            }
        }
        for part in changed.iter().filter(|part| is_dead(wanted, part)) {
            lines.push(format!("Unlink {}", self.console_name(part)));
        }
        self.dead.clone_from(wanted);
        self.write_console(&lines)
    }

    /// Writes lines on the simulator's console.
    pub(crate) fn write_console(&mut self, lines: &[String]) -> Result<(), LabError> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let written = self.console.write_all(text.as_bytes()).and_then(|()| self.console.flush());
        written.map_err(|error| LabError::Io("the console of ibsim".into(), error))
    }

    /// Tells the simulator that a program on the fabric was killed. It would notice only when it has a packet for that
    /// program, and until then it would send packets of a successor at the same adapter to the dead one.
    pub(crate) fn forget_client(&mut self, pid: u32) -> Result<(), LabError> {
        let output = self.sandbox.folder.join(OUTPUT);
        let before = fs::metadata(&output).map_or(0, |output| output.len() as usize);
        self.write_console(&["Attached".into()])?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            let text = fs::read(&output).unwrap_or_default();
            let text = String::from_utf8_lossy(text.get(before..).unwrap_or_default());
            if let Some(client) = client_of(&text, pid) {
                return self.write_console(&[format!("X {client}")]);
            }
            sleep(Duration::from_millis(20));
        }
        // The simulator does not list it, so it is not attached.
        Ok(())
    }

    fn touches(&self, c: CableIndex, s: SwitchIndex) -> bool {
        match self.fabric.cable(c) {
            CableEnds::Switches(cable) => cable.a.0 == s || cable.b.0 == s,
            CableEnds::Node(n) => self.fabric.node(n).switch == s,
        }
    }

    /// Returns the name of a part on the console.
    fn console_name(&self, part: &Part) -> String {
        let switch = |s: SwitchIndex| format!("\"{}\"", switch_id(self.held.switch(s).guid));
        match *part {
            Part::Switch(s) => switch(s),
            Part::Cable(c) => {
                let (s, PortNumber(port)) = match self.fabric.cable(c) {
                    CableEnds::Switches(cable) => cable.a,
                    CableEnds::Node(n) => {
                        let node = self.fabric.node(n);
                        (node.switch, node.switch_port)
                    }
                };
                format!("{}[{port}]", switch(s))
            }
        }
    }

    /// Returns the fabric that `ibnetdiscover` finds now. It has the simulator's GUIDs, and indices of its own.
    ///
    /// # Errors
    /// If it fails, or prints no fabric.
    pub fn discover(&self) -> Result<Fabric, LabError> {
        let text = self.sandbox.output(self.sandbox.client("ibnetdiscover"), "ibnetdiscover")?;
        let reading = dmodc_formats::read(&text)
            .map_err(|error| LabError::Failed(format!("the output of ibnetdiscover: {error}")))?;
        Ok(reading.fabric)
    }

    /// Returns the tables that the simulated switches hold, read by `dump_fts`. The fabric must have the simulator's
    /// GUIDs: pass the result of [`discover`](Self::discover) or [`held`](Self::held).
    ///
    /// # Errors
    /// If `dump_fts` fails, or prints no tables.
    pub fn tables(&self, fabric: &Fabric) -> Result<Lft, LabError> {
        let text = self.sandbox.output(self.sandbox.client("dump_fts"), "dump_fts")?;
        lft::read(&text, fabric)
            .map_err(|error| LabError::Failed(format!("the output of dump_fts: {error}")))
    }

    /// Returns the path from a node to a LID that `ibtracert` finds.
    ///
    /// # Errors
    /// If it finds no path.
    pub fn trace(&self, from: Lid, to: Lid) -> Result<Vec<TracedHop>, LabError> {
        let text = self.client("ibtracert", &[&from.to_string(), &to.to_string()])?;
        Ok(text.lines().filter_map(traced_hop).collect())
    }

    /// Returns a line for a shell that runs a program on the simulated fabric, as long as the simulator runs.
    pub fn shell_command(&self, program: &str) -> String {
        let command = self.sandbox.client(program);
        let quoted =
            |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
        let variables = command.get_envs().filter_map(|(name, value)| {
            Some(format!("{}={}", name.to_string_lossy(), quoted(value?)))
        });
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
        let line: Vec<String> = variables.chain(words).collect();
        format!("cd {} && {}", quoted(self.folder().as_os_str()), line.join(" "))
    }

    /// Runs a program on the simulated fabric, such as `ibtracert 1 28`, and returns its output.
    ///
    /// # Errors
    /// If it fails.
    pub fn client(&self, program: &str, args: &[&str]) -> Result<String, LabError> {
        let mut command = self.sandbox.client(program);
        command.args(args);
        let text = self.sandbox.output(command, program)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns OpenSM's file `guid2lid`, which makes OpenSM give the LIDs of the fabric. Tables are read back in blocks
    /// of 64 entries, and `dump_fts` (of infiniband-diags 44) forgets a last block of one entry; so if the last LID
    /// would be alone in its block, the next LID is given instead.
    pub(crate) fn guid_to_lid(&self) -> String {
        let last = |lid: Lid, lmc: u8| lid.0 + (1 << lmc) - 1;
        let switches = self.fabric.switches().iter().map(|s| last(s.lid, 0));
        let top = switches.chain(self.fabric.nodes().iter().map(|n| last(n.lid, n.lmc))).max();
        let line = |guid: Guid, lid: Lid, lmc: u8| {
            let alone = lmc == 0 && lid.0.is_multiple_of(64) && Some(lid.0) == top;
            let lid = if alone { Lid(lid.0 + 1) } else { lid };
            format!("0x{:016x} 0x{:04x} 0x{:04x}\n\n", guid.0, lid.0, last(lid, lmc))
        };
        let switches = self.held.switches().iter().map(|s| line(s.guid, s.lid, 0));
        let nodes = self.held.nodes().iter().map(|n| line(n.guid, n.lid, n.lmc));
        switches.chain(nodes).collect()
    }
}

/// Starts ibsim with the netlist in the sandbox. Returns the process and its console.
fn spawn(sandbox: &Sandbox, netlist: &Netlist) -> Result<(KilledOnDrop, ChildStdin), LabError> {
    let io = |error| LabError::Io("ibsim".into(), error);
    let mut command = sandbox.program("ibsim");
    command.arg("-s");
    for (option, count) in [
        ("-N", netlist.switches + netlist.adapters + 16),
        ("-S", netlist.switches + 16),
        ("-P", netlist.ports + 64),
        ("-L", 49_152),
    ] {
        command.arg(option).arg(count.to_string());
    }
    command.arg("net").stdin(Stdio::piped());
    command.stdout(File::create(sandbox.folder.join(OUTPUT)).map_err(io)?);
    command.stderr(File::create(sandbox.folder.join(ERRORS)).map_err(io)?);
    let mut process = KilledOnDrop(command.spawn().map_err(io)?);
    let console = process.0.stdin.take();
    let console = console.ok_or_else(|| LabError::Failed("ibsim has no console".into()))?;
    Ok((process, console))
}

/// Returns the client number of a process, read from lines such as `Client 0: pid 4711 connected at …`.
fn client_of(text: &str, pid: u32) -> Option<u32> {
    let (before, _) = text.split_once(&format!(": pid {pid} connected"))?;
    before.rsplit_once("Client ")?.1.parse().ok()
}

/// Reads a hop from a line of `ibtracert` such as `[4] -> switch port {0x0002c90200000002}[1] lid 6-6 "L2-1"`.
fn traced_hop(line: &str) -> Option<TracedHop> {
    let (out, rest) = line.strip_prefix('[')?.split_once("] -> ")?;
    let (into, rest) = rest.split_once("}[")?.1.split_once("] lid ")?;
    let (lid, _) = rest.split_once('-')?;
    let (out, into) = (out.parse().ok()?, into.parse().ok()?);
    Some(TracedHop { out, lid: Lid(lid.parse().ok()?), into })
}

pub(crate) fn is_dead(degradation: &Degradation, part: &Part) -> bool {
    match *part {
        Part::Switch(s) => degradation.switch_is_dead(s),
        Part::Cable(c) => degradation.cable_is_dead(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_found_by_their_process() {
        let text = "sim> Client 0: pid 12 connected at \"H-1\" port 0x2, lid 1, qp 0 SM\n\
                    Client 3: pid 123 connected at \"H-2\" port 0x3, lid 2, qp 1 \n";
        assert_eq!([12, 123, 1].map(|pid| client_of(text, pid)), [Some(0), Some(3), None]);
    }

    #[test]
    fn hops_of_ibtracert_are_read() {
        let hop = "[4] -> switch port {0x0002c90200000002}[1] lid 6-6 \"L2 [1] lid\"";
        assert_eq!(traced_hop(hop), Some(TracedHop { out: 4, lid: Lid(6), into: 1 }));
        let end = "[2] -> ca port {0x0002c900000000c1}[1] lid 28-31 \"nic11\"";
        assert_eq!(traced_hop(end), Some(TracedHop { out: 2, lid: Lid(28), into: 1 }));
        for line in ["", "From ca {0x1} portnum 1 lid 1-1 \"x\"", "[x] -> ca port {0x1}[1] lid 2-2"]
        {
            assert_eq!(traced_hop(line), None, "{line}");
        }
    }
}
