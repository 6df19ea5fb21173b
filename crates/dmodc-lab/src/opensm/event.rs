//! The events that our plugin reports from inside OpenSM.

use std::time::SystemTime;

/// An event inside OpenSM, which our plugin reports.
#[derive(Clone, Debug, PartialEq)]
pub struct OpensmEvent {
    /// Seconds since the epoch.
    pub time: f64,
    /// What happened.
    pub kind: OpensmEventKind,
}

/// What happened inside OpenSM.
#[derive(Clone, Debug, PartialEq)]
pub enum OpensmEventKind {
    /// A heavy sweep began.
    Sweep,
    /// An engine computed tables.
    Stage {
        /// Whether they are forwarding tables; otherwise they are hop tables.
        is_tables: bool,
        /// The time that passed, in milliseconds.
        wall: f64,
        /// The processor time, in milliseconds.
        cpu: f64,
    },
    /// Tables were sent to the switches.
    Routed,
    /// The subnet is up.
    Up,
}

impl OpensmEvent {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let time = words.next()?.parse().ok()?;
        let kind = match words.next()? {
            "sweep" => OpensmEventKind::Sweep,
            "routed" => OpensmEventKind::Routed,
            "up" => OpensmEventKind::Up,
            stage @ ("matrices" | "tables") => {
                let mut numbers = words.skip(1).map(str::parse);
                let (wall, cpu) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
                OpensmEventKind::Stage { is_tables: stage == "tables", wall, cpu }
            }
            _ => return None,
        };
        Some(OpensmEvent { time, kind })
    }
}

/// Returns the present time in seconds since the epoch, the unit of [`OpensmEvent::time`].
pub fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_line_by_line() {
        let stage = OpensmEventKind::Stage { is_tables: true, wall: 5.115, cpu: 3.097 };
        assert_eq!(
            OpensmEvent::parse("12.5 tables dmodc 5.115 3.097"),
            Some(OpensmEvent { time: 12.5, kind: stage })
        );
        assert_eq!(
            OpensmEvent::parse("1.0 up"),
            Some(OpensmEvent { time: 1.0, kind: OpensmEventKind::Up })
        );
        for line in ["", "x up", "1.0", "1.0 other", "1.0 tables dmodc 5", "1.0 tables a b c"] {
            assert_eq!(OpensmEvent::parse(line), None, "{line}");
        }
    }
}
