//! The distribution of loads, as bars in SVG.

use std::fmt::Write as _;

use super::html::{count, escape, number};
use super::{Histogram, PatternSection};

/// The greatest number of bars; with more values, each bar stands for several.
const MOST_BARS: u64 = 60;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
/// Two lines of text: mean and bound are often neighbours.
const TOP: f64 = 36.0;
const BOTTOM: f64 = 44.0;

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    from: u64,
    to: u64,
    count: u64,
}

/// Returns bars of equal width, which is 1, 2 or 5 times a power of ten; each starts at a multiple of it.
fn bars(histogram: &Histogram) -> Vec<Bar> {
    let values = || histogram.bars.iter().map(|(value, _)| *value);
    let (Some(least), Some(most)) = (values().min(), values().max()) else { return vec![] };
    let step = step((most - least).saturating_add(1).div_ceil(MOST_BARS));
    let first = least / step;
    let mut bars: Vec<Bar> = (first..=most / step)
        .map(|at| Bar { from: at * step, to: (at * step).saturating_add(step - 1), count: 0 })
        .collect();
    for (value, count) in &histogram.bars {
        bars[(value / step - first) as usize].count += count;
    }
    bars
}

/// Returns the least number of the form 1, 2 or 5 times a power of ten that is not below `least`.
fn step(least: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for factor in [1, 2, 5] {
            match power.checked_mul(factor) {
                Some(step) if step < least => {}
                Some(step) => return step,
                None => return u64::MAX,
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Returns the drawing, with lines at the mean and a bound.
pub(super) fn svg(pattern: &PatternSection) -> String {
    let bars = bars(&pattern.histogram);
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return String::new() };
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    let scale = |count: u64| (HEIGHT - TOP - BOTTOM) * count as f64 / most as f64;
    let width = (WIDTH - LEFT - RIGHT) / bars.len() as f64;
    let floor = HEIGHT - BOTTOM;
    let Histogram { value, count: counted, .. } = &pattern.histogram;
    let caption = format!("{} by {}", escape(counted), escape(value));
    let mut svg = format!(
        "<svg class=\"histogram\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{caption}\">\n"
    );
    let mut grid = vec![0, most / 2, most];
    grid.dedup();
    for tick in grid {
        let y = floor - scale(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            count(tick),
        );
    }
    // If each bar stands for one value, the value is at its middle; otherwise a bar starts at its least value.
    let half = if first.from == first.to { 0.5 } else { 0.0 };
    let every = bars.len().div_ceil(10);
    for (at, bar) in bars.iter().enumerate() {
        let x = LEFT + width * at as f64;
        svg += &column(bar, x, width, scale(bar.count), &pattern.histogram);
        if at.is_multiple_of(every) {
            let (x, y, from) = (x + width * half, floor + 16.0, count(bar.from));
            let _ =
                writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{from}</text>");
        }
    }
    let span = (last.to - first.from) as f64 + 1.0;
    let place =
        |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * (value - first.from as f64 + half) / span;
    let mean = format!("mean {}", number(pattern.mean));
    svg += &mark("mean", &mean, place(pattern.mean), TOP - 21.0);
    // The bound of the mean is shown if it is known, otherwise that of the maximum.
    let bound = match (pattern.mean_bound, pattern.max_bound) {
        (Some(bound), _) => Some((bound, "bound of the mean")),
        (None, bound) => bound.map(|bound| (bound, "bound of the maximum")),
    };
    if let Some((bound, what)) = bound {
        svg += &mark("bound", &format!("{what} {}", number(bound)), place(bound), TOP - 6.0);
    }
    let (middle, y) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">{caption}</text>\n</svg>"
    );
    svg
}

/// Returns one bar. A single port among thousands must still be visible.
fn column(bar: &Bar, x: f64, width: f64, height: f64, histogram: &Histogram) -> String {
    if bar.count == 0 {
        return String::new();
    }
    let height = height.max(1.5);
    let values = match bar.from == bar.to {
        true => count(bar.from),
        false => format!("{} to {}", count(bar.from), count(bar.to)),
    };
    let (value, counted) = (escape(&histogram.value), escape(&histogram.count));
    format!(
        "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\">\
         <title>{value} {values}: {} {counted}</title></rect>\n",
        x + width * 0.06,
        HEIGHT - BOTTOM - height,
        width * 0.88,
        count(bar.count),
    )
}

/// Returns a line across the bars at `x`, with a label at height `y`; nothing if `x` is outside. A label near an edge
/// stays inside.
fn mark(class: &str, label: &str, x: f64, y: f64) -> String {
    if !(LEFT..=WIDTH - RIGHT).contains(&x) {
        return String::new();
    }
    let anchor = match x {
        x if x < LEFT + 70.0 => "start",
        x if x > WIDTH - RIGHT - 70.0 => "end",
        _ => "middle",
    };
    format!(
        "<g class=\"mark {class}\"><line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
         <text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{label}</text></g>\n",
        HEIGHT - BOTTOM,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bars: &[(u64, u64)]) -> Histogram {
        Histogram { value: "flows".into(), count: "ports".into(), bars: bars.to_vec() }
    }

    #[test]
    fn bars_are_few_and_lose_nothing() {
        let few = bars(&of(&[(3, 7), (5, 1)]));
        let bar = |value, count| Bar { from: value, to: value, count };
        assert_eq!(few, [bar(3, 7), bar(4, 0), bar(5, 1)]);
        let many: Vec<(u64, u64)> = (17..9_000).map(|value| (value, value % 3)).collect();
        let drawn = bars(&of(&many));
        assert!(drawn.len() as u64 <= MOST_BARS + 1);
        assert_eq!(drawn[0].to - drawn[0].from, 199);
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.sum::<u64>();
        assert_eq!(sum(&mut drawn.iter().map(|b| b.count)), sum(&mut many.iter().map(|b| b.1)));
        assert!(bars(&of(&[])).is_empty());
        assert_eq!(bars(&of(&[(0, 1), (u64::MAX, 1)])).len(), 37);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0, 1, 2, 3, 6, 11, 150, 201].map(step), [1, 1, 2, 5, 10, 20, 200, 500]);
        assert_eq!(step(u64::MAX), u64::MAX);
    }
}
