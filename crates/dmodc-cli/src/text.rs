//! Words for people.

use std::time::Duration;

use dmodc::{End, Fabric, SwitchIndex};

/// A number with separators: 11,664.
pub(crate) fn number(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().map_or_else(|_| "?".into(), |n| n.to_string());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: 1 switch, 2 switches.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    let plural = match noun.strip_suffix("switch") {
        Some(start) => format!("{start}switches"),
        None => format!("{noun}s"),
    };
    format!("{} {}", number(n), if n == 1 { noun } else { &plural })
}

/// A duration with three figures: 21.3 ms.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Hundredths of a whole.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => "0 %".into(),
        _ => format!("{:.2} %", 100.0 * part as f64 / whole as f64),
    }
}

/// A name that cannot drive the terminal.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A switch by name and GUID.
pub(crate) fn switch(fabric: &Fabric, s: SwitchIndex) -> String {
    format!("'{}' ({})", printable(&fabric.switch(s).name), fabric.switch(s).guid)
}

/// A destination by name and GUID.
pub(crate) fn end(fabric: &Fabric, end: End) -> String {
    match end {
        End::Node(n) => {
            format!("'{}' ({})", printable(&fabric.adapter_of(n).name), fabric.node(n).guid)
        }
        End::Switch(s) => switch(fabric, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_reading() {
        assert_eq!(number(0u64), "0");
        assert_eq!(number(999u64), "999");
        assert_eq!(number(11_664usize), "11,664");
        assert_eq!(number(1_234_567u64), "1,234,567");
        assert_eq!(counted(1, "switch"), "1 switch");
        assert_eq!(counted(2, "leaf switch"), "2 leaf switches");
        assert_eq!(counted(1000, "cable"), "1,000 cables");
        assert_eq!(time(Duration::from_micros(21_345)), "21.3 ms");
        assert_eq!(time(Duration::from_millis(1234)), "1.23 s");
        assert_eq!(time(Duration::from_nanos(1500)), "1.50 µs");
        assert_eq!(percent(1, 0), "0 %");
        assert_eq!(percent(1, 8), "12.50 %");
    }
}
