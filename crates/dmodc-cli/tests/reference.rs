//! `dmodc route --engine stable --reference` as users and their scripts meet it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::collections::BTreeMap;
use std::fs;

use desk::Desk;

/// A fabric of three levels with shuffled GUIDs, and its tables.
fn whole() -> Desk {
    let desk = Desk::new();
    let tuple = "3; 4,4,4; 1,4,4; 1,1,2";
    desk.ok(&["generate", "pgft", tuple, "--guids", "shuffled", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    desk
}

/// Routes by the reference f.topo.
fn stable(desk: &Desk, code: i32, fabric: &str, more: &[&str]) -> String {
    let args = ["route", fabric, "--engine", "stable", "--reference", "f.topo"];
    desk.code(code, &[&args[..], more].concat())
}

/// What follows each LID, by switch and GUID of the destination; LIDs may differ.
fn lines(desk: &Desk, name: &str, guid: &str) -> BTreeMap<(String, String), String> {
    let mut lines = BTreeMap::new();
    let mut switch = String::new();
    for line in desk.read(name).lines() {
        if let Some(entry) = line.strip_prefix("0x") {
            let (ports, end) = entry[4..].split_once(" #").unwrap();
            let end = end.split_once(guid).unwrap().1[..18].to_owned();
            lines.insert((switch.clone(), end), ports.trim().to_owned());
        } else if let Some((_, rest)) = line.split_once(" guid ") {
            switch = rest[..18].into();
        }
    }
    lines
}

fn entries(desk: &Desk, name: &str) -> BTreeMap<(String, String), String> {
    lines(desk, name, " portguid ")
}

#[test]
fn only_what_must_move_does() {
    let desk = whole();
    let faults = ["--cables", "3%", "--switches", "2", "--seed", "5", "-o", "g.topo"];
    desk.ok(&[&["degrade", "f.topo"], &faults[..]].concat());
    let output = stable(&desk, 0, "g.topo", &["-o", "g.lft", "--alternatives", "g.alt"]);
    let head = "\nreference f.topo: missing 2 switches, ";
    assert!(
        output
            .starts_with("engine stable: tables of 46 switches with 110 destinations each, routed"),
        "{output}"
    );
    assert!(output.contains(head), "{output}");
    let (old, new) = (entries(&desk, "f.lft"), entries(&desk, "g.lft"));
    let alternatives = lines(&desk, "g.alt", " ");
    assert_eq!(new.keys().collect::<Vec<_>>(), alternatives.keys().collect::<Vec<_>>());
    let mut forced = 0;
    for (name, port) in &new {
        let could_stay = alternatives[name].split(' ').any(|port| port == old[name]);
        assert_eq!(could_stay, *port == old[name], "{name:?}");
        forced += usize::from(!could_stay);
    }
    assert!(forced > 0);
    desk.ok(&["route", "g.topo", "-o", "plain.lft"]);
    let plain = entries(&desk, "plain.lft");
    let moved = plain.iter().filter(|(name, port)| old[name] != **port).count();
    assert!(moved > 3 * forced, "{moved} entries move without a reference, {forced} with it");
    assert!(
        desk.ok(&["check", "g.topo", "g.lft", "--up-down"])
            .ends_with("verdict: sound, and every pair is delivered\n")
    );
}

/// A fabric as `ibnetdiscover` would write it for switches that count no port behind the last one in use.
fn with_guessed_ports(text: &str) -> String {
    let mut devices: Vec<String> = text.split_inclusive("\n\n").map(String::from).collect();
    for device in devices.iter_mut().filter(|device| device.contains("\nSwitch\t")) {
        let port = |line: &str| line.strip_prefix('[')?.split_once(']')?.0.parse::<u8>().ok();
        let last = device.lines().filter_map(port).max().unwrap_or(0);
        let (head, rest) = device.split_once("\nSwitch\t").unwrap();
        let (_, rest) = rest.split_once(' ').unwrap();
        *device = format!("{head}\nSwitch\t{last} {rest}");
    }
    devices.concat()
}

/// The same as `ibnetdiscover -p` lists it, without the lines of ports that are down.
fn port_list(fabric: &serde_json::Value) -> String {
    let list = |of: &serde_json::Value| of.as_array().unwrap().clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    // By GUID of the device: SW or CA, its LID, the GUID of its port, and its name.
    let mut devices = BTreeMap::new();
    for switch in list(&fabric["switches"]) {
        let (guid, name) = (text(&switch["guid"]), text(&switch["name"]));
        devices.insert(guid.clone(), ("SW", switch["lid"].clone(), guid, name));
    }
    for adapter in list(&fabric["adapters"]) {
        let (guid, name, port) =
            (text(&adapter["guid"]), text(&adapter["name"]), &adapter["end_ports"][0]);
        devices.insert(guid, ("CA", port["lid"].clone(), text(&port["guid"]), name));
    }
    let mut lines = String::new();
    for cable in list(&fabric["cables"]) {
        let [a, b] = ["a", "b"].map(|end| {
            let (kind, lid, guid, name) = &devices[&text(&cable[end]["guid"])];
            (format!("{kind} {lid} {} {guid}", cable[end]["port"]), name)
        });
        for (near, far) in [(&a, &b), (&b, &a)] {
            lines += &format!("{} 4x NDR - {} ( '{}' - '{}' )\n", near.0, far.0, near.1, far.1);
        }
    }
    lines
}

/// A file that does not list the ports that are down is the same state of the fabric.
#[test]
fn dead_ports_that_a_file_does_not_list_are_dead_slots() {
    let desk = whole();
    let healthy = desk.read("f.topo");
    let mut shorter = 0;
    for seed in ["1", "2", "3", "4"] {
        let faults = ["--cables", "8", "--seed", seed, "-o", "g.topo"];
        desk.ok(&[&["degrade", "f.topo"], &faults[..]].concat());
        stable(&desk, 0, "g.topo", &["-o", "g.lft"]);
        let text = desk.read("g.topo");
        desk.write("guessed.topo", &with_guessed_ports(&text));
        shorter += usize::from(desk.read("guessed.topo") != text);
        desk.ok(&["convert", "g.topo", "--format", "json", "-o", "g.json"]);
        desk.write("list", &port_list(&serde_json::from_str(&desk.read("g.json")).unwrap()));
        for form in ["guessed.topo", "list"] {
            let output = stable(&desk, 0, form, &["-o", "short.lft"]);
            assert!(output.contains("\nreference f.topo: missing 8 cables\n"), "{form}: {output}");
            assert_eq!(entries(&desk, "short.lft"), entries(&desk, "g.lft"), "{form}, {seed}");
        }
    }
    assert!(shorter > 0, "some switch lost its last cable");
    assert_eq!(with_guessed_ports(&healthy), healthy, "all ports of the whole are in use");
}

#[test]
fn history_leaves_no_trace() {
    let desk = whole();
    // Whole again, or never broken: the tables of Dmodc, byte for byte.
    stable(&desk, 0, "f.topo", &["-o", "again.lft"]);
    desk.ok(&["route", "f.topo", "--engine", "stable", "-o", "own.lft"]);
    assert_eq!(desk.read("again.lft"), desk.read("f.lft"));
    assert_eq!(desk.read("own.lft"), desk.read("f.lft"));
    // The same faults in any order, and in another format.
    let drawn = desk.json(0, &["degrade", "f.topo", "--cables", "6", "--json", "-o", "g.topo"]);
    stable(&desk, 0, "g.topo", &["-o", "g.lft"]);
    let name = |cable: &serde_json::Value| {
        format!("{}/{}", cable["a"]["guid"].as_str().unwrap(), cable["a"]["port"])
    };
    let removed: Vec<String> = drawn["removed"].as_array().unwrap().iter().map(name).collect();
    for order in [[0, 1, 2, 3, 4, 5], [5, 2, 0, 4, 3, 1]] {
        desk.ok(&["convert", "f.topo", "--format", "json", "-o", "h.topo"]);
        for at in order {
            desk.ok(&["degrade", "h.topo", "--remove", &removed[at], "-o", "h.topo"]);
        }
        stable(&desk, 0, "h.topo", &["-o", "h.lft"]);
        assert_eq!(desk.read("h.lft"), desk.read("g.lft"));
    }
    desk.ok(&["convert", "g.topo", "--format", "json", "-o", "g.json"]);
    stable(&desk, 0, "g.json", &["-o", "json.lft"]);
    assert_eq!(desk.read("json.lft"), desk.read("g.lft"));
}

#[test]
fn changes_of_the_reference_are_reported_to_scripts() {
    let desk = whole();
    desk.ok(&["degrade", "f.topo", "--switches", "1", "--seed", "5", "-o", "g.topo"]);
    let json: serde_json::Value =
        serde_json::from_str(&stable(&desk, 0, "g.topo", &["--json"])).unwrap();
    let reference = &json["reference"];
    assert_eq!((&json["engine"], &reference["file"]), (&"stable".into(), &"f.topo".into()));
    assert_eq!(reference["missing"]["switches"], 1);
    assert!(reference["missing"]["cables"].as_u64().unwrap() >= 4);
    assert_eq!(reference["new"]["switches"], 0);
    assert_eq!((&json["switches"], &json["destinations"]), (&47.into(), &111.into()));
    let alone = desk.json(0, &["route", "g.topo", "--json"]);
    assert_eq!(alone["reference"], serde_json::Value::Null);
    for key in ["entries", "switches", "destinations", "leaf_pairs", "empty_entries"] {
        assert_eq!(alone[key], json[key], "{key}");
    }

    // The other way round: the same parts are new.
    let args = ["route", "f.topo", "--engine", "stable", "--reference", "g.topo", "--json"];
    let grown = &desk.json(0, &args)["reference"];
    assert_eq!((&grown["new"], &grown["missing"]), (&reference["missing"], &reference["new"]));
}

#[test]
fn what_exists_stays_when_a_fabric_grows() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 4,6; 1,4; 1,1", "-o", "f.topo"]);
    desk.ok(&["generate", "pgft", "2; 4,9; 1,4; 1,1", "-o", "g.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let output = stable(&desk, 0, "g.topo", &["-o", "g.lft", "--save-orders", "orders"]);
    assert!(
        output.contains("\nreference f.topo: new 3 switches, 12 nodes, 12 cables\n"),
        "{output}"
    );
    let (old, new) = (entries(&desk, "f.lft"), entries(&desk, "g.lft"));
    assert!(old.iter().all(|(name, port)| new[name] == *port), "nothing moved");
    assert_eq!(new.len(), 13 * (36 + 13) - 4 * 3, "all but spine to spine");
    let orders = desk.read("orders");
    let place = |name: &str| orders.find(&format!(" node-{name}\n")).unwrap();
    assert!(place("23") < place("24") && place("24") < place("35"), "{orders}");
    // With its orders the same again, and for a fabric that shrank.
    stable(&desk, 0, "g.topo", &["-o", "again.lft", "--orders", "orders"]);
    assert_eq!(desk.read("again.lft"), desk.read("g.lft"));
    let back = ["route", "f.topo", "--engine", "stable", "--reference", "g.topo", "-o", "h.lft"];
    assert!(desk.ok(&back).contains("missing 3 switches, 12 nodes, 12 cables\n"));
    assert_eq!(desk.read("h.lft"), desk.read("f.lft"), "numbers of both are the same here");
}

#[test]
fn a_split_is_the_same_tables() {
    let desk = whole();
    desk.ok(&["degrade", "f.topo", "--switches", "3", "--cables", "9", "-o", "g.topo"]);
    stable(&desk, 0, "g.topo", &["-o", "g.lft"]);
    assert!(stable(&desk, 0, "g.topo", &["--split", "parts"]).contains("reference f.topo: "));
    let parts = fs::read_dir(desk.path("parts")).unwrap();
    let mut parts: Vec<String> =
        parts.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    let tables = desk.read("g.lft");
    parts.sort_by_key(|part| tables.find(part.lines().next().unwrap()));
    assert_eq!(parts.len(), 45, "there are no tables for what is absent");
    assert_eq!(parts.concat(), tables);
}

#[test]
fn roots_are_connected_and_options_are_those_of_the_reference() {
    let desk = whole();
    let options = ["--destination-order", "guid", "--switch-order", "guid", "--connect-roots"];
    desk.ok(&[&["route", "f.topo", "-o", "f.lft"], &options[..]].concat());
    stable(&desk, 0, "f.topo", &[&["-o", "g.lft"], &options[..]].concat());
    assert_eq!(desk.read("g.lft"), desk.read("f.lft"));
    desk.ok(&["degrade", "f.topo", "--switches", "2", "-o", "g.topo"]);
    stable(&desk, 0, "g.topo", &[&["-o", "g.lft"], &options[..]].concat());
    desk.ok(&[&["route", "g.topo", "-o", "plain.lft"], &options[..]].concat());
    let lost = |name: &str| {
        desk.json(0, &["check", "g.topo", name, "--json"])["everything"]["lost"].clone()
    };
    assert_eq!(lost("g.lft"), lost("plain.lft"));
}

#[test]
fn wrong_references_get_one_clear_line_and_exit_2() {
    let desk = whole();
    let refused = |more: &[&str]| desk.error(&[&["route", "f.topo"], more].concat());
    let by = |reference: &'static str| ["--engine", "stable", "--reference", reference];
    let alone = refused(&["--reference", "f.topo"]);
    assert!(alone.contains("--reference works only with --engine stable"), "{alone}");
    desk.ok(&["generate", "pgft", "2; 18,36; 1,18; 1,1", "-o", "other.topo"]);
    let other = refused(&by("other.topo"));
    let reason = "other.topo: the reference describes another fabric: ";
    assert!(other.starts_with(&format!("dmodc: {reason}")), "{other}");
    assert!(other.bytes().filter(u8::is_ascii_digit).count() >= 2, "with numbers: {other}");
    assert!(refused(&by("none.topo")).contains("none.topo: No such file"));
    desk.write("bad.topo", "Switch\tnonsense\n");
    assert!(refused(&by("bad.topo")).contains("bad.topo:1:"));
    assert!(refused(&by("f.lft")).contains("this file has forwarding tables"));
    let twice = desk.error(&[&["route", "-"], &by("-")[..]].concat());
    assert!(twice.contains("only one input can be '-' (standard input)"), "{twice}");
    assert_eq!(desk.files().len(), 4, "nothing was written");
}

/// Without a file, the reference is inferred: the tables are those of the whole fabric as the reference.
#[test]
fn a_reference_is_inferred_where_none_is_given() {
    let desk = whole();
    let lost = ["--remove", "L1-3/6", "--remove", "L2-5/7", "-o", "g.topo"];
    desk.ok(&[&["degrade", "f.topo"], &lost[..]].concat());
    stable(&desk, 0, "g.topo", &["-o", "file.lft"]);
    let inferred = ["route", "g.topo", "--engine", "stable"];
    let output = desk.ok(&[&inferred[..], &["-o", "default.lft"]].concat());
    let line = "\nreference inferred: adds 1 cable above rank 0, 1 cable above rank 1\n";
    assert!(output.contains(line), "{output}");
    desk.ok(&[&inferred[..], &["--reference", "inferred", "-o", "word.lft"]].concat());
    assert_eq!(desk.read("default.lft"), desk.read("file.lft"));
    assert_eq!(desk.read("word.lft"), desk.read("file.lft"));
    // A whole fabric is its own reference.
    let output = desk.ok(&["route", "f.topo", "--engine", "stable", "-o", "own.lft"]);
    assert!(output.contains("\nreference inferred: no cable is missing\n"), "{output}");
    assert_eq!(desk.read("own.lft"), desk.read("f.lft"));
    // A file of that name is given by a path.
    let error = desk.code(2, &[&inferred[..], &["--reference", "./inferred"]].concat());
    assert!(!error.contains("adds"), "{error}");
    let info = desk.ok(&["info", "g.topo"]);
    assert!(info.contains("    missing cables: 1 (a switch of this rank usually has "), "{info}");
}

#[test]
fn an_irregular_fabric_is_routed_by_dmodc() {
    let desk = Desk::new();
    let text = "Switch 4 \"S-1\"\n[1] \"S-2\"[1]\n[2] \"H-1\"[1]\n\nSwitch 4 \"S-2\"\n[1] \"S-1\"[1]\n[2] \"H-2\"[1]\n\n\
                Ca 1 \"H-1\"\n[1] \"S-1\"[2]\n\nCa 1 \"H-2\"\n[1] \"S-2\"[2]\n";
    fs::write(desk.path("two.net"), text).unwrap();
    let json = desk.ok(&["route", "two.net", "--engine", "stable", "-o", "s.lft", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["engine"], "dmodc");
    let why = json["reference"]["inferred"]["too_irregular"].as_str().unwrap();
    assert!(why.starts_with("1 of 1 cable between switches fit no pattern"), "{why}");
    desk.ok(&["route", "two.net", "-o", "d.lft"]);
    assert_eq!(desk.read("s.lft"), desk.read("d.lft"));
}

/// The devices of a file in another order: the same tables and the same bound. Cables are missing and free ports are scarce, so the order of
/// the file could decide which cables the inferred whole has.
#[test]
fn the_order_of_a_file_does_not_matter() {
    let shapes = [
        "directors --directors 4 --lines 4 --spines 8 --cables 12 --parallel 3 --nodes 5 --spread consecutive --pods 5 --middle 7 \
         --leaves 4 --departures missing=1%,uneven=5%,service=3 --seed 822314",
        "directors --directors 2 --lines 18 --spines 8 --cables 14 --parallel 2 --nodes 16 --spread strided --pods 3 --middle 3 \
         --leaves 4 --departures missing=5%,uneven=20% --seed 607272",
        "pods --pods 2 --leaves 8 --nodes 9 --lower 5 --upper 1 --cores 2 --reach 1 --departures missing=1%,recabled=1 --seed 208948",
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let desk = Desk::new();
        let shape: Vec<&str> = shape.split_whitespace().collect();
        let generate = [&["generate"], &shape[..], &["--guids", "shuffled", "-o", "a.topo"]];
        desk.ok(&generate.concat());
        let text = desk.read("a.topo");
        let (head, devices) = text.split_once("\n\n").unwrap();
        let mut devices: Vec<&str> = devices.split("\n\n").map(str::trim).collect();
        dmodc::Random::new(number as u64, 0).shuffle(&mut devices);
        desk.write("b.topo", &format!("{head}\n\n{}\n", devices.join("\n\n")));
        for engine in ["dmodc", "stable", "stable+relief"] {
            let [a, b] = ["a", "b"].map(|name| {
                let (fabric, tables) = (format!("{name}.topo"), format!("{name}.lft"));
                let args = ["route", &fabric, "--engine", engine, "-o", &tables, "--json"];
                let found: serde_json::Value =
                    serde_json::from_slice(&desk.run(&args).stdout).unwrap();
                (entries(&desk, &tables), found["all_to_all"].clone())
            });
            assert!(!a.0.is_empty() && a.1["bound"].is_u64(), "{shape:?}, {engine}");
            assert_eq!(a, b, "{shape:?}, {engine}");
        }
    }
}
