//! Programs that end with us.
//!
//! ibsim and its clients meet at an abstract socket with a name of its own for each lab. Where we have the right, they
//! also get a network namespace of their own, which other programs of the machine cannot reach. Every program is killed
//! with the lab; if the lab itself is killed, the kernel kills them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::LabError;

/// The folder, socket and network in which the programs of one lab run.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) folder: PathBuf,
    pub(crate) socket: String,
    /// The library that sends a program's packets to the simulator.
    umad_library: PathBuf,
    /// The process whose network namespace is used, if there is one.
    namespace: Option<u32>,
    /// Whether we have the right to make a network namespace.
    pub(crate) can_isolate: bool,
    /// The adapter on which programs run, by the simulator's name; if `None`, the simulator chooses.
    pub(crate) host: Option<String>,
}

impl Sandbox {
    pub(crate) fn new(folder: PathBuf) -> Result<Self, LabError> {
        let socket = match folder.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => "dmodc-lab".into(),
        };
        let umad_library = check_installed()?;
        let mut unshare = Command::new("unshare");
        let tried = unshare.args(["--net", "true"]).stderr(Stdio::null()).status();
        let can_isolate = tried.is_ok_and(|status| status.success());
        Ok(Sandbox { folder, socket, umad_library, namespace: None, can_isolate, host: None })
    }

    /// Lets all programs that are started from now on share the network of this process.
    pub(crate) fn share_network(&mut self, pid: u32) {
        self.namespace = self.can_isolate.then_some(pid);
    }

    /// Returns the command of a program in the lab's folder and network, which is killed with us.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut words: Vec<String> = Vec::new();
        match self.namespace {
            Some(pid) => words.extend(["nsenter".into(), format!("--net=/proc/{pid}/ns/net")]),
            None if self.can_isolate => words.extend(["unshare".into(), "--net".into()]),
            None => {}
        }
        if find_program("setpriv").is_some() {
            words.extend(["setpriv", "--pdeathsig", "KILL"].map(String::from));
        }
        words.push(find_program(name).map_or(name.into(), |path| path.display().to_string()));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.folder).env("IBSIM_SOCKNAME", &self.socket);
        command.stdin(Stdio::null());
        command
    }

    /// Returns the command of a program on the simulated fabric. (`env` comes last, so that the library is loaded into
    /// the program alone.)
    pub(crate) fn client(&self, name: &str) -> Command {
        self.client_at(name, self.host.as_deref(), None)
    }

    /// Returns the command of a program on another adapter, optionally with one more library loaded into it.
    pub(crate) fn client_at(
        &self,
        name: &str,
        host: Option<&str>,
        library: Option<&Path>,
    ) -> Command {
        let mut command = self.program("env");
        let libraries = [Some(&*self.umad_library), library].into_iter().flatten();
        let libraries: Vec<String> = libraries.map(|path| path.display().to_string()).collect();
        command.arg(format!("LD_PRELOAD={}", libraries.join(":")));
        command.args(host.map(|host| format!("SIM_HOST={host}")));
        command.arg(find_program(name).unwrap_or_else(|| name.into()));
        command
    }

    /// Runs a command, and returns its standard output.
    pub(crate) fn output(&self, mut command: Command, name: &str) -> Result<Vec<u8>, LabError> {
        let output = command.stderr(Stdio::piped()).output();
        let output = output.map_err(|error| LabError::Io(name.into(), error))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().last().unwrap_or("it printed nothing");
            return Err(LabError::Failed(format!("{name} failed: {last}")));
        }
        Ok(output.stdout)
    }
}

/// A program that is killed when this value is dropped.
pub(crate) struct KilledOnDrop(pub(crate) Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A shell that removes a folder when we end, however we end: its standard input closes with us.
pub(crate) struct FolderCleaner(Child);

impl FolderCleaner {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        // Signals from the keyboard reach the shell, too, and must not end it before its work is done. A state folder may
        // be a mounted disk.
        const CLEAN: &str = "trap '' INT TERM HUP; cat >/dev/null; sleep 0.1; cd \"$1\" && \
            for disk in state-*; do umount -l \"$disk\" 2>/dev/null; done; cd /; rm -rf -- \"$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", CLEAN, "sh"]).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(FolderCleaner)
    }
}

impl Drop for FolderCleaner {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl KilledOnDrop {
    /// Returns whether the program still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

/// Returns the path of a program. The folders of administrators are not on every user's `PATH`, so they are searched, too.
fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Programs that the lab needs, and the Debian package of each.
const PROGRAMS: [(&str, &str); 5] = [
    ("opensm", "opensm"),
    ("ibsim", "ibsim-utils"),
    ("ibnetdiscover", "infiniband-diags"),
    ("dump_fts", "infiniband-diags"),
    ("ibtracert", "infiniband-diags"),
];

/// Checks that everything is installed. Returns the library that sends a program's packets to the simulator.
pub(crate) fn check_installed() -> Result<PathBuf, LabError> {
    let mut missing: Vec<(&str, &str)> = PROGRAMS.into();
    missing.retain(|(program, _)| find_program(program).is_none());
    let umad_library = umad_library();
    if umad_library.is_none() {
        missing.push(("libumad2sim.so", "ibsim-utils"));
    }
    match umad_library {
        Some(library) if missing.is_empty() => Ok(library),
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

/// Returns the version of the installed OpenSM; `None` if there is none.
pub fn opensm_version() -> Option<String> {
    let output =
        Command::new(find_program("opensm")?).arg("--version").stdin(Stdio::null()).output();
    let text = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("OpenSM ")).map(|version| version.trim().into())
}

/// Returns the library of ibsim-utils, which is in a folder named after the architecture.
fn umad_library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let folders = folders.chain(["/usr/lib64", "/usr/lib"].map(PathBuf::from));
    folders
        .map(|folder: PathBuf| folder.join("umad2sim/libumad2sim.so"))
        .find(|path| path.is_file())
}
