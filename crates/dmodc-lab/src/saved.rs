//! The files that the plugin saved, and the tables that `dmodc route` computes from them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::{
    Degradation, DestinationOrder, Dmodc, Fabric, Joined, LeafRule, Live, Routing, RoutingOptions,
    SavedOrders, SwitchOrder,
};
use dmodc_formats::orders;

use crate::error::LabError;
use crate::held::HeldTables;
use crate::image::{EntryAddress, TableImage, differences, image};

/// How long the plugin may take to write its files after OpenSM uploaded the tables.
const WRITTEN: Duration = Duration::from_secs(15);

/// The files of a state folder.
#[derive(Clone)]
pub(crate) struct SavedState {
    orders: Option<SavedOrders>,
    /// The learned reference, if the plugin learns one and has saved it.
    reference: Option<Arc<Fabric>>,
}

/// The tables that switches hold, compared with those that follow from the saved files.
pub(crate) struct SavedComparison {
    pub(crate) saved: SavedState,
    /// The entries in which both differ.
    pub(crate) differing: Vec<EntryAddress>,
}

impl SavedState {
    /// Reads a state folder. A file that is missing or cannot be read counts as not saved.
    pub(crate) fn read(folder: &Path, learns: bool) -> Self {
        let read = |name: &str| fs::read(folder.join(name)).ok();
        let reference = |text: Vec<u8>| dmodc_formats::read(&text).ok();
        SavedState {
            orders: read("dmodc.orders").and_then(|text| orders::read(&text).ok()),
            reference: learns
                .then(|| read("reference.json").and_then(reference))
                .flatten()
                .map(|reading| Arc::new(reading.fabric)),
        }
    }

    /// Compares the tables that switches hold with those that `dmodc route` computes from the saved files. The plugin
    /// may write its files after the tables; so, as long as they differ, the files are read again for a while.
    pub(crate) fn compare(
        folder: &Path,
        learns: bool,
        held: &HeldTables,
    ) -> Result<SavedComparison, LabError> {
        let start = Instant::now();
        loop {
            let saved = SavedState::read(folder, learns);
            let differing: Vec<EntryAddress> =
                differences(&saved.route(&held.fabric)?, &held.image).collect();
            if differing.is_empty() || start.elapsed() > WRITTEN {
                return Ok(SavedComparison { saved, differing });
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Returns the options of `dmodc route --orders` with the saved orders.
    pub(crate) fn options(&self) -> RoutingOptions {
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

    /// Returns the tables that `dmodc route` computes for a fabric: with the engine `stable` if a reference was
    /// learned.
    pub(crate) fn route(&self, fabric: &Fabric) -> Result<TableImage, LabError> {
        if let Some(reference) = &self.reference
            && let Ok(joined) = Joined::new(reference, fabric)
        {
            return self.route_stable(reference, &joined);
        }
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let (tables, _) = Routing::new(live, &self.options()).route(live, &Dmodc)?;
        Ok(image(live, &tables))
    }

    fn route_stable(&self, reference: &Fabric, joined: &Joined) -> Result<TableImage, LabError> {
        let mut orders = Routing::orders_of(reference, &self.options());
        if let Some(earlier) = &self.orders {
            orders.keep_absent(earlier);
        }
        let (routing, engine) = joined.stable(LeafRule::Detect, orders);
        let live = Live::new(&joined.fabric, &joined.now);
        let (tables, _) = routing.route(live, &engine)?;
        Ok(image(live, &tables))
    }
}
