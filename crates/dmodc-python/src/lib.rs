//! The Python extension module `dmodc._native`. The package `dmodc` around it, in the folder `python`, is what people use:
//! this module has what it needs, with as little Python as possible.
//!
//! | | |
//! |---|---|
//! | `errors` | errors of the library as Python exceptions |
//! | `work` | computing on another thread, without the interpreter's lock, until it is done or interrupted |
//! | `view` | memory that NumPy reads without a copy |
//! | `request` | what is asked for: engine, orders, leaves |
//! | `engine` | engines that are Python functions |
//! | `fabric`, `tables`, `router` | the classes |
//! | `judgement`, `advice`, `study` | what they answer, as the JSON of the commands |
//!
//! Without the feature `extension-module` this crate is empty, so that a workspace without Python builds.
#![cfg(feature = "extension-module")]

mod advice;
mod engine;
mod errors;
mod fabric;
mod judgement;
mod request;
mod router;
mod study;
mod tables;
mod view;
mod work;

use pyo3::prelude::*;

/// The extension module.
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
    module.add_function(wrap_pyfunction!(judgement::check_tables, module)?)?;
    module.add_function(wrap_pyfunction!(judgement::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    Ok(())
}
