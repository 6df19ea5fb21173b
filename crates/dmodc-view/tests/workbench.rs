//! A workbench against the engine itself: every answer is what the library says about the same fabric.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use dmodc::fabric::Part;
use dmodc::judge::risk::Traffic;
use dmodc::{Degradation, Draw, Fabric, Pgft, Random, Router, RoutingOptions};
use dmodc_view::call::change_request;
use dmodc_view::compare::{SideRequest, compare};
use dmodc_view::{
    ChangeRequest, Origin, PageEngine, Parameters, Problem, Question, Setup, Workbench,
};
use serde_json::{Value, json};

/// Time does not pass here, so that answers can be compared.
fn noon() -> f64 {
    1_700_000_000_000.0
}

fn pgft(text: &str) -> Fabric {
    text.parse::<Pgft>().unwrap().fabric(Default::default())
}

fn bench(text: &str, engine: PageEngine) -> Workbench {
    let setup = Setup::inferred("a fabric".into(), pgft(text), &RoutingOptions::default());
    Workbench::new(setup, engine, noon).unwrap()
}

const SHAPES: [&str; 4] = [
    "2; 4,4; 1,4; 1,1",
    "3; 2,2,3; 1,2,2; 1,2,1",
    "3; 4,4,4; 1,2,2; 1,2,1",
    "3; 3,4,2; 1,3,2; 1,1,2",
];

/// Returns the tables that a new router has for the same faults.
fn routed_anew(bench: &Workbench) -> Router {
    bench.setup().router(bench.engine(), bench.router().degradation().clone()).unwrap()
}

fn ask(bench: &Workbench, question: Question, parameters: Value) -> Value {
    bench.answer(question, Parameters::new(parameters).unwrap()).unwrap()
}

/// Whatever somebody clicks, the tables are those of a whole routing, and the event counts what differs.
#[test]
fn any_sequence_of_changes_ends_in_the_same_tables() {
    for (seed, shape) in (0..).zip(SHAPES) {
        for engine in [PageEngine::Dmodc, PageEngine::Stable, PageEngine::Paper, PageEngine::Random]
        {
            let mut bench = bench(shape, engine);
            let mut random = Random::new(seed, 7);
            let parts: Vec<Part> = {
                let fabric = bench.fabric();
                let cables =
                    (0..fabric.cable_count()).map(|c| Part::Cable(dmodc::CableIndex::new(c)));
                fabric.switch_indices().map(Part::Switch).chain(cables).collect()
            };
            for step in 0..30 {
                let before = bench.router().tables().clone();
                let part = parts[random.below(parts.len() as u64) as usize];
                let name = dmodc_view::part_id(bench.fabric(), part);
                let is_dead = bench.router().degradation().is_dead(part);
                let request = match random.below(10) {
                    0 => ChangeRequest::Undo,
                    1 => ChangeRequest::Redo,
                    2 => change_request(
                        "random",
                        json!({ "cables": "10%", "switches": "1", "seed": step }),
                    )
                    .unwrap(),
                    _ if is_dead => change_request("change", json!({ "repair": [name] })).unwrap(),
                    _ => change_request("change", json!({ "fail": [name] })).unwrap(),
                };
                match bench.change(request.clone()) {
                    Ok(Some(event)) => {
                        let (entries, blocks) = (event.entries, event.blocks);
                        assert_eq!(entries, before.differing(bench.router().tables()) as u64);
                        assert!(blocks <= entries);
                    }
                    Ok(None) => {}
                    Err(Problem::Conflict(_)) => {
                        assert!(matches!(request, ChangeRequest::Undo | ChangeRequest::Redo));
                    }
                    Err(problem) => panic!("{shape} {engine} {step}: {problem}"),
                }
                let anew = routed_anew(&bench);
                assert_eq!(
                    bench.router().tables().digest(),
                    anew.tables().digest(),
                    "{shape} {engine} {step}"
                );
            }
        }
    }
}

