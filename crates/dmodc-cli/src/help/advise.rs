//! Pages of the commands that advise operators.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText};

pub(super) const PAGES: &[HelpPage] = &[HelpPage {
    command: "whatif",
    notes: &[
        Note {
            title: "How to read the report",
            text: NoteText::Prose(
                "Faults are sorted by harm: first by the node pairs that would not arrive, then by the flows of all-to-all on \
                 the worst port, then by the other patterns. Faults of the same kind with the same effect are one group. The \
                 numbers are exact: each fault is routed as 'dmodc route' would route it, with the orders of the fabric as it is \
                 now.",
            ),
        },
        Note {
            title: "Large fabrics",
            text: NoteText::Prose(
                "With --journal FILE, finished outcomes are kept on the disk after every 64 faults, and an interrupted run goes \
                 on where it stopped. With --shard I/N, several machines share the work; --merge reports what their journals \
                 contain. Each thread needs memory for a copy of the tables; if there is too little, fewer threads work.",
            ),
        },
    ],
    exit: &[
        (0, "The faults were tried."),
        (1, "With --fail-on lost: after some fault, fewer node pairs would arrive than now."),
        (2, "An input file or an option is wrong."),
    ],
    files: &[
        FABRIC_FILE,
        (
            "--journal FILE",
            "Finished outcomes. Its first line identifies the fabric and the options.",
        ),
        ("--csv FILE, --html FILE", "One line for every fault, and a report for a browser."),
    ],
    examples: &[
        Example {
            about: "Find the faults that would hurt most.",
            line: "dmodc whatif cluster.topo",
        },
        Example {
            about: "Let a nightly job fail if one more fault could interrupt nodes.",
            line: "dmodc whatif cluster.topo --engine stable --fail-on lost",
        },
        Example {
            about: "Also try 10,000 pairs of switches, and keep all outcomes.",
            line: "dmodc whatif cluster.topo --parts switches --double 10000 --csv faults.csv",
        },
        Example {
            about: "Share the work between two machines, then report everything.",
            line: "dmodc whatif cluster.topo --shard 1/2 --journal one && dmodc whatif cluster.topo --merge one two",
        },
    ],
    see_also: &["degrade", "route", "analyze"],
}];
