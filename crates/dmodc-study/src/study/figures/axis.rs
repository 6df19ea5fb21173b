//! The positions of a sweep's degradations in a panel.

use std::ops::Range;

use super::sweep::FigureSweep;

/// Pixels from the left and from above.
pub(super) type Pixel = (i32, i32);

/// The gap between the parts of an axis, in units of the distance between degradations.
const GAP: f64 = 0.5;

/// The horizontal axis of a panel: degradations from left to right, part by part.
pub(super) struct Axis {
    /// The label of each part, and its range of degradations.
    pub(super) parts: Vec<(String, Range<usize>)>,
    pub(super) labels: Vec<String>,
    /// The horizontal coordinate of each degradation.
    pub(super) spots: Vec<f64>,
}

impl Axis {
    pub(super) fn new(sweep: &FigureSweep) -> Self {
        let mut axis = Axis { parts: vec![], labels: vec![], spots: vec![] };
        for part in &sweep.parts {
            let from = axis.labels.len();
            axis.labels.extend_from_slice(&part.labels);
            let gap = GAP * axis.parts.len() as f64;
            axis.spots.extend((from..axis.labels.len()).map(|place| place as f64 + gap));
            axis.parts.push((part.axis.clone(), from..axis.labels.len()));
        }
        axis
    }

    /// Returns the coordinate of the last degradation.
    pub(super) fn end(&self) -> f64 {
        self.spots.last().copied().unwrap_or(0.0)
    }

    /// Returns the middle of some degradations.
    pub(super) fn middle(&self, places: &Range<usize>) -> f64 {
        (self.spots[places.start] + self.spots[places.end - 1]) / 2.0
    }

    /// Returns the points of a quantile, part by part: lines do not lead from one part to another.
    pub(super) fn lines(
        &self,
        trials: &[Vec<f64>],
        share: f64,
        at: &impl Fn(f64, f64) -> Pixel,
    ) -> Vec<Vec<Pixel>> {
        let place = |place: usize| Some(at(self.spots[place], quantile(&trials[place], share)?));
        self.parts.iter().map(|(_, places)| places.clone().filter_map(place).collect()).collect()
    }
}

/// Returns a quantile, interpolated between two values.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = share * values.len().checked_sub(1)? as f64;
    let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
    Some(below + (above - below) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.25), Some(3.0));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0, 5.0], 0.25), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
    }
}
