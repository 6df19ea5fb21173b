//! The actual cables against the intended ones.

use dmodc::advise::compare::replug::{PortId, Replug};
use dmodc::advise::compare::{Cabling, Comparison};
use dmodc::{LeafRule, PortNumber};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::workbench::Workbench;

/// The greatest number of steps in the answer.
const MOST_STEPS: usize = 1000;

/// What the fabric is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CablingRequest {
    /// The text of a file of the intended fabric or of its cables; or the word `inferred`, which stands for the regular
    /// shape of the fabric itself.
    pub intended: String,
}

impl Workbench {
    /// Returns how the cables that are there now differ from the intended ones, and the steps that make them the same.
    ///
    /// # Errors
    /// If the text is no fabric, or one of other switches; if the fabric has no regular shape to compare it with.
    pub fn compare_cabling(&self, request: &CablingRequest) -> Result<Value, Problem> {
        let present = self.fabric().without(self.router().degradation());
        let comparison = match request.intended.trim() {
            "inferred" => Comparison::with_inferred(&present, &[], &LeafRule::default())
                .map_err(|why| Problem::Conflict(format!("the fabric is too irregular: {why}")))?,
            _ => {
                let intended = intended(request.intended.as_bytes())?;
                Comparison::new(&present, &intended)
                    .map_err(|error| Problem::Conflict(error.to_string()))?
            }
        };
        Ok(self.differences(&comparison))
    }

    fn differences(&self, comparison: &Comparison) -> Value {
        let steps: Vec<Replug> = comparison.parts.iter().flatten().copied().collect();
        let some = || steps.iter().take(MOST_STEPS);
        let cable = |(a, b): (PortId, PortId)| {
            let (from, to) = (self.end(comparison, a), self.end(comparison, b));
            json!({
                "from": from.name,
                "port": from.port.0,
                "to": to.name,
                "to_port": to.port.0,
                "cable": from.cable.filter(|cable| Some(*cable) == to.cable),
            })
        };
        let name = |port: PortId| {
            let end = self.end(comparison, port);
            format!("{} port {}", end.name, end.port)
        };
        let missing = some().filter_map(|step| match *step {
            Replug::Plug(a, b) => Some(cable((a, b))),
            _ => None,
        });
        let extra = some().filter_map(|step| match *step {
            Replug::Unplug(a, b) => Some(cable((a, b))),
            _ => None,
        });
        let swaps = some().filter_map(|step| match *step {
            Replug::Swap(a, b) => {
                Some(format!("swap the cable ends in {} and {}", name(a), name(b)))
            }
            Replug::Move { from, to } => {
                Some(format!("move the cable end from {} to {}", name(from), name(to)))
            }
            _ => None,
        });
        json!({
            "equal": comparison.is_equal(),
            "missing": missing.collect::<Vec<_>>(),
            "extra": extra.collect::<Vec<_>>(),
            "swaps": swaps.map(|text| json!({ "text": text })).collect::<Vec<_>>(),
            "replugs": comparison.replugs(),
            "unmatched": comparison.unmatched.len(),
        })
    }

    fn end(&self, comparison: &Comparison, port: PortId) -> NamedEnd {
        let compared = comparison.ports[port as usize];
        let device = &comparison.devices[compared.device];
        let name = match (device.name.is_empty(), device.guid) {
            (true, Some(guid)) => guid.to_string(),
            _ => device.name.to_string(),
        };
        let fabric = self.fabric();
        let cable = device.guid.and_then(|guid| {
            let part = self.setup().find_part(&guid.to_string()).ok()?;
            let dmodc::fabric::Part::Switch(s) = part else { return None };
            let cable = fabric.port(s, compared.port)?.cable()?.at();
            (cable < fabric.inter_switch_cables().len()).then_some(cable)
        });
        NamedEnd { name, port: compared.port, cable }
    }
}

/// The end of a cable by name.
struct NamedEnd {
    name: String,
    port: PortNumber,
    /// The cable that the fabric of the workbench has there, dead or alive.
    cable: Option<usize>,
}

/// Reads a file of a fabric, or a list of cables.
fn intended(text: &[u8]) -> Result<Cabling, Problem> {
    let wrong = |error: dmodc_formats::ReadError| Problem::Invalid(format!("intended:{error}"));
    match dmodc_formats::cabling::detect(text) {
        Some(_) => dmodc_formats::cabling::read(text).map_err(wrong),
        None => {
            let reading = dmodc_formats::read(text).map_err(wrong)?;
            Ok(Cabling::of(&reading.fabric))
        }
    }
}
