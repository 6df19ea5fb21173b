//! ibsim: a simulated fabric, and what can be done to it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::fabric::{CableEnds, Part, Peer};
use dmodc::{Degradation, Fabric, Guid, Lid, NodeIndex, PortNumber, SwitchIndex};
use dmodc_formats::lft::{self, Lft};
use tempfile::TempDir;

use super::LabError;
use super::netlist::{Netlist, adapter_id, stand_in, switch_id};
use super::process::{Broom, Desk, Running};

/// The longest that the simulator may take to read a fabric, in seconds.
const START: u64 = 300;

/// A simulated fabric. It ends with this value.
pub struct Sim {
    fabric: Fabric,
    /// The same with the GUIDs that it has in the simulator.
    held: Fabric,
    /// The node that programs sit on, and the switches that it can reach.
    attached: Option<NodeIndex>,
    seen: Vec<bool>,
    /// What is dead in it.
    dead: Degradation,
    pub(super) desk: Desk,
    console: ChildStdin,
    process: Running,
    folder: TempDir,
    _broom: Broom,
}

impl Sim {
    /// Starts a simulator with this fabric.
    ///
    /// # Errors
    /// If it cannot be held, or programs are missing, or they fail.
    pub fn start(fabric: &Fabric) -> Result<Self, LabError> {
        let held = stand_in(fabric);
        let net = Netlist::of(&held).map_err(|error| LabError::Io("the fabric".into(), error))?;
        Sim::start_as(fabric, held, &net)
    }

    /// Starts a simulator with another text than the stand-in's own, which may hold more or fewer devices and cables.
    pub(super) fn start_as(fabric: &Fabric, held: Fabric, net: &Netlist) -> Result<Self, LabError> {
        fabric.infiniband_lids().map_err(LabError::TooLarge)?;
        let io = |what: &'static str| move |error| LabError::Io(what.into(), error);
        let folder =
            tempfile::Builder::new().prefix("dmodc-lab-").tempdir().map_err(io("a folder"))?;
        let mut desk = Desk::new(folder.path().into())?;
        let (attached, seen) = attach(fabric);
        desk.host = attached.map(|n| adapter_id(held.adapter_of(n).guid));
        let broom = Broom::new(folder.path()).map_err(io("a folder"))?;
        fs::write(folder.path().join("net"), &net.text).map_err(io("the fabric"))?;
        let said = folder.path().join("ibsim.out");
        let mut command = desk.program("ibsim");
        command.arg("-s");
        for (option, count) in [
            ("-N", net.switches + net.adapters + 16),
            ("-S", net.switches + 16),
            ("-P", net.ports + 64),
            ("-L", 49_152),
        ] {
            command.arg(option).arg(count.to_string());
        }
        command.arg("net").stdin(Stdio::piped());
        command.stdout(File::create(&said).map_err(io("ibsim"))?);
        command.stderr(File::create(folder.path().join("ibsim.err")).map_err(io("ibsim"))?);
        let mut child = command.spawn().map_err(io("ibsim"))?;
        let console =
            child.stdin.take().ok_or_else(|| LabError::Failed("ibsim has no console".into()))?;
        let (pid, dead) = (child.id(), Degradation::none(fabric));
        let process = Running(child);
        let fabric = fabric.clone();
        let mut sim = Sim {
            fabric,
            held,
            attached,
            seen,
            dead,
            desk,
            console,
            process,
            folder,
            _broom: broom,
        };
        let start = Instant::now();
        while !fs::read_to_string(&said).is_ok_and(|text| text.contains("simulator ready")) {
            if !sim.process.is_alive() {
                let why = fs::read_to_string(sim.desk.folder.join("ibsim.err")).unwrap_or_default();
                let last = why.lines().last().unwrap_or("it said nothing").to_string();
                return Err(LabError::Failed(format!("ibsim ended: {last}")));
            }
            if start.elapsed().as_secs() > START {
                return Err(LabError::TimedOut("starting ibsim".into(), START));
            }
            sleep(Duration::from_millis(20));
        }
        sim.desk.share(pid);
        Ok(sim)
    }

    /// Where the files of everything that runs on it are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The fabric as it was given.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// What is dead in it.
    pub fn dead(&self) -> &Degradation {
        &self.dead
    }

