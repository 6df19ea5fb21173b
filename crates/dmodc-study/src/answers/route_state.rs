//! What is routed: a fabric from a file and, for the engine `stable`, the reference with which it is joined.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use dmodc::fabric::Changes;
use dmodc::relief::{Relief, Relieved};
use dmodc::{
    Degradation, DestinationOrder, Engine, Fabric, InferredWhole, Joined, LeafRule, Lid, Live,
    RouteError, Router, Routing, RoutingOptions, SavedOrders, Stable, SwitchOrder, TooIrregular,
};

use super::input::{self, LeafRequest, OrderChoice, OrderRequest};
use super::text::{not_pgft, switch};
use crate::engine::{EngineInputs, EngineName};

/// How a fabric is routed.
#[derive(Clone, Debug)]
pub struct RoutingRequest {
    /// Which switches are leaves.
    pub leaves: LeafRequest,
    /// The engine.
    pub engine: EngineName,
    /// The seed of an engine that draws.
    pub seed: u64,
    /// The orders.
    pub order: OrderRequest,
}

impl Default for RoutingRequest {
    fn default() -> Self {
        RoutingRequest {
            leaves: LeafRequest::default(),
            engine: EngineName::Dmodc,
            seed: 1,
            order: OrderRequest::default(),
        }
    }
}

/// Whether the numbers of destinations are for this run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// They are used once.
    Once,
    /// They are saved for later runs.
    Last,
}

/// Returns the orders that the arguments ask for. Orders that will be saved must last: so empty places have numbers, too,
/// and a dead switch does not decide which plane comes first.
fn order(request: &RoutingRequest, numbers: Numbers) -> Result<OrderChoice> {
    let OrderChoice { destinations, switches, saved } = input::order(&request.order)?;
    let destinations = match destinations {
        DestinationOrder::Topological if numbers == Numbers::Last => DestinationOrder::Places,
        DestinationOrder::Types(types) if numbers == Numbers::Last => {
            DestinationOrder::TypedPlaces(types)
        }
        other => other,
    };
    let switches = match switches {
        SwitchOrder::Plane if numbers == Numbers::Last => SwitchOrder::AgreedPlane,
        other => other,
    };
    Ok(OrderChoice { destinations, switches, saved })
}

/// Returns the options of a routing that has no reference from a file, and the orders of an earlier run.
fn options(
    request: &RoutingRequest,
    numbers: Numbers,
    fabric: &Fabric,
    leaves: LeafRule,
) -> Result<StateOptions> {
    let OrderChoice { destinations, switches, mut saved } = order(request, numbers)?;
    let empty_types = empty_types(&destinations, fabric);
    if let Some(saved) = &mut saved {
        saved.hand_over_to(fabric);
    }
    let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
    Ok(StateOptions { options, saved, empty_types })
}

/// What a state without a reference from a file is made from.
struct StateOptions {
    options: RoutingOptions,
    /// The orders of an earlier run.
    saved: Option<SavedOrders>,
    empty_types: Vec<String>,
}

/// Returns the types that no node has.
fn empty_types(order: &DestinationOrder, fabric: &Fabric) -> Vec<String> {
    input::empty_types(order, fabric).into_iter().map(String::from).collect()
}

/// Returns the engine that was asked for: `stable`, or `stable` with relief.
fn named(name: &EngineName, stable: Stable) -> Arc<dyn Engine> {
    match name {
        EngineName::Relieved(_) => Arc::new(Relieved::new(Arc::new(stable))),
        _ => Arc::new(stable),
    }
}

/// The reference of the engine stable.
#[derive(Clone, Debug)]
pub enum RouteReference {
    /// A file, by its name, and how the present fabric differs from it.
    File(String, Changes),
    /// The whole that was inferred, or why none was: then the engine is dmodc.
    Inferred(Box<Result<InferredWhole, TooIrregular>>),
}

/// A reference that was given.
#[derive(Clone, Debug)]
pub struct WholeFabric {
    /// The fabric.
    pub fabric: Fabric,
    /// Its name, for messages.
    pub name: String,
}

/// What was done for the worst ports of the first state of a reference.
#[derive(Clone, Debug)]
pub struct ReferenceRelief {
    /// The entries that were moved, and the risk before and after.
    pub relief: Relief,
    /// How long it took.
    pub elapsed: Duration,
}

