//! States that the host prepares: their costs are bytes.

use dmodc::{Degradation, Live};

use super::GpuRouter;
use crate::arguments::{Arguments, WARPS};
use crate::error::GpuError;
use crate::host::HostState;
use crate::kernels::KernelName;

impl GpuRouter {
    /// Starts the kernels for the costs of one state that the host prepares. Returns the arguments for its routes.
    pub(super) fn costs_by_bytes(
        &mut self,
        arguments: Arguments,
        state: usize,
        degradation: &Degradation,
    ) -> Result<Arguments, GpuError> {
        let live = Live::new(&self.fabric, degradation);
        let ready = HostState::new(live, &self.routing, &self.device.starts)?;
        // The state has one plane, which stands where its others would be: those of other states are still needed.
        let planes = self.states.planes_of(&self.device, state, self.ranks_run);
        let mut arguments = Arguments { ranks_run: 1, first_state: state as u32, ..arguments };
        arguments.states.planes = planes;
        arguments.states.costs = self.states.costs(&self.machine, &self.device)?;
        self.write_host_state(&arguments, state, &ready)?;
        let sizes = &arguments.sizes;
        let blocks = [sizes.switches.div_ceil(WARPS), sizes.tiles];
        for height in 0..=u32::from(ready.highest) {
            self.launch_one(KernelName::AscendBytes, blocks, &arguments.at(height))?;
        }
        for depth in 0..=u32::from(ready.deepest) {
            self.launch_one(KernelName::DescendBytes, blocks, &arguments.at(depth))?;
        }
        Ok(arguments)
    }

    fn write_host_state(
        &self,
        arguments: &Arguments,
        state: usize,
        ready: &HostState,
    ) -> Result<(), GpuError> {
        let (to, sizes) = (&arguments.states, &arguments.sizes);
        let (switches, links) = (sizes.switches as usize, sizes.links as usize);
        for (address, size, bytes) in [
            (to.counts, 4 * switches, &ready.counts),
            (to.peers, 4 * links, &ready.peers),
            (to.firsts, links, &ready.firsts),
            (to.ports, links, &ready.ports),
            (to.dividers, 16 * switches, &ready.dividers),
            (to.heights, 2 * switches, &ready.heights),
            (to.depths, 2 * switches, &ready.depths),
            (to.flags, 4, &vec![0; 4]),
        ] {
            self.machine.write(address.plus(state * size), bytes)?;
        }
        Ok(())
    }

    /// Starts a kernel for the first state of the arguments alone.
    fn launch_one(
        &self,
        kernel: KernelName,
        [x, y]: [u32; 2],
        arguments: &Arguments,
    ) -> Result<(), GpuError> {
        self.launch_blocks(kernel, [x, y, 1], arguments)
    }
}
