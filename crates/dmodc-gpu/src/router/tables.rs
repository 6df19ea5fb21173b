//! The tables of a batch: their digests, and copies from and to the machine.

use dmodc::{Degradation, Digest, ForwardingTables, NO_ROUTE};

use super::{GpuRouter, KernelWork};
use crate::arguments::{Arguments, WARPS};
use crate::error::GpuError;
use crate::kernels::KernelName;

/// The rows that a warp digests at once.
const DIGEST_ROWS: u32 = 4;

impl GpuRouter {
    /// Returns the bytes of the tables of one state in the memory of the machine.
    pub fn table_bytes(&self) -> usize {
        self.device.sizes.table_bytes as usize
    }

    /// Returns the digests of the tables of the last batch, which the machine computes.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn digests(&self) -> Result<Vec<Digest>, GpuError> {
        self.clear_digests()?;
        self.launch_digest(&self.arguments(false), self.routed as u32)?;
        self.read_digests()
    }

    pub(super) fn clear_digests(&self) -> Result<(), GpuError> {
        self.machine.fill(self.states.digests.address(), 0, self.states.digests.bytes())
    }

    /// Adds the tables of a window to the digests of this number of states.
    pub(super) fn launch_digest(&self, arguments: &Arguments, states: u32) -> Result<(), GpuError> {
        let rows = arguments.sizes.switches.div_ceil(WARPS * DIGEST_ROWS);
        let blocks = [rows, arguments.window.tiles(), states];
        self.launch_blocks(KernelName::Digest, blocks, arguments)
    }

    /// Returns the digests of all states of the last batch.
    pub(super) fn read_digests(&self) -> Result<Vec<Digest>, GpuError> {
        let digests = self.states.digests.read_u64s(self.routed)?;
        Ok(digests.into_iter().map(Digest::from).collect())
    }

    /// Returns the tables of one state of the last batch.
    ///
    /// # Errors
    /// If there is not enough memory, or the machine fails.
    pub fn tables(&self, state: usize) -> Result<ForwardingTables, GpuError> {
        assert!(state < self.routed, "there is no such state in the last batch");
        let switches = self.fabric.switches().len();
        let mut tables = ForwardingTables::new(self.routing.columns().clone(), switches)?;
        let first = self.states.tables.address().plus(state * self.table_bytes());
        for ((tile, entries), place) in tables.tiles_mut().into_iter().zip(&self.device.places) {
            let width = tile.columns.len();
            if place.pitch == width {
                self.machine.read(first.plus(place.offset), entries)?;
                continue;
            }
            let mut padded = vec![0; place.pitch * switches];
            self.machine.read(first.plus(place.offset), &mut padded)?;
            let rows = padded.chunks_exact(place.pitch);
            for (to, from) in entries.chunks_exact_mut(width).zip(rows) {
                to.copy_from_slice(&from[..width]);
            }
        }
        Ok(tables)
    }

    /// Writes the tables of one state.
    pub(super) fn write_tables(
        &self,
        state: usize,
        tables: &ForwardingTables,
    ) -> Result<(), GpuError> {
        let to = self.states.tables.address().plus(state * self.table_bytes());
        self.machine.write(to, &self.padded(tables))
    }

    /// Takes tables that the host computed for each of these degradations, so that they can be judged on the machine.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// If there are more states than there is room for, or the tables have other columns than those of the router.
    pub fn put_tables(
        &mut self,
        degradations: &[Degradation],
        tables: &[&ForwardingTables],
    ) -> Result<(), GpuError> {
        assert_eq!(degradations.len(), tables.len(), "one table for each state");
        self.prepare(degradations, KernelWork::Costs)?;
        let mut each = tables.iter().enumerate();
        let written = each.try_for_each(|(state, tables)| self.write_tables(state, tables));
        self.forget_after_error(written)
    }

    /// Returns tables as they lie in the memory of the machine.
    pub(crate) fn padded(&self, tables: &ForwardingTables) -> Vec<u8> {
        assert_eq!(tables.columns(), self.routing.columns(), "tables of another shape");
        let mut bytes = vec![NO_ROUTE; self.table_bytes()];
        for ((tile, entries), place) in tables.tiles().zip(&self.device.places) {
            let width = tile.columns.len();
            let rows = bytes[place.offset..].chunks_mut(place.pitch.max(1));
            for (to, from) in rows.zip(entries.chunks_exact(width.max(1))) {
                to[..width].copy_from_slice(from);
            }
        }
        bytes
    }

    /// Fills the tables of the last batch with one byte, as fast as the machine can: the limit for routes.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn fill_tables(&self, value: u8) -> Result<(), GpuError> {
        let bytes = self.table_bytes() * self.routed;
        self.machine.fill(self.states.tables.address(), value, bytes)
    }
}
