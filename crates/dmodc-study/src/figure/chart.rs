//! Curves, one for each engine, with their names at their ends.
//!
//! ```text
//! title: the question
//! caption
//! label of the vertical axis
//!  8 |      *---*---*  name
//!  4 |  o---o---o---o  name
//!  0 +---------------  lower bound (dashed)
//!      0  1 %  5 %
//!      label of the horizontal axis
//! ```
//!
//! The curves are moved sideways a little, each by its own distance, so that no mark covers another of the same value.

use super::labels::spread;
use super::numbers::Unit;
use super::scale::Scale;
use super::svg::{MARGIN, STYLES, Svg, TEXT_SIZE, TICK_SIZE, TITLE_SIZE, WIDTH, width, wrap};

/// What is along the horizontal axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Across {
    /// Steps with these labels, at equal distances: the value of a point is the number of its step.
    Steps(Vec<String>),
    /// Positive amounts, on a logarithmic axis.
    Amounts,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartPoint {
    /// The value along the horizontal axis.
    pub across: f64,
    /// The value along the vertical axis.
    pub up: f64,
    /// The least and the greatest of the values whose mean it is.
    pub range: Option<(f64, f64)>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name, next to its end; it may have several lines.
    pub name: String,
    /// Its colour and its mark, below [`STYLES`](super::STYLES).
    pub style: usize,
    /// Its points, from left to right.
    pub points: Vec<ChartPoint>,
}

/// A chart that answers one question.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The question.
    pub title: String,
    /// The sentences below the title.
    pub caption: Vec<String>,
    /// How the figure was made: commands, in the file but not in the picture.
    pub source: Vec<String>,
    /// What is along the horizontal axis.
    pub across: Across,
    /// The label of the horizontal axis.
    pub across_label: String,
    /// The label of the vertical axis.
    pub up_label: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The curves.
    pub curves: Vec<Curve>,
    /// A limit of all values, as a dashed line; its style is not used.
    pub limit: Option<Curve>,
}

/// The height of the axes.
const HIGH: f64 = 310.0;
/// The height of a line of text.
const LINE: f64 = 20.0;
/// The height of a line of a name.
const NAME_LINE: f64 = 18.0;
/// The greatest size of a mark.
const MARK: f64 = 11.0;
/// The distance between curves where the horizontal axis has amounts, and the greatest one where it has steps.
const GAPS: (f64, f64) = (9.0, 12.0);
/// The share of a step in which curves are moved sideways.
const STEP_SHARE: f64 = 0.86;
/// If the greatest value is more than this times the least, the vertical axis is logarithmic.
const MOST_LINEAR: f64 = 30.0;
/// The mark and the space before a name.
const BEFORE_NAME: f64 = 39.0;

/// Where things are.
struct Layout {
    across: Scale,
    up: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The distance by which each curve is moved from the one before it.
    gap: f64,
    mark: f64,
    title: Vec<String>,
    caption: Vec<String>,
}

impl Chart {
    /// Returns the chart as SVG. The same chart gives the same bytes.
    ///
    /// # Errors
    /// If there is nothing to draw, or a value has no place on a logarithmic axis.
    pub fn svg(&self) -> Result<String, String> {
        let layout = self.layout()?;
        let staggered = layout.label_rows(self);
        let height = layout.bottom + 8.0 + LINE * (staggered as f64 + 1.0) + 16.0;
        let mut svg = Svg::new(height.round(), &self.title, &self.source);
        let mut y = MARGIN + TITLE_SIZE - 3.0;
        for line in &layout.title {
            svg.words("title", (MARGIN, y), line);
            y += TITLE_SIZE + 6.0;
        }
        y -= 1.0;
        for line in &layout.caption {
            svg.words("soft", (MARGIN, y), line);
            y += LINE;
        }
        svg.words("up", (MARGIN, layout.top - 13.0), &self.up_label);
        self.draw_axes(&mut svg, &layout, staggered);
        self.draw_limit(&mut svg, &layout);
        self.draw_curves(&mut svg, &layout);
        self.draw_names(&mut svg, &layout);
        Ok(svg.finish())
    }

    fn all_curves(&self) -> impl Iterator<Item = &Curve> {
        self.curves.iter().chain(&self.limit)
    }

