//! Everything that `dmodc` prints or writes as JSON matches its schema in `docs/src/reference/schemas`, and every key of a
//! schema occurs. The files of the plugin are tested in its own crate.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../desk/mod.rs"]
mod desk;
mod lab;
mod validator;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use desk::{DMODC, Desk, FIGURE_1, gpu_is_required, skip, text};
use regex_lite::Regex;
use serde_json::{Value, json};
use validator::Schemas;

/// Names in the sources that look like schemas and are none: the plan of a study is TOML, journals are text.
const NOT_JSON: [&str; 3] =
    ["dmodc/study-plan/2", "dmodc/study-journal/2", "dmodc/whatif-journal/1"];

/// The documents of the web page's API, which `openapi.json` describes and the server's own crate tests.
const OF_THE_API: [&str; 2] = ["dmodc/scene/1", "dmodc/scenario/1"];

/// The schemas of the plugin's own files, which its own crate tests.
const OF_THE_PLUGIN: [&str; 2] = ["opensm-1.json", "opensm-event-1.json"];

/// Keys that do not occur here, by file and by the end of their place, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "bench-1.json",
    "/checked_destination_switches",
    "only tables of more than 400,000 entries are compared in samples, which takes seconds",
)];

/// Keys that only occur if OpenSM and ibsim are installed.
const OF_OPENSM: [(&str, &str); 4] = [
    ("bench-1.json", "/$defs/opensm/"),
    ("bench-1.json", "/$defs/refused/"),
    ("route-1.json", "/$defs/opensm/"),
    ("study-2.json", "/versions/properties/opensm"),
];

/// Keys that only occur on a machine with a GPU, where scripts/test-gpu checks them: if a GPU is required, they must occur.
const OF_GPUS: (&str, &str) = ("bench-1.json", "/$defs/gpu/");

/// A switch, and nothing else.
const BARE: &str = r#"{"schema": "dmodc/fabric/1", "adapters": [], "cables": [], "switches": [{"guid": "0x1", "lid": 1, "ports": 4,
    "name": "alone", "vendor": 0, "device": 0, "system": "0x0"}]}"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn schemas() -> Schemas {
    Schemas::read(&validator::folder(env!("CARGO_MANIFEST_DIR")))
}

/// Returns the files below a folder whose names end like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_schema_of_the_sources_has_a_file_and_every_file_is_used() {
    let name = Regex::new("\"(?:# )?(dmodc/[a-z-]+/[0-9]+)").unwrap();
    let mut named = BTreeSet::new();
    for member in fs::read_dir(repository().join("crates")).unwrap() {
        for file in files(&member.unwrap().path().join("src"), ".rs") {
            if file.ends_with("tests.rs") {
                continue;
            }
            let source = fs::read_to_string(&file).unwrap();
            named.extend(name.captures_iter(&source).map(|found| found[1].to_owned()));
        }
    }
    for other in NOT_JSON.into_iter().chain(OF_THE_API) {
        assert!(named.remove(other), "{other} is in no source any more");
    }
    let wanted: BTreeSet<String> =
        named.iter().map(|name| validator::file_name(name).unwrap()).collect();
    let found: BTreeSet<String> = schemas().names().map(Into::into).collect();
    assert_eq!(found, wanted);
    let page = fs::read_to_string(repository().join("docs/src/reference/json.md")).unwrap();
    for name in found {
        assert!(page.contains(&format!("](schemas/{name})")), "json.md has no link to {name}");
    }
}

