//! Which ports the cables of the regular shape get, so that few ends move.

use std::collections::BTreeSet;

use crate::fabric::{Cable, Fabric, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::infer::ShapeDifference;

/// A cable that does not belong where it is, and which of its ends already serve another one.
struct Misplaced {
    cable: Cable,
    is_used: [bool; 2],
}

/// One end of a misplaced cable.
#[derive(Clone, Copy)]
struct MisplacedEnd {
    /// The place of the cable among the misplaced ones.
    cable: usize,
    /// 0 for the first end, 1 for the second one.
    end: usize,
}

impl MisplacedEnd {
    fn opposite(self) -> Self {
        MisplacedEnd { end: 1 - self.end, ..self }
    }
}

/// A cable that a pair of switches lacks, and the ports found for it.
#[derive(Clone, Copy)]
struct Lacking {
    lower: SwitchIndex,
    upper: SwitchIndex,
    lower_port: Option<PortNumber>,
    upper_port: Option<PortNumber>,
}

impl Lacking {
    fn is_open(&self) -> bool {
        self.lower_port.is_none() && self.upper_port.is_none()
    }
}

/// Two lacking cables that a swap of two misplaced ones brings: a–x and p–q instead of a–p and x–q.
struct Exchange {
    /// The place of p–q among the lacking cables.
    second: usize,
    /// The misplaced cable a–p, its end at a.
    at_a: MisplacedEnd,
    /// The misplaced cable x–q, its end at x.
    at_x: MisplacedEnd,
}

/// The cables that are chosen for the shape.
pub(super) struct Repair<'a> {
    fabric: &'a Fabric,
    misplaced: Vec<Misplaced>,
    lacking: Vec<Lacking>,
    /// Ports that are or will be in use.
    taken: BTreeSet<(SwitchIndex, PortNumber)>,
    /// Cables of the inferred whole that are added as they are.
    added: Vec<Cable>,
}

impl<'a> Repair<'a> {
    /// Chooses ports for all cables that a fabric lacks. `loops` are its cables between two ports of one switch.
    pub(super) fn new(fabric: &'a Fabric, difference: &ShapeDifference, loops: &[Cable]) -> Self {
        let misplaced = difference.misplaced().chain(loops.iter().copied());
        let misplaced = misplaced.map(|cable| Misplaced { cable, is_used: [false; 2] });
        let lacking = difference.lacking.iter().flat_map(|pair| {
            let (lower, upper) = (pair.lower, pair.upper);
            let one = Lacking { lower, upper, lower_port: None, upper_port: None };
            std::iter::repeat_n(one, pair.cables)
        });
        let mut taken: BTreeSet<_> = loops.iter().flat_map(|cable| [cable.a, cable.b]).collect();
        for s in fabric.switch_indices() {
            for (at, port) in fabric.ports_of(s).iter().enumerate() {
                if port.peer != Peer::None {
                    taken.insert((s, PortNumber(at as u8 + 1)));
                }
            }
        }
        let (misplaced, lacking) = (misplaced.collect(), lacking.collect());
        let mut repair = Repair { fabric, misplaced, lacking, taken, added: vec![] };
        repair.exchange();
        repair.reuse();
        repair.add_missing(difference);
        repair
    }

    /// Returns the switch and the port of an end.
    fn place(&self, at: MisplacedEnd) -> (SwitchIndex, PortNumber) {
        let cable = self.misplaced[at.cable].cable;
        [cable.a, cable.b][at.end]
    }

    /// Returns the ends of misplaced cables at a switch that serve no other cable yet.
    fn unused_at(&self, s: SwitchIndex) -> impl Iterator<Item = MisplacedEnd> {
        let cables = 0..self.misplaced.len();
        let ends = cables.flat_map(|cable| [0, 1].map(|end| MisplacedEnd { cable, end }));
        ends.filter(move |&at| !self.misplaced[at.cable].is_used[at.end] && self.place(at).0 == s)
    }

    /// Finds pairs of exchanged cables: a–p and x–q are misplaced, a–x and p–q are lacking.
    fn exchange(&mut self) {
        for first in 0..self.lacking.len() {
            if !self.lacking[first].is_open() {
                continue;
            }
            let Some(Exchange { second, at_a, at_x }) = self.exchanged(first) else { continue };
            self.use_ends(first, at_a, at_x);
            let (at_p, at_q) = (at_a.opposite(), at_x.opposite());
            match self.place(at_p).0 == self.lacking[second].lower {
                true => self.use_ends(second, at_p, at_q),
                false => self.use_ends(second, at_q, at_p),
            }
        }
    }

