//! Tables for the fat-tree model of CODES.
//!
//! CODES builds its fat tree from a few parameters, and reads the table of each switch from a file if its routing is
//! `static`. It has numbers of its own for everything, so the fabric has to have the same [`shape`](CodesFabric::recognise),
//! and tables are translated:
//!
//! ```text
//! 0x0000000100000000.lft          the table of leaf 0; 1, 2 or 3 in the upper half of the name is the level plus 1
//! 0x0000004000000000 1            terminal 0 is at the first port
//! 0x0000004000000001 2
//! 0x0000004000000002 0            no route
//! ```
//!
//! Terminals are nodes by leaf, then by port of the leaf. Ports are counted from 1: first those to terminals or to lower
//! switches, then those to upper switches, each in the order of the numbers of what they lead to. CODES wants an entry for
//! every terminal, and notices port 0 only when a packet would use it.
//!
//! CODES has no faults. Tables of a degraded fabric are simulated with the whole fabric: give the whole fabric, and tables
//! that do not use the failed parts.

mod shape;

pub use shape::{CodesFabric, NotCodes};

use std::io::{self, Write};

use dmodc::{NodeIndex, SwitchIndex};

use super::{RouteCounts, RoutedFabric};

/// The GUID of terminal 0.
const TERMINALS: u64 = 64 << 32;

/// Tables as CODES reads them, one for each switch.
pub struct CodesTables<'a> {
    shape: &'a CodesFabric,
    /// The ports of each switch by terminal; 0 if there is no route.
    rows: Vec<Vec<u8>>,
    /// Pairs of terminals with and without a route.
    pub counts: RouteCounts,
}

impl<'a> CodesTables<'a> {
    /// Translates tables of a fabric of this shape.
    pub fn new(routed: RoutedFabric<'_>, shape: &'a CodesFabric) -> Self {
        let fabric = routed.live.fabric;
        let columns = routed.columns();
        let mut rows = vec![Vec::with_capacity(shape.terminals().len()); fabric.switches().len()];
        let mut counts = RouteCounts::default();
        for &to in shape.terminals() {
            let ports = match columns[to.at()] {
                Some(column) => routed.ports_that_arrive(column),
                None => vec![None; fabric.switches().len()],
            };
            counts.add(&routed, shape.terminals(), to, &ports);
            for (s, (row, port)) in rows.iter_mut().zip(ports).enumerate() {
                row.push(port.map_or(0, |port| shape.port(fabric, SwitchIndex::new(s), port)));
            }
        }
        CodesTables { shape, rows, counts }
    }

    /// Returns the name of the file that CODES reads the table of a switch from.
    pub fn file_name(&self, s: SwitchIndex) -> String {
        let place = self.shape.place(s);
        format!("0x{:016x}.lft", (u64::from(place.level) + 1) << 32 | u64::from(place.id))
    }

    /// Writes the table of a switch.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(&self, s: SwitchIndex, out: &mut impl Write) -> io::Result<()> {
        for (terminal, port) in self.rows[s.at()].iter().enumerate() {
            writeln!(out, "0x{:016x} {port}", TERMINALS + terminal as u64)?;
        }
        Ok(())
    }
}

/// Writes the parameters of the model: a beginning of CODES' configuration file, which delays and buffers may be added to.
///
/// # Errors
/// The error of the writer.
pub fn write_parameters(shape: &CodesFabric, folder: &str, out: &mut impl Write) -> io::Result<()> {
    let &CodesFabric { levels, radix, leaves, nodes_per_leaf, .. } = shape;
    let tapering = shape.tapering();
    write!(
        out,
        "LPGROUPS\n{{\n   MODELNET_GRP\n   {{\n      repetitions=\"{leaves}\";\n      nw-lp=\"{nodes_per_leaf}\";\n      \
         modelnet_fattree=\"{nodes_per_leaf}\";\n      fattree_switch=\"{levels}\";\n   }}\n}}\nPARAMS\n{{\n   \
         modelnet_order=( \"fattree\" );\n   modelnet_scheduler=\"fcfs\";\n   message_size=\"512\";\n   \
         packet_size=\"512\";\n   chunk_size=\"512\";\n   ft_type=\"0\";\n   num_levels=\"{levels}\";\n   \
         switch_count=\"{leaves}\";\n   switch_radix=\"{radix}\";\n   tapering=\"{tapering}\";\n   routing=\"static\";\n   \
         routing_folder=\"{folder}\";\n}}\n"
    )
}

