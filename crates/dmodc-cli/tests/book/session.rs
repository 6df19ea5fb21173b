//! Runs the commands of one page, as a reader would: in order, in one folder, by one shell.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command as Process;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::desk::{DMODC, skip};
use crate::output;
use crate::page::{Command, Label, Page};

/// Seconds after which a page is given up.
const LIMIT: &str = "300";

/// One OpenSM at a time: two cores are few.
static ONE_LAB: Mutex<()> = Mutex::new(());

/// Runs a page and returns what differs from it. With `bless`, real output replaces what differs instead.
pub(crate) fn compare(root: &Path, page: &Page, bless: bool) -> Vec<String> {
    let needs_lab = page.blocks.iter().any(|block| block.label == Some(Label::NeedsLab));
    let _one = needs_lab.then(|| ONE_LAB.lock().unwrap_or_else(PoisonError::into_inner));
    let has_lab = needs_lab && has_lab(&page.name);
    let commands: Vec<&Command> = page
        .blocks
        .iter()
        .filter(|block| block.label.is_none() || (block.label == Some(Label::NeedsLab) && has_lab))
        .flat_map(|block| &block.commands)
        .collect();
    if commands.is_empty() {
        return Vec::new();
    }
    let runs = run(root, page, &commands);
    let mut complaints = Vec::new();
    let mut real_outputs = BTreeMap::new();
    for (at, (command, (status, printed))) in commands.iter().zip(&runs).enumerate() {
        let place = format!("{}:{}: $ {}", page.name, command.line, command.text);
        let shows_status = commands.get(at + 1).is_some_and(|next| next.text.contains("$?"));
        if *status != Some(0) && !shows_status {
            let status = status.map_or("nothing".to_owned(), |code| code.to_string());
            complaints.push(format!(
                "{place}\nends with {status}, which '$ echo $?' after it would show; it prints:\n{}",
                printed.join("\n")
            ));
        } else if !output::matches(&command.output, printed) {
            real_outputs.insert(command.output_at, (*command, printed));
            complaints.push(format!(
                "{place}\nprints\n{}\nbut the page shows\n{}",
                printed.join("\n"),
                command.output.join("\n")
            ));
        }
    }
    if bless && !real_outputs.is_empty() {
        rewrite(page, &real_outputs);
        complaints.retain(|complaint| complaint.contains("\nends with "));
    }
    complaints
}

/// Returns the exit status (if the shell came that far) and the lines of output of each command.
fn run(root: &Path, page: &Page, commands: &[&Command]) -> Vec<(Option<i32>, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let results = tempfile::tempdir().unwrap();
    for name in ["fixtures", "studies", "bench", "docs/examples"] {
        let link = Path::new(name).file_name().unwrap();
        symlink(root.join(name), folder.path().join(link)).unwrap();
    }
    symlink(DMODC, results.path().join("dmodc")).unwrap();
    let mut script = String::new();
    for (at, command) in commands.iter().enumerate() {
        // README's first command builds the program; here it is built already.
        let text = command.text.replace("cargo run --release -- ", "dmodc ");
        let result = results.path().join(at.to_string());
        let result = result.display();
        // The subshell at the end hands the status on to a command that shows it.
        let _ = write!(
            script,
            "{{\n{text}\n}} >{result}.out 2>&1\nstatus=$?\necho $status >{result}.status\n(exit $status)\n"
        );
    }
    let path =
        format!("{}:{}", results.path().display(), std::env::var("PATH").unwrap_or_default());
    Process::new("timeout")
        .args([LIMIT, "bash", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .env_remove("DMODC_BLESS")
        .stdin(std::process::Stdio::null())
        .status()
        .unwrap_or_else(|why| panic!("{}: bash or timeout cannot be started: {why}", page.name));
    let result = |at: usize, kind: &str| {
        let bytes = fs::read(results.path().join(format!("{at}.{kind}"))).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (0..commands.len())
        .map(|at| {
            let printed = result(at, "out").lines().map(str::to_owned).collect();
            (result(at, "status").trim().parse().ok(), printed)
        })
        .collect()
}

fn rewrite(page: &Page, real_outputs: &BTreeMap<usize, (&Command, &Vec<String>)>) {
    let mut lines = page.lines.clone();
    for (&at, (command, printed)) in real_outputs.iter().rev() {
        let indent = " ".repeat(command.indent);
        let fresh = printed.iter().map(|line| format!("{indent}{line}").trim_end().to_owned());
        lines.splice(at..at + command.output.len(), fresh);
    }
    fs::write(&page.file, lines.join("\n") + "\n").unwrap();
}

/// Whether OpenSM, the simulator and the plugin are installed. A page that needs them is otherwise run without those blocks.
fn has_lab(page: &str) -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    let ready = *READY.get_or_init(|| {
        let found = |name: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
            places.into_iter().any(|folder| folder.join(name).exists())
        };
        let plugin = Path::new(DMODC).with_file_name("libdmodc.so");
        found("opensm") && found("ibsim") && dmodc_lab::check_plugin(&plugin).is_ok()
    });
    if !ready {
        skip(&format!(
            "{page}: OpenSM, ibsim or the plugin is missing; the blocks that need them did not run"
        ));
    }
    ready
}