    fn layout(&self) -> Result<Layout, String> {
        let points = || self.all_curves().flat_map(|curve| &curve.points);
        if points().next().is_none() {
            return Err("there is nothing to draw".into());
        }
        let values = || points().flat_map(|point| [point.across, point.up]);
        if values().any(|value| !value.is_finite() || value < 0.0) {
            return Err("only finite numbers that are not negative can be drawn".into());
        }
        let across = match &self.across {
            Across::Steps(labels) => Scale::Steps(labels.len()),
            Across::Amounts => {
                let (least, most) = extremes(points().map(|point| point.across));
                if points().any(|point| point.across <= 0.0) {
                    return Err("a logarithmic axis has no place for zero".into());
                }
                Scale::logarithmic(least, most, false)
            }
        };
        let up = {
            let ends = |point: &ChartPoint| match point.range {
                Some((least, most)) => [point.up, least, most],
                None => [point.up; 3],
            };
            let (least, most) = extremes(points().flat_map(ends).filter(|value| *value > 0.0));
            match most > MOST_LINEAR * least {
                true => Scale::logarithmic(least, most, points().any(|point| point.up <= 0.0)),
                false => Scale::linear(if most.is_finite() { most } else { 0.0 }),
            }
        };
        let title = wrap(&self.title, TITLE_SIZE * 1.07, WIDTH - 2.0 * MARGIN);
        let caption = wrap(&self.caption.join(" "), TEXT_SIZE * 0.95, WIDTH - 2.0 * MARGIN);
        let above = MARGIN + (TITLE_SIZE + 6.0) * title.len() as f64 + LINE * caption.len() as f64;
        let top = above + 46.0;
        let ticks = up.ticks(self.unit);
        let tick_width = ticks.iter().map(|tick| width(&tick.label, TICK_SIZE)).fold(0.0, f64::max);
        let names = self.all_curves().flat_map(|curve| curve.name.lines());
        let name_width = names.map(|line| width(line, TEXT_SIZE)).fold(0.0, f64::max);
        let left = MARGIN + tick_width + 8.0;
        let right = (WIDTH - MARGIN - name_width - BEFORE_NAME).max(left + 200.0);
        let count = self.curves.len().max(1) as f64;
        let gap = match across {
            Scale::Steps(steps) => {
                (STEP_SHARE * (right - left) / steps.max(1) as f64 / count).min(GAPS.1)
            }
            _ => GAPS.0,
        };
        let mark = gap.min(MARK);
        let bottom = top + HIGH;
        Ok(Layout { across, up, left, right, top, bottom, gap, mark, title, caption })
    }

    fn draw_axes(&self, svg: &mut Svg, layout: &Layout, label_rows: usize) {
        let &Layout { left, right, top, bottom, .. } = layout;
        for tick in layout.up.ticks(self.unit) {
            let y = bottom - layout.up.place(tick.value) * (bottom - top);
            if tick.label.is_empty() {
                continue;
            }
            svg.line("grid", (left, y), (right, y));
            svg.words("tick end", (left - 8.0, y + 4.5), &tick.label);
        }
        svg.line("axis", (left, bottom), (right, bottom));
        let under = bottom + TICK_SIZE + 8.0;
        match &self.across {
            Across::Steps(labels) => {
                for (step, label) in labels.iter().enumerate() {
                    let x = layout.x(step as f64);
                    let row = (step % label_rows) as f64;
                    svg.line("axis", (x, bottom), (x, bottom + 5.0));
                    svg.words("tick middle", (x, under + LINE * row), label);
                }
                // Thin lines between the steps show which marks belong together.
                for step in 1..labels.len() {
                    let x = layout.x(step as f64 - 0.5);
                    svg.line("grid", (x, top), (x, bottom));
                }
            }
            Across::Amounts => {
                for tick in layout.across.ticks(Unit::Count) {
                    let x = layout.x(tick.value);
                    svg.line("grid", (x, top), (x, bottom));
                    svg.line("axis", (x, bottom), (x, bottom + 5.0));
                    if !tick.label.is_empty() {
                        svg.words("tick middle", (x, under), &tick.label);
                    }
                }
            }
        }
        let middle = f64::midpoint(left, right);
        let y = under + LINE * label_rows as f64 + 3.0;
        svg.words("middle", (middle, y), &self.across_label);
    }

    /// Draws the limit: between amounts a line, on steps a level as wide as the step, because the marks of a step are side by
    /// side.
    fn draw_limit(&self, svg: &mut Svg, layout: &Layout) {
        let Some(limit) = &self.limit else { return };
        let places: Vec<(f64, f64)> =
            limit.points.iter().map(|point| layout.at(point, 0.0)).collect();
        let Across::Steps(labels) = &self.across else {
            return svg.path("limit", &places);
        };
        let half = 0.47 * (layout.right - layout.left) / labels.len().max(1) as f64;
        for (x, y) in places {
            svg.path("limit", &[(x - half, y), (x + half, y)]);
        }
    }

