//! What stays the same while a fabric is broken and healed: the fabric, the orders, and the reference of `stable`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use dmodc::fabric::{Cable, Part};
use dmodc::{
    CableIndex, Degradation, Dmodc, Dmodk, Engine, Fabric, Guid, InferredWhole, Joined, Live,
    Paper, PortNumber, RandomPorts, Router, Routing, RoutingOptions, Stable, SwitchIndex,
};

use crate::engines::PageEngine;
use crate::layout::Layout;
use crate::problem::Problem;

/// The seed of the engine `random`.
const SEED: u64 = 1;

/// A fabric and everything that is fixed about its routing. All engines share it, so that their tables can be compared
/// entry by entry.
pub struct Setup {
    fabric: Arc<Fabric>,
    /// What people call the fabric.
    title: String,
    routing: Routing,
    /// What the reference of `stable` lacks.
    reference: Degradation,
    /// What is absent at first: cables that the fabric lacks compared with its regular shape, or with a reference.
    first: Degradation,
    /// What the reference is, or why there is none.
    about_reference: String,
    /// Whether there is a reference.
    has_reference: bool,
    /// The engine `stable`, once it is used: relieving its worst ports takes a while on large fabrics.
    stable: OnceLock<Arc<dyn Engine>>,
    /// Where switches are drawn, once somebody looks.
    layout: OnceLock<Layout>,
    switch_by_guid: HashMap<Guid, SwitchIndex>,
}

/// Two states of a fabric.
struct States {
    reference: Degradation,
    first: Degradation,
}

impl Setup {
    /// Takes a fabric whose reference is inferred: the fabric with the cables that it lacks compared with its regular
    /// shape. Those cables are absent at first.
    pub fn inferred(title: String, fabric: Fabric, options: &RoutingOptions) -> Self {
        match InferredWhole::new(&fabric, &options.leaves) {
            Ok(whole) => {
                let reference = Degradation::none(&whole.fabric);
                let routing = Routing::new(Live::new(&whole.fabric, &reference), options);
                let about = match whole.added_cables() {
                    0 => "the fabric itself, which lacks no cable of its regular shape".into(),
                    1 => "the fabric with the one cable that its regular shape lacks".into(),
                    added => {
                        format!("the fabric with the {added} cables that its regular shape lacks")
                    }
                };
                let states = States { reference, first: whole.missing };
                Setup::new(title, whole.fabric, routing, states, Ok(about))
            }
            Err(why) => {
                let none = Degradation::none(&fabric);
                let routing = Routing::new(Live::new(&fabric, &none), options);
                let about = format!("none, because the fabric is too irregular: {why}");
                let states = States { reference: none.clone(), first: none };
                Setup::new(title, fabric, routing, states, Err(about))
            }
        }
    }

    /// Takes the present state of a fabric and its reference, the whole fabric. The orders are those of the reference.
    ///
    /// # Errors
    /// If the reference is of another fabric.
    pub fn joined(
        title: String,
        reference: &Fabric,
        present: &Fabric,
        options: &RoutingOptions,
    ) -> Result<Self, Problem> {
        let joined = Joined::new(reference, present)
            .map_err(|error| Problem::Conflict(error.to_string()))?;
        let mut orders = Routing::orders_of(reference, options);
        joined.hand_over(&mut orders);
        let routing = joined.routing(options.leaves.clone(), &orders);
        let about = format!("a given fabric; {}", joined.changes);
        let states = States { reference: joined.then, first: joined.now };
        Ok(Setup::new(title, joined.fabric, routing, states, Ok(about)))
    }

    fn new(
        title: String,
        fabric: Fabric,
        routing: Routing,
        states: States,
        about: Result<String, String>,
    ) -> Self {
        let guids = fabric.switch_indices().map(|s| (fabric.switch(s).guid, s));
        Setup {
            switch_by_guid: guids.collect(),
            fabric: Arc::new(fabric),
            title,
            routing,
            reference: states.reference,
            first: states.first,
            has_reference: about.is_ok(),
            about_reference: about.unwrap_or_else(|why_none| why_none),
            stable: OnceLock::new(),
            layout: OnceLock::new(),
        }
    }

