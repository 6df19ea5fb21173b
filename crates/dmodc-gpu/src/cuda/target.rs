//! The device and the driver that kernels are compiled for.

/// What machine code is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The compute capability of the device: the number before the point, and the one after it.
    pub(super) capability: (i32, i32),
    /// The version of CUDA that the driver has, as CUDA counts them: 12080 is 12.8.
    pub(super) driver: i32,
}

impl Target {
    /// Returns the architecture of the device, such as `sm_90`.
    pub(super) fn architecture(self) -> String {
        let (major, minor) = self.capability;
        format!("sm_{major}{minor}")
    }

    /// Returns the major version of CUDA that the driver has.
    pub(super) fn driver_major(self) -> i32 {
        self.driver / 1000
    }
}
