//! Writes the page.

use std::io::Write as _;

use anyhow::{Context, Result, ensure};
use dmodc::{Fabric, LeafRule, RoutingOptions};
use dmodc_formats::json;
use dmodc_view::page::{MOST_NODES, PageInput, single_file};
use dmodc_view::{ChangeRequest, LeafWords, PageEngine, Setup, Workbench};

use crate::args::PageArgs;
use crate::commands::shown::{engine, shown};
use crate::text::{bytes, counted};
use crate::{Answer, input, output};

/// The engine for browsers, which scripts/wasm builds.
const WASM: &[u8] = include_bytes!(env!(
    "DMODC_WASM",
    "set the environment variable DMODC_WASM to the absolute path of the file that scripts/wasm builds"
));

pub(in crate::commands) fn run(args: &PageArgs) -> Result<Answer> {
    let (title, fabric) =
        shown(args.fabric.as_deref(), &args.shown)?.context("there is no fabric to show")?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let (nodes, _) = fabric.host_counts();
    ensure!(
        nodes <= MOST_NODES,
        "{title} has {}, and a page without a server may have up to {}; use 'dmodc serve'",
        counted(nodes, "node"),
        counted(MOST_NODES, "node"),
    );
    let engine = engine(args.shown.engine);
    let mut text = Vec::new();
    json::write(&fabric, &mut text)?;
    let text = String::from_utf8(text).context("the fabric has a name that is not UTF-8")?;
    let summary = format!(
        "{}, {}, {}",
        counted(nodes, "node"),
        counted(fabric.switches().len(), "switch"),
        counted(fabric.inter_switch_cables().len(), "inter-switch cable"),
    );
    let words = LeafWords::new(&fabric, &leaves);
    try_out(&title, fabric, leaves, engine, &args.fail)?;
    let page = single_file(&PageInput {
        wasm: WASM,
        fabric_text: &text,
        title: &title,
        engine,
        failed: &args.fail,
        leaves: Some(&words),
    });
    output::to(args.output.as_deref(), |out| Ok(out.write_all(page.as_bytes())?))?;
    if let Some(path) = args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        let size = bytes(page.len() as u64);
        output::print(&format!("{}: {summary}; {size}\n", path.display()))?;
    }
    Ok(Answer::Yes)
}

/// Does what the page will do first, so that whoever writes it hears of mistakes, and not whoever opens it.
fn try_out(
    title: &str,
    fabric: Fabric,
    leaves: LeafRule,
    engine: PageEngine,
    failed: &[String],
) -> Result<()> {
    let options = RoutingOptions { leaves, ..RoutingOptions::default() };
    let setup = Setup::inferred(title.to_owned(), fabric, &options);
    let mut bench = Workbench::new(setup, engine, || 0.0)?;
    if !failed.is_empty() {
        bench.change(ChangeRequest::Parts { fail: failed.to_vec(), repair: vec![] })?;
    }
    Ok(())
}
