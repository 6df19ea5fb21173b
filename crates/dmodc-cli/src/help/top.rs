//! Pages of `dmodc` itself and of commands about it.

use std::fmt::Write as _;

use clap::Command;

use super::{DONE_OR_ERROR, Example, FABRIC_FILE, HelpPage, Note, NoteText, TABLES_FILE};

/// The commands in the order of the main help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start here", &["demo", "help"]),
    ("Describe, create and change fabrics", &["info", "compare", "generate", "convert", "degrade"]),
    (
        "Compute and examine forwarding tables",
        &["route", "check", "analyze", "diff", "plan", "trace"],
    ),
    ("Look at a fabric in a browser", &["serve", "page"]),
    ("Plan work on a fabric", &["whatif", "drain", "repair", "order"]),
    ("Work with OpenSM", &["opensm"]),
    ("Experiment and measure", &["study", "bench"]),
    ("Set up this program", &["completions", "man"]),
];

/// Returns the list of commands for the main help.
pub(super) fn groups(root: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in *names {
            let found = root.find_subcommand(name).and_then(|sub| sub.get_about());
            let about = found.map_or_else(
                || "Print the help of a command, such as 'dmodc help route'.".into(),
                ToString::to_string,
            );
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "",
        notes: &[
            Note {
                title: "Where to start",
                text: NoteText::Prose(
                    "Run 'dmodc demo' to see what the program does. If you have the output of ibnetdiscover, run \
                     'dmodc info FILE' on it. Otherwise create a fabric with 'dmodc generate'. The help of each command \
                     ends with examples.",
                ),
            },
            Note {
                title: "Files",
                text: NoteText::Prose(
                    "Commands recognise the format of an input file from its content. The name '-' stands for standard \
                     input or output. With --json a command prints its result for scripts.",
                ),
            },
        ],
        exit: &[
            (0, "The command succeeded, and the answer is yes."),
            (1, "The answer is no: for example, node pairs are lost, or two tables differ."),
            (2, "There is no answer, because an input file or an option is wrong."),
        ],
        files: &[
            FABRIC_FILE,
            TABLES_FILE,
            ("/usr/lib/*/libdmodc.so", "The plugin, which makes dmodc a routing engine of OpenSM."),
            (
                "/etc/dmodc.conf",
                "The configuration of the plugin. The variable DMODC_CONF names another file.",
            ),
            ("/var/lib/dmodc", "The state folder of the plugin, with the saved orders."),
        ],
        examples: &[
            Example { about: "See what dmodc does, without any file.", line: "dmodc demo" },
            Example { about: "Describe the fabric of a cluster.", line: "dmodc info cluster.topo" },
            Example {
                about: "Compute forwarding tables, then check them.",
                line: "dmodc route cluster.topo -o cluster.lft && dmodc check cluster.topo cluster.lft",
            },
        ],
        see_also: &["demo", "info", "generate", "route", "check", "analyze", "opensm"],
    },
    HelpPage {
        command: "demo",
        notes: &[],
        exit: &[
            (0, "All tables of the demo are correct."),
            (1, "A table is wrong. Please report this."),
            (2, "An option is wrong."),
        ],
        files: &[],
        examples: &[
            Example { about: "Run the demo.", line: "dmodc demo" },
            Example {
                about: "Run it with other random faults, on one thread.",
                line: "dmodc demo --seed 7 --threads 1",
            },
        ],
        see_also: &["generate", "route", "check"],
    },
    HelpPage {
        command: "completions",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[(
            "~/.local/share/bash-completion/completions/dmodc",
            "A place where bash looks for the script.",
        )],
        examples: &[
            Example {
                about: "Complete commands in bash from the next login on.",
                line: "dmodc completions bash > ~/.local/share/bash-completion/completions/dmodc",
            },
            Example {
                about: "Complete commands in fish.",
                line: "dmodc completions fish > ~/.config/fish/completions/dmodc.fish",
            },
        ],
        see_also: &["man"],
    },
    HelpPage {
        command: "man",
        notes: &[],
        exit: DONE_OR_ERROR,
        files: &[(
            "FOLDER/dmodc.1, FOLDER/dmodc-COMMAND.1",
            "The pages that --dir writes, one for each command.",
        )],
        examples: &[
            Example {
                about: "Read the manual page of 'dmodc route'.",
                line: "dmodc man route | man -l -",
            },
            Example {
                about: "Install all manual pages for one user.",
                line: "dmodc man --dir ~/.local/share/man/man1",
            },
        ],
        see_also: &["completions"],
    },
];
