//! The thread that judges each new state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use dmodc_view::judgement::JudgementPart;
use serde_json::{Value, json};

use crate::shared::Shared;

/// Judges states until the program ends. A state that is replaced while it is judged is given up.
pub(crate) fn run(shared: &Shared, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        while woken.try_recv().is_ok() {}
        // A defect that shows in one state must not leave all later ones without a judgement.
        let judgement = catch_unwind(AssertUnwindSafe(|| judge(shared)));
        if let Ok(Some(judgement)) = judgement {
            shared.judged(&judgement);
        }
    }
}

/// Returns the judgement of the present state; `None` if the state changes meanwhile. Between two parts others may change it.
fn judge(shared: &Shared) -> Option<Value> {
    let revision = shared.bench().revision();
    let mut judgement = json!({});
    for part in JudgementPart::ALL {
        let bench = shared.bench();
        if bench.revision() != revision {
            return None;
        }
        shared.compute(|| bench.judge_part(part, &mut judgement));
    }
    Some(judgement)
}
