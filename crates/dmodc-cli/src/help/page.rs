//! Page of `dmodc page`.

use super::{DONE_OR_ERROR, Example, FABRIC_FILE, HelpPage, Note, NoteText};

pub(super) const PAGES: &[HelpPage] = &[HelpPage {
    command: "page",
    notes: &[
        Note {
            title: "What the file is",
            text: NoteText::Prose(
                "It is the page of 'dmodc serve' with the fabric and the engine inside it. It needs no server and no connection, \
                 and any current browser opens it from a disk. A click breaks or repairs a part, and the browser routes the fabric \
                 again. What was done is lost when the page is closed; scenarios can be saved.",
            ),
        },
        Note {
            title: "Limits",
            text: NoteText::Prose(
                "A browser computes with one thread, so the fabric may have up to 12,000 nodes. A live fabric cannot be \
                 followed. The file holds the names and GUIDs of the fabric, so think about who may read it.",
            ),
        },
        Note {
            title: "Programs without it",
            text: NoteText::Prose(
                "The engine for browsers is a WebAssembly module inside the program. Programs that were built without the \
                 feature 'page' lack it: this command then ends with exit code 2 and says how to build it.",
            ),
        },
    ],
    exit: DONE_OR_ERROR,
    files: &[FABRIC_FILE, ("--output FILE", "The page: one HTML file of some megabytes.")],
    examples: &[
        Example {
            about: "Write the page of a fabric.",
            line: "dmodc page cluster.topo -o cluster.html",
        },
        Example {
            about: "Show colleagues what the fault of last night did.",
            line: "dmodc page cluster.topo --engine stable --fail L2-3 -o fault.html",
        },
    ],
    see_also: &["serve", "whatif", "analyze"],
}];
