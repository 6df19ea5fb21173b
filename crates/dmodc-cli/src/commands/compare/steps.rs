//! Steps and ports by name.

use std::fmt::Write as _;

use dmodc::advise::compare::replug::{PortId, Replug};
use dmodc::advise::compare::{CabledDevice, Comparison, PlannedStep};
use dmodc_formats::printable;

use super::CompareReport;

/// Returns the name of a device as a line of text may hold it; its GUID if it has none.
pub(super) fn device_name(device: &CabledDevice) -> String {
    match (device.name.is_empty(), device.guid) {
        (true, Some(guid)) => guid.to_string(),
        _ => printable(&device.name),
    }
}

/// Returns the device of a port.
pub(super) fn device(comparison: &Comparison, port: PortId) -> &CabledDevice {
    &comparison.devices[comparison.ports[port as usize].device]
}

/// Returns a port by the name of its device and its number.
pub(super) fn port_name(comparison: &Comparison, port: PortId) -> String {
    let number = comparison.ports[port as usize].port;
    format!("'{}' port {number}", device_name(device(comparison, port)))
}

/// Returns the ports that a step concerns, the first at the device under which it is listed. That is in the fabric if either is.
pub(super) fn ports(comparison: &Comparison, step: Replug) -> [PortId; 2] {
    match step {
        // The port that a cable end leaves has a cable now, so it is in the fabric.
        Replug::Move { from, to } => [from, to],
        Replug::Swap(a, b) | Replug::Plug(a, b) | Replug::Unplug(a, b) => {
            match is_absent(comparison, a) && !is_absent(comparison, b) {
                true => [b, a],
                false => [a, b],
            }
        }
    }
}

/// Returns whether the device of a port is not in the fabric.
pub(super) fn is_absent(comparison: &Comparison, port: PortId) -> bool {
    !comparison.is_present(comparison.ports[port as usize].device)
}

/// Returns the word for a step.
pub(super) fn verb(step: Replug) -> &'static str {
    match step {
        Replug::Swap(..) => "swap",
        Replug::Move { .. } => "move",
        Replug::Plug(..) => "plug",
        Replug::Unplug(..) => "unplug",
    }
}

/// Returns whether a step needs a device that is not in the fabric.
pub(super) fn needs_absent(comparison: &Comparison, step: Replug) -> bool {
    ports(comparison, step).into_iter().any(|port| is_absent(comparison, port))
}

/// Returns all steps as CSV.
pub(super) fn csv(report: &CompareReport<'_>) -> String {
    let quoted = |text: String| match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    };
    let mut rows =
        "step,action,device_a,guid_a,port_a,device_b,guid_b,port_b,lost,cut_off,a2a,bound\n"
            .to_owned();
    for (at, PlannedStep { step, risk, .. }) in report.plan.steps.iter().enumerate() {
        let _ = write!(rows, "{},{}", at + 1, verb(*step));
        for port in ports(report.comparison, *step) {
            let device = device(report.comparison, port);
            let guid = device.guid.map_or_else(String::new, |guid| guid.to_string());
            let number = report.comparison.ports[port as usize].port;
            let _ = write!(rows, ",{},{guid},{number}", quoted(device_name(device)));
        }
        let _ = match risk {
            Some(risk) => {
                let (delivery, a2a) = (risk.delivery, risk.all_to_all);
                writeln!(rows, ",{},{},{a2a},{}", delivery.lost, delivery.cut_off, risk.bound)
            }
            None => writeln!(rows, ",,,,"),
        };
    }
    rows
}
