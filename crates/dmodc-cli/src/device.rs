//! Work on a GPU, or on the processor in its stead.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use dmodc_study::device::{Device, DeviceName};

/// Does work on the device of this name. With `auto` the processor does it if there is no GPU that can be used, or if the GPU fails at
/// it; a line on standard error says why.
pub(crate) fn on<T>(name: DeviceName, work: impl Fn(Device) -> Result<T>) -> Result<T> {
    match work(open(name)?) {
        Err(error) if name == DeviceName::Auto && is_of_gpu(&error) => {
            stands_in(&error);
            work(Device::Cpu)
        }
        done => done,
    }
}

/// Returns the device that processes of this command are to use. It is `auto` if there is a GPU now, since a process that finds a GPU
/// which fails may turn to the processor, too. Nothing is left open, because some GPUs are set up to serve one process at a time.
pub(crate) fn for_others(name: DeviceName) -> Result<DeviceName> {
    Ok(match open(name)?.name() {
        DeviceName::Cpu => DeviceName::Cpu,
        DeviceName::Gpu | DeviceName::Auto => name,
    })
}

/// Prints a line on standard error, unless it was printed before.
pub(crate) fn report(line: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.insert(line.to_owned()) {
        eprintln!("{line}");
    }
}

/// Opens the device of this name. Lines on standard error say why it is not the GPU, or why the next process compiles the kernels again.
fn open(name: DeviceName) -> Result<Device> {
    let opened = name.open()?;
    if let Some(why) = opened.why_no_gpu {
        stands_in(&why);
    }
    if let Some(why) = opened.why_not_kept {
        report(&format!(
            "dmodc: the compiled kernels of the GPU are not kept, so the next process compiles them again: {why}; DMODC_GPU_CACHE may \
             name another folder"
        ));
    }
    Ok(opened.device)
}

fn stands_in(why: &dyn std::fmt::Display) {
    report(&format!("dmodc: the processor does the work, not a GPU: {why}"));
}

/// Returns whether it is the GPU that failed, or has no kernels for the work.
#[cfg(feature = "gpu")]
fn is_of_gpu(error: &anyhow::Error) -> bool {
    use dmodc_study::bench::BenchError;
    use dmodc_study::study::StudyError;
    use dmodc_study::what_if::SurveyError;

    matches!(error.downcast_ref(), Some(BenchError::Gpu(_) | BenchError::NotOnGpu(_)))
        || matches!(error.downcast_ref(), Some(StudyError::Gpu(_)))
        || matches!(error.downcast_ref(), Some(SurveyError::Gpu(_) | SurveyError::NotOnGpu(_)))
}

#[cfg(not(feature = "gpu"))]
fn is_of_gpu(_: &anyhow::Error) -> bool {
    false
}