#[test]
fn undo_takes_everything_back_and_redo_makes_it_again() {
    let mut bench = bench(SHAPES[2], PageEngine::Stable);
    let digest = |bench: &Workbench| bench.router().tables().digest();
    let mut seen = vec![digest(&bench)];
    for seed in 0..6 {
        let request = change_request("random", json!({ "cables": "5%", "seed": seed })).unwrap();
        bench.change(request).unwrap();
        seen.push(digest(&bench));
    }
    for expected in seen.iter().rev().skip(1) {
        assert_eq!(bench.change(ChangeRequest::Undo).unwrap().unwrap().origin, Origin::Undo);
        assert_eq!(digest(&bench), *expected);
    }
    assert!(matches!(bench.change(ChangeRequest::Undo), Err(Problem::Conflict(_))));
    for expected in &seen[1..] {
        bench.change(ChangeRequest::Redo).unwrap();
        assert_eq!(digest(&bench), *expected);
    }
    bench.change(ChangeRequest::Reset).unwrap();
    assert_eq!(digest(&bench), seen[0]);
}

#[test]
fn a_scenario_brings_back_faults_and_engine() {
    let mut bench = bench(SHAPES[1], PageEngine::Dmodc);
    bench
        .change(
            change_request("random", json!({ "cables": "20%", "switches": "1", "seed": 9 }))
                .unwrap(),
        )
        .unwrap();
    let saved = json!(bench.scenario());
    let before = bench.router().tables().digest();
    bench.change(ChangeRequest::Reset).unwrap();
    bench.change(ChangeRequest::Engine(PageEngine::Stable)).unwrap();
    bench.change(change_request("scenario", saved.clone()).unwrap()).unwrap();
    assert_eq!(bench.router().tables().digest(), before);
    let mut other = saved.clone();
    other["failed"][0] = json!("0xdead");
    let error = bench.change(change_request("scenario", other).unwrap()).unwrap_err();
    assert!(matches!(error, Problem::NotFound(_)), "{error}");
    assert_eq!(bench.router().tables().digest(), before, "nothing is changed");
    assert!(change_request("scenario", json!({ "schema": "x" })).is_err());
}

/// An engine that cannot route the fabric after a change leaves everything as it was.
#[test]
fn an_engine_that_refuses_changes_nothing() {
    let mut bench = bench(SHAPES[1], PageEngine::Dmodk);
    let before = (bench.router().tables().digest(), bench.revision());
    let error =
        bench.change(change_request("change", json!({ "fail": ["L2-0"] })).unwrap()).unwrap_err();
    assert!(error.to_string().contains("dmodk"), "{error}");
    assert_eq!((bench.router().tables().digest(), bench.revision()), before);
    assert_eq!(bench.state()["failed"]["switches"], json!([]));
}

/// The loads of cables are those of the judge, port by port.
#[test]
fn loads_are_those_of_the_judge() {
    for seed in 0..8 {
        let mut bench = bench(SHAPES[2], PageEngine::Dmodc);
        bench
            .change(change_request("random", json!({ "cables": "10%", "seed": seed })).unwrap())
            .unwrap();
        let scene = bench.scene();
        let loads = ask(&bench, Question::Loads, json!({ "pattern": "a2a" }));
        let expected = loads_by_part(&bench.router().traffic());
        let cables = scene["cables"].as_array().unwrap();
        for (at, ends) in cables.chunks(4).enumerate() {
            let [a, p, b, q] = [0, 1, 2, 3].map(|i| ends[i].as_u64().unwrap());
            let found = |i: usize| loads["loads"][2 * at + i].as_u64().unwrap();
            assert_eq!(found(0), expected.get(&(a, p)).copied().unwrap_or(0));
            assert_eq!(found(1), expected.get(&(b, q)).copied().unwrap_or(0));
        }
        let judgement = bench.judgement();
        assert_eq!(loads["max"].as_f64(), judgement["a2a"]["max"].as_f64());
        assert!(judgement["a2a"]["max"].as_u64() >= judgement["a2a"]["bound"].as_u64());
    }
}

