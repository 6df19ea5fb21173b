//! Pages of the commands that run many cases.

use super::{DONE_OR_ERROR, Example, HelpPage, Note, NoteText};

const PLAN_FILE: (&str, &str) =
    ("PLAN.toml", "The plan of a study. studies/quick.toml is an example with comments.");

const STUDY_FOLDER: (&str, &str) = (
    "NAME.study/",
    "The results, next to the plan: NAME.csv with one row for each measurement, NAME-summary.md, \
     NAME-summary.csv, NAME-versus.csv, and the figures.",
);

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "study",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "Measure everything that a plan asks for.",
                line: "dmodc study run studies/quick.toml",
            },
            Example {
                about: "Read the results, then draw them.",
                line: "dmodc study summary studies/quick.toml && dmodc study plot studies/quick.toml",
            },
        ],
        see_also: &[
            "study run",
            "study status",
            "study merge",
            "study summary",
            "study plot",
            "analyze",
            "degrade",
        ],
    },
    HelpPage {
        command: "study run",
        notes: &[Note {
            title: "Shards",
            text: NoteText::Prose(
                "A large study can be divided into shards, which run on different machines. All machines need the same plan and \
                 the same output folder. When all shards are finished, 'dmodc study merge' joins them. The results do not \
                 depend on the number of shards.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "Measure everything; the same command continues an interrupted run.",
                line: "dmodc study run studies/quick.toml",
            },
            Example {
                about: "Measure the third of eight parts.",
                line: "dmodc study run studies/paper.toml --shard 3/8",
            },
            Example {
                about: "Measure all parts with Slurm, one part in each of eight tasks.",
                line: "srun --ntasks=8 dmodc study run studies/paper.toml",
            },
        ],
        see_also: &["study status", "study merge", "study summary"],
    },
    HelpPage {
        command: "study status",
        notes: &[],
        exit: &[
            (0, "Everything is measured."),
            (1, "Something is missing; the report shows the commands that measure it."),
            (2, "The plan or an option is wrong."),
        ],
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "See how far a study is.",
                line: "dmodc study status studies/quick.toml",
            },
            Example {
                about: "Merge the shards as soon as all are finished.",
                line: "dmodc study status studies/paper.toml && dmodc study merge studies/paper.toml",
            },
        ],
        see_also: &["study run", "study merge"],
    },
    HelpPage {
        command: "study merge",
        notes: &[],
        exit: &[
            (0, "All shards are joined."),
            (2, "A shard is missing, or the plan or an option is wrong."),
        ],
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "Join the shards of a study.",
                line: "dmodc study merge studies/paper.toml",
            },
            Example {
                about: "Join shards that are in another folder.",
                line: "dmodc study merge studies/paper.toml -o /scratch/paper.study",
            },
        ],
        see_also: &["study run", "study status", "study summary"],
    },
    HelpPage {
        command: "study summary",
        notes: &[Note {
            title: "Files with the same content",
            text: NoteText::Prose(
                "'study run' and 'study merge' write summaries for the first engine of the plan: NAME-summary.md to read, \
                 NAME-summary.csv with all means, and NAME-versus.csv with every pair of engines.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "Read the summary of a finished study.",
                line: "dmodc study summary studies/quick.toml",
            },
            Example {
                about: "Compare another engine with the rest.",
                line: "dmodc study summary studies/quick.toml --engine random",
            },
        ],
        see_also: &["study run", "study plot"],
    },
    HelpPage {
        command: "study plot",
        notes: &[Note {
            title: "Files",
            text: NoteText::Prose(
                "Without options, all figures are drawn. Their names are STUDY-FABRIC-PATTERN.svg for failed cables, and \
                 STUDY-FABRIC-switches-PATTERN.svg for failed switches if the plan has both. Engines are compared on the \
                 random draws that all of them have.",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[PLAN_FILE, STUDY_FOLDER],
        examples: &[
            Example {
                about: "Draw all figures of a finished study.",
                line: "dmodc study plot studies/quick.toml",
            },
            Example {
                about: "Draw one figure, from a compressed table.",
                line: "dmodc study plot mine.toml --table mine.csv.gz --fabric full --pattern sp -o sp.svg",
            },
        ],
        see_also: &["study run", "study summary"],
    },
    HelpPage {
        command: "bench",
        notes: &[Note {
            title: "Columns of the report",
            text: NoteText::List(&[
                ("failed %", "Failed cables and switches, in percent."),
                ("re-route", "The time to compute all tables."),
                (
                    "memset",
                    "The time to fill the same amount of memory; \"ratio\" is the quotient of the two.",
                ),
                (
                    "1 cable, 1 switch",
                    "The time to follow one more fault, as a fraction of a re-route.",
                ),
                ("gain", "The gain by threads, divided by the gain of memset."),
                ("memory", "The memory needed besides the tables."),
                (
                    "tables",
                    "The comparison with the slow, simple program: right, WRONG or unchecked.",
                ),
            ]),
        }],
        exit: &[
            (0, "All tables are right."),
            (1, "Some tables are wrong. Please report this."),
            (
                2,
                "An option is wrong, the tables do not fit into memory, or there is no GPU although --device gpu was given.",
            ),
        ],
        files: &[(
            "--record FOLDER",
            "Results, single measurements, a figure and a description of the machine.",
        )],
        examples: &[
            Example {
                about: "Measure a fabric of 648 nodes, with all cores.",
                line: "dmodc bench --preset director-648",
            },
            Example {
                about: "Measure two fabrics with 5 % of the cables failed, without the slow check.",
                line: "dmodc bench --preset director-648,rlft-36 --dead 5/0 --no-check",
            },
            Example {
                about: "Measure leaves below a director switch, and compare single faults with their limit.",
                line: "dmodc bench --preset one-director-648 --engine stable --rewrite",
            },
            Example {
                about: "Compare directors with a PGFT that has as many nodes and switches, in turns.",
                line: "dmodc bench --preset two-directors-648 --dead 5/0 --against \"3; 18,18,4; 1,18,2; 1,1,1\"",
            },
        ],
        see_also: &["bench analyze", "bench rates", "bench whatif", "route"],
    },
    HelpPage {
        command: "bench analyze",
        notes: &[],
        exit: &[
            (0, "All results are right."),
            (1, "Some results are wrong. Please report this."),
            (2, "An option is wrong."),
        ],
        files: &[("--record FOLDER", "The results, as record.json.")],
        examples: &[
            Example {
                about: "Measure a fabric of 648 nodes.",
                line: "dmodc bench analyze --preset director-648",
            },
            Example {
                about: "Measure a large fabric without the simple program.",
                line: "dmodc bench analyze --preset rlft-36 --no-naive",
            },
        ],
        see_also: &["bench", "analyze"],
    },
    HelpPage {
        command: "bench rates",
        notes: &[],
        exit: &[
            (0, "All rates are right."),
            (1, "Some rates are wrong. Please report this."),
            (2, "An option is wrong."),
        ],
        files: &[("--record FOLDER", "The results, as record.json.")],
        examples: &[
            Example {
                about: "Measure a fabric of 648 nodes.",
                line: "dmodc bench rates --preset director-648",
            },
            Example {
                about: "Measure a fabric of 1,024 nodes without comparing.",
                line: "dmodc bench rates --pgft \"3; 16,8,8; 1,8,8; 1,1,1\" --permutations 1000 --compare 0",
            },
        ],
        see_also: &["bench", "analyze"],
    },
    HelpPage {
        command: "bench whatif",
        notes: &[],
        exit: &[
            (0, "All results are right."),
            (1, "Some results are wrong. Please report this."),
            (2, "An option is wrong."),
        ],
        files: &[("--record FOLDER", "The results, as record.json.")],
        examples: &[
            Example {
                about: "Try every single fault of a fabric of 648 nodes.",
                line: "dmodc bench whatif --preset director-648",
            },
            Example {
                about: "Try a sample of the faults of a fabric of 11,664 nodes.",
                line: "dmodc bench whatif --preset rlft-36 --sample 1000",
            },
        ],
        see_also: &["bench", "whatif"],
    },
    HelpPage {
        command: "bench plot",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[
            ("FOLDER/record.json", "The record that is drawn."),
            ("FOLDER/runtime.svg", "The figure, if --output names no other file."),
        ],
        examples: &[
            Example {
                about: "Measure and keep a record, then draw it again.",
                line: "dmodc bench --preset director-648 --record mine && dmodc bench plot mine",
            },
            Example {
                about: "Draw a record of this project to another file.",
                line: "dmodc bench plot bench/record/presets -o runtime.svg",
            },
        ],
        see_also: &["bench"],
    },
];
