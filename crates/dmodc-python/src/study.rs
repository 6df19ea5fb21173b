//! Studies, with engines that are Python functions among the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use dmodc_study::answers::source::located;
use dmodc_study::engine::{EngineName, OwnEngine};
use dmodc_study::study::{COLUMNS, PlannedEngine, RATE_COLUMNS, Study, StudyPlan, StudyRow};
use pyo3::prelude::*;

use crate::engine::{Engine, PythonEngine};
use crate::work::run;

/// A table: its columns, and a line of CSV for each row.
type Table = (Vec<&'static str>, Vec<String>);

/// Measures a study: the plan in a file, or the text of a plan.
#[pyfunction]
pub(crate) fn study(
    py: Python<'_>,
    path: PathBuf,
    text: Option<String>,
    engines: Vec<Py<Engine>>,
) -> PyResult<Table> {
    let own: Vec<Arc<PythonEngine>> =
        engines.iter().map(|engine| engine.get().engine(py)).collect();
    run(py, move |going| {
        let mut plan = match text {
            None => StudyPlan::read(&path)?,
            Some(text) => StudyPlan::parse(&text, Path::new(""))
                .map_err(|error| located(&path, text.as_bytes(), &error))?,
        };
        for engine in &own {
            let name = EngineName::Own(OwnEngine(Arc::new(engine.with(going.clone()))));
            ensure!(
                plan.engines.iter().all(|known| known.name.to_string() != name.to_string()),
                "the plan has two engines with the name '{name}'"
            );
            plan.engines.push(PlannedEngine { name, trials: None, nodes: None });
        }
        if plan.engines.iter().any(|engine| matches!(engine.name, EngineName::Opensm(_))) {
            bail!("engines of OpenSM run only inside OpenSM; use the command 'dmodc study run'");
        }
        let has_rates = plan.rates;
        let study = Study::new(plan, &path)?;
        let rows =
            study.measure_while(Path::new(""), &|| going.goes_on()).context("interrupted")?;
        let rates: &[&str] = if has_rates { &RATE_COLUMNS } else { &[] };
        let columns = [&COLUMNS, rates].concat();
        Ok((columns, rows.iter().map(StudyRow::line).collect()))
    })
}
