//! Which device of the intended cabling is which device of the fabric: by GUID, then by name. Structure is not used, because it
//! is what may be wrong.

use std::collections::HashMap;

use super::cabling::{CabledDevice, Cabling, DeviceKind};
use crate::fabric::Fabric;
use crate::id::Guid;
use crate::survey::host_name;

/// Why a device has no counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnmatched {
    /// The other side has no device with its GUID or its name.
    Absent,
    /// Several devices have its name.
    NameRepeats,
}

/// The counterparts of all intended devices.
pub(super) struct Counterparts {
    /// For each intended device, its counterpart in the fabric: the place in [`Cabling::of`] the fabric.
    pub(super) of: Vec<Result<usize, WhyUnmatched>>,
    pub(super) by_guid: usize,
    pub(super) by_name: usize,
}

/// Devices of the fabric by one of their names. `None` means that several have it.
type ByName<'a> = HashMap<(&'a str, DeviceKind), Option<usize>>;

impl Counterparts {
    /// Matches the devices of an intended cabling with those of a fabric, whose cabling is `present`.
    pub(super) fn new(fabric: &Fabric, present: &Cabling, intended: &Cabling) -> Self {
        let guids = guids_of(fabric);
        let by_guid: Vec<Option<usize>> = intended
            .devices
            .iter()
            .map(|device| {
                let found = *guids.get(&device.guid?)?;
                (device.kind.is_none() || device.kind == present.devices[found].kind)
                    .then_some(found)
            })
            .collect();
        // In a list, a name may mean a device that another line calls by its GUID.
        let mut is_taken = vec![false; present.devices.len()];
        if !intended.is_list {
            by_guid.iter().flatten().for_each(|&found| is_taken[found] = true);
        }
        let mut repeats: HashMap<(&str, Option<DeviceKind>), usize> = HashMap::new();
        for (device, _) in
            intended.devices.iter().zip(&by_guid).filter(|(_, found)| found.is_none())
        {
            *repeats.entry((&device.name, device.kind)).or_default() += 1;
        }
        let names = names_of(present, &is_taken, Some);
        let hosts = match intended.is_list {
            true => names_of(present, &is_taken, host_name),
            false => ByName::new(),
        };
        let find = |(device, by_guid): (&CabledDevice, &Option<usize>)| match by_guid {
            Some(found) => Ok(*found),
            None if device.name.is_empty() => Err(WhyUnmatched::Absent),
            None if repeats[&(&*device.name, device.kind)] > 1 => Err(WhyUnmatched::NameRepeats),
            None => match named(&names, device) {
                Err(WhyUnmatched::Absent) => named(&hosts, device),
                found => found,
            },
        };
        let of: Vec<_> = intended.devices.iter().zip(&by_guid).map(find).collect();
        let by_guid = by_guid.iter().flatten().count();
        let by_name = of.iter().flatten().count() - by_guid;
        Counterparts { of, by_guid, by_name }
    }
}

/// Returns all devices by GUID. The GUID of a port means its adapter, too: lists may have it, and so has `ibnetdiscover -p`.
fn guids_of(fabric: &Fabric) -> HashMap<Guid, usize> {
    let first_adapter = fabric.switches().len();
    let mut guids = HashMap::new();
    for node in fabric.nodes() {
        guids.insert(node.guid, first_adapter + node.adapter.at());
    }
    for (at, adapter) in fabric.adapters().iter().enumerate() {
        guids.insert(adapter.guid, first_adapter + at);
    }
    for (at, switch) in fabric.switches().iter().enumerate() {
        guids.insert(switch.guid, at);
    }
    guids
}

/// Returns the devices that are not taken, by what `name` makes of their names.
fn names_of<'a>(
    present: &'a Cabling,
    is_taken: &[bool],
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> ByName<'a> {
    let mut names = ByName::new();
    for (at, device) in present.devices.iter().enumerate().filter(|(at, _)| !is_taken[*at]) {
        if let (Some(name), Some(kind)) = (name(&device.name), device.kind) {
            names.entry((name, kind)).and_modify(|found| *found = None).or_insert(Some(at));
        }
    }
    names
}

/// Returns the one device with the name of another one, and of its kind if that is known.
fn named(names: &ByName<'_>, device: &CabledDevice) -> Result<usize, WhyUnmatched> {
    let kinds = [DeviceKind::Switch, DeviceKind::Adapter];
    let kinds = kinds.into_iter().filter(|kind| device.kind.is_none_or(|own| own == *kind));
    let mut found = kinds.filter_map(|kind| names.get(&(&*device.name, kind)));
    match (found.next(), found.next()) {
        (None, _) => Err(WhyUnmatched::Absent),
        (Some(Some(one)), None) => Ok(*one),
        _ => Err(WhyUnmatched::NameRepeats),
    }
}
