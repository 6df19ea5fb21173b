//! Dirt: everything in an input file that should not be there, such as damaged lines, prompts of a shell or LIDs that two
//! ports have. It is counted by kind, with the first places, so that a report is short however bad the file is.

use std::collections::BTreeMap;

use dmodc::fabric::{Inconsistency, Problem};

use crate::ReadError;

/// The number of places of each kind that are kept.
const PLACES: usize = 5;

/// A kind of dirt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DirtKind {
    /// A byte order mark at the start.
    ByteOrderMark,
    /// Lines that end in CR LF.
    CarriageReturns,
    /// Lines that are not of the format: prompts, banners, messages of other programs.
    ForeignLine,
    /// Lines of the format that are damaged.
    DamagedLine,
    /// The last line breaks off.
    Truncated,
    /// Bytes that are not UTF-8, as names of other encodings have.
    NotUtf8,
    /// A device is described twice.
    RepeatedDevice,
    /// A port holds two cables, or one that its device does not have.
    ImpossiblePort,
    /// A cable is described by only one of its ends.
    OneSided,
    /// A cable leads back to its own switch.
    SelfLoop,
    /// A cable leads to a device that is not described.
    UnknownPeer,
    /// A cable joins two adapters.
    NoSwitch,
    /// A width or speed that nobody knows.
    UnknownRate,
    /// A GUID that belongs to another port or switch.
    DoubledGuid,
    /// A LID that is 0, 65535 or left out.
    MissingLid,
    /// A LID that another port has.
    DoubledLid,
    /// A table has two entries for one LID.
    RepeatedEntry,
    /// A switch has two tables.
    RepeatedTable,
    /// A table without the line that counts its entries, in a file that has such lines.
    UncountedTable,
}

impl DirtKind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            DirtKind::ByteOrderMark => "byte_order_mark",
            DirtKind::CarriageReturns => "carriage_returns",
            DirtKind::ForeignLine => "foreign_lines",
            DirtKind::DamagedLine => "damaged_lines",
            DirtKind::Truncated => "truncated",
            DirtKind::NotUtf8 => "not_utf8",
            DirtKind::RepeatedDevice => "repeated_devices",
            DirtKind::ImpossiblePort => "impossible_ports",
            DirtKind::OneSided => "one_sided_cables",
            DirtKind::SelfLoop => "self_loops",
            DirtKind::UnknownPeer => "unknown_peers",
            DirtKind::NoSwitch => "cables_without_a_switch",
            DirtKind::UnknownRate => "unknown_rates",
            DirtKind::DoubledGuid => "doubled_guids",
            DirtKind::MissingLid => "missing_lids",
            DirtKind::DoubledLid => "doubled_lids",
            DirtKind::RepeatedEntry => "repeated_entries",
            DirtKind::RepeatedTable => "repeated_tables",
            DirtKind::UncountedTable => "uncounted_tables",
        }
    }

    /// Returns a description for people, in the plural.
    pub fn words(self) -> &'static str {
        match self {
            DirtKind::ByteOrderMark => "byte order marks, ignored",
            DirtKind::CarriageReturns => {
                "lines with Windows line ends (CR LF), read without the CR"
            }
            DirtKind::ForeignLine => "lines that do not belong to the format, skipped",
            DirtKind::DamagedLine => "damaged lines, skipped",
            DirtKind::Truncated => {
                "lines that end in the middle (the file may be incomplete), skipped"
            }
            DirtKind::NotUtf8 => "lines with bytes that are not UTF-8, replaced by U+FFFD in names",
            DirtKind::RepeatedDevice => {
                "devices described twice, of which the first description is used"
            }
            DirtKind::ImpossiblePort => "ports with two cables, or that do not exist, left out",
            DirtKind::OneSided => "cables listed at one end only, left out",
            DirtKind::SelfLoop => "cable ends that lead back to their own switch, left out",
            DirtKind::UnknownPeer => "cables to devices that the file does not describe, left out",
            DirtKind::NoSwitch => "cables between two adapters, left out",
            DirtKind::UnknownRate => "cable ends with an unknown width or speed",
            DirtKind::DoubledGuid => "ports with the GUID of another port, left out",
            DirtKind::MissingLid => "ports without a LID, for which dmodc chooses one",
            DirtKind::DoubledLid => {
                "ports with the LID of another port, for which dmodc chooses another"
            }
            DirtKind::RepeatedEntry => {
                "second entries for the same LID in one table (the entry of the LID's own destination is used, or else the last line)"
            }
            DirtKind::RepeatedTable => {
                "second tables of one switch (where both have an entry, the later one is used)"
            }
            DirtKind::UncountedTable => {
                "tables without the line that counts their entries, which other tables have (the file may be incomplete)"
            }
        }
    }
}

/// How often one kind of dirt occurs, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirtPlaces {
    /// The number of occurrences.
    pub count: usize,
    /// The first places.
    pub places: Vec<ReadError>,
}

/// All dirt of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirt(BTreeMap<DirtKind, DirtPlaces>);

impl Dirt {
    /// Counts an occurrence.
    pub fn note(&mut self, kind: DirtKind, place: ReadError) {
        let found = self.0.entry(kind).or_insert(DirtPlaces { count: 0, places: Vec::new() });
        found.count += 1;
        if found.places.len() < PLACES {
            found.places.push(place);
        }
    }

    /// Adds the dirt of a later part of the same text, which begins after this number of lines.
    pub(crate) fn append(&mut self, part: Dirt, lines_before: u32) {
        for (kind, mut found) in part.0 {
            for place in &mut found.places {
                place.line += lines_before;
            }
            let all = self.0.entry(kind).or_insert(DirtPlaces { count: 0, places: Vec::new() });
            all.count += found.count;
            all.places.extend(found.places);
            all.places.truncate(PLACES);
        }
    }

    /// Counts the inconsistencies that the builder found.
    pub(crate) fn note_all(&mut self, inconsistencies: Vec<Inconsistency>) {
        for Inconsistency { line, problem } in inconsistencies {
            let kind = match problem {
                Problem::DeviceTwice(_) => DirtKind::RepeatedDevice,
                Problem::DuplicateGuid(_) | Problem::NoPortGuid(..) => DirtKind::DoubledGuid,
                Problem::TooManyPorts(..) | Problem::NoSuchPort(..) | Problem::PortTwice(..) => {
                    DirtKind::ImpossiblePort
                }
                Problem::UnknownPeer(..) => DirtKind::UnknownPeer,
                Problem::OneSided(..) => DirtKind::OneSided,
                Problem::SelfLoop(..) => DirtKind::SelfLoop,
                Problem::NoSwitch(..) => DirtKind::NoSwitch,
            };
            self.note(
                kind,
                ReadError { line: line.max(1), column: 1, message: problem.to_string() },
            );
        }
    }

    /// Returns whether the file is clean.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns every kind that occurs.
    pub fn iter(&self) -> impl Iterator<Item = (DirtKind, &DirtPlaces)> {
        self.0.iter().map(|(&kind, found)| (kind, found))
    }

    /// Returns the first place of all kinds.
    pub fn first(&self) -> Option<&ReadError> {
        let places = self.0.values().flat_map(|found| &found.places);
        places.min_by_key(|place| (place.line, place.column))
    }
}
