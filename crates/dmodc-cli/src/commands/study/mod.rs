//! `dmodc study`: many measurements after a plan, divided among any number of machines.

mod plot;
mod run;
mod status;
mod summary;
mod table;

use anyhow::Result;

use crate::Answer;
use crate::args::StudyCommand;

pub(super) fn run(command: &StudyCommand) -> Result<Answer> {
    match command {
        StudyCommand::Run(args) => run::measure(args),
        StudyCommand::Status(args) => status::report_status(args),
        StudyCommand::Merge(args) => summary::merge_shards(args),
        StudyCommand::Summary(args) => summary::summarise(args),
        StudyCommand::Plot(args) => plot::plot(args),
    }
}
