//! Fabrics of real machines and products, by name.
//!
//! Two director switches are in wide use. One has 648 ports: 36 line chips with 36 ports, of which 18 are outside, and 18
//! spine chips. The other has 800 ports: 40 line chips with 40 ports, of which 20 are outside, and 20 spine chips. Leaves
//! of the same chips have half of their ports for nodes and half for cables to directors.

use super::{Pgft, Shape};

/// A named shape.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its shape.
    kind: Kind,
    /// A description.
    pub about: &'static str,
}

impl Preset {
    /// Returns the preset of this name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|p| p.name == name)
    }

    /// Returns its shape.
    pub fn shape(&self) -> Shape {
        let wrong = "a test reads every preset";
        match self.kind {
            Kind::Pgft(tuple) => Shape::Pgft(tuple.parse().expect(wrong)),
            Kind::Directors(text) => Shape::Directors(text.parse().expect(wrong)),
            Kind::Pods(text) => Shape::Pods(text.parse().expect(wrong)),
        }
    }

    /// Returns its PGFT, if it is one.
    pub fn pgft(&self) -> Option<Pgft> {
        self.shape().pgft().cloned()
    }
}

/// A shape in its notation.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Pgft(&'static str),
    Directors(&'static str),
    Pods(&'static str),
}

/// All presets, by size.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "paper-figure-1",
        kind: Kind::Pgft("3; 2,2,3; 1,2,2; 1,2,1"),
        about: "the example of the paper",
    },
    Preset {
        name: "four-levels",
        kind: Kind::Pods("pods=4"),
        about: "4 pods with a mesh of two levels inside, and 16 cores",
    },
    Preset {
        name: "avakas",
        kind: Kind::Pgft("2; 18,16; 1,9; 1,2"),
        about: "a university cluster with doubled cables",
    },
    Preset { name: "four-levels-8", kind: Kind::Pods("pods=8"), about: "the same with 8 pods" },
    Preset {
        name: "director-648",
        kind: Kind::Pgft("2; 18,36; 1,18; 1,1"),
        about: "the inside of a 648-port director switch",
    },
    Preset {
        name: "one-director-648",
        kind: Kind::Directors("leaves=36,nodes=18,directors=1,lines=36,spines=18,cables=18"),
        about: "36-port leaves below one 648-port director switch",
    },
    Preset {
        name: "one-director-800",
        kind: Kind::Directors("leaves=40,nodes=20,directors=1,lines=40,spines=20,cables=20"),
        about: "40-port leaves below one 800-port director switch",
    },
    Preset { name: "four-levels-16", kind: Kind::Pods("pods=16"), about: "the same with 16 pods" },
    Preset {
        name: "two-directors-648",
        kind: Kind::Directors("leaves=72,nodes=18,directors=2,lines=36,spines=18,cables=18"),
        about: "36-port leaves below two 648-port director switches",
    },
    Preset {
        name: "two-directors-800",
        kind: Kind::Directors("leaves=80,nodes=20,directors=2,lines=40,spines=20,cables=20"),
        about: "40-port leaves below two 800-port director switches",
    },
    Preset {
        name: "selene-compute",
        kind: Kind::Pgft("3; 20,7,32; 1,10,14; 1,2,1"),
        about: "the compute fabric of an AI supercomputer",
    },
    Preset {
        name: "dgx-b200-32su",
        kind: Kind::Pgft("3; 32,4,64; 1,4,32; 1,8,1"),
        about: "32 scalable units of 8-GPU servers",
    },
    Preset {
        name: "rlft-36",
        kind: Kind::Pgft("3; 18,18,36; 1,18,18; 1,1,1"),
        about: "the largest 3-level tree of 36-port switches",
    },
    Preset {
        name: "rlft-48",
        kind: Kind::Pgft("3; 24,24,48; 1,24,24; 1,1,1"),
        about: "the largest 3-level tree of 48-port switches",
    },
    Preset {
        name: "quantum2-max",
        kind: Kind::Pgft("3; 32,32,64; 1,32,32; 1,1,1"),
        about: "the largest 3-level tree of 64-port switches",
    },
    Preset {
        name: "x800-100k",
        kind: Kind::Pgft("3; 72,72,20; 1,72,10; 1,1,7"),
        about: "about 100,000 nodes on 144-port switches",
    },
    Preset {
        name: "quantum2-4tier",
        kind: Kind::Pgft("4; 32,32,32,4; 1,32,32,2; 1,1,1,16"),
        about: "four levels of 64-port switches",
    },
    Preset {
        name: "x800-max",
        kind: Kind::Pgft("3; 72,72,144; 1,72,72; 1,1,1"),
        about: "the largest 3-level tree of 144-port switches",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_the_published_sizes() {
        let sizes: Vec<(&str, usize, usize)> = PRESETS
            .iter()
            .map(|p| (p.name, p.shape().node_count(), p.shape().switch_count()))
            .collect();
        assert_eq!(
            sizes,
            [
                ("paper-figure-1", 12, 16),
                ("four-levels", 256, 112),
                ("avakas", 288, 25),
                ("four-levels-8", 512, 208),
                ("director-648", 648, 54),
                ("one-director-648", 648, 90),
                ("one-director-800", 800, 100),
                ("four-levels-16", 1024, 400),
                ("two-directors-648", 1296, 180),
                ("two-directors-800", 1600, 200),
                ("selene-compute", 4480, 684),
                ("dgx-b200-32su", 8192, 640),
                ("rlft-36", 11_664, 1620),
                ("rlft-48", 27_648, 2880),
                ("quantum2-max", 65_536, 5120),
                ("x800-100k", 103_680, 3600),
                ("quantum2-4tier", 131_072, 14_336),
                ("x800-max", 746_496, 25_920),
            ]
        );
        assert!(sizes.is_sorted_by_key(|(_, nodes, _)| nodes));
        assert!(Preset::named("nothing").is_none());
        for (name, ports) in [("two-directors-648", 36), ("two-directors-800", 40)] {
            let fabric = Preset::named(name).unwrap().shape().fabric(Default::default()).unwrap();
            assert!(fabric.switches().iter().all(|switch| switch.ports == ports), "{name}");
        }
    }
}
