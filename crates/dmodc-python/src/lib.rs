//! The Python extension module `dmodc._native`. The package `dmodc` around it, in the folder `python`, is what people use:
//! this module has what it needs, with as little Python as possible.
//!
//! | | |
//! |---|---|
//! | `option_names`, `closer_ports` | what needs no Python: names in messages, closer sets of one switch |
//! | `errors` | errors of the library as Python exceptions |
//! | `work` | computing on another thread, without the interpreter's lock, until it is done or interrupted |
//! | `view` | memory that NumPy reads without a copy |
//! | `request` | what is asked for: engine, orders, leaves |
//! | `engine` | engines that are Python functions |
//! | `fabric`, `tables`, `router` | the classes |
//! | `judgement`, `advice`, `maintenance`, `study` | what they answer, as the JSON of the commands |
//!
//! Without the feature `extension-module` only what needs no Python is compiled, so that the workspace builds and is tested
//! where there is no Python.
#![cfg_attr(not(feature = "extension-module"), allow(dead_code, reason = "nobody uses the rest"))]

#[cfg(feature = "extension-module")]
mod advice;
mod closer_ports;
#[cfg(feature = "extension-module")]
mod engine;
#[cfg(feature = "extension-module")]
mod errors;
#[cfg(feature = "extension-module")]
mod fabric;
#[cfg(feature = "extension-module")]
mod judgement;
#[cfg(feature = "extension-module")]
mod maintenance;
mod option_names;
#[cfg(feature = "extension-module")]
mod request;
#[cfg(feature = "extension-module")]
mod router;
#[cfg(feature = "extension-module")]
mod study;
#[cfg(feature = "extension-module")]
mod tables;
#[cfg(feature = "extension-module")]
mod view;
#[cfg(feature = "extension-module")]
mod work;

#[cfg(feature = "extension-module")]
use pyo3::prelude::*;

/// The extension module.
#[cfg(feature = "extension-module")]
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<fabric::Fabric>()?;
    module.add_class::<tables::Tables>()?;
    module.add_class::<router::Router>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<engine::Task>()?;
    module.add_class::<view::View>()?;
    module.add_function(wrap_pyfunction!(fabric::read, module)?)?;
    module.add_function(wrap_pyfunction!(fabric::generate, module)?)?;
    module.add_function(wrap_pyfunction!(fabric::presets, module)?)?;
    module.add_function(wrap_pyfunction!(tables::read_tables, module)?)?;
    module.add_function(wrap_pyfunction!(advice::route, module)?)?;
    module.add_function(wrap_pyfunction!(advice::whatif, module)?)?;
    module.add_function(wrap_pyfunction!(advice::order_hosts, module)?)?;
    module.add_function(wrap_pyfunction!(advice::order_by_tables, module)?)?;
    module.add_function(wrap_pyfunction!(maintenance::drain_parts, module)?)?;
    module.add_function(wrap_pyfunction!(maintenance::repair_parts, module)?)?;
    module.add_function(wrap_pyfunction!(judgement::check_tables, module)?)?;
    module.add_function(wrap_pyfunction!(judgement::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    let close = wrap_pyfunction!(work::close, module)?;
    module.py().import("atexit")?.call_method1("register", (close,))?;
    Ok(())
}