#[test]
fn schemas_describe_every_key_and_allow_no_other() {
    let broken = schemas().broken_rules();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The validator is our own, so it is tested, too.
#[test]
fn wrong_documents_are_found() {
    let mut schemas = schemas();
    let hop = json!({ "guid": "0x0000000000000001", "name": "s", "in": null, "out": 3 });
    let route = json!({ "lid": 1, "fate": "delivered", "hops": [hop] });
    let good = json!({ "schema": "dmodc/trace/1", "delivered": true, "routes": [route] });
    assert_eq!(schemas.check(&good), Vec::<String>::new());
    let wrong = |pointer: &str, value: Value, words: &str| {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        let errors = schemas.check(&document);
        assert!(errors.len() == 1 && errors[0].contains(words), "{pointer}: {errors:?}");
    };
    let mut wrong = wrong;
    wrong("/schema", json!("dmodc/trace/9"), "no schema file for dmodc/trace/9");
    wrong("/schema", json!(null), "no key `schema`");
    wrong("/delivered", json!("yes"), "type");
    wrong("/routes", json!({}), "type");
    wrong("/routes/0/lid", json!(1.5), "type");
    wrong("/routes/0/lid", json!(-1), "minimum");
    wrong("/routes/0/fate", json!("unknown"), "enum");
    wrong("/routes/0/hops/0/guid", json!("0x1"), "pattern");
    wrong(
        "/routes/0/hops/0",
        json!({ "guid": "0x0000000000000001", "in": 1, "out": 2 }),
        "name is missing",
    );
    let more = json!({ "guid": "0x0000000000000001", "name": "", "in": 1, "out": 2, "new": 3 });
    wrong("/routes/0/hops/0", more, "new is not described");
    let rate = json!({ "schema": "dmodc/fabric/1", "switches": [], "adapters": [], "cables": [
        { "a": { "guid": "0x0000000000000001", "port": 255 }, "b": { "guid": "0x0000000000000002", "port": 1 }, "rate": "" },
    ] });
    let errors = schemas.check(&rate);
    assert!(errors.len() == 1 && errors[0].contains("maximum"), "{errors:?}");
    // A document of several forms must have exactly one of them.
    let plan = json!({ "schema": "dmodc/plan/1", "safe": true });
    assert!(!schemas.check(&plan).is_empty());
    // A key that is known but may not be named so.
    let dirt =
        json!({ "schema": "dmodc/info/1", "dirt": { "dust": { "count": 1, "first_lines": [0] } } });
    let errors = schemas.check(&dirt).join("\n");
    assert!(errors.contains("dust") && errors.contains("minimum"), "{errors}");
    let untested = schemas.untested(|name| name == "trace-1.json");
    assert!(untested.is_empty(), "{untested:?}");
    assert!(!schemas.untested(|name| name == "check-2.json").is_empty());
}

/// A desk whose JSON is compared with the schemas.
struct CheckedDesk {
    desk: Desk,
    schemas: Schemas,
    kinds: BTreeSet<String>,
}

impl CheckedDesk {
    #[track_caller]
    fn check(&mut self, document: &str, origin: &str) -> Value {
        let document: Value =
            serde_json::from_str(document).unwrap_or_else(|error| panic!("{origin}: {error}"));
        let errors = self.schemas.check(&document);
        assert!(errors.is_empty(), "{origin}:\n{}\n{document:#}", errors.join("\n"));
        self.kinds.extend(document["schema"].as_str().and_then(validator::file_name));
        document
    }

    /// Runs a command, adds `--json`, and checks what it prints. The answer may be yes or no.
    #[track_caller]
    fn json(&mut self, args: &[&str]) -> Value {
        let args = [args, &["--json"]].concat();
        let output = self.desk.run(&args);
        let errors = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}\n{errors}");
        self.check(&text(&output.stdout), &args.join(" "))
    }

    #[track_caller]
    fn file(&mut self, name: &str) -> Value {
        self.check(&self.desk.read(name), name)
    }

    /// Writes a file that differs from another one.
    fn edit(&self, from: &str, to: &str, change: impl FnOnce(String) -> String) {
        self.desk.write(to, &change(self.desk.read(from)));
    }
}

