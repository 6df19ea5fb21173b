//! Page of `dmodc serve`.

use super::{Example, FABRIC_FILE, HelpPage, Note, NoteText};

pub(super) const PAGES: &[HelpPage] = &[HelpPage {
    command: "serve",
    notes: &[
        Note {
            title: "What the page shows",
            text: NoteText::Prose(
                "The page draws the levels of the fabric and colours its cables by load. A click breaks or repairs a part; the \
                 fabric is routed again at once, and the page shows what moved. The question mark on the page explains its keys.",
            ),
        },
        Note {
            title: "Who can use it",
            text: NoteText::Prose(
                "At a loopback address everybody on the machine can. Any other address needs a token, which browsers and scripts \
                 must send: open the page once with ?token=TOKEN, or send the header 'Authorization: Bearer TOKEN'. The \
                 connection is not encrypted; put a proxy with TLS in front of it.",
            ),
        },
        Note {
            title: "Scripts",
            text: NoteText::Prose(
                "Everything on the page is also an API. /openapi.json describes it, /metrics has numbers for Prometheus, \
                 and /healthz says that the server runs.",
            ),
        },
    ],
    exit: &[
        (0, "The command ended."),
        (
            2,
            "The server did not start: an input or an option is wrong, the address is in use, or this dmodc has no web page.",
        ),
    ],
    files: &[
        FABRIC_FILE,
        (
            "--history FILE",
            "Events and scenarios. An event is on the disk before anybody hears of it.",
        ),
        ("--token-file FILE", "The secret that requests must send."),
    ],
    examples: &[
        Example {
            about: "Look at a fat tree of 11,664 nodes.",
            line: "dmodc serve --preset rlft-36",
        },
        Example {
            about: "Look at your own fabric.",
            line: "dmodc serve cluster.topo --engine stable",
        },
        Example {
            about: "Follow a live fabric, and read it every 30 seconds.",
            line: "dmodc serve --follow-command ibnetdiscover --every 30",
        },
        Example {
            about: "Let others look, with a token.",
            line: "dmodc serve cluster.topo --listen 0.0.0.0 --token-file secret",
        },
    ],
    see_also: &["whatif", "route", "analyze"],
}];