fn loads_by_part(traffic: &Traffic<'_>) -> HashMap<(u64, u64), u64> {
    let loads = traffic.all_to_all();
    let ports = traffic.ports().iter().zip(&loads.by_port);
    ports.map(|(port, &load)| ((port.switch.at() as u64, u64::from(port.port.0)), load)).collect()
}

/// Who uses a cable, found backwards from the cable, is what the judge counts forwards.
#[test]
fn users_of_cables_are_those_of_the_judge() {
    let mut bench = bench(SHAPES[3], PageEngine::Stable);
    bench.change(change_request("random", json!({ "cables": "8%", "seed": 2 })).unwrap()).unwrap();
    let traffic = bench.router().traffic();
    let (loads, sources) = (traffic.all_to_all(), traffic.sources());
    for (at, port) in traffic.ports().iter().enumerate() {
        let name = format!("{}/{}", bench.fabric().switch(port.switch).guid, port.port);
        let details = ask(&bench, Question::Part, json!({ "name": name }));
        let guid = bench.fabric().switch(port.switch).guid.to_string();
        let ends = details["ends"].as_array().unwrap();
        let end =
            ends.iter().find(|end| end["guid"] == guid && end["port"] == port.port.0).unwrap();
        assert_eq!(end["a2a"].as_u64(), Some(loads.by_port[at]), "{name}");
        assert_eq!(end["destinations"].as_u64(), Some(u64::from(loads.destinations[at])), "{name}");
        assert_eq!(end["sources"].as_u64(), Some(u64::from(sources.by_port[at])), "{name}");
        let list = ask(&bench, Question::Destinations, json!({ "cable": name, "limit": 10000 }));
        let total: u64 =
            list["ends"].as_array().unwrap().iter().map(|end| end["flows"].as_u64().unwrap()).sum();
        assert_eq!(total, ends.iter().map(|end| end["a2a"].as_u64().unwrap()).sum::<u64>());
    }
}

#[test]
fn every_pair_has_the_path_of_its_tables() {
    let bench = bench(SHAPES[1], PageEngine::Dmodc);
    for from in 0..12 {
        for to in 0..12 {
            let path = ask(
                &bench,
                Question::Path,
                json!({ "from": format!("node-{from}"), "to": format!("node-{to}") }),
            );
            assert_eq!(path["there"]["delivered"], true);
            let hops = path["there"]["hops"].as_array().unwrap();
            for hop in &hops[..hops.len() - 1] {
                let ports = hop["alternatives"].as_array().unwrap();
                assert!(
                    ports.contains(&hop["out_port"]),
                    "the port is one of the alternatives: {hop}"
                );
            }
        }
    }
    let lid = bench.fabric().nodes()[3].lid.0.to_string();
    let by_lid = ask(&bench, Question::Path, json!({ "from": lid, "to": "node-9" }));
    assert_eq!(by_lid, ask(&bench, Question::Path, json!({ "from": "node-3", "to": "node-9" })));
}

#[test]
fn two_engines_and_two_moments_are_compared() {
    let mut bench = bench(SHAPES[2], PageEngine::Dmodc);
    bench.change(change_request("random", json!({ "cables": "10%", "seed": 4 })).unwrap()).unwrap();
    let none = |_: u64| Err(Problem::NotFound("there is no event".into()));
    let side = |engine| SideRequest { engine: Some(engine), ..SideRequest::default() };
    let (left, right) = (
        bench.side(&side(PageEngine::Dmodc), none).unwrap(),
        bench.side(&side(PageEngine::Random), none).unwrap(),
    );
    let found = compare(bench.setup(), left, right).unwrap();
    let other =
        bench.setup().router(PageEngine::Random, bench.router().degradation().clone()).unwrap();
    assert_eq!(
        found["entries"].as_u64(),
        Some(bench.router().tables().differing(other.tables()) as u64)
    );
    assert_eq!(found["left"]["judgement"]["a2a"], bench.judgement()["a2a"]);
    let first = |_: u64| Ok(("dmodc".to_owned(), vec![]));
    let moment = SideRequest { sequence: Some(1), ..SideRequest::default() };
    let before = bench.side(&moment, first).unwrap();
    let now = bench.side(&SideRequest::default(), none).unwrap();
    let found = compare(bench.setup(), before, now).unwrap();
    assert_eq!(found["left"]["failed"]["cables"], json!([]));
    assert_eq!(
        found["right"]["failed"],
        json!({
            "switches": bench.state()["failed"]["switches"], "cables": bench.state()["failed"]["cables"],
        })
    );
}

