//! Pages of the commands that compute and judge forwarding tables.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText, TABLES_FILE};

/// The words of every verdict.
const VERDICTS: Note = Note {
    title: "Words of the verdict",
    text: NoteText::List(&[
        (
            "up*down*",
            "A route that first goes up, then down, and never up again. Such routes cannot deadlock.",
        ),
        ("valid", "All leaves with nodes have an up*down* route to each other."),
        ("delivered", "Node pairs whose packets arrive."),
        ("lost", "Node pairs that cables connect, but that the tables do not deliver."),
        ("cut off", "Node pairs that no working cables connect."),
        ("sound", "No packet loops, and no packets can wait for each other forever."),
    ]),
};

const ORDERS_FILE: (&str, &str) = (
    "--orders FILE",
    "The orders, leaves and ranks of an earlier run, written by --save-orders or by the plugin \
     (/var/lib/dmodc/dmodc.orders).",
);

const ROOTS_FILE: (&str, &str) =
    ("--roots FILE", "The GUIDs of the top switches, one in each line.");

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "route",
        notes: &[
            Note {
                title: "Engines",
                text: NoteText::List(&[
                    (
                        "dmodc",
                        "Routes any fabric, healthy or degraded. Where routes have several ways down, it measures the dividers.",
                    ),
                    (
                        "paper",
                        "The same with the dividers of the paper everywhere; for comparisons.",
                    ),
                    (
                        "stable",
                        "Dmodc that keeps the routes of --reference where they still work. Without that option, cables that \
                         are missing from the regular shape of the fabric are inferred.",
                    ),
                    ("dmodk", "The closed formula for regular fat trees (PGFTs) without faults."),
                    (
                        "random",
                        "A random choice among the ports that lead closer; for comparisons.",
                    ),
                    (
                        "ENGINE+relief",
                        "One of the engines above. Then single entries are moved off the ports that all-to-all traffic loads \
                         most. This takes longer than routing, and balances irregular or badly damaged fabrics best.",
                    ),
                    (
                        "opensm:NAME",
                        "An engine of OpenSM on a simulated fabric: minhop, updn, dnup, ftree, sssp, dfsssp, lash or nue.",
                    ),
                ]),
            },
            VERDICTS,
            Note {
                title: "Output files",
                text: NoteText::Prose(
                    "The tables are written as text that OpenSM loads (opensm -R file -U FILE). Without --output they go to \
                     standard output, and problems are reported on standard error. If the name of the file ends in .npy, it \
                     becomes a NumPy array of bytes: one row for each switch, one column for each LID, and 255 where there is \
                     no route. FILE.npy.json names the rows and columns. All commands that read tables read such arrays.",
                ),
            },
        ],
        exit: &[
            (0, "All node pairs are delivered."),
            (1, "Some node pairs are lost or cut off. The tables for all others are written."),
            (2, "An input file or an option is wrong; nothing was written."),
        ],
        files: &[
            FABRIC_FILE,
            (
                "--output FILE",
                "The forwarding tables: text for OpenSM, or an array if the name ends in .npy.",
            ),
            ORDERS_FILE,
            ROOTS_FILE,
        ],
        examples: &[
            Example {
                about: "Compute tables and save the orders for later.",
                line: "dmodc route cluster.topo -o cluster.lft --save-orders cluster.orders",
            },
            Example {
                about: "Route the fabric after a fault, and keep routes in place where possible.",
                line: "dmodc route degraded.topo --orders cluster.orders -o degraded.lft",
            },
            Example {
                about: "Keep the routes of the healthy fabric with the engine stable.",
                line: "dmodc route degraded.topo --engine stable --reference cluster.topo -o stable.lft",
            },
            Example {
                about: "Route a fabric in which cables are missing from the first day.",
                line: "dmodc route cluster.topo --engine stable -o stable.lft",
            },
            Example {
                about: "Balance an irregular fabric as well as possible.",
                line: "dmodc route cluster.topo --engine stable+relief -o balanced.lft",
            },
            Example {
                about: "Compute the tables of an engine of OpenSM, for a comparison.",
                line: "dmodc route cluster.topo --engine opensm:ftree -o ftree.lft",
            },
        ],
        see_also: &["check", "analyze", "diff", "plan"],
    },
    HelpPage {
        command: "check",
        notes: &[
            VERDICTS,
            Note {
                title: "Tables of another time",
                text: NoteText::Prose(
                    "Whether a route counts as up*down* depends on leaves, ranks and orders. Give --orders if the tables were \
                     made with it. Traffic to and from switches and aggregation nodes is reported, but does not change the \
                     exit code.",
                ),
            },
            Note {
                title: "--union",
                text: NoteText::Prose(
                    "While tables are replaced, each switch has either its old or its new entries. With --union a pair counts as \
                     delivered only if every mixture delivers it, and as looping if any mixture loops. 'dmodc plan' finds an \
                     order of writes in which nothing loops.",
                ),
            },
        ],
        exit: &[
            (0, "All node pairs are delivered, and nothing loops or can deadlock."),
            (1, "A pair is lost or cut off, packets loop, or a deadlock is possible."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[FABRIC_FILE, TABLES_FILE, ORDERS_FILE, ROOTS_FILE],
        examples: &[
            Example {
                about: "Check the tables that OpenSM has dumped.",
                line: "dmodc check cluster.topo /var/log/opensm-lfts.dump",
            },
            Example {
                about: "Also refuse routes that go up after they went down.",
                line: "dmodc check cluster.topo cluster.lft --up-down",
            },
            Example {
                about: "Check what can happen while new tables replace old ones.",
                line: "dmodc check degraded.topo old.lft new.lft --union",
            },
        ],
        see_also: &["route", "trace", "plan"],
    },
    HelpPage {
        command: "analyze",
        notes: &[
            Note {
                title: "Patterns",
                text: NoteText::List(&[
                    ("a2a", "Every node sends to every other node (all-to-all)."),
                    ("rp:N", "N random permutations: every node sends to one other."),
                    (
                        "sp",
                        "All shifts: node i sends to node i + k, for every k. sp:N takes a sample of N shifts.",
                    ),
                    ("bisection:N", "N random halves of the nodes exchange messages."),
                    ("ring", "Every node sends to the next one, and the last to the first."),
                    (
                        "recursive-doubling",
                        "In each step, node i exchanges with node i xor k, for k = 1, 2, 4 and so on. Nodes beyond a power of \
                         two send to a neighbour first, and get the result last.",
                    ),
                    (
                        "halving",
                        "The same exchanges from the greatest k to the least; messages become shorter.",
                    ),
                    (
                        "tree",
                        "A binary tree: node i and its children 2i + 1 and 2i + 2 send to each other.",
                    ),
                    (
                        "a2a:phases",
                        "All-to-all in phases: in phase k, node i sends to node i + k. With a2a:phases:M, M messages of each \
                         node are on the way at the same time.",
                    ),
                    (
                        "neighbours:XxYxZ",
                        "The first X·Y·Z nodes form a grid that closes around, and each sends to its neighbours.",
                    ),
                    ("incast:K", "Random groups in which K nodes send to one; 100 draws."),
                    (
                        "storage:REGEX",
                        "All other nodes send to those whose name matches, and then the other way. The expression must not \
                         have a comma.",
                    ),
                    ("one-to-all:NODE", "One node sends to all others."),
                    ("all-to-one:NODE", "All nodes send to one."),
                    ("file:PATH", "The pairs in a file, one 'source destination' in each line."),
                ]),
            },
            Note {
                title: "How to read the numbers",
                text: NoteText::Prose(
                    "The risk of a pattern is the greatest number of flows through one port between switches. The bound is the \
                     least number that any routing of this fabric could reach. A risk equal to the bound cannot be improved. \
                     With --json, 'bound' belongs to 'max', for random patterns to 'median'.",
                ),
            },
            Note {
                title: "Several adapters and several jobs",
                text: NoteText::Prose(
                    "If hosts have several adapters, ring, tree, recursive-doubling, halving, a2a:phases, neighbours and incast \
                     run on every rail by itself, all rails at the same time. With --jobs, all jobs go on in step: each is in \
                     its own step t at the same time, and starts again after its last step.",
                ),
            },
            Note {
                title: "Rates",
                text: NoteText::Prose(
                    "With --rates, all flows that send at the same time share links fairly: a flow is as fast as its bottleneck \
                     allows, and what it cannot use is left to others. A rate of 1 is the speed of a node's cable. An equal \
                     message on each flow arrives after 1 / rate; 1 is the time of a message at full speed. For random \
                     patterns and shifts the numbers are means, and for operations of several steps their times are added \
                     up. The mean rate of bisections is the effective bisection bandwidth.",
                ),
            },
        ],
        exit: &[
            (0, "The patterns were measured, and all node pairs are delivered."),
            (1, "The patterns were measured, but some node pairs are lost or cut off."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[
            FABRIC_FILE,
            TABLES_FILE,
            (
                "--nodes FILE",
                "Host names, GUIDs or LIDs, separated by blanks, commas or line ends.",
            ),
            (
                "--csv FILE, --svg FILE, --html FILE",
                "The flows of every port, a figure, and a report for a browser.",
            ),
        ],
        examples: &[
            Example {
                about: "Measure all-to-all traffic and all shifts.",
                line: "dmodc analyze cluster.topo cluster.lft --patterns a2a,sp",
            },
            Example {
                about: "See how fast flows are in random permutations and bisections.",
                line: "dmodc analyze cluster.topo cluster.lft --rates --patterns rp:1000,bisection:1000",
            },
            Example {
                about: "Write a report for a browser.",
                line: "dmodc analyze cluster.topo cluster.lft --html report.html",
            },
            Example {
                about: "Measure the traffic of one job of Slurm.",
                line: "squeue -h -j 42 -o %N | dmodc analyze cluster.topo cluster.lft --nodes -",
            },
        ],
        see_also: &["route", "study", "check"],
    },
    HelpPage {
        command: "diff",
        notes: &[Note {
            title: "Words of the report",
            text: NoteText::List(&[
                ("entry", "The port of one switch for one destination."),
                ("block", "64 successive LIDs of one switch; OpenSM sends a table in such blocks."),
                (
                    "moved pair",
                    "A node pair whose packets leave some switch by another port than before.",
                ),
                (
                    "forced",
                    "Entries that every up*down* routing has to change, because their old port leads no closer now.",
                ),
            ]),
        }],
        exit: &[
            (0, "The tables are equal."),
            (1, "The tables differ."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[FABRIC_FILE, TABLES_FILE, ORDERS_FILE, ROOTS_FILE],
        examples: &[
            Example {
                about: "See how much a fault moves.",
                line: "dmodc diff degraded.topo before.lft after.lft",
            },
            Example {
                about: "Get the number of changed blocks in a script.",
                line: "dmodc diff degraded.topo before.lft after.lft --json | jq .blocks",
            },
        ],
        see_also: &["plan", "route", "check"],
    },
    HelpPage {
        command: "plan",
        notes: &[
            Note {
                title: "Rounds",
                text: NoteText::Prose(
                    "The entries of one round may be written in any order. The next round may start when all switches have \
                     confirmed their writes and the packets on the way have arrived. A pair that only the old tables deliver is \
                     given up as late as possible.",
                ),
            },
            Note {
                title: "The file of --output",
                text: NoteText::Prose(
                    "Each line is one write: the round, the GUID of the switch, the number of the block, and LID:port for every \
                     entry that becomes new. Port 255 means that the entry is removed. All other entries of the block keep \
                     their values.",
                ),
            },
            Note {
                title: "Deadlock",
                text: NoteText::Prose(
                    "The plan does not look at deadlock between old and new routes. 'dmodc check --union' does.",
                ),
            },
        ],
        exit: &[
            (0, "There is a safe order."),
            (1, "The new tables loop, so no order is safe."),
            (2, "An input file or an option is wrong."),
        ],
        files: &[FABRIC_FILE, TABLES_FILE, ("--output FILE", "The plan, one line for each write.")],
        examples: &[
            Example {
                about: "Plan the update after a fault.",
                line: "dmodc plan degraded.topo before.lft after.lft -o update.plan",
            },
            Example {
                about: "Allow more rounds if that needs fewer writes.",
                line: "dmodc plan degraded.topo before.lft after.lft --rounds 8",
            },
        ],
        see_also: &["diff", "check", "route"],
    },
    HelpPage {
        command: "trace",
        notes: &[],
        exit: &[
            (0, "The packet arrives."),
            (1, "The packet is lost or loops, or no cables connect the two ends."),
            (2, "An input file or an option is wrong, or a name is unknown."),
        ],
        files: &[FABRIC_FILE, TABLES_FILE],
        examples: &[
            Example {
                about: "Follow the route between two hosts, given by name.",
                line: "dmodc trace cluster.topo cluster.lft node17 node203",
            },
            Example {
                about: "Give the source by GUID and the destination by LID.",
                line: "dmodc trace cluster.topo cluster.lft 0x0002c90300a1b2c3 42",
            },
        ],
        see_also: &["check", "route"],
    },
];
