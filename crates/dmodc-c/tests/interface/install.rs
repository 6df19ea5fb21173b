//! What `scripts/install-c` installs.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workshop::{Program, Recipe, STRICT, folder, has, install, prefix, succeeded};

fn pkg_config(options: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"))
        .args(options)
        .arg("dmodc-engine");
    let words = succeeded(&command.output().unwrap(), "pkg-config");
    words.split_whitespace().map(String::from).collect()
}

#[test]
fn every_symbol_of_the_library_is_a_function_of_the_header() {
    let test = "every_symbol_of_the_library_is_a_function_of_the_header";
    if !has("nm", test) {
        return;
    }
    let library = prefix().join("lib/libdmodc-engine.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap();
    let symbols = succeeded(&output, "nm");
    let mut found: Vec<&str> =
        symbols.lines().filter_map(|line| line.split_whitespace().last()).collect();
    found.sort_unstable();
    assert!(found.iter().all(|symbol| symbol.starts_with("dmodc_")), "{found:?}");
    assert_eq!(found, crate::header::functions());
}

#[test]
fn the_library_has_its_name_for_the_linker() {
    let test = "the_library_has_its_name_for_the_linker";
    if !has("readelf", test) {
        return;
    }
    let lib = prefix().join("lib");
    let output =
        Command::new("readelf").arg("-d").arg(lib.join("libdmodc-engine.so")).output().unwrap();
    let text = succeeded(&output, "readelf");
    assert!(text.contains("[libdmodc-engine.so.0]"), "{text}");
    let version = env!("CARGO_PKG_VERSION");
    let file = format!("libdmodc-engine.so.{version}");
    assert_eq!(fs::read_link(lib.join("libdmodc-engine.so.0")).unwrap(), Path::new(&file));
    assert_eq!(
        fs::read_link(lib.join("libdmodc-engine.so")).unwrap(),
        Path::new("libdmodc-engine.so.0")
    );
}

#[test]
fn pkg_config_finds_everything() {
    let test = "pkg_config_finds_everything";
    if !has("cc", test) || !has("pkg-config", test) {
        return;
    }
    assert_eq!(pkg_config(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let options = pkg_config(&["--cflags"]);
    let libraries = pkg_config(&["--libs"]);
    let options: Vec<&str> = STRICT.into_iter().chain(options.iter().map(String::as_str)).collect();
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let recipe = Recipe { compiler: "cc", options: &options, libraries: &libraries };
    let program = Program::with("examples/reroute.c", "by-pkg-config", recipe);
    assert!(program.run(&[]).contains("pairs are delivered"));
}

/// The static library and `Libs.private` are all that a program needs.
#[test]
fn a_program_can_be_linked_statically() {
    let test = "a_program_can_be_linked_statically";
    if !has("cc", test) || !has("pkg-config", test) {
        return;
    }
    let archive = prefix().join("lib/libdmodc-engine.a").display().to_string();
    let libraries = pkg_config(&["--static", "--libs"]);
    let others = libraries.iter().map(String::as_str).filter(|word| *word != "-ldmodc-engine");
    let libraries: Vec<&str> = std::iter::once(&*archive).chain(others).collect();
    let recipe = Recipe { compiler: "cc", options: &STRICT, libraries: &libraries };
    let program = Program::with("examples/reroute.c", "static", recipe);
    assert!(program.run(&[]).contains("pairs are delivered"));
    let output = Command::new("readelf").arg("-d").arg(program.path()).output().unwrap();
    assert!(!succeeded(&output, "readelf").contains("libdmodc"));
}

#[test]
fn destdir_and_libdir_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    install(Path::new("/usr/local"), &["--libdir", "lib/here"], Some(folder.path()));
    let lib = folder.path().join("usr/local/lib/here");
    for file in ["libdmodc-engine.a", "libdmodc-engine.so", "pkgconfig/dmodc-engine.pc"] {
        assert!(lib.join(file).exists(), "{file}");
    }
    assert!(folder.path().join("usr/local/include/dmodc_engine.h").exists());
    let text = fs::read_to_string(lib.join("pkgconfig/dmodc-engine.pc")).unwrap();
    assert!(text.contains("prefix=/usr/local\nlibdir=${prefix}/lib/here\n"), "{text}");
    assert!(!text.contains('@'), "{text}");
}

#[test]
fn mistakes_are_explained() {
    let script = folder().join("../../scripts/install-c");
    for arguments in
        [&[][..], &["relative"], &["--libdir"], &["--libdir", "/lib", "/usr"], &["/a", "/b"]]
    {
        let output = Command::new(&script).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}
