//! Engines that cannot update tables: whole tables each time.

use dmodc::Engine;

use super::case::BenchError;
use super::session::BenchSession;
use super::times::{RowFields, Times, memset, timed};

impl BenchSession<'_> {
    /// Measures whole routes. Returns the fields of the row.
    pub(super) fn whole_tables(&self, engine: &dyn Engine) -> Result<RowFields, BenchError> {
        let live = self.live();
        let mut tables = self.routing.empty_tables(live)?;
        let mut limit = self.routing.empty_tables(live)?;
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| memset(&mut limit)));
            let mut routed = Ok(Default::default());
            times.reroute.push(timed(|| {
                routed = engine.route(live, &self.routing.preprocess(live), &mut tables);
            }));
            routed?;
        }
        let mut row = times.fields();
        row.append(&mut self.checked(tables.digest()));
        Ok(row)
    }
}
