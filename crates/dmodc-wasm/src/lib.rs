//! The engine in a web page: everything that the page asks, answered without a server. The principal type is the [`Session`].
//!
//! The page that `dmodc page` writes has this crate inside it, compiled to WebAssembly by `scripts/wasm`. A Web Worker of the
//! page calls it. Requests and answers are JSON, and the same as those of the server; both are made by `dmodc-view`.
//!
//! | export | meaning |
//! |---|---|
//! | `memory` | The memory of the module. |
//! | `allocate(len) -> ptr` | Reserves bytes, into which the page writes a request. |
//! | `release(ptr, len)` | Frees bytes of a request or an answer. |
//! | `call(ptr, len) -> ptr` | Answers the request `{"name": …, "body": …}`. At the place that it returns are the length of the answer (u32, little-endian) and the answer: `{"ok": …}` or `{"error": "sentence"}`. The page frees 4 bytes more than that length. |
//!
//! | import | meaning |
//! |---|---|
//! | `env.now() -> f64` | Returns milliseconds since 1970. |
//! | `env.progress(done: u32, total: u32)` | Hears how far a long piece of work is. |
//!
//! The first call is `open`, with the fabric. All names are in [`Session::call`]. If the module fails, its memory may be
//! half changed. Then every later call answers with the reason, so that the page can show it.
//!
//! On targets other than `wasm32` there are no exports, only the session, which the tests use.

mod answer;
mod history;
mod session;

#[cfg(target_arch = "wasm32")]
mod ffi;

pub use answer::{answer_text, failure_text};
pub use session::{Session, Surroundings};
