//! The text that `ibnetdiscover` prints, in all its modes, the dialect of ibdiagnet (`.ibnetdiscover`), and the netlists of
//! the simulator ibsim.
//!
//! ```text
//! switchguid=0x2c90100000006(2c90100000006)
//! Switch  6 "S-0002c90100000006"    # "leaf" base port 0 lid 16 lmc 0
//! [1]     "H-0002c900000000b0"[2](2c900000000b2)    # "nic10 mlx5_0" lid 28 4xQDR
//! ```
//!
//! There is one record for each device: some `key=value` lines, a head line, and a line for each cabled port. So each
//! cable is described by both its ends. Netlists name devices freely; such a name is given a GUID in the order of first
//! use. `-g` adds headings and may describe a device again, `-s` adds lines with paths, `--diff` marks lines with `<`
//! (before) and `>` (after); lines of before are skipped.

mod read;
mod write;

pub(crate) use read::{detect, read};
pub use write::write;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DirtKind;
    use dmodc::{Fabric, Guid, GuidOrder, Lid, Pgft};

    fn written(fabric: &Fabric) -> Vec<u8> {
        let mut text = Vec::new();
        write(fabric, &["a comment".into()], &mut text).unwrap();
        text
    }

    #[test]
    fn a_fabric_reads_back_the_same() {
        for tuple in ["1; 3; 1; 1", "1; 254; 1; 1", "3; 2,2,3; 1,2,2; 1,2,1", "2; 18,16; 1,9; 1,2"]
        {
            for guids in [GuidOrder::Topological, GuidOrder::Shuffled(2)] {
                let fabric = tuple.parse::<Pgft>().unwrap().fabric(guids);
                let reading = read(&written(&fabric)).unwrap();
                assert!(reading.dirt.is_empty() && reading.given_lids == 0);
                assert_eq!(reading.fabric, fabric);
            }
        }
    }

    /// Found by fuzzing.
    #[test]
    fn odd_guids_are_survived() {
        let two_kinds = read(b"Switch 1 \"S-1\"\nCa 1 \"H-1\"\n").unwrap();
        assert_eq!(two_kinds.fabric.adapters().len(), 0, "the first description holds");
        read(b"Switch 1 \"S-ffffffffffffffff\"\n[1] \"H-1\"\n").unwrap();
        // Without its device number, an aggregation node is known by its name, also when written again.
        let unnumbered = SMALL.replace("devid=0xcf09", "devid=");
        let unnumbered = read(unnumbered.as_bytes()).unwrap().fabric;
        let again = read(&written(&unnumbered)).unwrap().fabric;
        assert_eq!((unnumbered.host_counts(), again.host_counts()), ((1, 1), (1, 1)));
        let short = b"Switch 1 \"S-2\"\n[1] \"H-1\"[1]\n\nCa 1 \"H-1\"\n[1](00010) \"S-2\"[1]\n";
        let short = read(short).unwrap().fabric;
        assert_eq!(short.nodes()[0].guid, Guid(0x10));
        assert_eq!(read(&written(&short)).unwrap().fabric.nodes(), short.nodes());
    }

    const SMALL: &str = "\
#
# Topology file: generated on Sun Nov 15 06:20:42 2026
#
# Initiated from node 0002c90000000010 port 0002c90000000011

vendid=0x2c9
devid=0xc738
sysimgguid=0x2c90100000006
switchguid=0x2c90100000006(2c90100000006)
Switch\t6 \"S-0002c90100000006\"\t\t# \"a \"leaf\" # of; two: kinds\" base port 0 lid 16 lmc 0
[1]\t\"H-0002c900000000b0\"[2](2c900000000b2) \t\t# \"nic10 mlx5_0\" lid 28 4xQDR
[6]\t\"H-0002c900000000c0\"[1](2c900000000c1) \t\t# \"Mellanox Technologies Aggregation Node\" lid 40 4xEDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c900000000b3
caguid=0x2c900000000b0
Ca\t2 \"H-0002c900000000b0\"\t\t# \"nic10 mlx5_0\"
[2](2c900000000b2) \t\"S-0002c90100000006\"[1]\t\t# lid 28 lmc 2 \"a \"leaf\" # of; two: kinds\" lid 16 4xQDR s=1 w=2

