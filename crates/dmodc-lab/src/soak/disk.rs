//! The disk of a state folder, which can be full or slow.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The source of a library that makes a disk slow.
const SLOW: &str = include_str!("slow_disk.c");

/// The size of the disk in MiB: enough for several learned references, and small enough to be filled quickly.
const MEBIBYTES: usize = 64;

/// A state folder on a disk of its own, as far as this machine can give it one.
pub(super) struct StateDisk {
    /// The state folder.
    pub(super) folder: PathBuf,
    /// The library that makes the disk slow, or the reason why there is none.
    pub(super) slow_library: Result<PathBuf, String>,
    /// The reason if no disk could be mounted; then it cannot be filled.
    pub(super) mounted: Result<(), String>,
    /// The disk is slow as long as this file exists.
    slow_file: PathBuf,
}

impl StateDisk {
    /// Makes a state folder in the folder of a lab. It is removed with the lab.
    pub(super) fn new(lab: &Path) -> std::io::Result<Self> {
        let folder = lab.join("state-1");
        fs::create_dir_all(&folder)?;
        let mounted = mount(&folder);
        let slow_library = compile(lab);
        Ok(StateDisk { folder, slow_library, mounted, slow_file: lab.join("disk-is-slow") })
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
        Err(std::io::Error::other("the disk took more than its size"))
    }

    /// Makes room again.
    pub(super) fn free(&self) -> std::io::Result<()> {
        fs::remove_file(self.filler())
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Makes the disk slow, or fast again. While it is slow, each write-out takes three seconds.
    pub(super) fn set_slow(&self, slow: bool) -> std::io::Result<()> {
        match slow {
            true => fs::write(&self.slow_file, ""),
            false => fs::remove_file(&self.slow_file),
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

/// Runs a program. If it fails, returns the first line that it prints on standard error.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| {
        let first =
            errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed").trim();
        match first.starts_with(&name) {
            true => first.into(),
            false => format!("{name}: {first}"),
        }
    })
}

impl Drop for StateDisk {
    fn drop(&mut self) {
        if self.mounted.is_ok() {
            let _ = run(Command::new("umount").arg("-l").arg(&self.folder));
        }
    }
}
