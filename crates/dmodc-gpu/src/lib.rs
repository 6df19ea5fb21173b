//! Dmodc on an NVIDIA GPU.
//!
//! A [`GpuRouter`] keeps a fabric in the memory of a GPU and routes it under degradations. A degradation is a mask there, so
//! thousands of them are routed in one batch and the fabric is never copied. The tables are the same bytes as those of
//! [`dmodc::Dmodc`] or [`dmodc::Stable`], and stay in device memory until they are asked for; their [digests](GpuRouter::digests)
//! are computed there. A [`GpuStream`] computes the digests of tables that do not fit: windows of tiles use the same memory one after
//! the other. A [`GpuJudge`] judges the tables of a batch in device memory, with the numbers of [`dmodc::judge`].
//!
//! | module | subject |
//! |---|---|
//! | `error` | why there are no tables |
//! | `machine` | [`Machine`]: memory and launches, whatever carries them out |
//! | `kernels/` | the source in CUDA C++, which is compiled when a device is opened |
//! | `arguments` | what a kernel reads and writes |
//! | `buffer` | memory of a machine |
//! | `layout` | a fabric as flat arrays |
//! | `states` | the memory of everything that a degradation changes |
//! | `host` | what the host computes for fabrics that ranks from the leaves do not describe |
//! | `engine` | what an engine other than `dmodc` does: the last step, from costs to tables |
//! | `windows` | which tiles are in memory at the same time, if tables do not fit |
//! | `router` | [`GpuRouter`], and [`GpuStream`] |
//! | `stable` | the engine `stable`: its reference on a machine, and the kernels that compare states with it |
//! | `judge/` | [`GpuJudge`]: risk, lost pairs, and what an update moves, for all states of a batch |
//! | `cuda/` | [`Cuda`]: a machine that is an NVIDIA GPU. All unsafe code outside tests is here |
//!
//! Neither CUDA nor a GPU is needed to build or to start a program with this crate: the driver and the compiler of CUDA are loaded
//! by [`Cuda::open`], which says clearly what is missing. The tests of this crate run the kernels on the CPU, too, where a C++
//! compiler and a few lines stand in for the device.

mod arguments;
mod buffer;
mod cuda;
mod engine;
mod error;
mod host;
mod judge;
mod kernels;
mod layout;
mod machine;
mod router;
mod stable;
mod states;
mod windows;

pub use cuda::Cuda;
pub use error::GpuError;
pub use judge::{
    DevicePattern, GpuJudge, JudgeLimits, JudgeRequest, JudgeTimes, Judgement, KernelTime,
    PatternLoads, Update,
};
pub use kernels::{KernelName, SOURCES};
pub use machine::{Address, LaunchSize, Machine, Words};
pub use router::{GpuRouter, GpuStream, StreamRoom};
