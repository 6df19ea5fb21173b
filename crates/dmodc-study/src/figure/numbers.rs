//! Numbers for people.

/// What the values of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// A percentage.
    Percent,
    /// A time in milliseconds.
    Milliseconds,
}

impl Unit {
    /// Returns a value with its unit: `1,500`, `0.25 %` or `20 µs`.
    pub(super) fn label(self, value: f64) -> String {
        match self {
            Unit::Count => short(value),
            Unit::Percent => format!("{} %", short(value)),
            Unit::Milliseconds if value == 0.0 => "0".into(),
            Unit::Milliseconds if value < 1.0 => format!("{} µs", short(value * 1000.0)),
            Unit::Milliseconds if value < 1000.0 => format!("{} ms", short(value)),
            Unit::Milliseconds => format!("{} s", short(value / 1000.0)),
        }
    }
}

/// Returns a number with as many decimals as it needs, three at most: 1,500 or 0.25.
fn short(value: f64) -> String {
    if value >= 100.0 || (value - value.round()).abs() < 1e-9 {
        return thousands(&format!("{value:.0}"));
    }
    let decimals = if value < 1.0 { 3 } else { 2 };
    format!("{value:.decimals$}").trim_end_matches('0').trim_end_matches('.').into()
}

/// Returns digits in groups of three: 1,234,567.
pub fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!(Unit::Count.label(1500.0), "1,500");
        assert_eq!(Unit::Count.label(0.0), "0");
        assert_eq!(Unit::Count.label(2.5), "2.5");
        assert_eq!(Unit::Percent.label(0.25), "0.25 %");
        assert_eq!(Unit::Milliseconds.label(0.02), "20 µs");
        assert_eq!(Unit::Milliseconds.label(50.0), "50 ms");
        assert_eq!(Unit::Milliseconds.label(10_000.0), "10 s");
    }
}
