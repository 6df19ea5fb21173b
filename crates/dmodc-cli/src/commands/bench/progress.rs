//! Progress for a person who waits at a terminal.

use std::io::IsTerminal;

/// Shows what is being measured.
pub(super) fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("measuring {what} …");
    }
}

/// Shows the progress of the comparison with the naive oracle.
pub(super) fn checking(done: usize, of: usize) {
    if std::io::stderr().is_terminal() {
        let end = if done == of { "\r\x1b[K" } else { "" };
        eprint!("\rchecking: {done} of {of} destination switches{end}");
    }
}