/// Writes which node each terminal is: its number, its port GUID and its description.
///
/// # Errors
/// The error of the writer.
pub fn write_terminals(
    routed: RoutedFabric<'_>,
    shape: &CodesFabric,
    out: &mut impl Write,
) -> io::Result<()> {
    let fabric = routed.live.fabric;
    let line = |n: NodeIndex| {
        let name = crate::scan::printable(&fabric.adapter_of(n).name);
        format!("{} {name}", fabric.node(n).guid)
    };
    for (terminal, &n) in shape.terminals().iter().enumerate() {
        writeln!(out, "{terminal} {}", line(n))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    /// The rows of all switches in CODES' numbers, by name of their file.
    fn rows(tuple: &str, with: impl FnOnce(&CodesFabric, &CodesTables<'_>)) {
        check(
            tuple,
            |dump| dump,
            |routed| {
                let shape = CodesFabric::recognise(routed.live.fabric).unwrap();
                let tables = CodesTables::new(*routed, &shape);
                assert_eq!(tables.counts.left_out, 0);
                with(&shape, &tables);
            },
        );
    }

    /// Follows tables over the wiring that CODES documents, written down once more: a full fat tree of three levels.
    #[test]
    fn tables_lead_through_the_tree_of_codes() {
        let (k, half) = (8u32, 4u32);
        rows("3; 4,4,8; 1,4,4; 1,1,1", |shape, tables| {
            assert_eq!((shape.levels, shape.radix, shape.leaves), (3, k, 32));
            let row = |level: u32, id: u32| {
                let name = format!("0x{:016x}.lft", (u64::from(level) + 1) << 32 | u64::from(id));
                let is_meant = |s: &usize| tables.file_name(SwitchIndex::new(*s)) == name;
                (0..tables.rows.len()).find(is_meant).map(|s| &tables.rows[s]).unwrap()
            };
            let (leaves, middle) = (32, 32);
            for from in 0..leaves {
                for to in 0..128 {
                    let (mut level, mut id, mut hops) = (0, from, 0);
                    loop {
                        let port = u32::from(row(level, id)[to as usize]) - 1;
                        hops += 1;
                        (level, id) = match level {
                            0 if port < half => {
                                assert_eq!(id * half + port, to);
                                break;
                            }
                            0 => (1, leaves + id / half * half + port - half),
                            1 if port < half => (0, (id - leaves) / half * half + port),
                            1 => (2, leaves + middle + (id - leaves) % half * half + port - half),
                            _ => (1, leaves + port * half + (id - leaves - middle) / half),
                        };
                    }
                    let expected = match (from == to / 4, from / 4 == to / 16) {
                        (true, _) => 1,
                        (_, true) => 3,
                        _ => 5,
                    };
                    assert_eq!(hops, expected);
                }
            }
        });
    }

    #[test]
    fn two_levels_have_two_cables_to_each_spine() {
        rows("2; 4,4; 1,2; 1,2", |shape, tables| {
            assert_eq!((shape.levels, shape.radix, shape.tapering()), (2, 8, 1.0));
            let mut text = Vec::new();
            tables.write(SwitchIndex::new(0), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with("0x0000004000000000 1\n0x0000004000000001 2\n"), "{text}");
            assert_eq!(text.lines().count(), 16);
            let mut conf = Vec::new();
            write_parameters(shape, "tables", &mut conf).unwrap();
            let conf = String::from_utf8(conf).unwrap();
            assert!(
                conf.contains("repetitions=\"4\"") && conf.contains("tapering=\"1\""),
                "{conf}"
            );
        });
    }
}