    fn draw_curves(&self, svg: &mut Svg, layout: &Layout) {
        let placed: Vec<Vec<(f64, f64)>> = (0..self.curves.len())
            .map(|at| {
                let aside = layout.aside(at, self.curves.len());
                self.curves[at].points.iter().map(|point| layout.at(point, aside)).collect()
            })
            .collect();
        // Marks are above all lines, so that no line covers a mark.
        for (curve, places) in self.curves.iter().zip(&placed) {
            svg.group(&format!("s{}", curve.style % STYLES));
            for (point, &(x, _)) in curve.points.iter().zip(places) {
                if let Some((least, most)) = point.range.filter(|(least, most)| least < most) {
                    svg.line("range", (x, layout.y(least)), (x, layout.y(most)));
                }
            }
            svg.path("curve", places);
            svg.close();
        }
        for (curve, places) in self.curves.iter().zip(&placed) {
            svg.group(&format!("s{} marks", curve.style % STYLES));
            for (point, &place) in curve.points.iter().zip(places) {
                svg.mark(curve.style, place, layout.mark, &self.words_of(curve, point));
            }
            svg.close();
        }
    }

    /// Returns the words that a reader sees where the pointer is: name, place and value.
    fn words_of(&self, curve: &Curve, point: &ChartPoint) -> String {
        let place = match &self.across {
            Across::Steps(labels) => labels.get(point.across as usize).cloned().unwrap_or_default(),
            Across::Amounts => Unit::Count.label(point.across),
        };
        let name = curve.name.replace('\n', " ");
        let value = self.unit.label(point.up);
        let range = match point.range.filter(|(least, most)| least < most) {
            Some((least, most)) => {
                format!(" ({} to {})", self.unit.label(least), self.unit.label(most))
            }
            None => String::new(),
        };
        format!("{name}, {place}: {value}{range}")
    }

    /// Draws the name of each curve next to its end, with its mark.
    fn draw_names(&self, svg: &mut Svg, layout: &Layout) {
        let mut names: Vec<(f64, &Curve, bool)> = Vec::new();
        for (at, curve) in self.all_curves().enumerate() {
            if let Some(last) = curve.points.last() {
                names.push((layout.y(last.up), curve, at == self.curves.len()));
            }
        }
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines = |curve: &Curve| curve.name.lines().count() as f64;
        let wanted: Vec<(f64, f64)> =
            names.iter().map(|(y, curve, _)| (*y, 4.0 + NAME_LINE * lines(curve))).collect();
        let places = spread(&wanted, layout.top - 8.0, layout.bottom + 8.0);
        let x = layout.right + 12.0;
        for ((_, curve, is_limit), y) in names.into_iter().zip(places) {
            if is_limit {
                svg.path("limit", &[(x, y), (x + 19.0, y)]);
            } else {
                svg.group(&format!("s{}", curve.style % STYLES));
                svg.path("curve", &[(x, y), (x + 20.0, y)]);
                svg.mark(curve.style, (x + 10.0, y), MARK, "");
                svg.close();
            }
            let mut baseline = y + 5.0 - NAME_LINE * (lines(curve) - 1.0) / 2.0;
            for line in curve.name.lines() {
                svg.words("name", (x + 27.0, baseline), line);
                baseline += NAME_LINE;
            }
        }
    }
}

