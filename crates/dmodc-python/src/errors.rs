//! Errors of the library as Python exceptions. The classes are in `dmodc/_errors.py`.

use std::io;

use dmodc::RouteError;
use dmodc_study::answers::route_state::RouteRefusal;
use dmodc_study::answers::source::LocatedError;
use dmodc_study::study::StudyError;
use pyo3::prelude::*;

use crate::option_names::in_python;

/// Returns the exception for an error. Its class follows from the cause, and its text is that of the command, with options in
/// the notation of Python.
pub(crate) fn exception(py: Python<'_>, error: &anyhow::Error) -> PyErr {
    let text = in_python(&format!("{error:#}"));
    let found = error.chain().find_map(|cause| {
        if let Some(LocatedError { file, error, excerpt }) = cause.downcast_ref() {
            let place = (text.clone(), file.clone(), error.line, error.column);
            return Some(make(
                py,
                "ReadError",
                (place.0, place.1, place.2, place.3, excerpt.clone()),
            ));
        }
        if let Some(StudyError::Plan { path, error, .. }) = cause.downcast_ref() {
            let file = path.display().to_string();
            let text = format!("{file}:{error}");
            return Some(make(
                py,
                "ReadError",
                (text, file, error.line, error.column, None::<String>),
            ));
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return Some(make(py, "FileError", (error.raw_os_error().unwrap_or(0), text.clone())));
        }
        // Other errors are those of engines that this library does not know.
        if let Some(RouteError::Other(_)) = cause.downcast_ref() {
            return Some(make(py, "EngineError", (text.clone(),)));
        }
        let is_route = cause.is::<RouteError>() || cause.is::<RouteRefusal>();
        is_route.then(|| make(py, "RouteError", (text.clone(),)))
    });
    found.unwrap_or_else(|| make(py, "InputError", (text,)))
}

/// Returns an exception of one of the classes of the package.
pub(crate) fn make<'py, A>(py: Python<'py>, class: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let made = py
        .import("dmodc._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
