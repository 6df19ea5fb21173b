//! What the plugin saved, and what `dmodc route` computes from it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, Joined, LeafRule, Live, Routing, RoutingOptions,
    SavedOrders, Stable, SwitchOrder,
};
use dmodc_formats::orders;

use super::LabError;
use super::held::{Held, Image, differences, image};

/// After so long the plugin has written its files.
const WRITTEN: Duration = Duration::from_secs(15);

/// The files of a state folder.
#[derive(Clone)]
pub(super) struct Saved {
    orders: Option<SavedOrders>,
    /// The learned reference, if one is wanted and there.
    reference: Option<Arc<Fabric>>,
}

impl Saved {
    /// Reads a state folder. What is not there, or cannot be read, is none.
    pub(super) fn read(folder: &Path, learns: bool) -> Self {
        let read = |name: &str| fs::read(folder.join(name)).ok();
        let reference = |text: Vec<u8>| dmodc_formats::read(&text).ok();
        Saved {
            orders: read("dmodc.orders").and_then(|text| orders::read(&text).ok()),
            reference: learns
                .then(|| read("reference.json").and_then(reference))
                .flatten()
                .map(|reading| Arc::new(reading.fabric)),
        }
    }

    /// Returns what is saved, and the entries in which the switches hold something else than `dmodc route` computes
    /// by it, each as the GUID of a switch and a LID. The plugin may write its files after the tables; so, as long as
    /// they differ, the files are read again for a while.
    pub(super) fn compare(
        folder: &Path,
        learns: bool,
        held: &Held,
    ) -> Result<(Self, Vec<(u64, usize)>), LabError> {
        let start = Instant::now();
        loop {
            let saved = Saved::read(folder, learns);
            let differ: Vec<(u64, usize)> =
                differences(&saved.route(&held.fabric)?, &held.image).collect();
            if differ.is_empty() || start.elapsed() > WRITTEN {
                return Ok((saved, differ));
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Returns what `dmodc route --orders` would be told.
    pub(super) fn options(&self) -> RoutingOptions {
        let saved = self.orders.clone();
        RoutingOptions {
            leaves: LeafRule::Detect,
            destinations: saved
                .clone()
                .map_or(DestinationOrder::Topological, DestinationOrder::Saved),
            switches: saved.map_or(SwitchOrder::Plane, SwitchOrder::Saved),
            switch_lids: true,
        }
    }

    /// Returns the tables that `dmodc route` computes for a fabric: by the engine stable, if a reference was learned
    /// of it.
    pub(super) fn route(&self, fabric: &Fabric) -> Result<Image, LabError> {
        if let Some(reference) = &self.reference
            && let Ok(joined) = Joined::new(reference, fabric)
        {
            return self.by_reference(reference, &joined);
        }
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let (tables, _) = Routing::new(live, &self.options()).route(live, &Dmodc)?;
        Ok(image(live, &tables))
    }

    fn by_reference(&self, reference: &Fabric, joined: &Joined) -> Result<Image, LabError> {
        let mut orders = Routing::orders_of(reference, &self.options());
        if let Some(earlier) = &self.orders {
            orders.keep_absent(earlier);
        }
        joined.hand_over(&mut orders);
        let routing = joined.routing(LeafRule::Detect, &orders);
        let engine = Stable { reference: Arc::new(joined.reference(&routing)) };
        let live = Live::new(&joined.fabric, &joined.now);
        let (tables, _) = routing.route(live, &engine)?;
        Ok(image(live, &tables))
    }
}
