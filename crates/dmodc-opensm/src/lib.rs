//! `routing_engine dmodc`: Dmodc inside OpenSM.
//!
//! OpenSM discovers the fabric, gives LIDs and uploads tables; this plugin computes them. Each part uses only parts
//! above it in this table, except that `ffi` and `shim.c` call each other:
//!
//! | part | subject |
//! |---|---|
//! | `opensm_options` | OpenSM's own options that concern routing |
//! | `subnet_manager` | OpenSM as the safe code sees it: a trait, so that tests run without it |
//! | `files` | reading and replacing files without ever waiting for them |
//! | `config` | the configuration of the administrator |
//! | `events` | the event file: what failed, came back, joined or was replaced |
//! | `writer` | the threads that write files after OpenSM has its tables |
//! | `balance` | how much balance the numbers in use cost, measured in a thread of its own |
//! | `hops` | the hop tables from which OpenSM makes multicast trees |
//! | `presence` | which parts of a known fabric are present now |
//! | `kept_tables` | the tables that are kept between runs, and how they follow faults and repairs |
//! | `snapshot` | the reference that routes stay close to, and the file in which it is kept |
//! | `state_folder` | the folder of everything that outlives OpenSM, and whether somebody else has changed it |
//! | `status` | the report of a run, for the log, scripts and Prometheus |
//! | `plugin` | one run: configuration, fabric, routes, tables, reports |
//! | `shim_records` | the records in which the shim hands over a fabric |
//! | `timeline` | a file of events, for measurements |
//! | `ffi` | all unsafe code: functions that C calls and functions of C; panics end here |
//! | `shim.c` | knows OpenSM's structures; compiled against the installed headers |
//!
//! Without OpenSM's headers the library has no plugin in it, and the build says what to install.
#![cfg_attr(any(not(opensm), test), allow(dead_code, reason = "OpenSM alone calls it"))]

mod balance;
mod config;
mod events;
mod files;
mod hops;
mod kept_tables;
mod opensm_options;
mod plugin;
mod presence;
mod snapshot;
mod state_folder;
mod status;
mod subnet_manager;
mod writer;

// These have nobody to talk to without OpenSM.
#[cfg(all(opensm, not(test)))]
mod ffi;
#[cfg(all(opensm, not(test)))]
mod shim_records;
#[cfg(all(opensm, not(test)))]
mod timeline;
