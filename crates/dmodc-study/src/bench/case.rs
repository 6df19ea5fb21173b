//! What is measured: a fabric and its faults.

use dmodc::fabric::{NumbersError, Shape};
use dmodc::{Amount, Draw, Fabric, NoMemory, RouteError};

use crate::machine;
use crate::what_if::{SurveyError, TooManyFaults};

/// A case to be measured: a fabric and its faults.
#[derive(Clone, Debug)]
pub struct BenchCase {
    /// The name of the fabric.
    pub name: String,
    /// The shape of the fabric.
    pub shape: Shape,
    /// Dead cables between switches, in percent.
    pub cables: f64,
    /// Dead switches among those that are not leaves, in percent.
    pub switches: f64,
    /// The seed of the faults, and of everything else that is drawn.
    pub seed: u64,
    /// Whether switches' own LIDs have columns, too.
    pub switch_lids: bool,
}

impl BenchCase {
    /// Returns the fabric without faults.
    pub(super) fn fabric(&self) -> Result<Fabric, BenchError> {
        let fabric = self.shape.fabric(Default::default());
        fabric.map_err(|error| BenchError::NoFabric { name: self.name.clone(), error })
    }

    /// Returns the draw of its faults.
    pub(super) fn draw(&self) -> Draw {
        Draw {
            cables: Amount::Percent(self.cables),
            switches: Amount::Percent(self.switches),
            any_cable: false,
            any_switch: false,
            seed: self.seed,
        }
    }

    /// Refuses a case whose tables and a buffer of the same size would not fit into memory.
    pub(super) fn check_memory(&self) -> Result<(), BenchError> {
        let (nodes, switches) = (self.shape.node_count() as u64, self.shape.switch_count() as u64);
        let columns = if self.switch_lids { nodes + switches } else { nodes };
        let wanted = 2 * columns * switches;
        match machine::available() {
            Some(available) if wanted > available => {
                Err(BenchError::TooLarge { name: self.name.clone(), wanted, available })
            }
            _ => Ok(()),
        }
    }
}

/// Why a case was not measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The engine gave no tables.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// There is no fabric of this shape.
    #[error("{name}: {error}")]
    NoFabric {
        /// The fabric.
        name: String,
        /// The reason.
        error: NumbersError,
    },
    /// There is not enough memory.
    #[error(
        "{name}: the measurement needs {wanted} bytes of memory for the tables and for memset, but only {available} are \
         available; use --stream, which keeps no tables"
    )]
    TooLarge {
        /// The fabric.
        name: String,
        /// The bytes that are needed.
        wanted: u64,
        /// The bytes that are available.
        available: u64,
    },
    /// The engine is one of OpenSM's.
    #[error(
        "the engine {0} runs only inside OpenSM; measure it with --with-opensm or 'dmodc opensm lab'"
    )]
    NotHere(String),
    /// The engine has no kernels for a GPU.
    #[error("the engine {0} is not measured on a GPU; only the engines dmodc and stable are")]
    NotOnGpu(String),
    /// The GPU failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(dmodc_gpu::GpuError),
    /// The fabric has too many parts for a survey.
    #[error(transparent)]
    TooManyFaults(TooManyFaults),
    /// A survey of faults failed.
    #[error(transparent)]
    Survey(SurveyError),
    /// The faults could not be drawn.
    #[error(transparent)]
    Amount(#[from] dmodc::AmountError),
}

#[cfg(feature = "gpu")]
impl From<dmodc_gpu::GpuError> for BenchError {
    /// A route that is too long, or too little memory of the host, is no failure of the GPU: it is the same on the processor.
    fn from(error: dmodc_gpu::GpuError) -> Self {
        match error {
            dmodc_gpu::GpuError::Route(error) => BenchError::Route(error),
            error => BenchError::Gpu(error),
        }
    }
}

impl From<NoMemory> for BenchError {
    fn from(error: NoMemory) -> Self {
        BenchError::Route(error.into())
    }
}
