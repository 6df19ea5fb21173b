//! Two engines, or two moments, side by side.

use dmodc::judge::diff;
use dmodc::{Degradation, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engines::PageEngine;
use crate::judgement::judge;
use crate::loads::{Measure, loads};
use crate::problem::Problem;
use crate::setup::Setup;
use crate::workbench::Workbench;

/// One side of a comparison. What is not given is as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideRequest {
    /// The word for the present state; it may be left out.
    #[serde(default)]
    pub now: Option<bool>,
    /// An engine.
    #[serde(default)]
    pub engine: Option<PageEngine>,
    /// A moment: the number of an event.
    #[serde(default)]
    pub sequence: Option<u64>,
}

/// Two sides.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareRequest {
    /// The one side.
    pub left: SideRequest,
    /// The other side.
    pub right: SideRequest,
}

/// One side, ready to be routed.
#[derive(Clone, Debug)]
pub struct ComparedSide {
    title: String,
    engine: PageEngine,
    faults: Degradation,
}

impl ComparedSide {
    /// Returns the engine.
    pub fn engine(&self) -> PageEngine {
        self.engine
    }
}

impl Workbench {
    /// Returns a side of a comparison, ready to be routed. `moment` returns the engine and the failed parts of an event.
    ///
    /// # Errors
    /// If there is no such event, or it names parts that are not there any more.
    pub fn side(
        &self,
        request: &SideRequest,
        moment: impl Fn(u64) -> Result<(String, Vec<String>), Problem>,
    ) -> Result<ComparedSide, Problem> {
        let (engine, faults, when) = match request.sequence {
            None => (self.engine(), self.router().degradation().clone(), "now".to_owned()),
            Some(sequence) => {
                let (engine, failed) = moment(sequence)?;
                let faults = self.setup().faults(&failed)?;
                (engine.parse()?, faults, format!("after event {sequence}"))
            }
        };
        let engine = request.engine.unwrap_or(engine);
        Ok(ComparedSide { title: format!("{engine}, {when}"), engine, faults })
    }
}

/// Routes and judges both sides, and compares their tables.
///
/// # Errors
/// If an engine cannot route its side.
pub fn compare(setup: &Setup, left: ComparedSide, right: ComparedSide) -> Result<Value, Problem> {
    let routers =
        [setup.router(left.engine, left.faults)?, setup.router(right.engine, right.faults)?];
    let [one, other] = &routers;
    let ranking = &other.preprocessing().ranking;
    let found = diff(other.live(), ranking, one.tables(), other.tables());
    Ok(json!({
        "left": side(setup, &left.title, one)?,
        "right": side(setup, &right.title, other)?,
        "entries": found.changes.entries,
        "blocks": found.changes.blocks,
        "switches": found.changes.switches,
        "pairs": found.pairs,
    }))
}

fn side(setup: &Setup, title: &str, router: &Router) -> Result<Value, Problem> {
    let faults = router.degradation();
    let cables = setup.fabric().inter_switch_cables().len();
    let mut value = loads(setup, router, "a2a", Measure::Flows)?;
    value["title"] = json!(title);
    value["failed"] = json!({
        "switches": faults.dead_switches().map(dmodc::SwitchIndex::at).collect::<Vec<_>>(),
        "cables": faults.dead_cables().map(dmodc::CableIndex::at).filter(|&c| c < cables).collect::<Vec<_>>(),
    });
    value["judgement"] = judge(router);
    Ok(value)
}
