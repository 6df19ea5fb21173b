//! What is routed: a fabric from a file and, for the engine `stable`, the reference with which it is joined.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use dmodc::fabric::Changes;
use dmodc::relief::{Relief, Relieved};
use dmodc::{
    Degradation, DestinationOrder, Engine, Fabric, InferredWhole, Joined, LeafRule, Lid, Live,
    RouteError, Router, Routing, RoutingOptions, SavedOrders, Stable, SwitchOrder, TooIrregular,
};

use dmodc_study::engine::{EngineInputs, EngineName};

use crate::args::{FabricArgs, ReferenceArg, RoutingArgs};
use crate::input::OrderChoice;
use crate::text::{not_pgft, switch};
use crate::{input, source};

/// Whether the numbers of destinations are for this run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// They are used once.
    Once,
    /// They are saved for later runs.
    Last,
}

/// Returns the orders that the arguments ask for. Orders that will be saved must last: so empty places have numbers, too,
/// and a dead switch does not decide which plane comes first.
fn order(args: &RoutingArgs, numbers: Numbers) -> Result<OrderChoice> {
    let OrderChoice { destinations, switches, saved } = input::order(&args.order)?;
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
    args: &RoutingArgs,
    numbers: Numbers,
    fabric: &Fabric,
    leaves: LeafRule,
) -> Result<(RoutingOptions, Option<SavedOrders>)> {
    let OrderChoice { destinations, switches, mut saved } = order(args, numbers)?;
    input::report_empty_types(&destinations, fabric);
    if let Some(saved) = &mut saved {
        saved.hand_over_to(fabric);
    }
    Ok((RoutingOptions { leaves, destinations, switches, switch_lids: true }, saved))
}

/// Returns the engine that was asked for: `stable`, or `stable` with relief.
fn named(name: &EngineName, stable: Stable) -> Arc<dyn Engine> {
    match name {
        EngineName::Relieved(_) => Arc::new(Relieved::new(Arc::new(stable))),
        _ => Arc::new(stable),
    }
}

/// The reference of the engine stable.
pub(crate) enum RouteReference {
    /// A file, by its name, and how the present fabric differs from it.
    File(String, Changes),
    /// The whole that was inferred, or why none was: then the engine is dmodc.
    Inferred(Box<Result<InferredWhole, TooIrregular>>),
}

/// A reference from a file.
struct WholeFabric {
    fabric: Fabric,
    name: String,
}

/// What was done for the worst ports of the first state of a reference.
pub(crate) struct ReferenceRelief {
    pub(crate) relief: Relief,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// The present fabric, ready to be routed.
pub(crate) struct RouteState {
    fabric: Fabric,
    /// The parts that are absent now.
    absent: Degradation,
    pub(crate) routing: Routing,
    /// The engine; `None` for one of OpenSM's.
    pub(crate) engine: Option<Arc<dyn Engine>>,
    /// The reference of the engine stable.
    pub(crate) reference: Option<RouteReference>,
    /// What was done for the worst ports of the first state of the reference.
    pub(crate) relief: Option<ReferenceRelief>,
    /// Orders from an earlier run.
    saved: Option<SavedOrders>,
    /// A LID that OpenSM cannot use.
    pub(crate) beyond: Option<Lid>,
}

impl RouteState {
    pub(crate) fn read(args: &RoutingArgs, numbers: Numbers) -> Result<Self> {
        ensure!(
            args.reference.is_none() || *args.engine.router() == EngineName::Stable,
            "--reference works only with --engine stable or stable+relief; add that option, or leave out --reference"
        );
        let path = match &args.reference {
            Some(ReferenceArg::File(path)) => path,
            _ if *args.engine.router() == EngineName::Stable => {
                return RouteState::inferred(args, numbers, input::fabric(&args.fabric)?);
            }
            _ => {
                let fabric = input::fabric(&args.fabric)?;
                return RouteState::alone(args, numbers, fabric, &args.engine);
            }
        };
        RouteState::read_both(args, numbers, path)
    }

    /// Returns the state of a fabric and its reference, which must come from a file. The engine may be any of ours.
    pub(crate) fn read_joined(args: &RoutingArgs, numbers: Numbers) -> Result<Self> {
        match &args.reference {
            Some(ReferenceArg::File(path)) => RouteState::read_both(args, numbers, path),
            _ => bail!("--reference must name the file of the whole fabric"),
        }
    }

    fn read_both(args: &RoutingArgs, numbers: Numbers, path: &Path) -> Result<Self> {
        source::only_one_from_stdin([path, args.fabric.fabric.as_path()])?;
        let fabric = input::fabric(&args.fabric)?;
        let reference = FabricArgs { fabric: path.to_path_buf(), strict: args.fabric.strict };
        let whole = WholeFabric { fabric: input::fabric(&reference)?, name: source::name(path) };
        RouteState::joined(args, numbers, whole, fabric)
    }