    /// Returns the fabric with the GUIDs that it has in the simulator: those of everything that programs on the
    /// simulated fabric print. Its indices are those of [`fabric`](Self::fabric).
    pub fn held(&self) -> &Fabric {
        &self.held
    }

    /// The switch of the node at which programs are attached: it must not be cut off.
    pub fn attached(&self) -> Option<SwitchIndex> {
        self.attached.map(|n| self.fabric.node(n).switch)
    }

    /// The GUID of the port at which programs are attached.
    pub(super) fn attached_guid(&self) -> Option<Guid> {
        self.attached.map(|n| self.held.node(n).guid)
    }

    /// Whether cables connect a switch with the node at which programs are attached, as long as nothing is dead.
    pub(super) fn is_seen(&self, s: SwitchIndex) -> bool {
        self.seen[s.at()]
    }

    /// Makes this dead, and nothing else, on the simulator's console.
    ///
    /// # Errors
    /// If the console is not there any more.
    pub fn degrade(&mut self, wanted: &Degradation) -> Result<(), LabError> {
        let mut lines = Vec::new();
        let changed: Vec<Part> = wanted.difference(&self.dead).collect();
        // Repairs first: a switch that is linked again has all its cables.
        for part in changed.iter().filter(|part| !is_dead(wanted, part)) {
            lines.push(format!("ReLink {}", self.named(part)));
            if let Part::Switch(s) = *part {
                for c in wanted.dead_cables().filter(|&c| self.touches(c, s)) {
                    lines.push(format!("Unlink {}", self.named(&Part::Cable(c))));
                }
                for other in wanted.dead_switches() {
                    lines.push(format!("Unlink {}", self.named(&Part::Switch(other))));
                }
            }
        }
        for part in changed.iter().filter(|part| is_dead(wanted, part)) {
            lines.push(format!("Unlink {}", self.named(part)));
        }
        self.dead.clone_from(wanted);
        self.tell(&lines)
    }

