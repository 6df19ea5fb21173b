//! The disk of the state folder, which can be full or slow.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The source of a library that makes a disk slow.
const SLOW: &str = include_str!("slow_disk.c");

/// What the disk holds, in MiB: a learned reference several times over, and it is soon full.
const MEBIBYTES: usize = 64;

/// A state folder on a disk of its own, as far as this machine can give it one.
pub(super) struct Disk {
    /// The state folder.
    pub(super) folder: PathBuf,
    /// The library that makes it slow, or why there is none.
    pub(super) library: Result<PathBuf, String>,
    /// Why it cannot be filled, if it cannot.
    pub(super) mounted: Result<(), String>,
    /// The file that says that it is slow.
    pub(super) switch: PathBuf,
}

impl Disk {
    /// Makes a state folder in the folder of a lab, whose end is its end, too.
    pub(super) fn new(lab: &Path) -> std::io::Result<Self> {
        let folder = lab.join("state-1");
        fs::create_dir_all(&folder)?;
        let mounted = mount(&folder);
        let library = compile(lab);
        Ok(Disk { folder, library, mounted, switch: lab.join("disk-is-slow") })
    }

    /// Fills the disk to its last byte.
    pub(super) fn fill(&self) -> std::io::Result<()> {
        let mut file = File::create(self.filler())?;
        let zeros = vec![0; 1 << 16];
        for _ in 0..=MEBIBYTES * 16 {
            if file.write_all(&zeros).is_err() {
                return Ok(());
            }
        }
        Err(std::io::Error::other("it took more than it has"))
    }

    /// Makes room again.
    pub(super) fn free(&self) -> std::io::Result<()> {
        fs::remove_file(self.filler())
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// From now on, or no longer, everything takes three seconds to be written.
    pub(super) fn be_slow(&self, slow: bool) -> std::io::Result<()> {
        match slow {
            true => fs::write(&self.switch, ""),
            false => fs::remove_file(&self.switch),
        }
    }
}

fn mount(folder: &Path) -> Result<(), String> {
    let size = format!("size={MEBIBYTES}m");
    run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "dmodc-lab"]).arg(folder))
}

fn compile(lab: &Path) -> Result<PathBuf, String> {
    let (source, library) = (lab.join("slow_disk.c"), lab.join("slow_disk.so"));
    fs::write(&source, SLOW).map_err(|error| error.to_string())?;
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
    run(&mut cc).map(|()| library)
}

/// Runs a program, and returns its first words if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| {
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed").trim();
        match first.starts_with(&name) {
            true => first.into(),
            false => format!("{name}: {first}"),
        }
    })
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted.is_ok() {
            let _ = run(Command::new("umount").arg("-l").arg(&self.folder));
        }
    }
}