    /// Returns the state of a fabric whose reference is the whole that is inferred from it.
    fn inferred(args: &RoutingArgs, numbers: Numbers, fabric: Fabric) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
        let whole = match InferredWhole::new(&fabric, &leaves) {
            Ok(whole) => whole,
            Err(why) => {
                let reference = Some(RouteReference::Inferred(Box::new(Err(why))));
                let plain = match &args.engine {
                    EngineName::Relieved(_) => EngineName::Relieved(Box::new(EngineName::Dmodc)),
                    _ => EngineName::Dmodc,
                };
                let plain = RouteState::alone(args, numbers, fabric, &plain)?;
                return Ok(RouteState { reference, ..plain });
            }
        };
        let (options, saved) = options(args, numbers, &fabric, leaves)?;
        let (routing, stable) = whole.stable(&options);
        let first = Live::new(&whole.fabric, &whole.missing);
        let start = Instant::now();
        let (stable, relief) = stable.relieved(&routing, first)?;
        let relief = ReferenceRelief { relief, elapsed: start.elapsed() };
        Ok(RouteState {
            fabric: whole.fabric.clone(),
            absent: whole.missing.clone(),
            routing,
            engine: Some(named(&args.engine, stable)),
            relief: Some(relief),
            reference: Some(RouteReference::Inferred(Box::new(Ok(whole)))),
            saved,
            beyond: fabric.infiniband_lids().err(),
        })
    }

    /// Returns the state of a fabric without a reference.
    fn alone(
        args: &RoutingArgs,
        numbers: Numbers,
        fabric: Fabric,
        engine: &EngineName,
    ) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
        let (options, saved) = options(args, numbers, &fabric, leaves)?;
        let absent = Degradation::none(&fabric);
        let live = Live::new(&fabric, &absent);
        let routing = Routing::new(live, &options);
        let inputs =
            EngineInputs { routing: &routing, reference: live, first: live, seed: args.seed };
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
        })
    }

    /// Returns the state of a fabric and its reference. The orders are those of the reference alone.
    /// The reference is taken as it is, as by the plugin of OpenSM.
    fn joined(
        args: &RoutingArgs,
        numbers: Numbers,
        whole: WholeFabric,
        present: Fabric,
    ) -> Result<Self> {
        let WholeFabric { fabric: reference, name } = whole;
        let beyond = present.infiniband_lids().err();
        // Hosts are excluded in both fabrics, so that a node does not change its kind. Leaves are those of both
        // together, so it is no error if the present fabric has none.
        let (reference, leaves) =
            input::leaf_rule(&args.leaves, reference).with_context(|| name.clone())?;
        let choice = input::leaf_choice(&args.leaves)?;
        let present = choice.set_aside(present);
        let mut joined = Joined::new(&reference, &present).with_context(|| name.clone())?;
        let OrderChoice { destinations, switches, saved: earlier } = order(args, numbers)?;
        input::report_empty_types(&destinations, &reference);
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let mut orders = Routing::orders_of(&reference, &options);
        if let Some(earlier) = earlier {
            orders.keep_absent(&earlier);
        }
        joined.hand_over(&mut orders);
        let leaves;
        (joined.fabric, leaves) = input::leaf_rule(&args.leaves, joined.fabric)?;
        let (routing, stable) = joined.stable(leaves, orders.clone());
        let engine = match args.engine.router() {
            EngineName::Stable => Some(named(&args.engine, stable)),
            _ => {
                let reference = Live::new(&joined.fabric, &joined.then);
                let inputs = EngineInputs {
                    routing: &routing,
                    reference,
                    first: reference,
                    seed: args.seed,
                };
                args.engine.engine(inputs)
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
        })
    }

    /// Returns the number of absent nodes that the earlier orders contain.
    pub(crate) fn absent_nodes(&self) -> usize {
        self.saved.as_ref().map_or(0, |saved| saved.absent_nodes(&self.fabric))
    }

    /// Returns whether the numbers come from an earlier run.
    pub(crate) fn has_saved_numbers(&self) -> bool {
        self.saved.is_some()
    }

    /// Routes the fabric for the first time, and returns what keeps its tables.
    pub(crate) fn into_router(self) -> Result<Router> {
        let engine = self.engine.context(
            "an engine of OpenSM runs only inside OpenSM and routes everything each time; choose one of dmodc's engines",
        )?;
        let (fabric, absent) = (Arc::new(self.fabric), self.absent);
        let router = Router::with_engine(engine, fabric.clone(), self.routing, absent.clone());
        router.map_err(|error| explain(error, Live::new(&fabric, &absent)))
    }

    pub(crate) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.absent)
    }

    /// Returns the number of live destinations.
    pub(crate) fn destinations(&self) -> usize {
        let all = self.routing.columns().destinations().iter();
        all.filter(|d| d.end.is_alive(self.live())).count()
    }

    /// Returns both orders, absent devices included.
    pub(crate) fn orders(&self) -> SavedOrders {
        let mut now = self.routing.orders().save(self.live());
        if let Some(earlier) = &self.saved {
            now.keep_absent(earlier);
        }
        now
    }
}

/// Returns a routing error that names the switch.
pub(crate) fn explain(error: RouteError, live: Live<'_>) -> anyhow::Error {
    match &error {
        RouteError::NotPgft(reason) => {
            let reason = not_pgft(live.fabric, reason);
            anyhow!(
                "the engine dmodk routes only regular fat trees (PGFTs) without faults, and this is none: {reason}; use \
                 --engine dmodc"
            )
        }
        RouteError::TooFar(far) => {
            let from = switch(live.fabric, far.from);
            Err::<(), _>(error).context(from).expect_err("it is an error")
        }
        _ => error.into(),
    }
}
