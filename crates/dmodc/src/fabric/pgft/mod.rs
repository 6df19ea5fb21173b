//! Parallel Generalised Fat-Trees (Zahavi 2010): PGFT(h; m₁…m_h; w₁…w_h; p₁…p_h).
//!
//! Level 0 are the nodes, level h the top switches; a switch of level l has rank l − 1. A device of
//! level l is named by h digits: digit i counts to wᵢ where i ≤ l and to mᵢ above. A child of level
//! l − 1 and a parent of level l are cabled where all digits but the l-th agree, by p_l parallel
//! cables: the j-th is the child's up port `parent digit + j·w_l` and the parent's down port
//! `child digit + j·m_l`. Down ports are numbered first, then up ports, from 1.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use super::{Adapter, AdapterKind, Fabric, FabricBuilder, Product, Rate, Switch, Vertex};
use crate::id::{Guid, Lid, PortNumber};
use crate::random::Random;
use crate::words::counted;

/// The shape of a PGFT. Indices of the arrays are levels less one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pgft {
    m: Vec<u32>,
    w: Vec<u32>,
    p: Vec<u32>,
}

/// How a generated fabric is given its GUIDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuidOrder {
    /// Ascending with level and index: GUID order is topological order.
    #[default]
    Topological,
    /// Shuffled by a seed among switches and among nodes, as in a machine room.
    Shuffled(u64),
}

/// Why a tuple is not a PGFT that can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PgftError {
    /// The text is not `h; m,…; w,…; p,…`.
    Syntax(String),
    /// The lists do not have one number for each level.
    Lengths(usize),
    /// More levels than routes can climb.
    Levels(usize),
    /// An arity is zero.
    Zero,
    /// w₁ or p₁ is not 1: a node has one cable, to one leaf.
    NodeCables,
    /// A switch of this level would need this number of ports.
    Ports(usize, u64),
    /// There would be more devices or cables than [`Pgft::MOST`].
    TooLarge,
}

impl fmt::Display for PgftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PgftError::Syntax(text) => write!(
                f,
                "'{text}' is not a PGFT tuple: expected h; m1,…,mh; w1,…,wh; p1,…,ph, \
                 such as \"3; 2,2,3; 1,2,2; 1,2,1\""
            ),
            PgftError::Lengths(h) => {
                write!(
                    f,
                    "a PGFT of {} needs exactly that many numbers in each of the lists m, w and p, and at least 1 level",
                    counted(*h, "level")
                )
            }
            PgftError::Levels(h) => {
                write!(
                    f,
                    "a PGFT has at most {} levels, because routes have a greatest length; not {h}",
                    Pgft::MOST_LEVELS
                )
            }
            PgftError::Zero => write!(f, "every m, w and p must be at least 1"),
            PgftError::NodeCables => {
                write!(f, "w1 and p1 must be 1: a node has one cable, to one leaf switch")
            }
            PgftError::Ports(level, ports) => write!(
                f,
                "switches of level {level} would need {ports} ports, but a switch has at most {}",
                PortNumber::MAX
            ),
            PgftError::TooLarge => {
                write!(
                    f,
                    "the fabric would have more than {} nodes, switches or cables",
                    Pgft::MOST
                )
            }
        }
    }
}

impl std::error::Error for PgftError {}

impl Pgft {
    /// The most nodes, switches or cables of one level that will be built: 2^24.
    pub const MOST: u64 = 1 << 24;

    /// The most levels: up and down again, a route of 254 hops.
    pub const MOST_LEVELS: usize = 128;

    /// Returns the PGFT with as many levels as the lists are long.
    ///
    /// # Errors
    /// If it does not describe a fabric that can be built.
    pub fn new(m: Vec<u32>, w: Vec<u32>, p: Vec<u32>) -> Result<Self, PgftError> {
        let h = m.len();
        if h == 0 || w.len() != h || p.len() != h {
            return Err(PgftError::Lengths(h));
        }
        if h > Self::MOST_LEVELS {
            return Err(PgftError::Levels(h));
        }
        if m.iter().chain(&w).chain(&p).any(|&n| n == 0) {
            return Err(PgftError::Zero);
        }
        if w[0] != 1 || p[0] != 1 {
            return Err(PgftError::NodeCables);
        }
        let pgft = Pgft { m, w, p };
        for l in 1..=h {
            let ports = pgft.down_ports(l) + pgft.up_ports(l);
            if ports > u64::from(PortNumber::MAX.0) {
                return Err(PgftError::Ports(l, ports));
            }
        }
        for l in 0..=h {
            let devices = pgft.checked_count(l).ok_or(PgftError::TooLarge)?;
            let cables = devices.saturating_mul(if l == 0 { 1 } else { pgft.up_ports(l) });
            if devices > Self::MOST || cables > Self::MOST {
                return Err(PgftError::TooLarge);
            }
        }
        Ok(pgft)
    }

