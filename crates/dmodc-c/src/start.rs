//! The first tables of a router.

use std::sync::Arc;

use dmodc::{
    Degradation, Dmodc, Engine, Fabric, InferredWhole, Joined, Live, Paper, RouteError, Router,
    Routing, SavedOrders,
};

use crate::error::{DmodcStatus, Failure};
use crate::records::DmodcEngine;
use crate::settings::Settings;

/// A router that has routed once, and the orders that it was given.
pub(crate) struct Started {
    pub(crate) router: Router,
    /// Orders of an earlier router, in which those that were replaced have handed over their places.
    pub(crate) earlier: Option<SavedOrders>,
}

pub(crate) fn route_failure(error: &RouteError) -> Failure {
    let status = match error {
        RouteError::NoMemory(_) => DmodcStatus::NoMemory,
        RouteError::OtherFabric(_) => DmodcStatus::BadFabric,
        _ => DmodcStatus::CannotRoute,
    };
    Failure::new(status, error.to_string())
}

/// Routes a fabric for the first time.
pub(crate) fn start(fabric: &Arc<Fabric>, settings: &Settings) -> Result<Started, Failure> {
    match (settings.engine, &settings.reference) {
        (DmodcEngine::Stable, Some(reference)) => by_reference(reference, fabric, settings),
        (DmodcEngine::Stable, None) => by_inferred(fabric, settings),
        (_, Some(_)) => Err(Failure::argument("only the engine stable has a reference")),
        (DmodcEngine::Dmodc, None) => plain(fabric, settings, Arc::new(Dmodc)),
        (DmodcEngine::Paper, None) => plain(fabric, settings, Arc::new(Paper)),
    }
}

/// Returns earlier orders, in which replaced switches have handed over their places.
fn earlier(fabric: &Fabric, settings: &Settings) -> Option<SavedOrders> {
    let mut earlier = settings.orders.as_deref().cloned()?;
    earlier.hand_over_to(fabric);
    Some(earlier)
}

fn plain(
    fabric: &Arc<Fabric>,
    settings: &Settings,
    engine: Arc<dyn Engine>,
) -> Result<Started, Failure> {
    let options = settings.options(settings.leaf_rule(fabric)?);
    let whole = Degradation::none(fabric);
    let routing = Routing::new(Live::new(fabric, &whole), &options);
    let router = Router::with_engine(engine, fabric.clone(), routing, whole);
    let router = router.map_err(|error| route_failure(&error))?;
    Ok(Started { router, earlier: earlier(fabric, settings) })
}

/// Routes by `stable`. The orders are those of the reference, and parts that only the reference has have failed.
fn by_reference(
    reference: &Fabric,
    present: &Fabric,
    settings: &Settings,
) -> Result<Started, Failure> {
    let other = |error: dmodc::fabric::OtherFabric| route_failure(&error.into());
    let joined = Joined::new(reference, present).map_err(other)?;
    let options = settings.options(settings.leaf_rule(reference)?);
    let mut orders = Routing::orders_of(reference, &options);
    if let Some(earlier) = &settings.orders {
        orders.keep_absent(earlier);
    }
    joined.hand_over(&mut orders);
    let leaves = settings.leaf_rule(&joined.fabric)?;
    let (routing, stable) = joined.stable(leaves, orders.clone());
    let Joined { fabric, now, .. } = joined;
    let router = Router::with_engine(Arc::new(stable), Arc::new(fabric), routing, now);
    Ok(Started { router: router.map_err(|error| route_failure(&error))?, earlier: Some(orders) })
}

/// Routes by `stable`. The reference is the fabric with the cables that its regular shape lacks.
fn by_inferred(fabric: &Arc<Fabric>, settings: &Settings) -> Result<Started, Failure> {
    let leaves = settings.leaf_rule(fabric)?;
    let whole = InferredWhole::new(fabric, &leaves).map_err(|why| {
        let message = format!(
            "the engine stable needs a reference, and none can be inferred because the fabric is too irregular: {why}"
        );
        Failure::new(DmodcStatus::CannotRoute, message)
    })?;
    let (routing, stable) = whole.stable(&settings.options(leaves));
    let first = Live::new(&whole.fabric, &whole.missing);
    let relieved = stable.relieved(&routing, first);
    let (stable, _) = relieved.map_err(|error| route_failure(&error))?;
    let missing = whole.missing.clone();
    let router = Router::with_engine(Arc::new(stable), Arc::new(whole.fabric), routing, missing);
    let router = router.map_err(|error| route_failure(&error))?;
    Ok(Started { router, earlier: earlier(fabric, settings) })
}
