//! What is routed: a fabric from a file and, for the engine `stable`, the reference with which it is joined.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dmodc::fabric::Changes;
use dmodc::relief::{Relief, Relieved};
use dmodc::{
    Degradation, DestinationOrder, Engine, Fabric, InferredWhole, Joined, LeafRule, Lid, Live,
    Routing, RoutingOptions, SavedOrders, Stable, SwitchOrder, TooIrregular,
};

use dmodc_study::engine::{EngineInputs, EngineName};

use crate::args::{FabricArgs, ReferenceArg, RouteArgs};
use crate::input::OrderChoice;
use crate::{input, source};

/// Returns the orders that the arguments ask for. Orders that will be saved must last: so empty places have numbers, too,
/// and a dead switch does not decide which plane comes first.
fn order(args: &RouteArgs) -> Result<OrderChoice> {
    let OrderChoice { destinations, switches, saved } = input::order(&args.order)?;
    let destinations = match destinations {
        DestinationOrder::Topological if args.save_orders.is_some() => DestinationOrder::Places,
        other => other,
    };
    let switches = match switches {
        SwitchOrder::Plane if args.save_orders.is_some() => SwitchOrder::AgreedPlane,
        other => other,
    };
    Ok(OrderChoice { destinations, switches, saved })
}

/// Returns the options of a routing that has no reference from a file, and the orders of an earlier run.
fn options(
    args: &RouteArgs,
    fabric: &Fabric,
    leaves: LeafRule,
) -> Result<(RoutingOptions, Option<SavedOrders>)> {
    let OrderChoice { destinations, switches, mut saved } = order(args)?;
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
pub(super) enum RouteReference {
    /// A file, by its name, and how the present fabric differs from it.
    File(String, Changes),
    /// The whole that was inferred, or why none was: then the engine is dmodc.
    Inferred(Box<Result<InferredWhole, TooIrregular>>),
}

/// The present fabric, ready to be routed.
pub(in crate::commands) struct RouteState {
    fabric: Fabric,
    /// The parts that are absent now.
    absent: Degradation,
    pub(in crate::commands) routing: Routing,
    /// The engine; `None` for one of OpenSM's.
    pub(in crate::commands) engine: Option<Arc<dyn Engine>>,
    /// The reference of the engine stable.
    pub(super) reference: Option<RouteReference>,
    /// What was done for the worst ports of the first state of the reference.
    pub(super) relief: Option<Relief>,
    /// Orders from an earlier run.
    saved: Option<SavedOrders>,
    /// A LID that OpenSM cannot use.
    pub(super) beyond: Option<Lid>,
}

impl RouteState {
    pub(in crate::commands) fn read(args: &RouteArgs) -> Result<Self> {
        ensure!(
            args.reference.is_none() || *args.engine.router() == EngineName::Stable,
            "--reference works only with --engine stable or stable+relief; add that option, or leave out --reference"
        );
        let path = match &args.reference {
            Some(ReferenceArg::File(path)) => path,
            _ if *args.engine.router() == EngineName::Stable => {
                return RouteState::inferred(args, input::fabric(&args.fabric)?);
            }
            _ => return RouteState::alone(args, input::fabric(&args.fabric)?, &args.engine),
        };
        source::only_one_from_stdin([path.as_path(), args.fabric.fabric.as_path()])?;
        let fabric = input::fabric(&args.fabric)?;
        let reference = FabricArgs { fabric: path.clone(), strict: args.fabric.strict };
        RouteState::joined(args, input::fabric(&reference)?, fabric, source::name(path))
    }

    /// Returns the state of a fabric whose reference is the whole that is inferred from it.
    fn inferred(args: &RouteArgs, fabric: Fabric) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
        let whole = match InferredWhole::new(&fabric, &leaves) {
            Ok(whole) => whole,
            Err(why) => {
                let reference = Some(RouteReference::Inferred(Box::new(Err(why))));
                let plain = match &args.engine {
                    EngineName::Relieved(_) => EngineName::Relieved(Box::new(EngineName::Dmodc)),
                    _ => EngineName::Dmodc,
                };
                let plain = RouteState::alone(args, fabric, &plain)?;
                return Ok(RouteState { reference, ..plain });
            }
        };
        let (options, saved) = options(args, &fabric, leaves)?;
        let (routing, stable) = whole.stable(&options);
        let first = Live::new(&whole.fabric, &whole.missing);
        let (stable, relief) = stable.relieved(&routing, first)?;
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
    fn alone(args: &RouteArgs, fabric: Fabric, engine: &EngineName) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
        let (options, saved) = options(args, &fabric, leaves)?;
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
    fn joined(args: &RouteArgs, reference: Fabric, present: Fabric, name: String) -> Result<Self> {
        let beyond = present.infiniband_lids().err();
        // Hosts are excluded in both fabrics, so that a node does not change its kind. Leaves are those of both
        // together, so it is no error if the present fabric has none.
        let (reference, leaves) =
            input::leaf_rule(&args.leaves, reference).with_context(|| name.clone())?;
        let choice = input::leaf_choice(&args.leaves)?;
        let present = choice.set_aside(present);
        let mut joined = Joined::new(&reference, &present).with_context(|| name.clone())?;
        let OrderChoice { destinations, switches, saved: earlier } = order(args)?;
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let mut orders = Routing::orders_of(&reference, &options);
        if let Some(earlier) = earlier {
            orders.keep_absent(&earlier);
        }
        joined.hand_over(&mut orders);
        let leaves;
        (joined.fabric, leaves) = input::leaf_rule(&args.leaves, joined.fabric)?;
        let (routing, stable) = joined.stable(leaves, orders.clone());
        Ok(RouteState {
            fabric: joined.fabric,
            absent: joined.now,
            routing,
            engine: Some(named(&args.engine, stable)),
            relief: None,
            reference: Some(RouteReference::File(name, joined.changes)),
            saved: Some(orders),
            beyond,
        })
    }

    /// Returns the number of absent nodes that the earlier orders contain.
    pub(super) fn absent_nodes(&self) -> usize {
        self.saved.as_ref().map_or(0, |saved| saved.absent_nodes(&self.fabric))
    }

    /// Returns whether the numbers come from an earlier run, or are saved for a later one.
    pub(super) fn numbers_last(&self, args: &RouteArgs) -> bool {
        self.saved.is_some() || args.save_orders.is_some()
    }

    pub(in crate::commands) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.absent)
    }

    /// Returns the number of live destinations.
    pub(super) fn destinations(&self) -> usize {
        let all = self.routing.columns().destinations().iter();
        all.filter(|d| d.end.is_alive(self.live())).count()
    }

    /// Returns both orders, absent devices included.
    pub(super) fn orders(&self) -> SavedOrders {
        let mut now = self.routing.orders().save(self.live());
        if let Some(earlier) = &self.saved {
            now.keep_absent(earlier);
        }
        now
    }
}