/// The whole program, on fabrics on which every key has a value at least once.
#[test]
fn documents_match_their_schemas() {
    let mut desk = CheckedDesk { desk: Desk::new(), schemas: schemas(), kinds: BTreeSet::new() };
    fabrics(&mut desk);
    routes(&mut desk);
    judgements(&mut desk);
    comparisons(&mut desk);
    cablings(&mut desk);
    maintenance(&mut desk);
    benchmarks(&mut desk);
    studies(&mut desk);
    lab::results(&mut desk);
    let has_opensm = lab::opensm(&mut desk);

    let is_excused = |(file, place): &(String, String)| {
        let is_rare = |of: &&(&str, &str, &str)| file == of.0 && place.ends_with(of.1);
        let is_opensm = |of: &&(&str, &str)| file == of.0 && place.contains(of.1);
        EXCEPTIONS.iter().any(|of| is_rare(&of))
            || (!gpu_is_required() && is_opensm(&&OF_GPUS))
            || (!has_opensm && OF_OPENSM.iter().any(|of| is_opensm(&of)))
    };
    let untested = desk.schemas.untested(|name| !OF_THE_PLUGIN.contains(&name));
    let untested: Vec<String> = untested
        .iter()
        .filter(|(place, _)| !is_excused(place))
        .map(|((file, place), why)| format!("{file}#{place}: {why}"))
        .collect();
    assert!(untested.is_empty(), "{}", untested.join("\n"));
    let all: BTreeSet<String> = desk.schemas.names().map(Into::into).collect();
    let others = OF_THE_PLUGIN.map(String::from).into();
    assert_eq!(desk.kinds, &all - &others, "every kind of document was seen");
}

