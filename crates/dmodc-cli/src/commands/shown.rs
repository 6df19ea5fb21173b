//! The fabric that a page shows.

use std::path::Path;

use anyhow::Result;
use dmodc::{Fabric, GuidOrder};

use super::generate::preset;
use crate::args::FabricArgs;
use crate::{input, source};

/// Returns a preset or the fabric of a file, with what people call it; `None` if neither is named.
pub(super) fn shown(
    preset_name: Option<&str>,
    path: Option<&Path>,
    strict: bool,
) -> Result<Option<(String, Fabric)>> {
    if let Some(name) = preset_name {
        let fabric = preset(name)?.shape().fabric(GuidOrder::Topological)?;
        return Ok(Some((name.to_owned(), fabric)));
    }
    match path {
        Some(path) => Ok(Some((file_title(path), file(path, strict)?))),
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
