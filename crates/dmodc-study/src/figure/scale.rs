//! From values to places along an axis: 0 at its beginning, 1 at its end.

use super::numbers::Unit;

/// How values are placed along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    /// A number of steps with equal distances; the value is the number of the step.
    Steps(usize),
    /// From zero to a round number, with ticks at multiples of another.
    Linear { to: f64, tick: f64 },
    /// Logarithmic; zero has a place below the least value.
    Logarithmic { from: f64, to: f64, has_zero: bool },
}

/// A value with a line through the figure, and with a label unless it is empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// The share of a logarithmic axis that zero takes.
const ZERO: f64 = 0.1;

impl Scale {
    /// Returns a linear scale from zero to at least this value.
    pub(super) fn linear(most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let decade = 10f64.powf((most / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
        let tick = steps.into_iter().find(|step| most / step <= 6.0).unwrap_or(decade * 10.0);
        Scale::Linear { to: tick * (most / tick - 1e-9).ceil(), tick }
    }

    /// Returns a logarithmic scale around positive values.
    pub(super) fn logarithmic(least: f64, most: f64, has_zero: bool) -> Self {
        Scale::Logarithmic { from: least / 1.3, to: most * 1.3, has_zero }
    }

    /// Returns the place of a value.
    pub(super) fn place(&self, value: f64) -> f64 {
        match *self {
            Scale::Steps(count) => (value + 0.5) / count.max(1) as f64,
            Scale::Linear { to, .. } => value / to,
            Scale::Logarithmic { has_zero: true, .. } if value <= 0.0 => 0.0,
            Scale::Logarithmic { from, to, has_zero } => {
                let share = (value.max(from) / from).ln() / (to / from).ln();
                if has_zero { ZERO + (1.0 - ZERO) * share } else { share }
            }
        }
    }

    /// Returns the ticks, from the least. Steps have none.
    pub(super) fn ticks(&self, unit: Unit) -> Vec<Tick> {
        let tick = |value: f64| Tick { value, label: unit.label(value) };
        match *self {
            Scale::Steps(_) => vec![],
            Scale::Linear { to, tick: step } => {
                let count = (to / step).round() as usize;
                (0..=count).map(|at| tick(step * at as f64)).collect()
            }
            Scale::Logarithmic { from, to, has_zero } => {
                let decades = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
                let is_in = |value: &f64| (from..=to).contains(value);
                let tens = decades.clone().map(|power| 10f64.powi(power)).filter(is_in).count();
                let mut ticks: Vec<Tick> = if has_zero { vec![tick(0.0)] } else { vec![] };
                for power in decades {
                    for factor in [1.0, 2.0, 5.0] {
                        let value = factor * 10f64.powi(power);
                        // Where there are many decades, only they have labels.
                        match (is_in(&value), factor == 1.0 || tens < 3) {
                            (true, true) => ticks.push(tick(value)),
                            (true, false) => ticks.push(Tick { value, label: String::new() }),
                            (false, _) => {}
                        }
                    }
                }
                ticks
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        let ticks = scale.ticks(Unit::Count).into_iter();
        ticks.map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_scales_are_round() {
        let scale = Scale::linear(8.61);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!((scale.place(0.0), scale.place(5.0)), (0.0, 0.5));
        assert_eq!(labels(&Scale::linear(0.0)).last().map(String::as_str), Some("1"));
        assert_eq!(labels(&Scale::linear(7680.0)), ["0", "2,000", "4,000", "6,000", "8,000"]);
        assert_eq!(labels(&Scale::linear(6.0)).len(), 7);
    }

    #[test]
    fn logarithmic_scales_have_a_place_for_zero() {
        let scale = Scale::logarithmic(0.2, 66.0, true);
        assert_eq!(labels(&scale), ["0", "0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
        assert_eq!(scale.place(0.0), 0.0);
        assert!(scale.place(0.2) > ZERO && scale.place(66.0) < 1.0);
        let wide = Scale::logarithmic(0.005, 50.0, false);
        assert_eq!(labels(&wide), ["0.01", "0.1", "1", "10"]);
        let middle = wide.place(0.5);
        assert!((middle - 0.5).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn steps_have_equal_distances() {
        let scale = Scale::Steps(4);
        assert_eq!([0.0, 1.0, 3.0].map(|step| scale.place(step)), [0.125, 0.375, 0.875]);
    }
}