/// Fabrics of all kinds: generated, degraded, and those of the fixtures with all their oddities.
fn fabrics(desk: &mut CheckedDesk) {
    desk.json(&["demo"]);
    desk.json(&["generate", "preset"]);
    desk.json(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    desk.json(&["convert", "f.topo", "--format", "json", "-o", "f.json"]);
    desk.file("f.json");
    desk.json(&["info", "f.json"]);
    desk.json(&["route", "f.topo", "-o", "f.lft"]);
    desk.json(&["convert", "f.topo", "f.lft", "--format", "simgrid"]);
    desk.json(&["convert", "f.topo", "f.lft", "--format", "loggopsim", "-o", "f.dot"]);
    let mut fixtures = files(&repository().join("fixtures"), ".topo");
    fixtures.extend(files(&repository().join("fixtures"), ".db_csv"));
    let own = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"), ".topo");
    for fixture in fixtures.into_iter().chain(own) {
        let name = fixture.to_str().unwrap();
        desk.json(&["info", name]);
        desk.json(&["convert", name, "--format", "json", "-o", "x.json"]);
        desk.file("x.json");
    }
    let random = ["--cables", "3", "--switches", "1", "--seed", "7", "-o", "g.topo"];
    desk.json(&[&["degrade", "f.topo"], &random[..]].concat());
    // A leaf without cables upward: its nodes are cut off. Another loses a node.
    let removed = ["L1-0/3", "L1-0/4", "L1-0/5", "L1-0/6", "L1-1/1", "L3-0"];
    let removed: Vec<&str> = removed.iter().flat_map(|part| ["--remove", part]).collect();
    desk.json(&[&["degrade", "f.topo", "-o", "cut.topo"], &removed[..]].concat());
}

/// Fabrics with several ways down: their dividers are measured, for groups and for ports.
fn measured_dividers(desk: &mut CheckedDesk) {
    desk.json(&["generate", "directors", "-o", "directors.topo"]);
    desk.json(&[
        "generate",
        "pods",
        "--departures",
        "missing=1%,uneven=25%,service=2",
        "-o",
        "pods.topo",
    ]);
    desk.json(&["generate", "preset", "four-levels", "-o", "four.topo"]);
    for fabric in ["pods.topo", "four.topo"] {
        desk.json(&["info", fabric]);
        desk.json(&["route", fabric]);
    }
    desk.json(&["info", "directors.topo"]);
    desk.json(&["route", "directors.topo", "--save-orders", "directors.orders"]);
    desk.json(&["route", "directors.topo", "--orders", "directors.orders"]);
    let removed = ["L1-0/4", "L1-0/6", "L1-2/3", "L1-2/5"];
    let removed: Vec<&str> = removed.iter().flat_map(|part| ["--remove", part]).collect();
    desk.json(&[&["degrade", "f.topo", "-o", "rooted.topo"], &removed[..]].concat());
    desk.desk.write("roots", "0x02d0dc0100000002\n");
    desk.json(&["info", "rooted.topo", "--roots", "roots"]);
    desk.json(&["route", "rooted.topo", "--roots", "roots"]);
}

/// Fabrics that lack cables: two are inferred, and for a third one the leaf has no port any more. A chain of
/// leaves is too irregular.
fn inferred_references(desk: &mut CheckedDesk) {
    desk.json(&["generate", "pgft", "2; 4,8; 1,4; 1,1", "-o", "r.topo"]);
    let removed = ["L1-3/8", "L1-5/6", "L1-6/7"];
    let removed: Vec<&str> = removed.iter().flat_map(|part| ["--remove", part]).collect();
    desk.json(&[&["degrade", "r.topo", "-o", "free.topo"], &removed[..]].concat());
    desk.edit("free.topo", "full.topo", |fabric| {
        let guid = "\"S-02d0dc0100000004\"";
        fabric.replacen(&format!("Switch\t8 {guid}"), &format!("Switch\t7 {guid}"), 1)
    });
    for name in ["r.topo", "free.topo", "full.topo", &fixture("equal-ranks/fabric.topo")] {
        desk.json(&["info", name]);
        desk.json(&["route", name, "--engine", "stable"]);
    }
    let irregular = repository().join("crates/dmodc-cli/tests/data/chain-of-leaves.topo");
    desk.json(&["info", irregular.to_str().unwrap()]);
    desk.json(&["route", irregular.to_str().unwrap(), "--engine", "stable"]);
}

fn fixture(name: &str) -> String {
    repository().join("fixtures").join(name).to_str().unwrap().into()
}

/// Routes by all engines, with orders that are kept and with a reference.
fn routes(desk: &mut CheckedDesk) {
    desk.json(&["route", "f.topo", "-o", "f.lft", "--save-orders", "orders"]);
    desk.json(&["route", "g.topo", "-o", "g.lft", "--orders", "orders", "--connect-roots"]);
    desk.json(&[
        "route",
        "g.topo",
        "-o",
        "stable.lft",
        "--engine",
        "stable",
        "--reference",
        "f.topo",
    ]);
    desk.json(&["route", "f.topo", "--engine", "dmodk"]);
    desk.json(&["route", "g.topo", "--engine", "random"]);
    desk.json(&["route", "g.topo", "--split", "split"]);
    desk.json(&["route", "f.topo", "-o", "f.npy"]);
    desk.file("f.npy.json");
    desk.json(&["route", "cut.topo", "-o", "cut.lft"]);
    measured_dividers(desk);
    for name in ["service-nodes/fabric.topo", "equal-ranks/fabric.topo", "two-parts/fabric.topo"] {
        desk.json(&["route", &fixture(name)]);
    }
    inferred_references(desk);
    let chain = repository().join("crates/dmodc-cli/tests/data/chain-of-leaves.topo");
    let chain = chain.to_str().unwrap();
    let rule = desk.json(&["route", chain])["rank_rule"].clone();
    desk.desk.write("roots", &format!("{}\n", rule["roots"][0].as_str().unwrap()));
    desk.json(&["route", chain, "--roots", "roots"]);
}

/// Tables that lose pairs, loop and turn, and tables of another state of the fabric.
fn judgements(desk: &mut CheckedDesk) {
    desk.edit("f.lft", "lost.lft", |tables| tables.replacen("0x0003 005", "0x0003 099", 1));
    // A spine sends node-0 up instead of down, and the core sends it back.
    desk.edit("f.lft", "loop.lft", |tables| {
        let (head, tail) = tables.split_at(tables.find("('L2-0')").unwrap());
        format!("{head}{}", tail.replacen("0x0001 001", "0x0001 005", 1))
    });
    desk.edit("f.lft", "strange.lft", |tables| {
        tables.replacen("guid 0x02d0dc0100000001", "guid 0x0000000000000077", 1)
    });
    for tables in ["f.lft", "f.npy", "lost.lft", "loop.lft", "strange.lft"] {
        desk.json(&["check", "f.topo", tables]);
    }
    desk.json(&["check", "cut.topo", "f.lft"]);
    desk.json(&["check", "f.topo", "f.lft", "loop.lft", "--union"]);
    desk.json(&["trace", "f.topo", "f.lft", "node-0", "node-11"]);
    desk.json(&["trace", "f.topo", "loop.lft", "node-11", "node-0"]);
    desk.json(&["trace", "f.topo", "lost.lft", "node-0", "3"]);
    desk.json(&["trace", "cut.topo", "cut.lft", "node-0", "node-11"]);
}

/// Congestion risk of every pattern, differences and plans.
fn comparisons(desk: &mut CheckedDesk) {
    desk.desk.write("pairs", "node-0 node-11\nnode-3 node-5\n");
    let single = "a2a,rp:5,sp,bisection:3,ring,recursive-doubling,halving,tree,a2a:phases,neighbours:3x2x2,incast:3,\
                  storage:node-1,one-to-all:node-0,all-to-one:node-0,file:pairs";
    let double = "rp:5,rp:6,sp:2,sp:3,bisection:3,bisection:4,one-to-all:node-0,one-to-all:node-1,a2a:phases,a2a:phases:2,\
                  neighbours:3x2x2,neighbours:3,incast:2,incast:3,storage:node-1,storage:node-2";
    for patterns in [single, double, "rp:3", "sp:3"] {
        desk.json(&["analyze", "f.topo", "f.lft", "--patterns", patterns]);
    }
    desk.json(&["analyze", "f.topo", "f.lft", "--rates", "--patterns", single]);
    desk.desk
        .write("jobs", "a ring node-[0-5]\nb storage:node-7 node-[6-11]\nc a2a node-0,node-1\n");
    desk.json(&["analyze", "f.topo", "f.lft", "--jobs", "jobs"]);
    desk.json(&["analyze", "f.topo", "f.lft", "--jobs", "jobs", "--rates", "--patterns", "tree"]);
    desk.json(&["analyze", "cut.topo", "cut.lft"]);
    // Without a node there is no bound and no host.
    desk.desk.write("bare.json", BARE);
    desk.json(&["route", "bare.json", "-o", "bare.lft"]);
    desk.json(&["route", "g.topo", "--engine", "dmodc+relief", "-o", "relieved.lft"]);
    desk.json(&[
        "analyze",
        "bare.json",
        "bare.lft",
        "--patterns",
        "a2a,rp:3,bisection:2,recursive-doubling",
        "--rates",
    ]);
    // The nodes of one leaf need no cable between switches.
    desk.desk.write("job", "node-0\nnode-1\n");
    let job = ["--nodes", "job", "--patterns", "a2a,all-to-one:node-0"];
    desk.json(&[&["analyze", "f.topo", "f.lft"], &job[..]].concat());
    let (rails, tables) = (fixture("rails/fabric.topo"), fixture("rails/tables.lft"));
    desk.json(&["analyze", &rails, &tables]);

    desk.json(&["order", &rails, &tables]);
    desk.desk.write("listed", "node-4\nnode-4 node-77\nnode-1 node-2\n");
    desk.json(&["order", "f.topo", "f.lft", "--hosts", "listed", "--skip-unknown"]);
    desk.json(&["order", "f.topo", "--choose", "3"]);
    desk.json(&["order", "cut.topo", "cut.lft"]);
    desk.json(&["order", "f.topo", "--format", "json", "-o", "ordered.json"]);
    desk.file("ordered.json");

    desk.json(&["diff", "f.topo", "f.lft", "f.npy"]);
    desk.json(&["diff", "g.topo", "f.lft", "g.lft"]);
    desk.json(&["diff", "cut.topo", "f.lft", "cut.lft"]);
    let spare = fixture("back-to-back/fabric.topo");
    desk.json(&["diff", &spare, &fixture("back-to-back/tables.lft"), &fixture("clean/tables.lft")]);
    desk.json(&["whatif", "f.topo", "--double", "5", "--patterns", "sp,rp:3"]);
    desk.json(&["whatif", "f.topo", "--parts", "switches", "--patterns", "a2a"]);
    desk.json(&["whatif", "cut.topo", "--any-switch"]);
    desk.json(&["whatif", "bare.json", "--any-switch"]);
    desk.json(&["plan", "g.topo", "f.lft", "g.lft", "-o", "g.plan"]);
    desk.json(&["plan", "f.topo", "f.lft", "loop.lft"]);
    desk.json(&["plan", "f.topo", "loop.lft", "f.lft"]);
}

/// Cablings that differ in every way.
fn cablings(desk: &mut CheckedDesk) {
    let (recabled, clean) = (fixture("recabled/fabric.topo"), fixture("clean/fabric.topo"));
    for intended in ["recabled/intended.csv", "recabled/intended.ibdm", "clean/fabric.topo"] {
        desk.json(&["compare", &recabled, "--with", &fixture(intended)]);
    }
    desk.json(&["compare", &clean, "--with", &clean]);
    desk.json(&["compare", "f.topo"]);
    desk.json(&["compare", "f.topo", "--with", "g.topo"]);
    desk.json(&["compare", "g.topo", "--with", "f.topo", "--judge", "0"]);
    // One host is in another port, and one is not there.
    let header = "switch_a,port_a,switch_b,port_b\n";
    let rows = "leaf-0,1,n0,1\nleaf-0,5,n1,1\nleaf-1,7,nobody,1\nleaf-0,3,spine-0,1\n";
    desk.desk.write("moved.csv", &format!("{header}{rows}"));
    desk.json(&["compare", &clean, "--with", "moved.csv"]);
    // Without a plan: a cable within a level, a leaf without uplinks, and a cable of one switch.
    for doubtful in ["equal-ranks", "island", "self-loop"] {
        desk.json(&["compare", &fixture(&format!("{doubtful}/fabric.topo"))]);
    }
}

/// Parts that can be taken out, parts that cannot, limits that the present state exceeds, and repairs.
fn maintenance(desk: &mut CheckedDesk) {
    desk.desk.write("parts", "L1-0/3\nL1-0/4\nL1-0/5\nL1-0/6\nL2-0\n");
    let all = "lost=0,a2a=2x,sp=2x,rp=3x";
    for keep in ["lost=0", all, "a2a=1"] {
        desk.json(&["drain", "f.topo", "--parts", "parts", "--keep", keep]);
    }
    desk.json(&["repair", "cut.topo", "--reference", "f.topo"]);
    desk.json(&["repair", "f.topo", "--reference", "f.topo"]);
}

fn benchmarks(desk: &mut CheckedDesk) {
    let case = ["--pgft", "2; 4,6; 1,3; 1,1", "--rounds", "1"];
    let engines = ["--engine", "dmodc,stable,dmodk", "--dead", "0/0,10/0", "--threads", "2"];
    let bench = |more: &[&'static str]| [&["bench"], &case[..], more].concat();
    desk.json(&bench(
        &[&engines[..], &["--changes", "4", "--rewrite", "--record", "record"]].concat(),
    ));
    desk.file("record/record.json");
    let alone = bench(&["--engine", "dmodc,stable", "--threads", "1", "--no-check"]);
    desk.json(&[&alone[..], &["--against", "2; 4,4; 1,2; 1,1"]].concat());
    desk.json(&bench(&["--stream"]));
    // Where there is a GPU, these are rows of another kind.
    desk.json(&bench(&["--device", "auto", "--dead", "0/0"]));
    desk.json(&bench(&["--device", "auto", "--dead", "0/0", "--stream"]));
    for shape in [["--preset", "one-director-648"], ["--preset", "four-levels"]] {
        let case = ["--rounds", "1", "--dead", "0/0", "--no-check"];
        for more in [&["--engine", "dmodc,stable,paper"][..], &["--stream"], &["--device", "auto"]]
        {
            desk.json(&[&["bench"], &shape[..], &case, more].concat());
        }
    }
    desk.json(&["bench", "whatif", "--pgft", "2; 4,6; 1,3; 1,1", "--compare", "2"]);
    let analyze = ["bench", "analyze", "--pgft", "2; 4,6; 1,3; 1,1", "--rounds", "1"];
    desk.json(&analyze);
    desk.json(&[&analyze[..], &["--no-naive"]].concat());
    let rates = ["bench", "rates", "--pgft", "2; 4,6; 1,3; 1,1", "--permutations", "3"];
    desk.json(&rates);
    desk.json(&[&rates[..], &["--compare", "0"]].concat());
}

/// A study with engines that refuse fabrics or lose pairs, a shard that is begun, and one that Slurm chooses.
fn studies(desk: &mut CheckedDesk) {
    let chain = repository().join("crates/dmodc-cli/tests/data/chain-of-leaves.topo");
    let plan = format!(
        "name = \"small\"\nseed = 3\ndraws = 2\nengines = [\"dmodc\", \"dmodk\"]\n\
         rates = true\npatterns = [\"a2a\", \"rp:3\", \"sp\", \"sp:2\", \"bisection:2\", \"ring\", \"recursive-doubling\"]\n\
         [[slow]]\nengines = [\"random\"]\ndraws = 1\nnodes = 12\n\
         [[fabric]]\npgft = \"{FIGURE_1}\"\n[[fabric]]\nname = \"chain\"\nfile = {chain:?}\n\
         [[fabric]]\nname = \"absent\"\nfile = \"no-such-file\"\noptional = true\n\
         [[degradation]]\ncables = [0, 2, \"55%\"]\n"
    );
    desk.desk.write("plan.toml", &plan);
    let hash = desk.json(&["study", "status", "plan.toml"])["plan_hash"].clone();
    fs::create_dir(desk.desk.path("small.study")).unwrap();
    let begun = format!(
        "# dmodc/study-journal/2 plan {} dmodc {}\n",
        hash.as_str().unwrap(),
        env!("CARGO_PKG_VERSION"),
    );
    desk.desk.write("small.study/shard-0001-of-0002.journal", &begun);
    desk.json(&["study", "status", "plan.toml"]);
    desk.json(&["study", "run", "plan.toml", "--shard", "1/2"]);
    let output = std::process::Command::new(DMODC)
        .args(["study", "run", "plan.toml", "--json"])
        .env("SLURM_ARRAY_TASK_ID", "1")
        .env("SLURM_ARRAY_TASK_COUNT", "2")
        .current_dir(desk.desk.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    desk.check(&text(&output.stdout), "study run of a Slurm array");
    desk.json(&["study", "status", "plan.toml"]);
    desk.json(&["study", "merge", "plan.toml"]);
    desk.json(&["study", "status", "plan.toml"]);
    desk.json(&["study", "summary", "plan.toml"]);
    desk.json(&["study", "plot", "plan.toml"]);
    desk.json(&["study", "run", "plan.toml", "-o", "whole"]);
    for meta in files(desk.desk.folder.path(), ".meta.json") {
        desk.check(&fs::read_to_string(&meta).unwrap(), meta.to_str().unwrap());
    }
}