    /// Returns h, the number of levels of switches.
    pub fn levels(&self) -> usize {
        self.m.len()
    }

    /// Returns m, the number of children of a switch of level `l` (from 1).
    pub fn m(&self, l: usize) -> u32 {
        self.m[l - 1]
    }

    /// Returns w, the number of parents of a device of level `l − 1`.
    pub fn w(&self, l: usize) -> u32 {
        self.w[l - 1]
    }

    /// Returns p, the number of parallel cables between a device of level `l − 1` and a parent.
    pub fn p(&self, l: usize) -> u32 {
        self.p[l - 1]
    }

    /// Returns the number of devices of level `l`; level 0 are the nodes.
    pub fn count(&self, l: usize) -> usize {
        self.checked_count(l).expect("the constructor bounds every level") as usize
    }

    /// Returns the number of all switches.
    pub fn switch_count(&self) -> usize {
        (1..=self.levels()).map(|l| self.count(l)).sum()
    }

    fn checked_count(&self, l: usize) -> Option<u64> {
        (0..self.levels()).try_fold(1u64, |n, i| n.checked_mul(self.radix(l, i).into()))
    }

    /// Returns the radix of digit `i` (from 0) at level `l`: the digit is less than it.
    fn radix(&self, l: usize, i: usize) -> u32 {
        if i < l { self.w[i] } else { self.m[i] }
    }

    fn down_ports(&self, l: usize) -> u64 {
        u64::from(self.m[l - 1]) * u64::from(self.p[l - 1])
    }

    fn up_ports(&self, l: usize) -> u64 {
        match self.w.get(l) {
            Some(&w) => u64::from(w) * u64::from(self.p[l]),
            None => 0,
        }
    }

    /// Returns the port of a switch for its down port index (`child digit + j·m`).
    pub fn down_port(&self, index: u32) -> PortNumber {
        PortNumber((1 + index) as u8)
    }

    /// Returns the port of a level-`l` switch for its up port index (`parent digit + j·w`).
    pub fn up_port(&self, l: usize, index: u32) -> PortNumber {
        PortNumber((1 + self.down_ports(l) as u32 + index) as u8)
    }

    /// Returns the digits of the device with this index in its level, the first digit first.
    pub fn digits(&self, l: usize, index: usize) -> Vec<u32> {
        let mut rest = index;
        (0..self.levels())
            .map(|i| {
                let radix = self.radix(l, i) as usize;
                let digit = rest % radix;
                rest /= radix;
                digit as u32
            })
            .collect()
    }

    /// Returns the index in its level of the device with these digits.
    pub fn index(&self, l: usize, digits: &[u32]) -> usize {
        (0..self.levels())
            .rev()
            .fold(0, |index, i| index * self.radix(l, i) as usize + digits[i] as usize)
    }

    /// Returns the fabric: nodes in topological order, switches level by level. LIDs are 1 to N for
    /// the nodes, then the switches; where InfiniBand has not enough of them, all are extended ones.
    pub fn fabric(&self, guids: GuidOrder) -> Fabric {
        let mut b = FabricBuilder::new();
        let h = self.levels();
        let guids = PgftGuids::new(self, guids);
        let lids = self.count(0) + self.switch_count();
        let first = if lids > Lid::LAST_UNICAST.0 as usize { Lid::FIRST_EXTENDED } else { Lid(1) };
        let mut lid = (first.0..).map(Lid);
        let mut next_lid = || lid.next().expect("fewer than 2^32 devices");

        let nodes: Vec<Vertex> = (0..self.count(0))
            .map(|i| {
                let guid = guids.nodes[i];
                let vertex = b.adapter(Adapter {
                    guid,
                    ports: 1,
                    kind: AdapterKind::Host,
                    name: format!("node-{i}").into(),
                    product: Product { vendor: VENDOR, device: 1, system: guid },
                });
                b.end_port(vertex, PortNumber(1), Guid(guid.0 + 1), next_lid(), 0);
                vertex
            })
            .collect();
        let mut below = nodes;
        for l in 1..=h {
            let switches: Vec<Vertex> = (0..self.count(l))
                .map(|i| {
                    let guid = guids.switches[l - 1][i];
                    b.switch(Switch {
                        guid,
                        lid: next_lid(),
                        ports: (self.down_ports(l) + self.up_ports(l)) as u8,
                        name: format!("L{l}-{i}").into(),
                        product: Product { vendor: VENDOR, device: 2, system: guid },
                    })
                })
                .collect();
            for index in 0..below.len() {
                self.cable_to_parents(&mut b, l, &below, index, &switches);
            }
            below = switches;
        }
        b.finish().expect("a PGFT is consistent by construction")
    }

