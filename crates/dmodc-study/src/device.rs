//! Where tables are computed: on the processor, or on the GPU of this machine.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "gpu")]
use std::sync::Arc;

#[cfg(feature = "gpu")]
use dmodc_gpu::{Cuda, GpuError, Machine};

/// Where tables are to be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceName {
    /// On the processor.
    #[default]
    Cpu,
    /// On the GPU of this machine.
    Gpu,
    /// On the GPU if there is one, else on the processor.
    Auto,
}

impl DeviceName {
    /// Returns the device of this name.
    ///
    /// # Errors
    /// If the GPU was asked for, and there is none that can be used.
    pub fn open(self) -> Result<OpenedDevice, NoGpu> {
        match (self, self.gpu()) {
            (DeviceName::Cpu, _) => Ok(OpenedDevice::default()),
            (_, Ok(opened)) => Ok(opened),
            (DeviceName::Gpu, Err(why)) => Err(why),
            (DeviceName::Auto, Err(why)) => {
                Ok(OpenedDevice { why_no_gpu: Some(why), ..OpenedDevice::default() })
            }
        }
    }

    /// Opens the GPU, unless the processor was asked for.
    fn gpu(self) -> Result<OpenedDevice, NoGpu> {
        #[cfg(feature = "gpu")]
        if self != DeviceName::Cpu {
            let gpu = Cuda::open()?;
            let why_not_kept = gpu.why_not_kept().map(str::to_owned);
            let device = Device::Gpu(Arc::new(gpu));
            return Ok(OpenedDevice { device, why_no_gpu: None, why_not_kept });
        }
        Err(NoGpu::NotBuilt)
    }
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(DeviceName::Cpu),
            "gpu" => Ok(DeviceName::Gpu),
            "auto" => Ok(DeviceName::Auto),
            _ => Err(format!("expected cpu, gpu or auto; not '{text}'")),
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceName::Cpu => "cpu",
            DeviceName::Gpu => "gpu",
            DeviceName::Auto => "auto",
        })
    }
}

/// A device that tables can be computed on.
#[derive(Clone, Debug, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Arc<dyn Machine>),
}

impl Device {
    /// Returns the name by which the same device is opened again.
    pub fn name(&self) -> DeviceName {
        match self {
            Device::Cpu => DeviceName::Cpu,
            #[cfg(feature = "gpu")]
            Device::Gpu(_) => DeviceName::Gpu,
        }
    }

    /// Returns the name of the GPU; `None` for the processor.
    pub fn description(&self) -> Option<String> {
        match self {
            Device::Cpu => None,
            #[cfg(feature = "gpu")]
            Device::Gpu(machine) => Some(machine.name().to_owned()),
        }
    }
}

/// A device, and why it is not the GPU although that would have been welcome.
#[derive(Debug, Default)]
pub struct OpenedDevice {
    /// The device.
    pub device: Device,
    /// Why there is no GPU, if one was looked for and the processor stands in for it.
    pub why_no_gpu: Option<NoGpu>,
    /// Why the compiled kernels of the GPU could not be kept, if they could not.
    pub why_not_kept: Option<String>,
}

/// Why no GPU can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoGpu {
    /// The program has no code for GPUs.
    #[error(
        "this program was built without the cargo feature gpu; build it with 'cargo install --locked --path crates/dmodc-cli \
         --features gpu'"
    )]
    NotBuilt,
    /// Something is missing on this machine, or fails.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Failed(#[from] GpuError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_and_the_processor_stands_in() {
        for name in [DeviceName::Cpu, DeviceName::Gpu, DeviceName::Auto] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("tpu".parse::<DeviceName>().is_err());
        let cpu = DeviceName::Cpu.open().expect("there is a processor");
        assert!(cpu.device.name() == DeviceName::Cpu && cpu.why_no_gpu.is_none());
        let auto = DeviceName::Auto.open().expect("there is a processor");
        assert_eq!(auto.device.name() == DeviceName::Cpu, auto.why_no_gpu.is_some());
        assert_eq!(DeviceName::Gpu.open().is_err(), auto.why_no_gpu.is_some());
    }
}
