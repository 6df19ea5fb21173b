//! Files to take away: tables, and the fabric as it is now.

use dmodc_formats::{ibnetdiscover, lft};

use crate::workbench::Workbench;

/// The greatest number of table entries that are written as text: 4 GB.
pub const MOST_ENTRIES: usize = 64 << 20;

impl Workbench {
    /// Returns the tables as OpenSM dumps and loads them.
    ///
    /// # Errors
    /// If there are too many entries: their text would take gigabytes.
    pub fn tables_text(&self) -> Result<Vec<u8>, crate::Problem> {
        let router = self.router();
        if router.tables().entry_count() > MOST_ENTRIES {
            return Err(crate::Problem::Conflict(
                "the text of these tables would take gigabytes; use 'dmodc route --split FOLDER'"
                    .into(),
            ));
        }
        let mut text = Vec::new();
        let comments = [format!("{} routed by {}", self.setup().title(), self.engine())];
        lft::write(router.live(), router.tables(), &comments, &mut text)
            .expect("writing to memory cannot fail");
        Ok(text)
    }

    /// Returns the fabric as it is now, without what has failed, as `ibnetdiscover` prints it.
    pub fn fabric_text(&self) -> Vec<u8> {
        let present = self.fabric().without(self.router().degradation());
        let mut text = Vec::new();
        let comments = [format!("{}, as it is now", self.setup().title())];
        ibnetdiscover::write(&present, &comments, &mut text)
            .expect("writing to memory cannot fail");
        text
    }
}
