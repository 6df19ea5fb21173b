//! What is routed: a fabric from a file and, for the engine `stable`, the reference with which it is joined.

use std::path::Path;

use anyhow::{Result, bail, ensure};
pub(crate) use dmodc_study::answers::route_state::{
    Numbers, ReferenceRelief, RouteReference, RouteState, explain,
};
use dmodc_study::answers::route_state::{RoutingRequest, WholeFabric};
use dmodc_study::engine::EngineName;

use crate::args::{FabricArgs, ReferenceArg, RoutingArgs};
use crate::{input, source};

/// Returns the state that the arguments ask for.
pub(crate) fn read(args: &RoutingArgs, numbers: Numbers) -> Result<RouteState> {
    ensure!(
        args.reference.is_none() || *args.engine.router() == EngineName::Stable,
        "--reference works only with --engine stable or stable+relief; add that option, or leave out --reference"
    );
    if let Some(ReferenceArg::File(path)) = &args.reference {
        return read_both(args, numbers, path);
    }
    let fabric = input::fabric(&args.fabric)?;
    reported(RouteState::new(&request(args), numbers, fabric, None)?)
}

/// Returns the state of a fabric and its reference, which must come from a file. The engine may be any of ours.
pub(crate) fn read_joined(args: &RoutingArgs, numbers: Numbers) -> Result<RouteState> {
    match &args.reference {
        Some(ReferenceArg::File(path)) => read_both(args, numbers, path),
        _ => bail!("--reference must name the file of the whole fabric"),
    }
}

fn read_both(args: &RoutingArgs, numbers: Numbers, path: &Path) -> Result<RouteState> {
    source::only_one_from_stdin([path, args.fabric.fabric.as_path()])?;
    let fabric = input::fabric(&args.fabric)?;
    let reference = FabricArgs { fabric: path.to_path_buf(), strict: args.fabric.strict };
    let whole = WholeFabric { fabric: input::fabric(&reference)?, name: source::name(path) };
    reported(RouteState::joined(&request(args), numbers, whole, fabric)?)
}

fn request(args: &RoutingArgs) -> RoutingRequest {
    RoutingRequest {
        leaves: args.leaves.request(),
        engine: args.engine.clone(),
        seed: args.seed,
        order: args.order.request(),
    }
}

/// Reports types that no node has: their expressions are probably wrong.
fn reported(state: RouteState) -> Result<RouteState> {
    for name in &state.empty_types {
        eprintln!("dmodc: --destination-order: no node has the type '{name}'");
    }
    Ok(state)
}
