//! What can be asked of a router.

use dmodc::fabric::{CableEnds, Part};
use dmodc::judge::{Check, Delivery};
use dmodc::{SwitchIndex, alternative_ports, parallel};

use super::Session;
use crate::error::{DmodcStatus, Failure};
use crate::records::{DMODC_NO_ROUTE, DmodcChange};

impl Session {
    /// Returns the parts that have failed, each with the switch and port by which a change names it.
    pub(crate) fn failed(&self) -> Vec<DmodcChange> {
        let fabric = self.fabric();
        let place = |s: SwitchIndex, port: u8| DmodcChange {
            guid: fabric.switch(s).guid.0,
            port,
            ..DmodcChange::default()
        };
        let failed = |part| match part {
            Part::Switch(s) => place(s, 0),
            Part::Cable(c) => match fabric.cable(c) {
                CableEnds::Switches(cable) => place(cable.a.0, cable.a.1.0),
                CableEnds::Node(n) => place(fabric.node(n).switch, fabric.node(n).switch_port.0),
            },
        };
        self.router.degradation().removed().map(failed).collect()
    }

    /// Returns the GUIDs of the live leaves.
    pub(crate) fn leaves(&self) -> Vec<u64> {
        let leaves = self.router.preprocessing().ranking.leaves();
        leaves.iter().map(|&s| self.fabric().switch(s).guid.0).collect()
    }

    /// Returns both orders as the text of an order file. Absent devices keep their numbers.
    pub(crate) fn orders(&self) -> Result<Vec<u8>, Failure> {
        let mut orders = self.router.routing().orders().save(self.router.live());
        if let Some(earlier) = &self.earlier {
            orders.keep_absent(earlier);
        }
        let mut text = vec![];
        dmodc_formats::orders::write(&orders, self.fabric(), &mut text)
            .map_err(|error| Failure::new(DmodcStatus::Internal, error.to_string()))?;
        Ok(text)
    }

    /// Returns the number of bytes of a row: one more than the greatest LID.
    pub(crate) fn row_length(&self) -> usize {
        let last = self.by_lid.last().copied();
        last.map_or(0, |column| self.lid(column) as usize + 1)
    }

    pub(super) fn lid(&self, column: usize) -> u32 {
        self.router.tables().columns().destinations()[column].lid.0
    }

    pub(super) fn column(&self, lid: u32) -> Result<usize, Failure> {
        let found = self.by_lid.binary_search_by_key(&lid, |&column| self.lid(column));
        let unknown = |_| Failure::not_found(format!("no destination has the LID {lid}"));
        found.map(|at| self.by_lid[at]).map_err(unknown)
    }

    /// Returns an error unless there are tables, and a row of this switch among them.
    pub(crate) fn check_switch(&self, guid: u64) -> Result<(), Failure> {
        self.check_tables()?;
        self.switch(guid).map(drop)
    }

    /// Writes the table of a switch, by LID. Entries without a route, and LIDs that nobody has, are 255.
    pub(crate) fn row(&self, guid: u64, ports: &mut [u8]) -> Result<(), Failure> {
        self.check_tables()?;
        let s = self.switch(guid)?;
        self.write_row(s, ports);
        Ok(())
    }

    fn write_row(&self, s: SwitchIndex, ports: &mut [u8]) {
        ports.fill(DMODC_NO_ROUTE);
        let tables = self.router.tables();
        for tile in tables.columns().tiles() {
            let destinations = &tables.columns().destinations()[tile.columns.clone()];
            for (destination, &port) in destinations.iter().zip(tables.row(s, &tile)) {
                ports[destination.lid.0 as usize] = port;
            }
        }
    }

    /// Writes the tables of all switches, one row after the other.
    pub(crate) fn rows(&self, ports: &mut [u8]) -> Result<(), Failure> {
        self.check_tables()?;
        let rows = ports.chunks_mut(self.row_length().max(1)).enumerate();
        parallel::for_each(rows, |(s, row)| self.write_row(SwitchIndex::new(s), row));
        Ok(())
    }

    /// Returns the ports by which a switch may send to a LID without a deadlock.
    pub(crate) fn alternatives(&self, guid: u64, lid: u32) -> Result<Vec<u8>, Failure> {
        self.check_tables()?;
        let s = self.switch(guid)?;
        let column = self.column(lid)?;
        let router = &self.router;
        let end = router.tables().columns().destinations()[column].end;
        let target = end.switch(router.fabric());
        if !router.live().switch(s) || !end.is_alive(router.live()) {
            return Ok(vec![]);
        }
        if s == target {
            return Ok(router.tables().port(s, column).map(|port| port.0).into_iter().collect());
        }
        let mut found = vec![];
        alternative_ports(router.live(), router.preprocessing(), &[target], |at, _, ports| {
            if at == s {
                found = ports.iter().map(|port| port.0).collect();
            }
        })
        .map_err(|error| Failure::new(DmodcStatus::CannotRoute, error.to_string()))?;
        Ok(found)
    }

    /// Returns whether the routing is valid, and how many pairs arrive.
    pub(crate) fn verdict(&self) -> Result<(bool, Delivery), Failure> {
        self.check_tables()?;
        let coverage = self.router.coverage();
        Ok((coverage.is_valid(), Delivery::of_route(self.router.live(), &coverage)))
    }

    /// Follows every pair of nodes.
    pub(crate) fn check(&self) -> Result<Check, Failure> {
        self.check_tables()?;
        Ok(self.router.check())
    }

    /// Returns the digest of the tables.
    pub(crate) fn digest(&self) -> Result<String, Failure> {
        self.check_tables()?;
        Ok(self.router.tables().digest().to_string())
    }
}
