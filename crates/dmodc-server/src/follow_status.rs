//! How following a live fabric goes.

use std::time::Duration;

use serde_json::{Value, json};

/// How following goes.
#[derive(Clone, Debug)]
pub(crate) struct FollowStatus {
    pub(crate) source: String,
    pub(crate) every: Duration,
    /// When the fabric was read last, in milliseconds since 1970.
    pub(crate) seen_ms: Option<u64>,
    /// Why the last reading failed.
    pub(crate) error: Option<String>,
    /// How the plugin for OpenSM is doing, in words.
    pub(crate) plugin: Option<String>,
}

impl FollowStatus {
    pub(crate) fn json(&self) -> Value {
        json!({
            "source": self.source,
            "every_s": self.every.as_secs_f64(),
            "seen_ms": self.seen_ms,
            "error": self.error,
            "plugin": self.plugin,
        })
    }
}
