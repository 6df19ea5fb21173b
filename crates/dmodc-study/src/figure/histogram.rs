//! Histograms, one panel below the other.

use super::numbers::Unit;
use super::scale::Scale;
use super::svg::{MARGIN, Svg, TICK_SIZE, WIDTH, pixels};

/// A histogram: one panel of a figure.
#[derive(Clone, Debug)]
pub struct HistogramPanel {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis: what is counted.
    pub y: String,
    /// From, to, and the count.
    pub bars: Vec<(f64, f64, f64)>,
    /// The lower bound of the values, if it is known.
    pub limit: Option<f64>,
}

/// The height of a panel, and of its axes below its title.
const PANEL: f64 = 320.0;
const TOP: f64 = 78.0;
const HIGH: f64 = 180.0;
/// The ends of the horizontal axis.
const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 44.0;

/// Where the label of the vertical axis ends.
const UP_LABEL: f64 = 150.0;

/// Returns histograms, one below the other, as SVG.
///
/// # Errors
/// If there is nothing to draw.
pub fn histograms(panels: &[HistogramPanel]) -> Result<String, String> {
    if panels.iter().all(|panel| panel.bars.is_empty()) {
        return Err("there is nothing to draw".into());
    }
    let title = panels.first().map_or("", |panel| &panel.title);
    let mut svg = Svg::new(PANEL * panels.len() as f64 + 8.0, title, &[]);
    for (at, panel) in panels.iter().enumerate() {
        draw(&mut svg, panel, PANEL * at as f64);
    }
    Ok(svg.finish())
}

fn draw(svg: &mut Svg, panel: &HistogramPanel, above: f64) {
    let bars = panel.bars.iter();
    let most = bars.clone().map(|bar| bar.1).chain(panel.limit).fold(1.0, f64::max);
    let (across, up) =
        (Scale::linear(most), Scale::linear(bars.map(|bar| bar.2).fold(1.0, f64::max)));
    let (top, bottom) = (above + TOP, above + TOP + HIGH);
    let x = |value: f64| LEFT + across.place(value.max(0.0)) * (RIGHT - LEFT);
    let y = |value: f64| bottom - up.place(value) * HIGH;
    svg.words("title", (MARGIN, above + MARGIN + 16.0), &panel.title);
    svg.words("up", (MARGIN, top - 13.0), &panel.y);
    for tick in up.ticks(Unit::Count) {
        let y = y(tick.value);
        svg.line("grid", (LEFT, y), (RIGHT, y));
        svg.words("tick end", (LEFT - 8.0, y + 4.5), &tick.label);
    }
    svg.group("s0");
    for &(from, to, count) in panel.bars.iter().filter(|bar| bar.2 > 0.0) {
        let (left, y) = (x(from), y(count));
        let sizes = [("x", left), ("y", y), ("width", x(to) - left), ("height", bottom - y)];
        let sizes = sizes.map(|(name, size)| format!("{name}=\"{}\"", pixels(size))).join(" ");
        svg.element("rect", &format!("class=\"bar\" {sizes}"));
    }
    svg.close();
    svg.line("axis", (LEFT, bottom), (RIGHT, bottom));
    let under = bottom + TICK_SIZE + 8.0;
    for tick in across.ticks(Unit::Count) {
        svg.line("axis", (x(tick.value), bottom), (x(tick.value), bottom + 5.0));
        svg.words("tick middle", (x(tick.value), under), &tick.label);
    }
    svg.words("middle", (f64::midpoint(LEFT, RIGHT), under + 22.0), &panel.x);
    if let Some(limit) = panel.limit {
        let x = x(limit);
        svg.path("limit", &[(x, top - 8.0), (x, bottom)]);
        // The words are above the bars, on the side that has more room.
        let (class, x) = if x < WIDTH / 2.0 { ("tick", x.max(UP_LABEL)) } else { ("tick end", x) };
        svg.words(class, (x, top - 13.0), "lower bound of the maximum");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_have_bars_and_axes() {
        let bars = vec![(0.5, 1.5, 10.0), (1.5, 2.5, 3000.0)];
        let (title, x, y) = ("shifts".into(), "flows".into(), "patterns".into());
        let panel = HistogramPanel { title, x, y, bars, limit: Some(1.0) };
        let svg = histograms(&[panel]).expect("it is drawn");
        for word in ["shifts", "flows", "patterns", "3,000", "lower bound"] {
            assert!(svg.contains(word), "{word}");
        }
        assert_eq!(svg.matches("class=\"bar\"").count(), 2);
        assert!(histograms(&[]).is_err());
    }
}