    /// Cables the device with this index in level `l − 1` to its parents in level `l`.
    fn cable_to_parents(
        &self,
        b: &mut FabricBuilder,
        l: usize,
        children: &[Vertex],
        index: usize,
        parents: &[Vertex],
    ) {
        let (child, mut digits) = (children[index], self.digits(l - 1, index));
        let child_digit = digits[l - 1];
        for j in 0..self.p(l) {
            for parent_digit in 0..self.w(l) {
                digits[l - 1] = parent_digit;
                let up_index = parent_digit + j * self.w(l);
                let up = match l {
                    1 => PortNumber(1),
                    _ => self.up_port(l - 1, up_index),
                };
                let down = self.down_port(child_digit + j * self.m(l));
                let parent = parents[self.index(l, &digits)];
                b.cable((child, up), (parent, down), Rate::NDR);
            }
        }
    }
}

/// The vendor number of generated devices: no real one.
pub(super) const VENDOR: u32 = 0xd0dc;
/// Generated GUIDs carry the "locally administered" bit: no real device has them.
pub(super) const GUID_PREFIX: u64 = 0x02d0_dc00_0000_0000;

/// GUIDs of all devices, by level and index.
struct PgftGuids {
    nodes: Vec<Guid>,
    switches: Vec<Vec<Guid>>,
}

impl PgftGuids {
    fn new(pgft: &Pgft, order: GuidOrder) -> Self {
        let mut nodes: Vec<Guid> =
            (1..=pgft.count(0) as u64).map(|i| Guid(GUID_PREFIX | i << 4)).collect();
        let mut all: Vec<Guid> = (1..=pgft.levels())
            .flat_map(|l| {
                (1..=pgft.count(l) as u64).map(move |i| Guid(GUID_PREFIX | (l as u64) << 32 | i))
            })
            .collect();
        if let GuidOrder::Shuffled(seed) = order {
            Random::new(seed, 0).shuffle(&mut nodes);
            Random::new(seed, 1).shuffle(&mut all);
        }
        let mut rest = all.into_iter();
        let switches =
            (1..=pgft.levels()).map(|l| rest.by_ref().take(pgft.count(l)).collect()).collect();
        PgftGuids { nodes, switches }
    }
}

impl fmt::Display for Pgft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let (m, w, p) = (list(&self.m), list(&self.w), list(&self.p));
        write!(f, "{}; {m}; {w}; {p}", self.levels())
    }
}

impl FromStr for Pgft {
    type Err = PgftError;

    /// Reads `3; 2,2,3; 1,2,2; 1,2,1`, the paper's dots for commas, and `PGFT(…)` around it.
    fn from_str(text: &str) -> Result<Self, PgftError> {
        let wrong = || PgftError::Syntax(text.trim().chars().take(80).collect());
        let mut inner = text.trim();
        if let Some(rest) = inner.strip_prefix("PGFT").or(inner.strip_prefix("pgft")) {
            inner = rest.trim().strip_prefix('(').ok_or_else(wrong)?;
            inner = inner.strip_suffix(')').ok_or_else(wrong)?;
        }
        let parts: Vec<&str> = inner.split(';').collect();
        let [h, m, w, p] = parts[..] else { return Err(wrong()) };
        let list = |part: &str| -> Result<Vec<u32>, PgftError> {
            part.split([',', '.']).map(|n| n.trim().parse().map_err(|_| wrong())).collect()
        };
        let h: usize = h.trim().parse().map_err(|_| wrong())?;
        let (m, w, p) = (list(m)?, list(w)?, list(p)?);
        if m.len() != h {
            return Err(PgftError::Lengths(h));
        }
        Pgft::new(m, w, p)
    }
}
