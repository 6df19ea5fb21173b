//! The page of the command that places jobs.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText, TABLES_FILE};

pub(super) const PAGES: &[HelpPage] = &[HelpPage {
    command: "order",
    notes: &[
        Note {
            title: "The order",
            text: NoteText::Prose(
                "Hosts are put into destination order, in which neighbours are on the same leaf and in the same subtree. Hosts \
                 with several adapters have a node on each of several rails. All rails have one order of hosts. If rails \
                 disagree, the order of the rail with the least risk over all rails is taken, and the report says so.",
            ),
        },
        Note {
            title: "The report",
            text: NoteText::Prose(
                "The risk of a pattern is the greatest number of flows through one port between switches. It is measured for the \
                 order of the list (before) and for the new order (after). All rails send at once, each host from each rail to \
                 the same rail of another host. All-to-all does not depend on the order. The report goes to standard output if \
                 the list goes to a file, and otherwise to standard error.",
            ),
        },
        Note {
            title: "--choose",
            text: NoteText::Prose(
                "A port is shared if it carries flows of the chosen hosts to each other and flows of all other hosts of the \
                 fabric to each other. The choice has as few shared ports as possible, and then as few mixed flows as possible \
                 on the worst of them. The mixed flows of a port are the lesser of its flows of both kinds.\n\n\
                 On small fabrics all choices are compared. On others, sets of whole leaves and whole subtrees are compared, \
                 and a better choice may exist unless no port is shared. The report says which is the case.",
            ),
        },
    ],
    exit: &[
        (0, "The list was written, and the tables deliver all pairs of its hosts."),
        (1, "The list was written, but some pairs of its hosts are not delivered."),
        (2, "An input file or an option is wrong, or a host of the list cannot take part."),
    ],
    files: &[
        FABRIC_FILE,
        TABLES_FILE,
        (
            "--hosts FILE",
            "Host names, GUIDs or LIDs, separated by blanks, commas or line ends; or a host file of Open MPI, whose slots are not used.",
        ),
        ("--output FILE", "The list of hosts for mpirun or srun."),
    ],
    examples: &[
        Example {
            about: "Write a host file for Open MPI.",
            line: "dmodc order cluster.topo --hosts job.txt -o hostfile",
        },
        Example {
            about: "Start a job of Slurm with its hosts in fabric order.",
            line: "squeue -h -j 42 -o %N | dmodc order cluster.topo --hosts - --format slurm -o tasks",
        },
        Example {
            about: "Choose 64 of the idle hosts, and measure with the tables of OpenSM.",
            line: "dmodc order cluster.topo opensm-lfts.dump --hosts idle.txt --choose 64 -o hostfile",
        },
    ],
    see_also: &["analyze", "convert", "route"],
}];