impl Layout {
    fn x(&self, value: f64) -> f64 {
        self.left + self.across.place(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.up.place(value) * (self.bottom - self.top)
    }

    fn at(&self, point: &ChartPoint, aside: f64) -> (f64, f64) {
        (self.x(point.across) + aside, self.y(point.up))
    }

    /// Returns how far a curve is moved sideways.
    fn aside(&self, curve: usize, curves: usize) -> f64 {
        self.gap * (curve as f64 - (curves as f64 - 1.0) / 2.0)
    }

    /// Returns the number of rows in which the labels of steps are placed alternately, so that they have room.
    fn label_rows(&self, chart: &Chart) -> usize {
        match &chart.across {
            Across::Amounts => 1,
            Across::Steps(labels) => {
                let each = (self.right - self.left) / labels.len().max(1) as f64;
                let widths: Vec<f64> = labels.iter().map(|label| width(label, TICK_SIZE)).collect();
                let pairs = widths.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
                ((pairs.fold(0.0, f64::max) + 6.0) / each).ceil().clamp(1.0, 4.0) as usize
            }
        }
    }
}

/// Returns the least and the greatest of some values.
fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(ends, |(least, most), value| (least.min(value), most.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, style: usize, values: &[f64]) -> Curve {
        let point = |(step, &up): (usize, &f64)| ChartPoint {
            across: step as f64,
            up,
            range: Some((0.9 * up, 1.1 * up)),
        };
        Curve { name: name.into(), style, points: values.iter().enumerate().map(point).collect() }
    }

    fn chart(curves: Vec<Curve>) -> Chart {
        Chart {
            title: "How <loaded> is it?".into(),
            caption: vec!["A fabric. Lower is better.".into()],
            source: vec!["dmodc study plot --engines a&b".into()],
            across: Across::Steps(["none", "1 %", "5 %"].map(Into::into).into()),
            across_label: "failed cables".into(),
            up_label: "flows".into(),
            unit: Unit::Count,
            curves,
            limit: Some(curve("lower bound", 0, &[1.0, 1.0, 2.0])),
        }
    }

    /// Returns the value of an attribute of a line of SVG.
    fn attribute(line: &str, name: &str) -> f64 {
        let from = line.split_once(&format!(" {name}=\"")).expect("it has the attribute").1;
        from.split_once('"').expect("it is closed").0.parse().expect("it is a number")
    }

    /// Returns the places of the marks of each curve.
    fn marks(svg: &str) -> Vec<Vec<(f64, f64)>> {
        let mut groups = Vec::new();
        for group in svg.split(" marks\">\n").skip(1) {
            let lines = group.lines().take_while(|line| line.starts_with("<polygon"));
            let place = |line| (attribute(line, "data-x"), attribute(line, "data-y"));
            groups.push(lines.map(place).collect());
        }
        groups
    }

    #[test]
    fn points_are_where_they_belong() {
        let svg = chart(vec![curve("a", 0, &[1.0, 2.0, 4.0])]).svg().expect("it is drawn");
        let tick = |label: &str| {
            let ends = format!(">{label}</text>");
            let line = svg.lines().find(|line| line.contains("tick") && line.ends_with(&ends));
            line.unwrap_or_else(|| panic!("there is a tick {label}"))
        };
        // The baseline of a tick's label is a little below its line.
        let y = |label: &str| attribute(tick(label), "y") - 4.5;
        let x = |label: &str| attribute(tick(label), "x");
        let marks = marks(&svg);
        for ((step, value), &(at_x, at_y)) in
            [("none", 1.0), ("1 %", 2.0), ("5 %", 4.0)].iter().zip(&marks[0])
        {
            let expected = y("0") + (y("4") - y("0")) * value / 4.0;
            assert!((at_x - x(step)).abs() <= 0.11, "{step}: {at_x}");
            assert!((at_y - expected).abs() <= 0.16, "{step}: {at_y} {expected}");
        }
    }

    #[test]
    fn marks_of_equal_values_do_not_overlap() {
        for count in [2, 7, 12] {
            let curves = (0..count).map(|at| curve("same", at, &[3.0, 3.0, 3.0])).collect();
            let svg = chart(curves).svg().expect("it is drawn");
            let size = attribute(svg.split(" marks\">\n").nth(1).expect("marks"), "data-size");
            assert!(size >= 7.0, "{size}");
            let marks = marks(&svg);
            assert_eq!(marks.len(), count);
            for (at, one) in marks.iter().enumerate() {
                for other in &marks[at + 1..] {
                    for ((x1, y1), (x2, y2)) in one.iter().zip(other) {
                        assert!((x1 - x2).hypot(y1 - y2) >= size - 0.11, "{x1} {x2}");
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_escaped_and_large_enough() {
        let chart = chart(vec![curve("a \"b\"", 3, &[1.0, 2.0, 4.0])]);
        let svg = chart.svg().expect("it is drawn");
        assert_eq!(svg, chart.svg().expect("it is drawn"), "the same bytes");
        for words in [
            "How &lt;loaded&gt; is it?",
            "a &quot;b&quot;, 5 %: 4 (3.6 to 4.4)",
            "--engines a&amp;b",
            "lower bound",
            "prefers-color-scheme:dark",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        let sizes = svg.split("font-size:").skip(1).filter_map(|rest| rest.split_once("px"));
        assert!(sizes.clone().count() >= 3);
        assert!(sizes.into_iter().all(|(size, _)| size.parse::<f64>().is_ok_and(|s| s >= 13.0)));
        assert!(svg.contains("viewBox=\"0 0 800 "));
    }

    #[test]
    fn great_ratios_are_logarithmic() {
        let mut chart = chart(vec![curve("a", 0, &[0.0, 1.0, 1000.0])]);
        let svg = chart.svg().expect("it is drawn");
        let marks = marks(&svg);
        assert!(marks[0][0].1 > marks[0][1].1 && marks[0][1].1 > marks[0][2].1, "{marks:?}");
        for label in [">0</text>", ">10</text>", ">100</text>"] {
            assert!(svg.contains(label), "{label}");
        }
        chart.across = Across::Amounts;
        assert!(chart.svg().expect_err("zero").contains("no place for zero"));
    }

    #[test]
    fn what_cannot_be_drawn_is_reported() {
        let mut chart = chart(vec![]);
        chart.limit = None;
        assert_eq!(chart.svg().expect_err("nothing"), "there is nothing to draw");
        chart.curves = vec![curve("a", 0, &[f64::NAN])];
        assert!(chart.svg().is_err());
    }
}
