//! The build script on machines without OpenSM's headers: it warns in one line, and the rest of the workspace builds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the build script that cargo has compiled: it is in a folder next to the one that it writes to.
fn script() -> PathBuf {
    let out = Path::new(env!("OUT_DIR"));
    let builds = out.parent().unwrap().parent().unwrap();
    let scripts = fs::read_dir(builds).unwrap().map(|entry| entry.unwrap().path());
    let scripts = scripts
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("dmodc-opensm-"))
        .map(|path| path.join("build-script-build"))
        .filter(|path| path.is_file());
    scripts.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}

/// Runs the build script with the headers of this folder. Returns its lines for cargo.
fn run(include: &Path) -> Vec<String> {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(script())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("DMODC_OPENSM_INCLUDE", include)
        .env("OUT_DIR", out.path())
        .envs([("TARGET", host), ("HOST", host), ("OPT_LEVEL", "0"), ("DEBUG", "false")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

fn is_left_out(include: &Path, because: &str) {
    let output = run(include);
    let warnings: Vec<&String> =
        output.iter().filter(|line| line.starts_with("cargo:warning=")).collect();
    let [warning] = warnings[..] else { panic!("one line: {output:?}") };
    assert!(warning.contains("the OpenSM plugin is left out"), "{warning}");
    assert!(warning.contains(because), "{warning}");
    assert!(warning.contains("apt-get install gcc libopensm-dev libibumad-dev"), "{warning}");
    assert!(!output.iter().any(|line| line.contains("rustc-cfg=opensm")), "{output:?}");
    assert!(!output.iter().any(|line| line.contains("rustc-link")), "{output:?}");
}

#[test]
fn without_headers_that_compile_the_plugin_is_left_out_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let include = folder.path();
    is_left_out(include, "opensm/osm_config.h: No such file");
    // libopensm-dev without libibumad-dev.
    fs::create_dir(include.join("opensm")).unwrap();
    let header = include.join("opensm/osm_config.h");
    fs::write(&header, "#include <infiniband/no_such_umad.h>\n").unwrap();
    is_left_out(include, "infiniband/no_such_umad.h: No such file");
    // Headers of something else.
    fs::write(&header, "this is no header\n").unwrap();
    is_left_out(include, "error: ");
}

#[test]
fn with_headers_that_compile_it_is_built() {
    let include = Path::new("/usr/include/infiniband");
    if include.join("opensm/osm_config.h").is_file() && include.join("umad.h").is_file() {
        let output = run(include);
        assert!(output.iter().any(|line| line == "cargo:rustc-cfg=opensm"), "{output:?}");
        assert!(!output.iter().any(|line| line.starts_with("cargo:warning=")), "{output:?}");
    }
}
