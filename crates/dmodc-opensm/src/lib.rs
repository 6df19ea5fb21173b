//! `routing_engine dmodc`: Dmodc inside OpenSM.
//!
//! OpenSM discovers, gives LIDs and uploads; this computes. From below to above:
//!
//! | | |
//! |---|---|
//! | `shim.c` | knows OpenSM's structures, compiled against the installed headers |
//! | `ffi` | everything unsafe: what C calls, and what is called in C; panics end here |
//! | `plugin` | one run: configuration, fabric, routes, tables, report |
//! | `engine` | keeps the router between sweeps; from a fabric to the tables of its switches |
//! | `places` | what of a known fabric is there now |
//! | `reference` | what routes are kept from: learned, or an administrator's file |
//! | `balance` | what the numbers in use cost, measured in a thread of its own |
//! | `hops` | the hop tables that OpenSM makes multicast trees from |
//! | `store` | the state folder: whose it is, what is in it, whether somebody else has changed it |
//! | `writer` | the threads that write files after tables were handed over |
//! | `events` | the event file: what died and came back |
//! | `given` | what OpenSM itself was told |
//! | `config`, `files`, `status` | the files of an administrator |
//!
//! Without OpenSM's headers the crate is empty, and the build says what to install.
#![cfg_attr(any(not(opensm), test), allow(dead_code, reason = "OpenSM alone calls it"))]

mod balance;
mod config;
mod engine;
mod events;
mod files;
mod given;
mod hops;
mod places;
mod plugin;
mod reference;
mod status;
mod store;
mod writer;

#[cfg(all(opensm, not(test)))]
mod ffi;
