//! The process of the browser.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use std::os::unix::process::CommandExt as _;

/// Names under which Chromium is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const FLAGS: [&str; 15] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
];

/// The browser reads commands from descriptor 3 and answers on descriptor 4. The shell makes these of the two pipes.
const PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 1>&2 0</dev/null"#;

/// Returns the program, if it is installed.
pub(crate) fn find() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
    let files = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// A running browser, with a folder for its profile. Both go when it is dropped.
pub(crate) struct Process {
    child: Child,
    folder: PathBuf,
}

impl Process {
    /// Starts the browser with a new profile.
    pub(crate) fn start(program: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dmodc-browser-{}-{number}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder for the profile");
        let mut command = Command::new("sh");
        command.arg("-c").arg(PIPES).arg(program).args(FLAGS);
        command.arg(format!("--user-data-dir={}", folder.display())).arg("about:blank");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The group has all processes of the browser, so that all of them can be ended.
        command.process_group(0);
        let child = command.spawn().expect("a shell that starts the browser");
        Process { child, folder }
    }

    /// Returns the pipe to the browser and the one from it.
    pub(crate) fn pipe(&mut self) -> (ChildStdin, ChildStdout) {
        let to = self.child.stdin.take().expect("the pipe is taken once");
        let from = self.child.stdout.take().expect("the pipe is taken once");
        (to, from)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A process that is just ending may still write a file.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
