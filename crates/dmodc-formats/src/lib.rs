//! Bytes to fabrics and tables, and back. Nothing here opens a path: readers take bytes, writers a
//! [`std::io::Write`].
//!
//! | format | read | write |
//! |---|---|---|
//! | `ibnetdiscover` text (an ibsim netlist, too) | [`ibnetdiscover::read`] | [`ibnetdiscover::write`] |
//! | OpenSM's LFT dump, `ibroute`/`dump_lfts` text | [`lft::read`] | [`lft::write`] |
//! | alternative ports | | [`alternatives::write`] |
//! | orders, GUID lists | [`orders::read`] | [`orders::write`] |
//! | Graphviz DOT | | [`dot::write`] |

pub mod alternatives;
pub mod dot;
pub mod ibnetdiscover;
pub mod lft;
pub mod orders;
mod scan;

/// A place in the input that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ReadError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What is wrong, or what was expected.
    pub message: String,
}
