//! The page of the command that compares cablings.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText};

pub(super) const PAGES: &[HelpPage] = &[HelpPage {
    command: "compare",
    notes: &[
        Note {
            title: "Steps",
            text: NoteText::List(&[
                ("swap", "Two cable ends are exchanged."),
                ("move", "One cable end goes into a free port."),
                ("plug", "A missing cable is added."),
                ("unplug", "An extra cable is removed."),
            ]),
        },
        Note {
            title: "The fewest steps",
            text: NoteText::Prose(
                "With --with, no repair has fewer steps than the one that is shown. Without it, the ports of cables are not \
                 known: the number of steps is compared with a lower bound. A warning says if all steps together raise the \
                 predicted risk.",
            ),
        },
        Note {
            title: "Doubtful",
            text: NoteText::Prose(
                "Without --with, a few cables within a level, a cable of one switch and a leaf without uplinks are listed as \
                 doubtful: no regular shape has them, but they are no proof of a mistake.",
            ),
        },
        Note {
            title: "Devices",
            text: NoteText::Prose(
                "Devices are matched by GUID, then by name. A device without a counterpart is reported, and so are all of its \
                 cables, as missing or extra. Aggregation nodes are not compared.",
            ),
        },
        Note {
            title: "CSV files",
            text: NoteText::Lines(
                "switch_a,port_a,switch_b,port_b\nleaf-1,1,spine-1,1\n0x0002c90000000010,20,node17,1",
            ),
        },
    ],
    exit: &[
        (0, "The fabric is cabled as intended."),
        (1, "It is cabled in another way, devices differ, or something is doubtful."),
        (
            2,
            "An input file or an option is wrong, or there is no intended fabric and the fabric has no regular shape.",
        ),
    ],
    files: &[
        FABRIC_FILE,
        (
            "INTENDED",
            "The intended fabric: a fabric in any format, a topology file of ibutils whose systems are single switches and \
             adapters, or a CSV file of cables.",
        ),
    ],
    examples: &[
        Example {
            about: "Compare the fabric of today with a dump of the day when it was right.",
            line: "dmodc compare today.topo --with accepted.topo",
        },
        Example {
            about: "Look for exchanged cables without knowing the intended fabric.",
            line: "dmodc compare cluster.topo",
        },
        Example {
            about: "Write a work list for the machine room.",
            line: "dmodc compare today.topo --with cables.csv --csv steps.csv",
        },
    ],
    see_also: &["info", "degrade", "analyze"],
}];
