//! What is routed: a fabric from a file, and by the engine stable the reference that it is joined with.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dmodc::fabric::Changes;
use dmodc::{
    Degradation, DestinationOrder, Fabric, Joined, Lid, Live, Reference, Routing, RoutingOptions,
    SavedOrders, Stable, SwitchOrder,
};

use crate::args::{EngineName, FabricArgs, RouteArgs};
use crate::{input, source};

/// The orders that the arguments ask for. Those that are saved are to last, so empty places have numbers, too, and a dead switch does not decide
/// which plane comes first.
fn order(args: &RouteArgs) -> Result<(DestinationOrder, SwitchOrder, Option<SavedOrders>)> {
    let (destinations, switches, saved) = input::order(&args.order)?;
    let destinations = match destinations {
        DestinationOrder::Topological if args.save_orders.is_some() => DestinationOrder::Places,
        other => other,
    };
    let switches = match switches {
        SwitchOrder::Plane if args.save_orders.is_some() => SwitchOrder::AgreedPlane,
        other => other,
    };
    Ok((destinations, switches, saved))
}

/// A fabric as it is now, ready to be routed.
pub(super) struct State {
    fabric: Fabric,
    /// What of it is not there now.
    absent: Degradation,
    pub(super) routing: Routing,
    /// With --engine stable.
    pub(super) stable: Option<Stable>,
    /// With --reference: its name, and what became of it.
    pub(super) reference: Option<(String, Changes)>,
    /// Orders from before.
    saved: Option<SavedOrders>,
    /// A LID that OpenSM cannot use.
    pub(super) beyond: Option<Lid>,
}

impl State {
    pub(super) fn read(args: &RouteArgs) -> Result<Self> {
        ensure!(
            args.reference.is_none() || args.engine == EngineName::Stable,
            "--reference is there for --engine stable alone"
        );
        let Some(path) = &args.reference else {
            return State::alone(args, input::fabric(&args.fabric)?);
        };
        source::only_one_from_stdin([path.as_path(), args.fabric.fabric.as_path()])?;
        let fabric = input::fabric(&args.fabric)?;
        let reference = FabricArgs { fabric: path.clone(), strict: args.fabric.strict };
        State::joined(args, input::fabric(&reference)?, fabric, source::name(path))
    }

    /// A fabric that is its own reference.
    fn alone(args: &RouteArgs, mut fabric: Fabric) -> Result<Self> {
        let leaves = input::leaf_rule(&args.leaves, &mut fabric)?;
        let (destinations, switches, mut saved) = order(args)?;
        if let Some(saved) = &mut saved {
            saved.hand_over_to(&fabric);
        }
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let absent = Degradation::none(&fabric);
        let live = Live::new(&fabric, &absent);
        let routing = Routing::new(live, &options);
        let stable = (args.engine == EngineName::Stable)
            .then(|| Stable { reference: Arc::new(Reference::new(&routing, live)) });
        let beyond = fabric.infiniband_lids().err();
        Ok(State { fabric, absent, routing, stable, reference: None, saved, beyond })
    }

    /// A fabric and its reference. Orders are those that the reference would have alone.
    fn joined(
        args: &RouteArgs,
        mut reference: Fabric,
        mut present: Fabric,
        name: String,
    ) -> Result<Self> {
        let beyond = present.infiniband_lids().err();
        // Hosts are set aside in both, so that a node is of the kind that it was. Leaves are those of both
        // together, so it is no error if the present has none.
        drop(input::leaf_rule(&args.leaves, &mut present));
        let leaves =
            input::leaf_rule(&args.leaves, &mut reference).with_context(|| name.clone())?;
        let mut joined = Joined::new(&reference, &present).with_context(|| name.clone())?;
        let (destinations, switches, earlier) = order(args)?;
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let mut orders = Routing::orders_of(&reference, &options);
        if let Some(earlier) = earlier {
            orders.keep_absent(&earlier);
        }
        joined.hand_over(&mut orders);
        let leaves = input::leaf_rule(&args.leaves, &mut joined.fabric)?;
        let routing = joined.routing(leaves, &orders);
        let stable = Stable { reference: Arc::new(joined.reference(&routing)) };
        Ok(State {
            fabric: joined.fabric,
            absent: joined.now,
            routing,
            stable: Some(stable),
            reference: Some((name, joined.changes)),
            saved: Some(orders),
            beyond,
        })
    }

    /// How many nodes are absent that the orders from before know.
    pub(super) fn absent_nodes(&self) -> usize {
        self.saved.as_ref().map_or(0, |saved| saved.absent_nodes(&self.fabric))
    }

    /// Whether the numbers are from before, or are to last.
    pub(super) fn numbers_last(&self, args: &RouteArgs) -> bool {
        self.saved.is_some() || args.save_orders.is_some()
    }

    pub(super) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.absent)
    }

    /// How many destinations there are now.
    pub(super) fn destinations(&self) -> usize {
        let all = self.routing.columns().destinations().iter();
        all.filter(|d| d.end.is_alive(self.live())).count()
    }

    /// Both orders, with whoever is absent now.
    pub(super) fn orders(&self) -> SavedOrders {
        let mut now = self.routing.orders().save(self.live());
        if let Some(earlier) = &self.saved {
            now.keep_absent(earlier);
        }
        now
    }
}
