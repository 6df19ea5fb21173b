//! Pages of the commands about OpenSM.

use super::{DONE_OR_ERROR, Example, FABRIC_FILE, HelpPage, Note, NoteText};

const PLUGIN_FILE: (&str, &str) = (
    "libdmodc.so",
    "The plugin. It is looked for next to dmodc, then in the folders below /usr/lib; --plugin names another place.",
);

const CONFIGURATION: (&str, &str) = (
    "/etc/dmodc.conf",
    "The configuration of the plugin, which is optional. The variable DMODC_CONF names another file.",
);

const STATE: (&str, &str) = (
    "/var/lib/dmodc/dmodc.orders",
    "The orders that the plugin saves, in its state folder (state_folder in dmodc.conf).",
);

const OPENSM_CONF: (&str, &str) = (
    "/etc/opensm/opensm.conf",
    "The configuration of OpenSM. The lines 'event_plugin_name dmodc' and 'routing_engine dmodc,updn' load the plugin.",
);

/// The rules by which the events of a soak are judged.
const SOAK: &str = "\
--soak plays faults and repairs, hosts that leave, return or come late, replaced adapters and
switches, growth, new cabling, restarts, kill -9, handovers, and full or slow disks.

An event is wrong, and the exit code is 1, in these cases:
- Switches do not hold the tables that 'dmodc route' computes from the plugin's saved files.
- A pair with an up*down* path is lost, packets loop or can deadlock, or ibtracert disagrees.
- Nothing has failed and every known host is present, but the balance is more than 5 % worse
  than with new numbers. After growth on full leaves this is allowed if the plugin reports it.
- An entry to another destination moves for a late host or a replaced adapter or leaf.
- Any entry moves for a restart, or for a handover between managers with one state folder.
- OpenSM ends, or the plugin's status file or log contradicts what was found.

Each line shows the event, the heavy sweeps of OpenSM, the time until the tables were
uploaded, the changed entries, and those among them that concern other destinations.
The last number is the balance compared with new numbers. It is in brackets if a part has
failed or a host is absent.
Each switch has four spare ports for growth. One host in fifty is off at the start.";

pub(super) const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "opensm",
        notes: &[Note {
            title: "Use dmodc in a running OpenSM",
            text: NoteText::Lines(
                "Install the plugin, put these lines into /etc/opensm/opensm.conf, and restart OpenSM:\n\
                 \x20 event_plugin_name dmodc\n\
                 \x20 routing_engine dmodc,updn",
            ),
        }],
        exit: DONE_OR_ERROR,
        files: &[PLUGIN_FILE, OPENSM_CONF, CONFIGURATION, STATE],
        examples: &[
            Example {
                about: "See how OpenSM with dmodc reacts to faults on a simulated fabric.",
                line: "dmodc opensm lab --preset director-648 --faults demo",
            },
            Example {
                about: "Ask the plugin to number all destinations anew.",
                line: "dmodc opensm renumber",
            },
        ],
        see_also: &["opensm lab", "opensm renumber", "route"],
    },
    HelpPage {
        command: "opensm lab",
        notes: &[
            Note {
                title: "Scripts of events (--faults)",
                text: NoteText::Lines(dmodc_lab::GRAMMAR),
            },
            Note { title: "Random events (--soak)", text: NoteText::Lines(SOAK) },
        ],
        exit: &[
            (0, "After every event the switches held the right tables."),
            (1, "After some event a table was wrong, or the engine gave up."),
            (2, "OpenSM, ibsim or the plugin is not installed, or an option is wrong."),
        ],
        files: &[FABRIC_FILE, PLUGIN_FILE],
        examples: &[
            Example {
                about: "Play the built-in script on a fabric of 648 nodes.",
                line: "dmodc opensm lab --preset director-648 --faults demo",
            },
            Example {
                about: "Compare three engines on your own fabric, with your own script.",
                line: "dmodc opensm lab cluster.topo --engine dmodc,ftree,updn --faults events.txt",
            },
            Example {
                about: "Play random events for one hour.",
                line: "dmodc opensm lab --preset director-648 --soak 1h --seed 2",
            },
        ],
        see_also: &["opensm renumber", "route", "check"],
    },
    HelpPage {
        command: "opensm renumber",
        notes: &[Note {
            title: "When it takes effect",
            text: NoteText::Prose(
                "The command leaves a request in the state folder. The plugin reads it before its next routing run. Send OpenSM \
                 the signal HUP to have a run at once.",
            ),
        }],
        exit: &[
            (0, "The request is in the state folder."),
            (2, "The state folder does not exist, is not that of a plugin, or cannot be written."),
        ],
        files: &[
            (
                "/var/lib/dmodc/renumber",
                "The request. The plugin removes it when the new numbers are saved.",
            ),
            STATE,
            CONFIGURATION,
        ],
        examples: &[
            Example {
                about: "Ask for new numbers, and let OpenSM route at once.",
                line: "dmodc opensm renumber && kill -HUP $(pidof opensm)",
            },
            Example {
                about: "Ask the plugin of a second subnet, which has its own state folder.",
                line: "dmodc opensm renumber --state /var/lib/dmodc/0x0002c90300a1b2c3",
            },
        ],
        see_also: &["opensm lab", "route"],
    },
];
