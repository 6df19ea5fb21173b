//! Files of forwarding tables: dumps as text, and NumPy arrays with labels next to them.

use std::path::Path;

use anyhow::Result;
use dmodc::Fabric;
use dmodc_formats::lft::Lft;
use dmodc_study::answers::table_file;
pub(crate) use dmodc_study::answers::table_file::{check_fabric, comments, write};

use crate::args::FabricArgs;
use crate::source::name;
use crate::text;

/// Returns tables, matched with their fabric. Problems of the file are reported on standard error.
pub(crate) fn tables(path: &Path, fabric: &Fabric, args: &FabricArgs) -> Result<Lft> {
    let lft = table_file::tables(path, fabric, args.strict)?;
    for line in text::dirt(&lft.dirt) {
        eprintln!("dmodc: {}: {line}", name(path));
    }
    Ok(lft)
}
