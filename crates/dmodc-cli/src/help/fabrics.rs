//! Pages of the commands that read and write fabrics.

use super::{DONE_OR_ERROR, Example, FABRIC_FILE, HelpPage, Note, NoteText, TABLES_FILE};

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "generate",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[("--output FILE", "The fabric, by default as ibnetdiscover text.")],
        examples: &[
            Example {
                about: "Write the fabric of Figure 1 of the Dmodc paper.",
                line: "dmodc generate pgft \"3; 2,2,3; 1,2,2; 1,2,1\" -o figure1.topo",
            },
            Example {
                about: "List the presets, then write one of them.",
                line: "dmodc generate preset && dmodc generate preset director-648 -o director.topo",
            },
        ],
        see_also: &[
            "generate pgft",
            "generate directors",
            "generate pods",
            "generate preset",
            "info",
            "degrade",
            "route",
        ],
    },
    HelpPage {
        command: "generate pgft",
        notes: &[Note {
            title: "The tuple",
            text: NoteText::Lines(
                "\"h; m1,…,mh; w1,…,wh; p1,…,ph\"\n\
                 h   the number of levels of switches\n\
                 mi  the number of children of each switch of level i\n\
                 wi  the number of switches of level i to which each part below is connected\n\
                 pi  the number of parallel cables between the two\n\
                 Nodes have one cable each, so w1 and p1 are always 1.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[("--output FILE", "The fabric, by default as ibnetdiscover text.")],
        examples: &[
            Example {
                about: "A tree of three levels with 12 nodes.",
                line: "dmodc generate pgft \"3; 2,2,3; 1,2,2; 1,2,1\" -o small.topo",
            },
            Example {
                about: "A tree with shuffled GUIDs, as after an installation by hand.",
                line: "dmodc generate pgft \"2; 18,36; 1,18; 1,1\" --guids shuffled --seed 3 -o room.topo",
            },
            Example {
                about: "A drawing of a small tree, made by Graphviz.",
                line: "dmodc generate pgft \"2; 4,4; 1,2; 1,2\" --format dot | dot -Tsvg -o tree.svg",
            },
        ],
        see_also: &["generate preset", "info"],
    },
    HelpPage {
        command: "generate directors",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[("--output FILE", "The fabric, by default as ibnetdiscover text.")],
        examples: &[
            Example {
                about: "Sixteen leaves with eight nodes each, cabled to two directors.",
                line: "dmodc generate directors -o two-directors.topo",
            },
            Example {
                about: "A larger one: 32 leaves with 16 nodes each.",
                line: "dmodc generate directors --leaves 32 --nodes 16 --cables 16 --lines 16 --spines 16",
            },
            Example {
                about: "The first one as it may be in a machine room.",
                line: "dmodc generate directors --departures missing=1%,uneven=25%,service=4,recabled=1",
            },
        ],
        see_also: &["generate pgft", "generate pods", "generate preset", "info", "route"],
    },
    HelpPage {
        command: "generate pods",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[("--output FILE", "The fabric, by default as ibnetdiscover text.")],
        examples: &[
            Example {
                about: "Four pods of eight leaves with eight nodes each, below 16 cores.",
                line: "dmodc generate pods -o four-levels.topo",
            },
            Example { about: "The same with 16 pods.", line: "dmodc generate pods --pods 16" },
        ],
        see_also: &["generate directors", "generate preset", "info", "route"],
    },
    HelpPage {
        command: "generate preset",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[("--output FILE", "The fabric, by default as ibnetdiscover text.")],
        examples: &[
            Example { about: "List all presets with their sizes.", line: "dmodc generate preset" },
            Example {
                about: "Write the fabric of a director switch with 648 ports.",
                line: "dmodc generate preset director-648 -o director.topo",
            },
        ],
        see_also: &["generate pgft", "info"],
    },
    HelpPage {
        command: "info",
        notes: &[Note {
            title: "What the report shows",
            text: NoteText::List(&[
                ("PGFT(…)", "The fabric is a regular fat tree with this tuple."),
                (
                    "not a PGFT",
                    "The fabric is irregular; the line names a switch that proves it. Dmodc routes it all the same.",
                ),
                ("rank", "The level of a switch. Leaves, the switches with nodes, have rank 0."),
                (
                    "missing cables",
                    "Cables that the inferred whole adds: compared with switches that are alike, they are absent.",
                ),
                (
                    "uneven leaves",
                    "The leaves differ in nodes or cables. Nodes share a cable where there are fewer cables.",
                ),
                (
                    "all-to-all",
                    "The most flows on a port with the engine dmodc, and the bound of all tables. Left out for more than about 20,000 nodes.",
                ),
                (
                    "uncertain",
                    "Switches that may or may not be leaves. The options below \"Leaves and ranks\" decide.",
                ),
            ]),
        }],
        exit: &[
            (0, "The fabric was read."),
            (2, "The file cannot be read, or is damaged and --strict was given."),
        ],
        files: &[FABRIC_FILE],
        examples: &[
            Example {
                about: "Describe the fabric of a running cluster.",
                line: "ibnetdiscover | dmodc info -",
            },
            Example {
                about: "Take only switches with names such as leaf12 for leaves.",
                line: "dmodc info cluster.topo --leaf-name \"^leaf\"",
            },
            Example {
                about: "Get the number of nodes in a script.",
                line: "dmodc info cluster.topo --json | jq .nodes",
            },
        ],
        see_also: &["route", "convert", "degrade"],
    },
    HelpPage {
        command: "convert",
        notes: &[Note {
            title: "Simulators",
            text: NoteText::Prose(
                "The formats simgrid, codes and loggopsim hold routes, so they need tables. Pairs of nodes whose route does not \
                 arrive are left out, and counted on standard error. A platform of SimGrid has a route for each pair of up to \
                 1,024 nodes, or for the pairs of --pairs. For CODES, the output is a new folder, and the fabric must be a fat \
                 tree that CODES can build.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[FABRIC_FILE, TABLES_FILE, ("--output FILE", "The fabric in the new format.")],
        examples: &[
            Example {
                about: "Write the topology file of Slurm.",
                line: "dmodc convert cluster.topo --format slurm-conf -o topology.conf",
            },
            Example {
                about: "Draw the switches with Graphviz.",
                line: "dmodc convert cluster.topo --format dot | dot -Tsvg -o cluster.svg",
            },
            Example {
                about: "Write a graph for NetworkX or Gephi.",
                line: "dmodc convert cluster.topo --format graphml -o cluster.graphml",
            },
            Example {
                about: "Write a platform of SimGrid with the routes of some pairs.",
                line: "dmodc convert cluster.topo cluster.lft --format simgrid --pairs pairs.txt -o cluster.xml",
            },
        ],
        see_also: &["info", "generate", "route"],
    },
    HelpPage {
        command: "degrade",
        notes: &[Note {
            title: "The result",
            text: NoteText::Prose(
                "Comments at the top of the file list the removed parts. Nodes that lose their only cable are no longer in the \
                 file. Percentages are of the cables between switches, and of the switches that are not leaves.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[FABRIC_FILE, ("--output FILE", "The degraded fabric, as ibnetdiscover text.")],
        examples: &[
            Example {
                about: "Remove one per cent of the cables between switches, and two switches.",
                line: "dmodc degrade cluster.topo --cables 1% --switches 2 --seed 7 -o degraded.topo",
            },
            Example {
                about: "Remove one switch by name, and the cable in port 3 of another.",
                line: "dmodc degrade cluster.topo --remove \"spine 4\" --remove L1-0/3 -o degraded.topo",
            },
        ],
        see_also: &["route", "diff", "study"],
    },
];
