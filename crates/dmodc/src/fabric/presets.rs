//! PGFTs of real machines and products, by name.

use super::Pgft;

/// A named PGFT.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its tuple.
    pub tuple: &'static str,
    /// A description.
    pub about: &'static str,
}

impl Preset {
    /// Returns the preset of this name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|p| p.name == name)
    }

    /// Returns its shape.
    pub fn pgft(&self) -> Pgft {
        self.tuple.parse().expect("a test reads every preset")
    }
}

/// All presets, by size.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "paper-figure-1",
        tuple: "3; 2,2,3; 1,2,2; 1,2,1",
        about: "the example of the paper",
    },
    Preset {
        name: "avakas",
        tuple: "2; 18,16; 1,9; 1,2",
        about: "a university cluster with doubled cables",
    },
    Preset {
        name: "director-648",
        tuple: "2; 18,36; 1,18; 1,1",
        about: "the inside of a 648-port director switch",
    },
    Preset {
        name: "selene-compute",
        tuple: "3; 20,7,32; 1,10,14; 1,2,1",
        about: "the compute fabric of an AI supercomputer",
    },
    Preset {
        name: "dgx-b200-32su",
        tuple: "3; 32,4,64; 1,4,32; 1,8,1",
        about: "32 scalable units of 8-GPU servers",
    },
    Preset {
        name: "rlft-36",
        tuple: "3; 18,18,36; 1,18,18; 1,1,1",
        about: "the largest 3-level tree of 36-port switches",
    },
    Preset {
        name: "rlft-48",
        tuple: "3; 24,24,48; 1,24,24; 1,1,1",
        about: "the largest 3-level tree of 48-port switches",
    },
    Preset {
        name: "quantum2-max",
        tuple: "3; 32,32,64; 1,32,32; 1,1,1",
        about: "the largest 3-level tree of 64-port switches",
    },
    Preset {
        name: "x800-100k",
        tuple: "3; 72,72,20; 1,72,10; 1,1,7",
        about: "about 100,000 nodes on 144-port switches",
    },
    Preset {
        name: "quantum2-4tier",
        tuple: "4; 32,32,32,4; 1,32,32,2; 1,1,1,16",
        about: "four levels of 64-port switches",
    },
    Preset {
        name: "x800-max",
        tuple: "3; 72,72,144; 1,72,72; 1,1,1",
        about: "the largest 3-level tree of 144-port switches",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_the_published_sizes() {
        let sizes: Vec<(&str, usize, usize)> =
            PRESETS.iter().map(|p| (p.name, p.pgft().count(0), p.pgft().switch_count())).collect();
        assert_eq!(
            sizes,
            [
                ("paper-figure-1", 12, 16),
                ("avakas", 288, 25),
                ("director-648", 648, 54),
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
        assert!(Preset::named("nothing").is_none());
    }
}
