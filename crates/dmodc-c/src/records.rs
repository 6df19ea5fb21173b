//! Records, kinds and numbers that both sides of the interface share.
//!
//! The size of a record never changes. There are no gaps in a record: free bytes are called `reserved`, so that every byte that
//! C reads was written. Kinds are passed as `uint32_t`, because a number that is no kind must be an error and nothing worse.

/// A fabric that is being made from records.
pub type DmodcBuilder = u64;
/// A fabric. It never changes.
pub type DmodcFabric = u64;
/// What can be chosen about a router.
pub type DmodcSettings = u64;
/// A fabric with its faults and its tables.
pub type DmodcRouter = u64;
/// The entries that a change moved.
pub type DmodcDelta = u64;
/// An order in which changed entries can be written.
pub type DmodcPlan = u64;

/// The entry of a destination that a switch has no route to.
pub const DMODC_NO_ROUTE: u8 = 255;

/// The greatest number of a port.
pub const DMODC_LAST_PORT: u8 = 254;

/// The greatest LID. Those of InfiniBand end at 49151; greater ones are for studies.
pub const DMODC_LAST_LID: u32 = 2147483647;

/// A routing engine.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmodcEngine {
    /// The paper's algorithm, for any fabric.
    Dmodc = 0,
    /// Dmodc that keeps the routes of a reference wherever they work.
    Stable = 1,
    /// Dmodc with the paper's dividers everywhere.
    Paper = 2,
}

/// The purpose of an adapter.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmodcAdapterKind {
    /// A host.
    Host = 0,
    /// The aggregation node inside a switch. It is routed to, but is no host and makes no leaf.
    Aggregation = 1,
    /// A router to another subnet, which is routed to like a host.
    Router = 2,
    /// A host that makes no leaf of its switch.
    Aside = 3,
}

/// A switch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcSwitch {
    /// Its GUID.
    pub guid: u64,
    /// Its own LID. In a builder, 0 lets the library give one.
    pub lid: u32,
    /// Its number of ports, 1 to 254.
    pub ports: u8,
    /// Must be 0.
    pub reserved: [u8; 3],
}

/// A channel adapter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcAdapter {
    /// Its GUID: that of the device, not those of its ports.
    pub guid: u64,
    /// Its purpose, one of dmodc_adapter_kind.
    pub kind: u32,
    /// Its number of ports, 1 to 254.
    pub ports: u8,
    /// Must be 0.
    pub reserved: [u8; 3],
}

/// A port of an adapter. With a cable in it, it is a node.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcEndPort {
    /// The GUID of the adapter.
    pub adapter_guid: u64,
    /// The GUID of the port. The first port may have that of the adapter.
    pub guid: u64,
    /// Its base LID; 0 lets the library give one.
    pub lid: u32,
    /// It has 2^lmc LIDs; 0 to 7.
    pub lmc: u8,
    /// Its number on the adapter, from 1.
    pub port: u8,
    /// Must be 0.
    pub reserved: [u8; 2],
}

/// A cable between two ports. One of the devices at least is a switch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcCable {
    /// The GUID of the device at one end.
    pub guid_a: u64,
    /// The GUID of the device at the other end.
    pub guid_b: u64,
    /// The port at one end.
    pub port_a: u8,
    /// The port at the other end.
    pub port_b: u8,
    /// Must be 0.
    pub reserved: [u8; 6],
}

/// A node: a cabled port of an adapter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcNode {
    /// Its port GUID.
    pub guid: u64,
    /// The GUID of its adapter.
    pub adapter_guid: u64,
    /// The GUID of the switch that it is cabled to.
    pub switch_guid: u64,
    /// Its base LID.
    pub lid: u32,
    /// It has 2^lmc LIDs.
    pub lmc: u8,
    /// Its number on the adapter.
    pub port: u8,
    /// The port of the switch.
    pub switch_port: u8,
    /// Is 0.
    pub reserved: [u8; 1],
}

/// How many of each a fabric has.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcCounts {
    /// Switches.
    pub switches: u32,
    /// Nodes.
    pub nodes: u32,
    /// Cables between switches.
    pub cables: u32,
    /// The number of bytes of a row: one more than the greatest LID.
    pub row_length: u32,
}

/// A part that fails or works again.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcChange {
    /// The GUID of a switch.
    pub guid: u64,
    /// A port of it: the cable in that port. 0 is the switch itself.
    pub port: u8,
    /// 0: the part fails. 1: it works again.
    pub works: u8,
    /// Must be 0.
    pub reserved: [u8; 6],
}

/// An entry of a table that changed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcEntry {
    /// The LID of the destination.
    pub lid: u32,
    /// The port before; DMODC_NO_ROUTE if there was no route. 0 is the switch itself.
    pub old_port: u8,
    /// The port now; DMODC_NO_ROUTE if there is no route. 0 is the switch itself.
    pub new_port: u8,
    /// Is 0.
    pub reserved: [u8; 2],
}

/// One write of a plan: some entries of a block of 64 LIDs in the table of a switch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcWrite {
    /// The GUID of the switch.
    pub switch_guid: u64,
    /// The round, from 1. A round begins when all writes of the one before are answered.
    pub round: u32,
    /// The number of the block: LIDs divided by 64.
    pub block: u32,
}

/// The fates of pairs of nodes. pairs = delivered + lost + cut_off.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcVerdict {
    /// Ordered pairs of live nodes. Aggregation nodes do not count.
    pub pairs: u64,
    /// Pairs whose packets arrive.
    pub delivered: u64,
    /// Pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Pairs that no live cables connect.
    pub cut_off: u64,
    /// 1 if every pair of leaves with nodes has a route that goes up, then down; 0 otherwise.
    pub valid: u8,
    /// Is 0.
    pub reserved: [u8; 7],
}

/// What following every pair of nodes found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmodcCheck {
    /// The fates of all pairs.
    pub verdict: DmodcVerdict,
    /// Pairs whose packets loop.
    pub loops: u64,
    /// Pairs whose route goes up after it went down.
    pub up_down_violations: u64,
    /// 1 if packets cannot wait for each other in a circle; 0 otherwise.
    pub deadlock_free: u8,
    /// Is 0.
    pub reserved: [u8; 7],
}
