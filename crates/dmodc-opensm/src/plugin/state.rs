//! Reading and writing the state folder.

use std::sync::Arc;

use dmodc::Fabric;
use dmodc_formats::orders;

use super::Plugin;
use crate::config::Config;
use crate::files::ExpectedFile;
use crate::snapshot::SnapshotFinding;
use crate::state_folder::{self, StateDecision, StateInMemory, StateQuery};
use crate::subnet_manager::SubnetManager;
use crate::writer::{FileTask, MakeText};

/// The state of before, as far as the disk answered in time.
#[derive(Default)]
pub(super) struct StateForRun {
    pub(super) decision: StateDecision,
    pub(super) snapshot: Option<SnapshotFinding>,
}

impl Plugin {
    /// Looks at the order file, at requests for new numbers, and at the snapshot of the reference.
    pub(super) fn read_state(
        &mut self,
        manager: &impl SubnetManager,
        config: &Config,
        fabric: &Fabric,
    ) -> StateForRun {
        self.state_folder.configure(&config.state_folder);
        let order_file = self.state_folder.order_file();
        let has_orders = self.last.is_some();
        let query = self.state_query(manager, config, fabric);
        let (look, asked) = (self.look_into_state.clone(), query.clone());
        let job = move || look(&asked);
        let patience = self.patience.present();
        let finding = self.state_reader.ask(patience, |finding| finding.answers(&query), job);
        let mut log = |level, line: String| manager.log(level, format_args!("{line}"));
        match finding {
            Ok(mut finding) => {
                let snapshot = finding.snapshot.take();
                let stamps = order_file.map(|path| self.state_writer.stamps(&path));
                let memory = StateInMemory { has_orders, stamps: stamps.unwrap_or_default() };
                let decision = self.state_folder.update(finding, memory, &mut log);
                if decision.adopted.is_some()
                    && let Some(path) = self.state_folder.order_file()
                {
                    self.state_writer.forget(&path);
                }
                StateForRun { decision, snapshot }
            }
            Err(why) => {
                self.state_folder.note_no_answer(&why, has_orders, &mut log);
                StateForRun::default()
            }
        }
    }

    fn state_query(
        &self,
        manager: &impl SubnetManager,
        config: &Config,
        fabric: &Fabric,
    ) -> StateQuery {
        let stamps = self.state_folder.order_file().map(|path| self.state_writer.stamps(&path));
        let stamps = stamps.unwrap_or_default();
        let known = [self.state_folder.read_stamp, stamps.written, stamps.announced];
        StateQuery {
            configured: config.state_folder.clone(),
            own: config.state_folder.join(manager.options().port.to_string()),
            in_use: self.state_folder.in_use.clone(),
            // Without orders in memory the file is to be read in any case.
            known_stamps: known.into_iter().flatten().filter(|_| self.last.is_some()).collect(),
            switches: fabric.switches().len(),
            guids: state_folder::guids_of(fabric),
            snapshot: self.reference.query(config, &self.state_writer),
        }
    }

    /// Hands everything that is new in the state folder to the writer.
    pub(super) fn save_state(&mut self, config: &Config) {
        let Some(path) = self.state_folder.order_file() else { return };
        if let Some(folder) = path.parent()
            && self.swept_folders.insert(folder.into())
        {
            self.state_writer.file(folder, FileTask::Sweep);
        }
        // As long as the order file cannot be replaced, the request for new numbers stays.
        let request = match self.state_folder.blocked {
            None => self.state_folder.grant(),
            Some(_) => None,
        };
        let is_unlearned = request.is_some() && config.learns_reference();
        self.reference.save(&mut self.state_writer, is_unlearned.then_some(&*path));
        if let Some(last) = &self.last
            && self.state_folder.blocked.is_none()
            && (self.state_folder.is_unsaved || request.is_some())
        {
            let (saved, fabric) = (last.tables.saved.clone(), last.tables.fabric().clone());
            let text: MakeText = Arc::new(move |_| {
                let mut text = Vec::new();
                orders::write(&saved, &fabric, &mut text).map(|()| text)
            });
            let expected = ExpectedFile::Exactly(self.state_folder.read_stamp);
            self.state_writer.file(&path, FileTask::Replace { text, expected });
            self.state_folder.is_unsaved = false;
        }
        if let Some(request) = request {
            self.state_writer.file(&request, FileTask::RemoveAfter(path));
        }
    }
}