    /// Writes lines on the simulator's console.
    pub(super) fn tell(&mut self, lines: &[String]) -> Result<(), LabError> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let written = self.console.write_all(text.as_bytes()).and_then(|()| self.console.flush());
        written.map_err(|error| LabError::Io("the console of ibsim".into(), error))
    }

    /// Tells the simulator that a program on the fabric was killed. It would notice only when it has a packet for it,
    /// and would send those of a next one at the same adapter to the dead one.
    pub(super) fn forget(&mut self, pid: u32) -> Result<(), LabError> {
        let said = self.desk.folder.join("ibsim.out");
        let before = fs::metadata(&said).map_or(0, |said| said.len() as usize);
        self.tell(&["Attached".into()])?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            let text = fs::read(&said).unwrap_or_default();
            let text = String::from_utf8_lossy(text.get(before..).unwrap_or_default());
            if let Some(client) = client_of(&text, pid) {
                return self.tell(&[format!("X {client}")]);
            }
            sleep(Duration::from_millis(20));
        }
        // It is not attached.
        Ok(())
    }

    fn touches(&self, c: dmodc::CableIndex, s: SwitchIndex) -> bool {
        match self.fabric.cable(c) {
            CableEnds::Switches(cable) => cable.a.0 == s || cable.b.0 == s,
            CableEnds::Node(n) => self.fabric.node(n).switch == s,
        }
    }

    /// A part as the console names it.
    fn named(&self, part: &Part) -> String {
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

    /// The fabric as `ibnetdiscover` finds it now, with the simulator's GUIDs and indices of its own.
    ///
    /// # Errors
    /// If it fails, or prints no fabric.
    pub fn discover(&self) -> Result<Fabric, LabError> {
        let text = self.desk.output(self.desk.client("ibnetdiscover"), "ibnetdiscover")?;
        let reading = dmodc_formats::read(&text)
            .map_err(|error| LabError::Failed(format!("what ibnetdiscover printed: {error}")))?;
        Ok(reading.fabric)
    }

    /// The tables that the simulated switches hold, read packet by packet. The fabric is one with the simulator's
    /// GUIDs: what [`discover`](Self::discover) found, or [`held`](Self::held).
    ///
    /// # Errors
    /// If that fails.
    pub fn tables(&self, fabric: &Fabric) -> Result<Lft, LabError> {
        let text = self.desk.output(self.desk.client("dump_fts"), "dump_fts")?;
        lft::read(&text, fabric)
            .map_err(|error| LabError::Failed(format!("what dump_fts printed: {error}")))
    }

    /// The way from a node to a LID as `ibtracert` finds it: out of which port, to the device with which
    /// LID, into which port.
    ///
    /// # Errors
    /// If it finds no way.
    pub fn way(&self, from: Lid, to: Lid) -> Result<Vec<(u8, Lid, u8)>, LabError> {
        let text = self.client("ibtracert", &[&from.to_string(), &to.to_string()])?;
        Ok(text.lines().filter_map(traced_hop).collect())
    }

    /// What another program on the fabric prints, such as `ibtracert 1 28`.
    ///
    /// # Errors
    /// If it fails.
    pub fn client(&self, program: &str, args: &[&str]) -> Result<String, LabError> {
        let mut command = self.desk.client(program);
        command.args(args);
        let text = self.desk.output(command, program)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Fixes the LIDs that OpenSM will give: those of the fabric. Tables are read back in blocks of 64
    /// entries, and `dump_fts` (of infiniband-diags 44) forgets a last block of one entry; so a last LID
    /// that would be alone there becomes the next one.
    pub(super) fn guid_to_lid(&self) -> String {
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

/// Returns the node that programs sit on, and which switches it can reach: the first of the part with the most nodes,
/// because OpenSM routes only the part that it sits in. A first port is preferred, which all programs use by default,
/// and a host to an aggregation node.
pub(super) fn attach(fabric: &Fabric) -> (Option<NodeIndex>, Vec<bool>) {
    let mut part: Vec<Option<usize>> = vec![None; fabric.switches().len()];
    let mut sizes: Vec<usize> = Vec::new();
    for start in fabric.switch_indices() {
        if part[start.at()].is_some() {
            continue;
        }
        let (number, mut nodes, mut waiting) = (sizes.len(), 0, vec![start]);
        part[start.at()] = Some(number);
        while let Some(s) = waiting.pop() {
            nodes += fabric.nodes_of(s).len();
            for port in fabric.ports_of(s) {
                if let Peer::Switch(peer, _) = port.peer
                    && part[peer.at()].is_none()
                {
                    part[peer.at()] = Some(number);
                    waiting.push(peer);
                }
            }
        }
        sizes.push(nodes);
    }
    let largest = (0..sizes.len()).max_by_key(|&at| (sizes[at], std::cmp::Reverse(at)));
    let seen: Vec<bool> = part.iter().map(|part| *part == largest).collect();
    let nodes = fabric.node_indices().filter(|&n| seen[fabric.node(n).switch.at()]);
    let is_other_port = |n: NodeIndex| fabric.node(n).adapter_port != PortNumber(1);
    (nodes.min_by_key(|&n| (is_other_port(n), fabric.is_aggregation(n), n)), seen)
}

/// Returns the number of the client with a process, of the lines `Client 0: pid 4711 connected at …`.
fn client_of(text: &str, pid: u32) -> Option<u32> {
    let (before, _) = text.split_once(&format!(": pid {pid} connected"))?;
    before.rsplit_once("Client ")?.1.parse().ok()
}

/// A line of `ibtracert`: `[4] -> switch port {0x0002c90200000002}[1] lid 6-6 "L2-1"`.
fn traced_hop(line: &str) -> Option<(u8, Lid, u8)> {
    let (out, rest) = line.strip_prefix('[')?.split_once("] -> ")?;
    let (into, rest) = rest.split_once("}[")?.1.split_once("] lid ")?;
    let (lid, _) = rest.split_once('-')?;
    Some((out.parse().ok()?, Lid(lid.parse().ok()?), into.parse().ok()?))
}

pub(super) fn is_dead(degradation: &Degradation, part: &Part) -> bool {
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
        assert_eq!(traced_hop(hop), Some((4, Lid(6), 1)));
        let end = "[2] -> ca port {0x0002c900000000c1}[1] lid 28-31 \"nic11\"";
        assert_eq!(traced_hop(end), Some((2, Lid(28), 1)));
        for line in ["", "From ca {0x1} portnum 1 lid 1-1 \"x\"", "[x] -> ca port {0x1}[1] lid 2-2"]
        {
            assert_eq!(traced_hop(line), None, "{line}");
        }
    }
}