    /// Returns where switches are drawn.
    pub fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::new(&self.fabric, &self.routing))
    }

    /// Returns the ends of a cable as they are drawn: the lower one first.
    pub(crate) fn drawn_ends(&self, cable: &Cable) -> [(SwitchIndex, PortNumber); 2] {
        let row = |s: SwitchIndex| {
            let rank = self.layout().ranks[s.at()];
            (rank.is_none(), rank)
        };
        match row(cable.a.0) <= row(cable.b.0) {
            true => [cable.a, cable.b],
            false => [cable.b, cable.a],
        }
    }

    /// Returns the part that a text means. `GUID` and `GUID/PORT` are found at once; names are searched for.
    ///
    /// # Errors
    /// If nothing is called so, or several things are.
    pub fn find_part(&self, text: &str) -> Result<Part, Problem> {
        self.find_by_guid(text).map_or_else(
            || self.fabric.find_part(text).map_err(|error| Problem::NotFound(error.to_string())),
            Ok,
        )
    }

    fn find_by_guid(&self, text: &str) -> Option<Part> {
        let (guid, port) = match text.split_once('/') {
            Some((guid, port)) => (guid, Some(port.parse::<u8>().ok()?)),
            None => (text, None),
        };
        let guid = u64::from_str_radix(guid.strip_prefix("0x")?, 16).ok()?;
        let s = *self.switch_by_guid.get(&Guid(guid))?;
        match port {
            None => Some(Part::Switch(s)),
            Some(port) => {
                let cable: CableIndex = self.fabric.port(s, PortNumber(port))?.cable()?;
                Some(Part::Cable(cable))
            }
        }
    }

    /// Returns the faults of these parts.
    ///
    /// # Errors
    /// If there is no such part.
    pub fn faults(&self, names: &[String]) -> Result<Degradation, Problem> {
        let mut faults = Degradation::none(&self.fabric);
        for name in names {
            faults.set(self.find_part(name)?, true);
        }
        Ok(faults)
    }

    /// Returns the fabric, with everything that it ever had.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// Returns what people call the fabric.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the leaves, orders and columns.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Returns what is absent at first.
    pub fn first(&self) -> &Degradation {
        &self.first
    }

    /// Returns what the reference of `stable` is, or why there is none.
    pub fn about_reference(&self) -> &str {
        &self.about_reference
    }

    /// Returns an engine.
    ///
    /// # Errors
    /// If the engine needs a reference and there is none.
    pub fn engine(&self, engine: PageEngine) -> Result<Arc<dyn Engine>, Problem> {
        Ok(match engine {
            PageEngine::Dmodc => Arc::new(Dmodc),
            PageEngine::Paper => Arc::new(Paper),
            PageEngine::Random => Arc::new(RandomPorts { seed: SEED }),
            PageEngine::Dmodk => Arc::new(Dmodk),
            PageEngine::Stable if !self.has_reference => {
                return Err(Problem::Conflict(format!(
                    "the engine stable has no reference: {}",
                    self.about_reference
                )));
            }
            PageEngine::Stable => self.stable.get_or_init(|| self.relieved()).clone(),
        })
    }

    /// Returns `stable`, whose worst ports are relieved in the first state, as `dmodc route` does.
    fn relieved(&self) -> Arc<dyn Engine> {
        let plain = Stable::new(&self.routing, Live::new(&self.fabric, &self.reference));
        let first = Live::new(&self.fabric, &self.first);
        // If that state cannot be routed, the router will say so.
        let relieved = plain.clone().relieved(&self.routing, first);
        Arc::new(relieved.map_or(plain, |(stable, _)| stable))
    }

    /// Routes the fabric with these faults by an engine.
    ///
    /// # Errors
    /// If the engine cannot route it.
    pub fn router(&self, engine: PageEngine, faults: Degradation) -> Result<Router, Problem> {
        let made = self.engine(engine)?;
        Router::with_engine(made, self.fabric.clone(), self.routing.clone(), faults)
            .map_err(|error| route_problem(engine, &error))
    }
}

/// Returns the problem of an engine that cannot route the fabric as it is.
pub(crate) fn route_problem(engine: PageEngine, error: &dmodc::RouteError) -> Problem {
    match error {
        dmodc::RouteError::NotPgft(_) => Problem::Conflict(
            "the engine dmodk routes only whole regular fat trees (PGFTs); repair everything first, or choose another engine"
                .into(),
        ),
        _ => Problem::Conflict(format!("the engine {engine} cannot route this fabric: {error}")),
    }
}
