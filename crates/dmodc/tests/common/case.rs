//! A fabric in two states.

use dmodc::{Degradation, Fabric, Live, Random, Routing, RoutingOptions};

use super::random_faults;

/// A fabric, and faults upon it. It owns the masks that [`Live`] borrows.
pub struct Case<'f> {
    fabric: &'f Fabric,
    none: Degradation,
    pub faults: Degradation,
}

impl<'f> Case<'f> {
    /// A fabric without any fault.
    pub fn healthy(fabric: &'f Fabric) -> Self {
        Self::with_faults(fabric, Degradation::none(fabric))
    }

    /// A fabric with random faults.
    pub fn degraded(random: &mut Random, fabric: &'f Fabric) -> Self {
        let faults = random_faults(random, fabric);
        Self::with_faults(fabric, faults)
    }

    /// A fabric with these faults.
    pub fn with_faults(fabric: &'f Fabric, faults: Degradation) -> Self {
        Case { fabric, none: Degradation::none(fabric), faults }
    }

    /// The fabric without its faults.
    pub fn whole(&self) -> Live<'_> {
        Live::new(self.fabric, &self.none)
    }

    /// The fabric with its faults.
    pub fn now(&self) -> Live<'_> {
        Live::new(self.fabric, &self.faults)
    }

    /// Orders and columns of the whole fabric, with the default options.
    pub fn routing(&self) -> Routing {
        Routing::new(self.whole(), &RoutingOptions::default())
    }
}
