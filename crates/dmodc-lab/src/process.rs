//! Programs that end with us.
//!
//! ibsim and its clients meet at an abstract socket, whose name is the lab's own; where we may, they also get
//! a network namespace of their own, which other programs of the machine cannot reach. Every program is
//! killed with the lab, and by the kernel if the lab itself is killed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::LabError;

/// How programs are started.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub(super) folder: PathBuf,
    pub(super) socket: String,
    /// The library that sends a program's packets to the simulator.
    preload: PathBuf,
    /// The process whose network namespace is used, if there is one.
    namespace: Option<u32>,
    /// Whether we may make a namespace.
    pub(super) is_isolated: bool,
    /// The adapter that programs sit on, by the simulator's name; without one, the simulator chooses.
    pub(super) host: Option<String>,
}

impl Desk {
    pub(super) fn new(folder: PathBuf) -> Result<Self, LabError> {
        let socket = match folder.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => "dmodc-lab".into(),
        };
        let preload = needed()?;
        let may = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status();
        let is_isolated = may.is_ok_and(|status| status.success());
        Ok(Desk { folder, socket, preload, namespace: None, is_isolated, host: None })
    }

    /// Everything that is started from now on shares the network of this process.
    pub(super) fn share(&mut self, pid: u32) {
        self.namespace = self.is_isolated.then_some(pid);
    }

    /// A program of the lab: in its folder, in its network, killed with us.
    pub(super) fn program(&self, name: &str) -> Command {
        let mut words: Vec<String> = Vec::new();
        match self.namespace {
            Some(pid) => words.extend(["nsenter".into(), format!("--net=/proc/{pid}/ns/net")]),
            None if self.is_isolated => words.extend(["unshare".into(), "--net".into()]),
            None => {}
        }
        if find("setpriv").is_some() {
            words.extend(["setpriv", "--pdeathsig", "KILL"].map(String::from));
        }
        words.push(find(name).map_or(name.into(), |path| path.display().to_string()));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.folder).env("IBSIM_SOCKNAME", &self.socket);
        command.stdin(Stdio::null());
        command
    }

    /// A program on the simulated fabric. (`env` comes last, so that the library is loaded into the
    /// program alone.)
    pub(super) fn client(&self, name: &str) -> Command {
        self.client_at(name, self.host.as_deref(), None)
    }

    /// The same at another adapter, perhaps with one more library in it.
    pub(super) fn client_at(
        &self,
        name: &str,
        host: Option<&str>,
        library: Option<&Path>,
    ) -> Command {
        let mut command = self.program("env");
        let libraries = [Some(&*self.preload), library].into_iter().flatten();
        let libraries: Vec<String> = libraries.map(|path| path.display().to_string()).collect();
        command.arg(format!("LD_PRELOAD={}", libraries.join(":")));
        command.args(host.map(|host| format!("SIM_HOST={host}")));
        command.arg(find(name).unwrap_or_else(|| name.into()));
        command
    }

    /// What a program on the simulated fabric prints.
    pub(super) fn output(&self, mut command: Command, name: &str) -> Result<Vec<u8>, LabError> {
        let output = command.stderr(Stdio::piped()).output();
        let output = output.map_err(|error| LabError::Io(name.into(), error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing");
            return Err(LabError::Failed(format!("{name} failed: {last}")));
        }
        Ok(output.stdout)
    }
}

/// A program that is killed when it is dropped.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sweeps a folder away when we end, however we end: its input closes with us.
pub(super) struct Broom(Child);

impl Broom {
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        // Signals from the keyboard reach it, too, and must not end it before its work is done. A state folder may be
        // a disk of its own.
        const SWEEP: &str = "trap '' INT TERM HUP; cat >/dev/null; sleep 0.1; cd \"$1\" && \
            for disk in state-*; do umount -l \"$disk\" 2>/dev/null; done; cd /; rm -rf -- \"$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", SWEEP, "sh"]).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Broom)
    }
}

impl Drop for Broom {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Running {
    /// Whether it is still there.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

/// Where a program is. The folders of administrators are not on everybody's path.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Programs of the lab, and the Debian package that has each of them.
const PROGRAMS: [(&str, &str); 5] = [
    ("opensm", "opensm"),
    ("ibsim", "ibsim-utils"),
    ("ibnetdiscover", "infiniband-diags"),
    ("dump_fts", "infiniband-diags"),
    ("ibtracert", "infiniband-diags"),
];

/// Checks that everything is installed. Returns the library that sends a program's packets to the simulator.
fn needed() -> Result<PathBuf, LabError> {
    let mut missing: Vec<(&str, &str)> = PROGRAMS.into();
    missing.retain(|(program, _)| find(program).is_none());
    let preload = preload();
    if preload.is_none() {
        missing.push(("libumad2sim.so", "ibsim-utils"));
    }
    match preload {
        Some(preload) if missing.is_empty() => Ok(preload),
        _ => {
            let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
            let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
            packages.sort_unstable();
            packages.dedup();
            let (programs, packages) = (programs.join(", "), packages.join(" "));
            Err(LabError::Missing { programs, packages })
        }
    }
}

/// The version of the installed OpenSM, if there is one.
pub fn opensm_version() -> Option<String> {
    let output = Command::new(find("opensm")?).arg("--version").stdin(Stdio::null()).output();
    let text = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("OpenSM ")).map(|version| version.trim().into())
}

/// The library of ibsim-utils, in the folder of whatever architecture.
fn preload() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let folders = folders.chain(["/usr/lib64", "/usr/lib"].map(PathBuf::from));
    folders
        .map(|folder: PathBuf| folder.join("umad2sim/libumad2sim.so"))
        .find(|path| path.is_file())
}