/// The present fabric, ready to be routed.
#[derive(Debug)]
pub struct RouteState {
    fabric: Fabric,
    /// The parts that are absent now.
    absent: Degradation,
    /// Leaves, orders and columns.
    pub routing: Routing,
    /// The engine; `None` for one of OpenSM's.
    pub engine: Option<Arc<dyn Engine>>,
    /// The reference of the engine stable.
    pub reference: Option<RouteReference>,
    /// What was done for the worst ports of the first state of the reference.
    pub relief: Option<ReferenceRelief>,
    /// Orders from an earlier run.
    saved: Option<SavedOrders>,
    /// A LID that OpenSM cannot use.
    pub beyond: Option<Lid>,
    /// Types of nodes in the order of destinations that no node has.
    pub empty_types: Vec<String>,
}

impl RouteState {
    /// Returns the state of a fabric. A reference is for the engine stable; without one, that engine infers it.
    ///
    /// # Errors
    /// If the request cannot be met: the fabric has no leaf, an order cannot be read, or there is a reference and the engine
    /// takes none.
    pub fn new(
        request: &RoutingRequest,
        numbers: Numbers,
        fabric: Fabric,
        reference: Option<WholeFabric>,
    ) -> Result<Self> {
        let is_stable = *request.engine.router() == EngineName::Stable;
        ensure!(
            reference.is_none() || is_stable,
            "--reference works only with --engine stable or stable+relief; add that option, or leave out --reference"
        );
        match reference {
            Some(whole) => RouteState::joined(request, numbers, whole, fabric),
            None if is_stable => RouteState::inferred(request, numbers, fabric),
            None => RouteState::alone(request, numbers, fabric, &request.engine),
        }
    }

    /// Returns the state of a fabric whose reference is the whole that is inferred from it.
    fn inferred(request: &RoutingRequest, numbers: Numbers, fabric: Fabric) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&request.leaves, fabric)?;
        let whole = match InferredWhole::new(&fabric, &leaves) {
            Ok(whole) => whole,
            Err(why) => {
                let reference = Some(RouteReference::Inferred(Box::new(Err(why))));
                let plain = match &request.engine {
                    EngineName::Relieved(_) => EngineName::Relieved(Box::new(EngineName::Dmodc)),
                    _ => EngineName::Dmodc,
                };
                let plain = RouteState::alone(request, numbers, fabric, &plain)?;
                return Ok(RouteState { reference, ..plain });
            }
        };
        let StateOptions { options, saved, empty_types } =
            options(request, numbers, &fabric, leaves)?;
        let (routing, stable) = whole.stable(&options);
        let first = Live::new(&whole.fabric, &whole.missing);
        let start = Instant::now();
        let (stable, relief) = stable.relieved(&routing, first)?;
        let relief = ReferenceRelief { relief, elapsed: start.elapsed() };
        Ok(RouteState {
            fabric: whole.fabric.clone(),
            absent: whole.missing.clone(),
            routing,
            engine: Some(named(&request.engine, stable)),
            relief: Some(relief),
            reference: Some(RouteReference::Inferred(Box::new(Ok(whole)))),
            saved,
            beyond: fabric.infiniband_lids().err(),
            empty_types,
        })
    }

    /// Returns the state of a fabric without a reference.
    fn alone(
        request: &RoutingRequest,
        numbers: Numbers,
        fabric: Fabric,
        engine: &EngineName,
    ) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&request.leaves, fabric)?;
        let StateOptions { options, saved, empty_types } =
            options(request, numbers, &fabric, leaves)?;
        let absent = Degradation::none(&fabric);
        let live = Live::new(&fabric, &absent);
        // Orders that are saved have dividers, too, whatever engine routes now.
        let does_without = matches!(
            engine.router(),
            EngineName::Paper | EngineName::Random | EngineName::Dmodk | EngineName::Opensm(_)
        );
        let routing = match does_without && numbers != Numbers::Last {
            true => Routing::without_measuring(live, &options),
            false => Routing::new(live, &options),
        };
        let inputs =
            EngineInputs { routing: &routing, reference: live, first: live, seed: request.seed };
        let engine = engine.engine(inputs);
        let beyond = fabric.infiniband_lids().err();
        Ok(RouteState {
            fabric,
            absent,
            routing,
            engine,
            reference: None,
            relief: None,
            saved,
            beyond,
            empty_types,
        })
    }

    /// Returns the state of a fabric and its reference. The orders are those of the reference alone.
    /// The reference is taken as it is, as by the plugin of OpenSM. The engine may be any of ours.
    ///
    /// # Errors
    /// If the request cannot be met, or the reference is of another fabric.
    pub fn joined(
        request: &RoutingRequest,
        numbers: Numbers,
        whole: WholeFabric,
        present: Fabric,
    ) -> Result<Self> {
        let WholeFabric { fabric: reference, name } = whole;
        let beyond = present.infiniband_lids().err();
        // Hosts are excluded in both fabrics, so that a node does not change its kind. Leaves are those of both
        // together, so it is no error if the present fabric has none.
        let (reference, leaves) =
            input::leaf_rule(&request.leaves, reference).with_context(|| name.clone())?;
        let choice = input::leaf_choice(&request.leaves)?;
        let present = choice.set_aside(present);
        let mut joined = Joined::new(&reference, &present).with_context(|| name.clone())?;
        let OrderChoice { destinations, switches, saved: earlier } = order(request, numbers)?;
        let empty_types = empty_types(&destinations, &reference);
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let mut orders = Routing::orders_of(&reference, &options);
        if let Some(earlier) = earlier {
            orders.keep_absent(&earlier);
        }
        joined.hand_over(&mut orders);
        let leaves;
        (joined.fabric, leaves) = input::leaf_rule(&request.leaves, joined.fabric)?;
        let (routing, stable) = joined.stable(leaves, orders.clone());
        let engine = match request.engine.router() {
            EngineName::Stable => Some(named(&request.engine, stable)),
            _ => {
                let reference = Live::new(&joined.fabric, &joined.then);
                let inputs = EngineInputs {
                    routing: &routing,
                    reference,
                    first: reference,
                    seed: request.seed,
                };
                request.engine.engine(inputs)
            }
        };
        Ok(RouteState {
            fabric: joined.fabric,
            absent: joined.now,
            routing,
            engine,
            relief: None,
            reference: Some(RouteReference::File(name, joined.changes)),
            saved: Some(orders),
            beyond,
            empty_types,
        })
    }

    /// Returns the number of absent nodes that the earlier orders contain.
    pub fn absent_nodes(&self) -> usize {
        self.saved.as_ref().map_or(0, |saved| saved.absent_nodes(&self.fabric))
    }

    /// Returns whether the numbers come from an earlier run.
    pub fn has_saved_numbers(&self) -> bool {
        self.saved.is_some()
    }

    /// Returns the parts of the state, for those who keep them.
    pub fn into_parts(self) -> RouteParts {
        let RouteState { fabric, absent, routing, engine, beyond, .. } = self;
        RouteParts { fabric: Arc::new(fabric), absent, routing, engine, beyond }
    }

    /// Routes the fabric for the first time, and returns what keeps its tables.
    ///
    /// # Errors
    /// If the engine cannot route the fabric, or is one of OpenSM's.
    pub fn into_router(self) -> Result<Router> {
        let engine = self.engine.context(
            "an engine of OpenSM runs only inside OpenSM and routes everything each time; choose one of dmodc's engines",
        )?;
        let (fabric, absent) = (Arc::new(self.fabric), self.absent);
        let router = Router::with_engine(engine, fabric.clone(), self.routing, absent.clone());
        router.map_err(|error| explain(error, Live::new(&fabric, &absent)))
    }

    /// Returns the fabric in its present state.
    pub fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.absent)
    }

    /// Returns the number of live destinations.
    pub fn destinations(&self) -> usize {
        let all = self.routing.columns().destinations().iter();
        all.filter(|d| d.end.is_alive(self.live())).count()
    }

    /// Returns both orders, absent devices included.
    pub fn orders(&self) -> SavedOrders {
        let mut now = self.routing.orders().save(self.live());
        if let Some(earlier) = &self.saved {
            now.keep_absent(earlier);
        }
        now
    }
}

