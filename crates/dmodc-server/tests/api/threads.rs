//! Many threads with small stacks, and many clients at once.

use std::ops::ControlFlow;

use dmodc_view::cabling::CablingRequest;
use dmodc_view::compare::{SideRequest, compare};
use dmodc_view::job_order::{HostSelection, JobRequest};
use dmodc_view::what_if::{WhatIfRequest, what_if};
use dmodc_view::{PageEngine, Parameters, Question, Workbench};
use serde_json::{Value, json};

use crate::desk::{fail, server, twin, twin_change};

fn answers(twin: &Workbench) -> Vec<Value> {
    let ask = |question: Question| {
        let parameters = match question {
            Question::Part => json!({ "name": "L1-1/5" }),
            Question::Search => json!({ "q": "1" }),
            Question::Path => json!({ "from": "node-0", "to": "node-63" }),
            Question::Destinations => json!({ "cable": "L1-1/5" }),
            _ => json!({}),
        };
        twin.answer(question, Parameters::new(parameters).unwrap()).unwrap()
    };
    let mut answers: Vec<Value> = Question::ALL.into_iter().map(ask).collect();
    let side = |engine| {
        let request = SideRequest { engine: Some(engine), ..SideRequest::default() };
        twin.side(&request, |_| unreachable!("no moment is asked for")).unwrap()
    };
    let sides = (side(PageEngine::Stable), side(PageEngine::Random));
    answers.push(compare(twin.setup(), sides.0, sides.1).unwrap());
    let inferred = CablingRequest { intended: "inferred".into() };
    answers.push(twin.compare_cabling(&inferred).unwrap());
    let all = JobRequest { hosts: HostSelection::Word("all".into()), choose: Some(9) };
    answers.push(twin.order(&all).unwrap());
    let request = WhatIfRequest::new("all", 100).unwrap();
    let tried = what_if(twin.router(), request, &mut |_, _| ControlFlow::Continue(()));
    answers.push(tried.unwrap());
    answers
}

#[test]
fn answers_do_not_depend_on_threads_and_need_little_stack() {
    let mut twin = twin();
    twin_change(&mut twin, "random", &json!({ "cables": "10%", "switches": "1", "seed": 3 }));
    let expected = answers(&twin);
    for (threads, stack) in [(64, 256 << 10), (1, 256 << 10)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(stack);
        let found = pool.build().unwrap().install(|| {
            let mut other = crate::desk::twin();
            let body = json!({ "cables": "10%", "switches": "1", "seed": 3 });
            twin_change(&mut other, "random", &body);
            answers(&other)
        });
        assert!(found == expected, "{threads} threads");
    }
}

/// Whatever is made once (the layout, the engine stable) is asked for by everybody at once.
#[test]
fn first_questions_at_once_are_all_answered() {
    for round in 0..5 {
        let client = server();
        let threads: Vec<_> = (0..12)
            .map(|thread| {
                let client = client.clone();
                std::thread::spawn(move || match thread % 4 {
                    0 => client.get("/api/v1/scene"),
                    1 => client.get("/api/v1/loads"),
                    2 => client.post("/api/v1/engine", &json!({ "engine": "stable" })),
                    _ => {
                        let sides = json!({ "left": { "engine": "stable" }, "right": {} });
                        client.post("/api/v1/compare", &sides)
                    }
                })
            })
            .collect();
        for thread in threads {
            let status = thread.join().unwrap().status;
            assert!([200, 503].contains(&status), "round {round}: {status}");
        }
        client.post("/api/v1/change", &fail("L2-1")).good();
    }
}