/// Answers do not depend on the number of threads, and need little stack.
#[test]
fn sixty_four_threads_with_small_stacks_give_the_same_answers() {
    let answers = || {
        let mut bench = bench(SHAPES[2], PageEngine::Stable);
        bench
            .change(change_request("random", json!({ "cables": "10%", "seed": 4 })).unwrap())
            .unwrap();
        let request = dmodc_view::what_if::WhatIfRequest::new("all", 50).unwrap();
        let go = &mut |_: usize, _: usize| std::ops::ControlFlow::Continue(());
        let what_if = dmodc_view::what_if::what_if(bench.router(), request, go).unwrap();
        let job = dmodc_view::call::read(json!({ "hosts": "all", "choose": 16 })).unwrap();
        [bench.state(), bench.judgement(), bench.scene(), what_if, bench.order(&job).unwrap()]
    };
    let pool = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(256 << 10).build().unwrap()
    };
    assert_eq!(pool(1).install(answers), pool(64).install(answers));
}

/// The rows of what-if name the fault that interrupts most, as trying it shows.
#[test]
fn what_if_foretells_what_a_click_does() {
    let mut bench = bench("2; 4,4; 1,1; 1,1", PageEngine::Dmodc);
    let request = dmodc_view::what_if::WhatIfRequest::new("all", 50).unwrap();
    let go = &mut |_: usize, _: usize| std::ops::ControlFlow::Continue(());
    let found = dmodc_view::what_if::what_if(bench.router(), request, go).unwrap();
    let worst = &found["rows"][0];
    bench.change(change_request("change", json!({ "fail": [worst["part"]] })).unwrap()).unwrap();
    let judgement = bench.judgement();
    let all = 16 * 15;
    assert_eq!(judgement["pairs"], all);
    assert_eq!(worst["lost"].as_u64(), Some(all - judgement["delivered"].as_u64().unwrap()));
    let stop = &mut |_: usize, _: usize| std::ops::ControlFlow::Break(());
    let cancelled = dmodc_view::what_if::what_if(bench.router(), request, stop);
    assert_eq!(cancelled, Err(Problem::Cancelled));
}

#[test]
fn missing_cables_are_there_from_the_first_day() {
    let fabric = pgft("3; 4,4,4; 1,4,4; 1,1,1");
    let draw = Draw {
        cables: "2".parse().unwrap(),
        switches: "0".parse().unwrap(),
        any_cable: false,
        any_switch: false,
        seed: 5,
    };
    let faults: Degradation = draw.degradation(&fabric).unwrap();
    let present = fabric.without(&faults);
    let setup = Setup::inferred("a fabric".into(), present, &RoutingOptions::default());
    let mut bench = Workbench::new(setup, PageEngine::Stable, noon).unwrap();
    assert_eq!(bench.state()["missing"]["cables"].as_array().unwrap().len(), 2);
    let found = bench
        .compare_cabling(&dmodc_view::call::read(json!({ "intended": "inferred" })).unwrap())
        .unwrap();
    assert_eq!(found["missing"].as_array().unwrap().len(), 2);
    // A repair of all leaves them missing; somebody may plug them in.
    bench.change(change_request("random", json!({ "cables": "3", "seed": 1 })).unwrap()).unwrap();
    bench.change(ChangeRequest::Reset).unwrap();
    assert_eq!(bench.state()["failed"]["cables"], bench.state()["missing"]["cables"]);
}