/// The parts of a [`RouteState`] that tables depend on.
#[derive(Clone, Debug)]
pub struct RouteParts {
    /// The fabric; with a reference, the union of both.
    pub fabric: Arc<Fabric>,
    /// The parts that are absent now.
    pub absent: Degradation,
    /// Leaves, orders and columns.
    pub routing: Routing,
    /// The engine; `None` for one of OpenSM's.
    pub engine: Option<Arc<dyn Engine>>,
    /// A LID that OpenSM cannot use.
    pub beyond: Option<Lid>,
}

impl RouteParts {
    /// Returns the fabric in its present state.
    pub fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.absent)
    }
}

/// Why an engine does not route a fabric, in words that name switches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct RouteRefusal {
    text: String,
}

/// Returns a routing error that names the switch.
pub fn explain(error: RouteError, live: Live<'_>) -> anyhow::Error {
    match &error {
        RouteError::NotPgft(reason) => {
            let reason = not_pgft(live.fabric, reason);
            let text = format!(
                "the engine dmodk routes only regular fat trees (PGFTs) without faults, and this is none: {reason}; use \
                 --engine dmodc"
            );
            RouteRefusal { text }.into()
        }
        RouteError::TooFar(far) => {
            let from = switch(live.fabric, far.from);
            Err::<(), _>(error).context(from).expect_err("it is an error")
        }
        _ => error.into(),
    }
}
