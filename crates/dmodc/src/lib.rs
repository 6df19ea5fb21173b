//! Dmodc: deterministic, fault-resilient forwarding tables for fat-trees.
//!
//! The principal type is the [`Router`]: it routes a [`Fabric`], re-routes it after faults and repairs, and judges its
//! tables.
//!
//! This crate is the engine of "High-Quality Fault Resiliency in Fat-Trees" (Gliksberg, Capra,
//! Louvet, García, Sohier): pure computation, no files, no clock, no environment. The stages follow
//! the paper; each consumes the type of the one before:
//!
//! | stage | paper | here |
//! |---|---|---|
//! | the network and its faults | II | [`Fabric`], [`Degradation`], together [`Live`] |
//! | levels, directions, port groups | III-A | [`Ranking`], [`Orders`], [`PortGroups`] |
//! | cost (Procedure 1) | III-B | [`CostBlock`] |
//! | divider (Procedure 1) | III-C | [`dividers`]; [`LevelDividers`], where Π does not spread |
//! | routes, eqs. (1)–(4) | III-D | [`Engine`]s [`Dmodc`], [`Paper`], [`Dmodk`], [`RandomPorts`] → [`ForwardingTables`] |
//! | validity | IV-A | [`Coverage`], [`judge`] |
//! | after a fault | III | [`Router`]: everything again, or [exactly what changes](Router::apply) |
//! | routes that stay | | [`Stable`] by a [`Reference`]; [`Joined`]: two fabrics as one with two states |
//! | numbers that last | | [`SavedOrders`]: a number belongs to a place; [`advise::NumbersCost`]: what that costs |
//! | the order of the hosts of a job | | [`advise::Placement`], [`Rails`] |
//! | tables too large to keep | | [`Engine::stream_tiles`], [`stream_switches`], [`Digest`] |
//!
//! [`oracle`] holds the naive twins of these algorithms, which the tests compare the fast code with.
//!
//! # Examples
//! The whole way, from a file to a verdict, is in the crate `dmodc-formats`. A fabric and its reference:
//! ```
#![doc = include_str!("../examples/reference.rs")]
//! ```
//! Tables that do not fit into memory:
//! ```
#![doc = include_str!("../examples/stream.rs")]
//! ```
//! An engine of your own:
//! ```
#![doc = include_str!("../examples/first_port.rs")]
//! ```

pub mod advise;
mod bits;
mod cost;
mod departures;
mod divider;
pub mod fabric;
mod group;
mod id;
mod infer;
pub mod judge;
mod kernel;
mod leaf;
mod leaf_evenness;
mod level_dividers;
mod lids;
mod measured;
pub mod oracle;
mod order;
pub mod parallel;
mod preprocess;
mod rails;
mod random;
mod random_faults;
mod rank;
mod recognise;
pub mod relief;
mod route;
mod router;
mod routing;
mod single_root;
mod survey;
mod tables;
mod union_find;
pub mod words;

pub use cost::{CostBlock, TooFar};
pub use departures::{Departures, DeparturesError};
pub use divider::dividers;
pub use fabric::{Degradation, Fabric, FabricBuilder, GuidOrder, Joined, Live, Pgft, Preset};
pub use group::{Group, PortGroups};
pub use id::{AdapterIndex, CableIndex, Guid, Lid, NodeIndex, PortNumber, SwitchIndex};
pub use infer::{
    AddedCables, InferredLevel, InferredWhole, ShapeDifference, ShapeDoubt, TooIrregular,
};
pub use kernel::Kernel;
pub use leaf::{Doubt, DoubtReason, LeafChoice, LeafRule, Leaves, NamePattern, NoLeafMeant};
pub use leaf_evenness::{CrowdedLeaf, LeafEvenness};
pub use level_dividers::{LevelDividers, LevelRule};
pub use measured::ChoicesDown;
pub use order::{
    DestinationNumber, DestinationOrder, NodeTypes, Orders, SavedCable, SavedOrders, SavedPlace,
    SwitchOrder, natural_cmp,
};
pub use preprocess::{Preprocessing, SideDividers, SwitchDividers};
pub use rails::{RailHost, Rails};
pub use random::Random;
pub use random_faults::{Amount, AmountError, Draw, ParseAmountError};
pub use rank::{RankRule, Ranking};
pub use recognise::{Labels, NotPgft, recognise};
pub use route::{
    Coverage, Dmodc, Dmodk, Engine, Incremental, Paper, Piece, RandomPorts, Reference, RouteError,
    RowSink, Stable, alternative_ports, connect_roots, stream_switches, validity,
};
pub use router::{Change, Router};
pub use routing::{Routing, RoutingOptions};
pub use single_root::{Oddity, Unconnected};
pub use survey::{HostKey, LevelSurvey, NotFatTree, Survey, host_name, not_fat_tree, survey};
pub use tables::{
    BLOCK, Columns, Destination, Digest, End, ForwardingTables, MovedEntry, NO_ROUTE, NoMemory,
    RowDelta, TableDelta, Tile,
};
