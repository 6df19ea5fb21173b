//! `dmodc compare` from file to file: ends are exchanged in a file, the printed steps are done in it, and it is equal again.
//!
//! Files are in dmodc's JSON, and they are edited without the library. Dumps of real machines are taken from the folder that
//! `DMODC_FABRICS` names.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::collections::{BTreeMap, BTreeSet};

use desk::{Desk, skip};
use dmodc::Random;
use serde_json::{Value, json};

/// A port: the GUID of its device and its number.
type PlainPort = (String, u64);

/// A fabric in dmodc's JSON, whose cables can be changed.
struct FabricFile {
    json: Value,
    partner: BTreeMap<PlainPort, PlainPort>,
    switches: BTreeSet<String>,
    /// Adapters that are not compared, because they sit inside switches.
    inside: BTreeSet<String>,
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

impl FabricFile {
    fn read(desk: &Desk, name: &str) -> Self {
        let json: Value = serde_json::from_str(&desk.read(name)).unwrap();
        let mut partner = BTreeMap::new();
        let port = |end: &Value| (text_of(&end["guid"]), end["port"].as_u64().unwrap());
        for cable in json["cables"].as_array().unwrap() {
            let (a, b) = (port(&cable["a"]), port(&cable["b"]));
            partner.insert(a.clone(), b.clone());
            partner.insert(b, a);
        }
        let guids = |key: &str, is_one: fn(&Value) -> bool| -> BTreeSet<String> {
            let devices = json[key].as_array().unwrap().iter();
            devices.filter(|device| is_one(device)).map(|device| text_of(&device["guid"])).collect()
        };
        let switches = guids("switches", |_| true);
        let inside = guids("adapters", |adapter| adapter["kind"] == "aggregation");
        FabricFile { partner, switches, inside, json }
    }

    fn write(&mut self, desk: &Desk, name: &str) {
        let end = |(guid, port): &PlainPort| json!({ "guid": guid, "port": port });
        let cables = self.partner.iter().filter(|(a, b)| a < b);
        let cables = cables.map(|(a, b)| json!({ "a": end(a), "b": end(b), "rate": "4xNDR" }));
        self.json["cables"] = cables.collect();
        desk.write(name, &self.json.to_string());
    }

    fn join(&mut self, a: PlainPort, b: PlainPort) {
        self.partner.insert(a.clone(), b.clone());
        self.partner.insert(b, a);
    }

    /// Exchanges the cable ends in two ports.
    fn swap(&mut self, u: PlainPort, v: PlainPort) {
        let (a, b) = (self.partner[&u].clone(), self.partner[&v].clone());
        self.join(u, b);
        self.join(v, a);
    }

    /// Exchanges two random cable ends. Returns `false` if no fabric can be cabled so.
    fn swap_any(&mut self, random: &mut Random) -> bool {
        let ports: Vec<&PlainPort> = self.partner.keys().collect();
        let mut any = || ports[random.below(ports.len() as u64) as usize].clone();
        let (u, v) = (any(), any());
        let (a, b) = (&self.partner[&u], &self.partner[&v]);
        let fits = |one: &PlainPort, other: &PlainPort| {
            let has_switch = self.switches.contains(&one.0) || self.switches.contains(&other.0);
            one.0 != other.0 && has_switch
        };
        let is_inside = [&u, &v, a, b].iter().any(|port| self.inside.contains(&port.0));
        let is_possible = u != v && *a != v && !is_inside && fits(&u, b) && fits(&v, a);
        if is_possible {
            self.swap(u, v);
        }
        is_possible
    }

    /// Does a step as the JSON result prints it.
    fn step(&mut self, step: &Value) {
        let port = |end: &Value| (text_of(&end["guid"]), end["port"].as_u64().unwrap());
        let pair = |ends: &Value| (port(&ends[0]), port(&ends[1]));
        match step["action"].as_str().unwrap() {
            "swap" => {
                let (u, v) = pair(&step["ports"]);
                self.swap(u, v);
            }
            "move" => {
                let (from, to) = (port(&step["from"]), port(&step["to"]));
                let far = self.partner.remove(&from).unwrap();
                assert!(!self.partner.contains_key(&to), "{to:?} is not free");
                self.join(to, far);
            }
            "plug" => {
                let (a, b) = pair(&step["ends"]);
                assert!(!self.partner.contains_key(&a) && !self.partner.contains_key(&b));
                self.join(a, b);
            }
            "unplug" => {
                let (a, b) = pair(&step["ends"]);
                assert_eq!(self.partner.remove(&a).as_ref(), Some(&b));
                self.partner.remove(&b);
            }
            other => panic!("unknown step {other}"),
        }
    }
}

/// Exchanges ends in `whole.json`, takes up to `lacking` cables away, and does the steps that the command prints.
fn repaired_by_steps(desk: &Desk, random: &mut Random, lacking: usize) {
    let mut file = FabricFile::read(desk, "whole.json");
    let wanted = 1 + random.below(10) as usize;
    let mut made = 0;
    while made < wanted {
        made += usize::from(file.swap_any(random));
    }
    for _ in 0..lacking {
        let ports: Vec<PlainPort> = file.partner.keys().cloned().collect();
        let port = &ports[random.below(ports.len() as u64) as usize];
        if !file.inside.contains(&port.0) && !file.inside.contains(&file.partner[port].0) {
            let far = file.partner.remove(port).unwrap();
            file.partner.remove(&far);
            made += 1;
        }
    }
    file.write(desk, "now.json");
    let args = ["compare", "now.json", "--with", "whole.json", "--json", "--judge", "0"];
    let output = desk.run(&args);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!steps.is_empty())), "{found}");
    assert!(steps.len() <= made && found["exact"] == true, "{made}: {found}");
    steps.iter().for_each(|step| file.step(step));
    file.write(desk, "repaired.json");
    let args = ["compare", "repaired.json", "--with", "whole.json", "--json", "--judge", "0"];
    let again = desk.json(0, &args);
    assert_eq!((&again["equal"], &again["replugs"]), (&true.into(), &0.into()), "{again}");
}

#[test]
fn printed_steps_repair_the_file() {
    let shapes: [&[&str]; 4] = [
        &["pgft", "3; 4,4,3; 1,2,2; 1,2,1"],
        &["directors", "--nodes", "4"],
        &["pods"],
        &["preset", "director-648"],
    ];
    for shape in shapes {
        let desk = Desk::new();
        desk.ok(&[&["generate"], shape, &["--format", "json", "-o", "whole.json"]].concat());
        for seed in 0..6 {
            let mut random = Random::new(seed, 0);
            let lacking = seed as usize % 3;
            repaired_by_steps(&desk, &mut random, lacking);
        }
    }
}

#[test]
fn printed_steps_repair_dumps_of_real_machines() {
    let Some(folder) = std::env::var_os("DMODC_FABRICS") else {
        return skip("DMODC_FABRICS names no folder of real fabrics");
    };
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.display().to_string();
        let desk = Desk::new();
        let convert = desk.run(&["convert", &name, "--format", "json", "-o", "whole.json"]);
        // Not every file of the folder is a fabric.
        if convert.status.code() != Some(0) {
            continue;
        }
        count += 1;
        if FabricFile::read(&desk, "whole.json").switches.len() < 2 {
            continue;
        }
        for seed in 0..2 {
            let mut random = Random::new(seed, 1);
            repaired_by_steps(&desk, &mut random, 0);
        }
    }
    assert!(count > 0, "the folder has no fabric");
}
