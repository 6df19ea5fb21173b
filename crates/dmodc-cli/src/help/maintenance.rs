//! Pages of the commands that plan work on a fabric.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText};

/// The numbers of a state.
const COLUMNS: Note = Note {
    title: "Columns",
    text: NoteText::List(&[
        (
            "lost",
            "Node pairs that are not delivered: the tables lose them, no cables connect them (they are cut off), or a node is out \
             of service. Other commands count pairs that are cut off separately.",
        ),
        (
            "a2a",
            "The congestion risk of all-to-all: the greatest number of flows through one port between switches.",
        ),
        ("bound", "The least such number that any routing of this state could reach."),
        (
            "sp",
            "The congestion risk of shifts: the mean over all shifts, or over a sample of them.",
        ),
    ]),
};

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "drain",
        notes: &[
            Note {
                title: "Limits",
                text: NoteText::List(&[
                    (
                        "lost=N",
                        "At most N node pairs more than now are not delivered, lost and cut off together; the default is 0.",
                    ),
                    ("a2a=1.1x", "All-to-all risk: at most 1.1 times that of now."),
                    ("a2a=500", "All-to-all risk: at most 500."),
                    ("sp=1.25x", "The same for the mean of the shifts."),
                    ("rp=1.25x", "The same for the median of 100 random permutations."),
                ]),
            },
            COLUMNS,
            Note {
                title: "What is computed",
                text: NoteText::Prose(
                    "A set of parts is safe if it can be taken out one by one and every state on the way keeps to all limits. Each \
                     state is routed and judged exactly. Of up to 12 parts, and of more if few of them are safe together, the \
                     answer is exact: no safe set is larger, and no order has a lower all-to-all risk at its worst step, then \
                     a lower risk of shifts, then a lower sum of all-to-all risks.\n\nLonger lists get a greedy answer with a \
                     bound: no safe set has more parts than the bound. The bound follows from pairs that no cables would \
                     connect, and from leaves and subtrees with too few cables for all-to-all within the limit. Both can only \
                     get worse with more parts, whatever the routes.",
                ),
            },
        ],
        exit: &[
            (0, "All parts can be taken out together."),
            (1, "Some parts have to stay in service."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[FABRIC_FILE, ("--parts FILE", "Switches and cables, one in each line.")],
        examples: &[
            Example {
                about: "See which of some flapping cables can be unplugged at once.",
                line: "dmodc drain cluster.topo --parts flapping.txt --keep lost=0,a2a=1.1x",
            },
            Example {
                about: "Ask about one cable, and keep the routes of the whole fabric in place.",
                line: "echo L1-0/7 | dmodc drain now.topo --parts - --engine stable --reference whole.topo",
            },
        ],
        see_also: &["repair", "degrade", "route", "analyze"],
    },
    HelpPage {
        command: "repair",
        notes: &[
            COLUMNS,
            Note {
                title: "What is computed",
                text: NoteText::Prose(
                    "Everything that the reference has and the fabric lacks is a repair: a switch with its cables, a cable \
                     between switches, or the cable of a node. Each step takes the repair after which the fewest node pairs are \
                     not delivered, then the one with the least all-to-all risk, then the least risk of shifts. Each repair \
                     that is tried is routed and judged exactly. A step tries all repairs if no more than 200 are left. \
                     Otherwise it tries the 48 that gained most when they were last tried, and the 16 that were not tried for \
                     the longest time; the first step tries all.\n\nThe order is greedy: two repairs of which neither helps \
                     alone are not looked for.",
                ),
            },
        ],
        exit: &[
            (0, "The order was found, or nothing is dead."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[
            FABRIC_FILE,
            ("--reference FABRIC", "The whole fabric, before any fault."),
            ("--csv FILE, --svg FILE", "The steps as a table, and as a figure."),
        ],
        examples: &[
            Example {
                about: "Find out which failed cable to replace first.",
                line: "dmodc repair now.topo --reference whole.topo",
            },
            Example {
                about: "List the first five repairs, and draw what they bring back.",
                line: "dmodc repair now.topo --reference whole.topo --steps 5 --svg repairs.svg",
            },
        ],
        see_also: &["drain", "degrade", "info", "route"],
    },
];
