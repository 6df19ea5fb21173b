//! The numbers of a fabric, each a type of its own: mixing them up does not compile.

use std::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Returns the index of the `at`-th element of its array.
            ///
            /// # Panics
            /// If `at` does not fit 32 bits; builders refuse such fabrics first.
            #[inline]
            pub fn new(at: usize) -> Self {
                Self(u32::try_from(at).expect("the builder bounds every array to u32 indices"))
            }

            /// Returns the index into arrays that have one element for each.
            #[inline]
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A switch: its place in [`Fabric::switches`](crate::Fabric::switches).
    SwitchIndex
}
index! {
    /// A node (an end port): its place in [`Fabric::nodes`](crate::Fabric::nodes).
    NodeIndex
}
index! {
    /// A channel adapter: its place in [`Fabric::adapters`](crate::Fabric::adapters).
    AdapterIndex
}
index! {
    /// A cable: first the inter-switch cables, then one for each node.
    CableIndex
}

/// A globally unique identifier of a switch, an adapter or a node; printed as OpenSM does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub u64);

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

/// A local identifier: how a table names a destination. 32 bits wide inside, so that fabrics
/// beyond InfiniBand's unicast range can be studied too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lid(pub u32);

impl Lid {
    /// "Not known": what a file without LIDs says.
    pub const UNKNOWN: Lid = Lid(0);
    /// InfiniBand's last unicast LID.
    pub const LAST_UNICAST: Lid = Lid(0xbfff);
    /// Where LIDs start in a fabric that does not fit InfiniBand's unicast range.
    pub const FIRST_EXTENDED: Lid = Lid(0x1_0000);

    /// Returns whether OpenSM and real switches could use this LID.
    pub fn is_infiniband(self) -> bool {
        self > Lid::UNKNOWN && self <= Lid::LAST_UNICAST
    }
}

impl fmt::Display for Lid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A port of a switch or an adapter: 1 to 254. Port 0 is the switch itself, 255 is "no route".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortNumber(pub u8);

impl PortNumber {
    /// The switch itself, as a destination.
    pub const SELF: PortNumber = PortNumber(0);
    /// The greatest number a port may have.
    pub const MAX: PortNumber = PortNumber(254);
}

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
