//! Alternative ports P(s, d) as text, in the shape of an LFT dump: all ports of the closer set, for every destination of
//! every switch.
//!
//! ```text
//! 0x0001 003 004 005 006 # 0x02d0dc0000000011
//! ```

use std::collections::HashMap;
use std::io::{self, Write};

use dmodc::{Columns, Live, PortNumber, Preprocessing, TooFar, alternative_ports};

/// Why the text was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A route is too long.
    #[error(transparent)]
    TooFar(#[from] TooFar),
}

/// Writes the alternative ports of every live switch for every live destination of the columns.
///
/// # Errors
/// The error of the writer, or that a route is longer than costs can count.
pub fn write(
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let fabric = live.fabric;
    // There are few different sets of ports. Each is kept once, and pairs of switches have the number of their set.
    let mut numbers: HashMap<Vec<PortNumber>, u32> = HashMap::new();
    let targets = columns.switches();
    let switches = fabric.switches().len();
    let mut place = vec![0; switches];
    for (at, target) in targets.iter().enumerate() {
        place[target.at()] = at;
    }
    let mut sets = vec![u32::MAX; targets.len() * switches];
    alternative_ports(live, ready, targets, |s, target, ports| {
        let next = numbers.len() as u32;
        let number = match numbers.get(ports) {
            Some(&number) => number,
            None => *numbers.entry(ports.to_vec()).or_insert(next),
        };
        sets[place[target.at()] * switches + s.at()] = number;
    })?;
    let mut texts = vec![String::new(); numbers.len()];
    for (ports, number) in numbers {
        texts[number as usize] = ports.iter().map(|p| format!(" {:03}", p.0)).collect();
    }
    let mut by_lid = columns.by_lid();
    by_lid.retain(|&c| columns.destinations()[c].end.is_alive(live));
    for s in live.switches() {
        let switch = fabric.switch(s);
        let name = crate::scan::printable(&switch.name);
        writeln!(
            out,
            "Alternative ports of switch Lid {} guid {} ('{name}'):",
            switch.lid, switch.guid
        )?;
        for &column in &by_lid {
            let d = &columns.destinations()[column];
            let own;
            let ports = match sets[place[d.switch.at()] * switches + s.at()] {
                number if number != u32::MAX => &texts[number as usize],
                // The switch itself delivers.
                _ => {
                    own = format!(" {:03}", d.port.0);
                    &own
                }
            };
            if !ports.is_empty() {
                writeln!(out, "0x{:04x}{ports} # {}", d.lid.0, d.end.guid(fabric))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Degradation, Live, Pgft, Routing};

    #[test]
    fn every_port_of_the_closer_set_is_listed() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &Default::default());
        let mut text = Vec::new();
        write(live, &routing.preprocess(live), routing.columns(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let leaf: Vec<&str> = text.lines().take(29).collect();
        assert!(leaf[0].starts_with("Alternative ports of switch Lid 13 guid 0x02d0dc0100000001"));
        assert!(leaf[1].starts_with("0x0001 001 #"), "its own node: {}", leaf[1]);
        assert!(leaf[3].starts_with("0x0003 003 005 004 006 #"), "all up: {}", leaf[3]);
        assert!(leaf[13].starts_with("0x000d 000 #"), "itself: {}", leaf[13]);
        // No up*down* path joins spines and cores of the two planes (5 × 5 pairs each way), nor the
        // two cores of one plane.
        let unreachable = 2 * 5 * 5 + 2 * 2;
        assert_eq!(text.lines().count(), 16 + 16 * 28 - unreachable);
    }
}