    /// Returns the exchange that brings a lacking cable, if there is one.
    fn exchanged(&self, first: usize) -> Option<Exchange> {
        let Lacking { lower: a, upper: x, .. } = self.lacking[first];
        let is_whole = |at: &MisplacedEnd| self.misplaced[at.cable].is_used == [false; 2];
        for at_a in self.unused_at(a).filter(is_whole) {
            for at_x in self.unused_at(x).filter(is_whole).filter(|at| at.cable != at_a.cable) {
                let (p, q) = (self.place(at_a.opposite()).0, self.place(at_x.opposite()).0);
                let second = self.lacking.iter().enumerate().position(|(at, l)| {
                    let joins = (l.lower, l.upper) == (p, q) || (l.lower, l.upper) == (q, p);
                    at != first && joins && l.is_open()
                });
                if let Some(second) = second {
                    return Some(Exchange { second, at_a, at_x });
                }
            }
        }
        None
    }

    /// Gives a lacking cable the ports of two ends of misplaced ones.
    fn use_ends(&mut self, lacking: usize, lower: MisplacedEnd, upper: MisplacedEnd) {
        self.lacking[lacking].lower_port = Some(self.take_end(lower));
        self.lacking[lacking].upper_port = Some(self.take_end(upper));
    }

    fn take_end(&mut self, at: MisplacedEnd) -> PortNumber {
        self.misplaced[at.cable].is_used[at.end] = true;
        self.place(at).1
    }

    /// Gives the other lacking cables ports of misplaced ones where there are any, and a free port at the other end.
    fn reuse(&mut self) {
        for at in 0..self.lacking.len() {
            let Lacking { lower, upper, .. } = self.lacking[at];
            if !self.lacking[at].is_open() {
                continue;
            }
            let (own, far) = (self.unused_at(lower).next(), self.unused_at(upper).next());
            match (own, far) {
                (Some(own), Some(far)) => self.use_ends(at, own, far),
                (Some(own), None) => {
                    let Some(free) = self.take_free(upper) else { continue };
                    self.lacking[at].lower_port = Some(self.take_end(own));
                    self.lacking[at].upper_port = Some(free);
                }
                (None, Some(far)) => {
                    let Some(free) = self.take_free(lower) else { continue };
                    self.lacking[at].upper_port = Some(self.take_end(far));
                    self.lacking[at].lower_port = Some(free);
                }
                (None, None) => {}
            }
        }
    }

    fn take_free(&mut self, s: SwitchIndex) -> Option<PortNumber> {
        let mut ports = (1..=self.fabric.switch(s).ports).map(PortNumber);
        let free = ports.find(|port| !self.taken.contains(&(s, *port)))?;
        self.taken.insert((s, free));
        Some(free)
    }

    /// Adds the cables of the inferred whole whose ports are still free.
    fn add_missing(&mut self, difference: &ShapeDifference) {
        for cable in difference.missing() {
            let ends = [cable.a, cable.b];
            let is_free = ends.iter().all(|end| !self.taken.contains(end));
            let is_known = self.lacking.iter().any(|l| {
                l.lower_port.is_some()
                    && [(l.lower, l.upper), (l.upper, l.lower)].contains(&(cable.a.0, cable.b.0))
            });
            if is_free && !is_known {
                self.taken.extend(ends);
                self.added.push(cable);
            }
        }
    }

    /// Returns all cables of the shape.
    pub(super) fn cables(&self, loops: &[Cable]) -> Vec<Cable> {
        let is_gone = |cable: &&Cable| {
            let mut gone = self.misplaced.iter().filter(|m| m.is_used != [false; 2]);
            gone.any(|m| m.cable == **cable)
        };
        let all = self.fabric.inter_switch_cables().iter().chain(loops);
        let stay = all.filter(|cable| !is_gone(cable)).copied();
        let found = self.lacking.iter().filter_map(|l| {
            Some(Cable { a: (l.lower, l.lower_port?), b: (l.upper, l.upper_port?) })
        });
        stay.chain(found).chain(self.added.iter().copied()).collect()
    }
}
