//! The fabric and the engine that a page shows at first.

use std::path::Path;

use anyhow::Result;
use dmodc::{Fabric, GuidOrder};
use dmodc_view::PageEngine;

use super::generate::preset;
use crate::args::{FabricArgs, ServeEngine, ShownArgs};
use crate::{input, source};

/// Returns a preset or the fabric of a file, with what people call it; `None` if neither is named.
pub(super) fn shown(path: Option<&Path>, args: &ShownArgs) -> Result<Option<(String, Fabric)>> {
    if let Some(name) = &args.preset {
        let fabric = preset(name)?.shape().fabric(GuidOrder::Topological)?;
        return Ok(Some((name.clone(), fabric)));
    }
    match path {
        Some(path) => Ok(Some((file_title(path), file(path, args.strict)?))),
        None => Ok(None),
    }
}

/// Returns the fabric of a file.
pub(super) fn file(path: &Path, strict: bool) -> Result<Fabric> {
    input::fabric(&FabricArgs { fabric: path.to_path_buf(), strict })
}

fn file_title(path: &Path) -> String {
    match path.file_name() {
        Some(name) if path.as_os_str() != "-" => name.to_string_lossy().into_owned(),
        _ => source::name(path),
    }
}

/// Returns the engine of the same name.
pub(super) fn engine(engine: ServeEngine) -> PageEngine {
    match engine {
        ServeEngine::Dmodc => PageEngine::Dmodc,
        ServeEngine::Stable => PageEngine::Stable,
        ServeEngine::Paper => PageEngine::Paper,
        ServeEngine::Random => PageEngine::Random,
        ServeEngine::Dmodk => PageEngine::Dmodk,
    }
}
