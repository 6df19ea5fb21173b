//! How long routing takes, compared with the physical limit: writing the same number of bytes (`memset`), with the same
//! threads, in the same run. Machines are noisy; a ratio of times that were taken in turns is less so.
//!
//! The results are also checked: the tables, after everything that was done to them, must be those of the naive oracle
//! (see `check`).
//!
//! | | |
//! |---|---|
//! | `case`, `settings` | what is measured, and how |
//! | `times` | timing in turns, medians |
//! | `session` | a fabric with its faults, ready to be measured |
//! | `check` | whether tables are right |
//! | `incremental` | faults and repairs that a router applies |
//! | `rewrite` | the limit of an update: rewriting the entries that change |
//! | `reroute`, `whole`, `stream` | measuring a router, whole routes, and tables that are never kept |
//! | `gpu` | whole routes and streams on a GPU, with the cargo feature `gpu` |
//! | `analyze` | how long judging takes |
//! | `rates` | how long fair rates take |
//! | `what_if` | how long trying single faults takes |

mod analyze;
mod case;
mod check;
#[cfg(feature = "gpu")]
mod gpu;
mod incremental;
mod rates;
mod reroute;
mod rewrite;
mod session;
mod settings;
mod stream;
mod times;
mod what_if;
mod whole;

pub use analyze::analyze;
pub use case::{BenchCase, BenchError};
pub use rates::{RatesBench, rates};
pub use settings::BenchSettings;
pub use what_if::{WhatIfBench, what_if};

use serde_json::Value;

use self::session::BenchSession;
#[cfg(feature = "gpu")]
use crate::device::Device;
use crate::device::DeviceName;

/// Measures one case. Returns the row of results.
///
/// # Errors
/// If the algorithm cannot route the fabric, or its tables are too large.
pub fn measure(case: &BenchCase, settings: &BenchSettings) -> Result<Value, BenchError> {
    if !settings.stream && settings.device.name() == DeviceName::Cpu {
        case.check_memory()?;
    }
    let session = BenchSession::new(case, settings)?;
    let mut row = session.about();
    #[cfg(feature = "gpu")]
    if let Device::Gpu(machine) = &settings.device {
        row.append(&mut session.on_gpu(machine)?);
        return Ok(Value::Object(row));
    }
    let engine = session.engine()?;
    row.append(&mut match engine.incremental() {
        _ if settings.stream => session.stream(&*engine)?,
        Some(_) => session.router(engine)?,
        None => session.whole_tables(&*engine)?,
    });
    Ok(Value::Object(row))
}

#[cfg(test)]
mod tests {
    use dmodc::fabric::Shape;
    use dmodc::{Kernel, Preset};

    use super::*;
    use crate::device::Device;
    use crate::engine::EngineName;

    fn case(cables: f64, switches: f64) -> BenchCase {
        BenchCase {
            name: "small".into(),
            shape: Shape::Pgft("3; 4,6,14; 1,4,4; 1,1,1".parse().expect("a PGFT")),
            cables,
            switches,
            seed: 1,
            switch_lids: false,
        }
    }

    fn settings(engine: EngineName) -> BenchSettings {
        BenchSettings {
            engine,
            stream: false,
            rounds: 3,
            kernel: Kernel::best(),
            check: true,
            on_checked: |_, _| {},
            changes: Some(40),
            rewrite: true,
            against: Some("2; 6,8; 1,4; 1,1".parse().expect("a PGFT")),
            device: Device::Cpu,
        }
    }

    #[test]
    fn rows_have_what_scripts_read_and_the_digests_agree() {
        for (cables, switches) in [(0.0, 0.0), (1.0, 0.0), (10.0, 1.0)] {
            let row = measure(&case(cables, switches), &settings(EngineName::Dmodc));
            let row = row.expect("a PGFT is measured");
            for key in ["nodes", "switches", "threads", "reroute_ms", "memset_ms", "ratio"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            for key in ["switch_entries", "switch_lines", "rewrite_switch_ms", "cable_lines"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            for key in ["against_ms", "over_against"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            assert_eq!((&row["against_nodes"], &row["against_switches"]), (&48.into(), &12.into()));
            for key in ["apply_cable_ratio", "apply_switch_ratio", "apply_changes_ratio"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            assert_eq!(row["digest_ok"], true);
            assert_eq!(row["apply_changes_exact"], true);
            let stable = measure(&case(cables, switches), &settings(EngineName::Stable));
            let stable = stable.expect("a PGFT is measured");
            assert_eq!(stable["digest_ok"], true);
            assert_eq!(stable["apply_changes_exact"], true);
            assert!(
                stable["over_dmodc"].is_number() && stable["apply_cable_over_dmodc"].is_number()
            );
            assert_eq!(stable["digest"] == row["digest"], cables == 0.0);
            let streamed = BenchSettings { stream: true, ..settings(EngineName::Dmodc) };
            let streamed = measure(&case(cables, switches), &streamed);
            let streamed = streamed.expect("a PGFT is streamed");
            assert_eq!(streamed["digest"], row["digest"]);
            assert_eq!(streamed["engine"], "dmodc-stream");
        }
    }

    /// Directors and pods are measured and checked like PGFTs, and rows have their notation.
    #[test]
    fn every_kind_of_shape_is_measured() {
        for (name, kind) in [("one-director-648", "directors"), ("four-levels", "pods")] {
            let shape = Preset::named(name).expect("a preset").shape();
            let of_shape = BenchCase { name: name.into(), shape, ..case(2.0, 1.0) };
            for engine in [EngineName::Dmodc, EngineName::Stable] {
                let row = measure(&of_shape, &settings(engine)).expect("it is measured");
                assert_eq!(
                    (&row["digest_ok"], &row["apply_changes_exact"]),
                    (&true.into(), &true.into())
                );
                assert!(row["pgft"].is_null(), "{row}");
                assert_eq!(row[kind], of_shape.shape.to_string());
            }
        }
    }

    #[test]
    fn dmodk_is_measured_on_healthy_fabrics_alone() {
        let row = measure(&case(0.0, 0.0), &settings(EngineName::Dmodk)).expect("it is healthy");
        assert_eq!(row["digest_ok"], true);
        assert!(measure(&case(10.0, 0.0), &settings(EngineName::Dmodk)).is_err());
    }
}
