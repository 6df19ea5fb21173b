//! The header says what the code says. `DMODC_BLESS=1 cargo test -p dmodc-c --test interface header` writes it.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

/// The text at the top of the header.
const TOP: &str = include_str!("header_top.txt");

/// Returns the macros for the version, which come from Cargo.toml.
fn version_macros() -> String {
    let [major, minor, patch] = ["MAJOR", "MINOR", "PATCH"]
        .map(|part| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap());
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "\n/* The version of this header. dmodc_version() is that of the library. */\n\
         #define DMODC_VERSION \"{version}\"\n\
         #define DMODC_VERSION_MAJOR {major}\n\
         #define DMODC_VERSION_MINOR {minor}\n\
         #define DMODC_VERSION_PATCH {patch}"
    )
}

/// Returns the header that the code has now.
fn generated() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = Config::from_file(folder.join("cbindgen.toml")).unwrap();
    config.header = Some(format!("/*\n{}*/", indented(TOP)));
    config.after_includes = Some(version_macros());
    // Without the workspace: only the sources of this crate have functions for C.
    let bindings = Builder::new()
        .with_config(config)
        .with_src(folder.join("src/error.rs"))
        .with_src(folder.join("src/records.rs"))
        .with_src(folder.join("src/ffi/library.rs"))
        .with_src(folder.join("src/ffi/builder.rs"))
        .with_src(folder.join("src/ffi/fabric.rs"))
        .with_src(folder.join("src/ffi/settings.rs"))
        .with_src(folder.join("src/ffi/router.rs"))
        .with_src(folder.join("src/ffi/tables.rs"))
        .with_src(folder.join("src/ffi/delta.rs"))
        .generate()
        .unwrap();
    let mut text = vec![];
    bindings.write(&mut text);
    String::from_utf8(text).unwrap()
}

/// Returns lines as those of a comment.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!(" * {line}").trim_end().to_string() + "\n").collect::<String>()
        + " "
}

#[test]
fn the_header_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/dmodc_engine.h");
    let wanted = generated();
    if std::env::var_os("DMODC_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "the header is out of date: DMODC_BLESS=1 cargo test -p dmodc-c --test interface header writes it"
    );
    // Names of Rust would mean that cbindgen.toml lacks a type.
    let is_of_rust = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_uppercase());
    assert!(!found.split("Dmodc").skip(1).any(is_of_rust), "a type has the name of Rust");
    assert!(found.lines().all(|line| line.len() <= 140), "a line is too long");
    assert!(!found.contains("bool"), "records and functions have no bool");
}

/// Returns the functions of the header, sorted.
pub(crate) fn functions() -> Vec<&'static str> {
    const TEXT: &str = include_str!("../../include/dmodc_engine.h");
    let declared = TEXT.lines().filter(|line| !line.starts_with([' ', '/', '#', '}']));
    let mut found: Vec<&str> = declared
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("dmodc_"))
        .collect();
    found.sort_unstable();
    assert!(found.len() > 40, "{found:?}");
    found
}

/// Returns the types and constants of the header, sorted.
pub(crate) fn types_and_constants() -> Vec<&'static str> {
    const TEXT: &str = include_str!("../../include/dmodc_engine.h");
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let code = TEXT.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    let words = code.flat_map(|line| line.split(|letter| !is_name(letter)));
    let functions = functions();
    let mut found: Vec<&str> = words
        .filter(|word| word.to_lowercase().starts_with("dmodc_") && !functions.contains(word))
        .filter(|word| *word != "DMODC_ENGINE_H")
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
