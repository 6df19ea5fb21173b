//! What the commands answer, for every way to ask: the program `dmodc` prints it, and the Python module returns it.
//!
//! | | |
//! |---|---|
//! | `source`, `output` | inputs and outputs: files, standard input, standard output |
//! | `text` | words for people |
//! | `names` | nodes and switches by name |
//! | `input` | fabrics, leaves and orders that somebody asks for |
//! | `table_file` | files of forwarding tables |
//! | `route_state` | a fabric that is ready to be routed, with its reference |
//! | `check`, `analyze`, `whatif`, `order` | the JSON of these commands |
//! | `maintenance` | the JSON of `drain` and `repair` |

pub mod analyze;
pub mod check;
pub mod input;
pub mod maintenance;
pub mod names;
pub mod order;
pub mod output;
pub mod route_state;
pub mod source;
pub mod table_file;
pub mod text;
pub mod whatif;