vendid=0x2c9
devid=0xcf09
sysimgguid=0x2c900000000c3
caguid=0x2c900000000c0
Ca\t1 \"H-0002c900000000c0\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](2c900000000c1) \t\"S-0002c90100000006\"[6]\t\t# lid 40 lmc 0 \"a \"leaf\" # of; two: kinds\" lid 16 4xEDR
";

    #[test]
    fn everything_a_record_says_is_kept() {
        let reading = read(SMALL.as_bytes()).unwrap();
        assert!(reading.dirt.is_empty(), "{:?}", reading.dirt);
        let fabric = reading.fabric;
        let switch = &fabric.switches()[0];
        assert_eq!(&*switch.name, "a \"leaf\" # of; two: kinds");
        assert_eq!((switch.guid, switch.lid, switch.ports), (Guid(0x2c90100000006), Lid(16), 6));
        assert_eq!(switch.product.device, 0xc738);
        let nodes: Vec<_> = fabric
            .nodes()
            .iter()
            .map(|n| (n.guid.0, n.lid.0, n.lmc, n.adapter_port.0, n.switch_port.0))
            .collect();
        assert_eq!(nodes, [(0x2c900000000b2, 28, 2, 2, 1), (0x2c900000000c1, 40, 0, 1, 6)]);
        assert!(fabric.is_aggregation(dmodc::NodeIndex::new(1)));
        assert_eq!(fabric.host_counts(), (1, 1));
    }

    #[test]
    fn names_of_another_encoding_are_reported_with_their_lines() {
        let mut text = SMALL.as_bytes().to_vec();
        let at = SMALL.find("nic10").unwrap();
        text[at + 1] = 0xe9;
        let reading = read(&text).unwrap();
        let (kind, found) = reading.dirt.iter().next().unwrap();
        assert_eq!((kind, found.count), (DirtKind::NotUtf8, 1));
        assert_eq!(found.places[0].to_string(), "11:50: byte 0xe9 is not UTF-8");
        // Well-formed names of any script are no dirt.
        assert!(read(SMALL.replace("nic10", "nœud10").as_bytes()).unwrap().dirt.is_empty());
    }

    #[test]
    fn headings_of_groups_are_no_damage() {
        let text = SMALL.replacen(
            "\nvendid",
            "\nChassis 1 (guid 0x2c9)\n\nNon-Chassis Nodes\n\nvendid",
            1,
        );
        assert!(read(text.as_bytes()).unwrap().dirt.is_empty());
    }

    #[test]
    fn damage_is_reported_with_line_column_and_thing() {
        for (from, to, kind, message) in [
            (
                "devid=0xc738",
                "devid=",
                DirtKind::DamagedLine,
                "7:7: expected a device number, found the end",
            ),
            (
                "Ca\t1",
                "Ca\t300",
                DirtKind::DamagedLine,
                "25:4: expected a number of ports from 0 to 254",
            ),
            (
                "Ca\t1 \"H",
                "Ca\t1 \"S",
                DirtKind::DamagedLine,
                "25:6: expected a device id of the same kind",
            ),
            (
                "[1]\t",
                "[0]\t",
                DirtKind::DamagedLine,
                "11:2: expected a port number from 1 to 254, found '0]",
            ),
            (
                "[1]\t",
                "[9]\t",
                DirtKind::ImpossiblePort,
                "11:1: 0x0002c90100000006 has 6 ports, but port 9",
            ),
            (
                "28 4xQDR",
                "28 4xQ",
                DirtKind::UnknownRate,
                "11:73: expected a width and speed such as 4xNDR",
            ),
            ("lmc 2", "lmc 8", DirtKind::DamagedLine, "19:59: expected an LMC from 0 to 7"),
            (
                "caguid=0x2c900000000b0",
                "nonsense",
                DirtKind::ForeignLine,
                "17:1: expected a line of ibnet",
            ),
            (
                "[1]\t\"H-",
                "[2]\t\"H-",
                DirtKind::OneSided,
                "11:1: port 2 of 0x0002c90100000006 is cabled",
            ),
            ("lid 28 lmc", "lid 0 lmc", DirtKind::MissingLid, "19:"),
            (
                "lid 40 lmc",
                "lid 30 lmc",
                DirtKind::DoubledLid,
                "12:1: LID 30 of 0x0002c900000000c1 belongs",
            ),
        ] {
            assert!(SMALL.contains(from), "{from}");
            let dirt = read(SMALL.replacen(from, to, 1).as_bytes()).unwrap().dirt;
            let found = dirt.iter().find(|(found, _)| *found == kind);
            let place =
                found.unwrap_or_else(|| panic!("{from} → {to}: {dirt:?}")).1.places[0].to_string();
            assert!(place.starts_with(message), "{from} → {to}: {place}");
        }
    }
}
