//! Work on a GPU, or on the processor in its stead.

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

/// Opens the device of this name. Lines on standard error say why it is not the GPU, or why the next process compiles the kernels again.
fn open(name: DeviceName) -> Result<Device> {
    let opened = name.open()?;
    if let Some(why) = opened.why_no_gpu {
        stands_in(&why);
    }
    if let Some(why) = opened.why_not_kept {
        eprintln!(
            "dmodc: the compiled kernels of the GPU are not kept, so the next process compiles them again: {why}; DMODC_GPU_CACHE may \
             name another folder"
        );
    }
    Ok(opened.device)
}

fn stands_in(why: &dyn std::fmt::Display) {
    eprintln!("dmodc: the processor does the work, not a GPU: {why}");
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
