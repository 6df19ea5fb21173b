//! Where C programs are compiled and run.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Prints that a test is skipped. Written directly: output through `println` would be hidden unless the test fails.
pub(crate) fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Returns whether a program is installed; if not, the test is skipped.
pub(crate) fn has(program: &str, test: &str) -> bool {
    let found =
        Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        skip(test, &format!("{program} is not installed"));
    }
    found
}

/// The crate.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The prefix that the library is installed to.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dmodc-c");
        install(&prefix, &[], None);
        prefix
    })
}

/// Installs the libraries that belong to this test.
pub(crate) fn install(prefix: &Path, options: &[&str], destination: Option<&Path>) {
    // Cargo puts the libraries of the crate where it puts the tests that use it.
    let test = std::env::current_exe().unwrap();
    let mut script = Command::new(folder().join("../../scripts/install-c"));
    script.arg("--built").arg(test.parent().unwrap()).args(options).arg(prefix);
    script.env_remove("DESTDIR");
    if let Some(destination) = destination {
        script.env("DESTDIR", destination);
    }
    succeeded(&script.output().unwrap(), "scripts/install-c");
}

/// Returns what a program printed; it must have ended well.
pub(crate) fn succeeded(output: &Output, what: &str) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// A compiled program.
pub(crate) struct Program {
    path: PathBuf,
}

/// How a program is compiled.
pub(crate) struct Recipe<'a> {
    pub(crate) compiler: &'a str,
    pub(crate) options: &'a [&'a str],
    /// What comes after the source: libraries.
    pub(crate) libraries: &'a [&'a str],
}

/// Options for C that must not warn.
pub(crate) const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];

impl Program {
    /// Compiles a file of this crate with the shared library.
    pub(crate) fn new(source: &str) -> Program {
        let libraries = ["-ldmodc-engine", "-lpthread"];
        Program::with(
            source,
            source,
            Recipe { compiler: "cc", options: &STRICT, libraries: &libraries },
        )
    }

    /// Compiles a file of this crate. `name` distinguishes several programs of one file. What several tests use is compiled once.
    pub(crate) fn with(source: &str, name: &str, recipe: Recipe<'_>) -> Program {
        static COMPILED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
        let name = name.replace(['/', '.'], "-");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dmodc-c-{name}"));
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if !compiled.get_or_insert_default().insert(path.clone()) {
            return Program { path };
        }
        let library = prefix().join("lib");
        let mut command = Command::new(recipe.compiler);
        command.args(recipe.options).arg(folder().join(source)).arg("-o").arg(&path);
        command.arg("-I").arg(prefix().join("include")).arg("-L").arg(&library);
        command.arg(format!("-Wl,-rpath,{}", library.display())).args(recipe.libraries);
        succeeded(&command.output().unwrap(), &format!("{command:?}"));
        Program { path }
    }

    /// Returns where the program is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the program, and returns what it prints.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.path).args(arguments).output().unwrap();
        succeeded(&output, &self.path.display().to_string())
    }

    /// Runs the program with lines as its input.
    pub(crate) fn run_with(&self, input: &str) -> String {
        let mut command = Command::new(&self.path);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_string();
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        succeeded(&output, &self.path.display().to_string())
    }

    /// Runs the program under valgrind, which fails on wrong memory accesses and on leaks.
    pub(crate) fn run_checked(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--fair-sched=yes"]);
        command.arg("--errors-for-leak-kinds=definite,indirect,possible");
        command.arg("--show-leak-kinds=definite,indirect,possible");
        command.arg(format!("--suppressions={}", folder().join("tests/c/valgrind.supp").display()));
        let output = command.arg(&self.path).args(arguments).output().unwrap();
        succeeded(&output, &format!("valgrind {}", self.path.display()))
    }
}
