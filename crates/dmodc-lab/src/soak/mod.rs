//! A soak: random events that a fabric sees in years, packed into hours, and judged one by one.
//!
//! | | |
//! |---|---|
//! | `settings` | what is asked for |
//! | `world` | all devices, spares included, and how they are cabled |
//! | `event` | what an event is |
//! | `faults`, `growth` | how events change the world |
//! | `draw` | the next event, drawn from a seed |
//! | `managers` | two OpenSMs, of which one is in charge |
//! | `disk` | a state folder whose disk can be full or slow |
//! | `run` | the simulated fabric with its managers: events happen, OpenSM settles |
//! | `updown_paths` | node pairs that no tables of ours can deliver |
//! | `balance` | how evenly traffic is spread |
//! | `findings` | what is wrong with the tables and the plugin's reports |
//! | `examine` | everything that is measured and judged after an event |
//! | `row`, `summary` | the record of one event, and of all |

mod balance;
mod disk;
mod draw;
mod event;
mod examine;
mod faults;
mod findings;
mod growth;
mod managers;
mod row;
mod run;
mod settings;
mod summary;
mod updown_paths;
mod world;

pub use balance::SoakBalance;
pub use event::SoakKind;
pub use row::{Handover, SoakRow};
pub use settings::{Soak, SoakLength};
pub use summary::SoakSummary;

use std::time::Instant;

use dmodc::Random;

use self::event::SoakEvent;
use self::run::SoakRun;
use crate::error::LabError;

/// What a soak reports while it runs.
pub enum SoakProgress<'a> {
    /// Something that this machine cannot do, and the reason.
    Skipped(&'a str),
    /// An event is over.
    Event(&'a SoakRow),
}

/// The stream of the seed from which events are drawn.
const STREAM: u64 = 7;

impl Soak<'_> {
    /// Runs the soak, and reports to `each` as it goes on. Returns a row for each event, and a summary of all.
    ///
    /// # Errors
    /// If the lab itself fails. Wrong tables are no error; they are in the rows.
    pub fn run(
        &self,
        mut each: impl FnMut(SoakProgress<'_>),
    ) -> Result<(Vec<SoakRow>, SoakSummary), LabError> {
        let start = Instant::now();
        let mut random = Random::new(self.seed, STREAM);
        let (mut run, skipped) = SoakRun::start(self, &mut random)?;
        let mut summary = SoakSummary { seed: self.seed, skipped, ..SoakSummary::default() };
        summary.skipped.iter().for_each(|reason| each(SoakProgress::Skipped(reason)));
        let mut rows: Vec<SoakRow> = Vec::new();
        let mut next = Some(SoakEvent::start());
        while let Some(event) = next.take() {
            let row = run.event(rows.len(), &event).map_err(|error| {
                let (seed, number, name) = (self.seed, rows.len(), &event.name);
                LabError::Failed(format!("seed {seed}, event {number} ({name}): {error}"))
            })?;
            summary.add(&row);
            summary.seconds = start.elapsed().as_secs_f64();
            summary.set_memory(&run.managers.memory);
            each(SoakProgress::Event(&row));
            rows.push(row);
            let goes_on = match self.length {
                SoakLength::Events(count) => rows.len() <= count,
                SoakLength::Time(time) => start.elapsed() < time,
            };
            if goes_on {
                let capabilities = run.capabilities();
                next = Some(match run.is_renumbering_due {
                    true => SoakEvent::renumber(),
                    false => draw::draw(&mut run.world, capabilities, self.only, &mut random),
                });
            }
        }
        Ok((rows, summary))
    }
}
