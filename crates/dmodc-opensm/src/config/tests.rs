//! Configurations that are right, and errors in those that are not.

use std::fs;
use std::path::Path;

use super::*;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(Path::new("dmodc.conf"), text)
}

#[test]
fn everything_has_a_default() {
    assert_eq!(parse(""), Ok(Config::default()));
    let missing = ConfigPath { path: "/nonexistent/dmodc.conf".into(), must_exist: false };
    assert_eq!(Config::read(&missing), Ok(Config::default()));
    assert!(
        Config::read(&ConfigPath { must_exist: true, ..missing })
            .is_err_and(|e| e.contains("/nonexistent"))
    );
}

#[test]
fn errors_are_named_with_their_line() {
    let error = parse("threads = 2\nthread = 1\n").unwrap_err();
    assert!(error.starts_with("dmodc.conf:2: unknown field `thread`"), "{error}");
    let error = parse("\n\nswitch_order = \"planes\"").unwrap_err();
    assert!(error.starts_with("dmodc.conf:3: unknown variant `planes`"), "{error}");
    assert!(parse("threads = \"many\"").unwrap_err().starts_with("dmodc.conf:1:"));
    assert!(parse("exclude = \"(\"").unwrap_err().contains("exclude"));
    let error = parse("on_lost = \"minhop\"").unwrap_err();
    assert!(error.starts_with("dmodc.conf:1: unknown variant `minhop`"), "{error}");
    assert!(parse("reference = 1").unwrap_err().starts_with("dmodc.conf:1:"));
    assert!(parse("= \0").is_err());
}

#[test]
fn files_that_never_end_and_threads_without_number_are_refused() {
    let read =
        |path: &str| Config::read(&ConfigPath { path: path.into(), must_exist: true }).unwrap_err();
    assert_eq!(read("/dev/zero"), "/dev/zero: this is a device, but a regular file is needed");
    assert!(read("/").starts_with("/: "));
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    assert!(read(&pipe.display().to_string()).contains("this is a pipe"));
    assert_eq!(parse("threads = 1024").map(|config| config.threads), Ok(1024));
    assert!(
        parse("threads = 1025").unwrap_err().contains("threads must be at most 1024, not 1025")
    );
}

#[test]
fn a_reference_is_learned_inferred_or_a_file() {
    let reference = |text: &str| parse(text).expect("it is right").reference;
    assert_eq!(reference("reference = \"learn\""), Some(ReferenceSource::Learn));
    assert_eq!(reference("reference = \"inferred\""), Some(ReferenceSource::Inferred));
    assert_eq!(reference("reference = \"./learn\""), Some(ReferenceSource::File("./learn".into())));
    assert_eq!(reference(""), None);
}

#[test]
fn nodes_are_numbered_by_type_if_asked_for() {
    let destinations = |text: &str| {
        let mut config = parse(text).expect("it is right");
        config.read_types()?;
        Ok::<_, String>(config.destinations())
    };
    assert_eq!(destinations(""), Ok(DestinationOrder::Places));
    assert_eq!(destinations("destination_order = \"lid\""), Ok(DestinationOrder::Lid));
    assert_eq!(destinations("destination_order = \"guid\""), Ok(DestinationOrder::Guid));
    let listed = destinations("destination_order = \"type-regex:^oss,^login\"");
    let types = node_types::from_list("^oss,^login").expect("they are right");
    assert_eq!(listed, Ok(DestinationOrder::TypedPlaces(types)));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("types");
    let text = format!("destination_order = 'types:{}'", path.display());
    assert!(destinations(&text).is_err_and(|e| e.contains("types: ")), "there is no file");
    fs::write(&path, "storage ^oss\nlogin (\n").expect("it can be written");
    assert!(destinations(&text).is_err_and(|e| e.contains("types:2:7: '(' is not a regular")));
    fs::write(&path, "storage ^oss\n").expect("it can be written");
    let mut config = parse(&text).expect("it is right");
    config.read_types().expect("the file is right");
    let before = config.clone();
    config.read_types().expect("the file is right");
    assert_eq!(config, before, "the same file gives the same configuration");
    fs::write(&path, "storage ^mds\n").expect("it can be written");
    config.read_types().expect("the file is right");
    assert_ne!(config, before, "another file gives another one");
}

#[test]
fn wrong_destination_orders_are_named_with_their_line() {
    for (order, message) in [
        ("leaves", "destination_order must be topological, lid, guid, types:FILE or"),
        ("types:", "destination_order must be topological, lid, guid, types:FILE or"),
        ("lid:x", "destination_order must be topological, lid, guid, types:FILE or"),
        ("file:x", "destination_order must be topological, lid, guid, types:FILE or"),
        ("type-regex:(", "'(' is not a regular expression"),
        ("type-regex:", "'' has an empty expression"),
    ] {
        let error = parse(&format!("threads = 1\ndestination_order = \"{order}\"")).unwrap_err();
        assert!(error.starts_with(&format!("dmodc.conf:2: {message}")), "{error}");
    }
}

#[test]
fn other_roots_make_another_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("roots");
    let mut config = parse(&format!("roots = '{}'", path.display())).expect("it is right");
    fs::write(&path, "0x1\n").expect("it can be written");
    config.read_roots().expect("they are listed");
    let before = config.clone();
    fs::write(&path, "0x2\n").expect("it can be written");
    config.read_roots().expect("they are listed");
    assert_ne!(config, before);
}

#[test]
fn the_example_is_right_and_says_the_defaults() {
    let example = include_str!("../../dmodc.conf.example");
    assert_eq!(parse(example), Ok(Config::default()));
    // With the comment signs gone it names every key, and each is known.
    let all: String = example
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .filter(|line| line.contains(" = ") && !line.starts_with(' '))
        .map(|line| format!("{line}\n"))
        .collect();
    let config = parse(&all).expect("every key is known");
    assert_eq!(all.lines().count(), 16);
    assert_eq!(config.on_lost, OnLost::Keep);
    let other = parse("on_lost = \"next-engine\"").expect("it is known");
    assert_eq!(other.on_lost, OnLost::NextEngine);
    assert_eq!(config.state_folder, Config::default().state_folder);
}
