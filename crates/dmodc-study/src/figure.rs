//! The runtime figure: time against size, both logarithmic, as the paper's.

use plotters::prelude::*;

/// A curve of the runtime figure.
#[derive(Clone, Debug)]
pub struct RuntimeCurve {
    /// Its name in the legend.
    pub name: String,
    /// The points, by size: nodes and milliseconds.
    pub points: Vec<(f64, f64)>,
    /// Whether it is the limit with which the others are compared.
    pub is_limit: bool,
}

/// Colours that everybody can distinguish (Okabe and Ito).
pub(crate) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

pub(crate) const GREY: RGBColor = RGBColor(110, 110, 110);

/// Lines behind the curves, and fainter ones between them.
pub(crate) const BOLD_LINES: RGBColor = RGBColor(205, 205, 205);
pub(crate) const LIGHT_LINES: RGBColor = RGBColor(238, 238, 238);

/// Returns the runtime figure as SVG.
///
/// # Errors
/// If there is nothing to draw, or the drawing library fails.
pub fn runtime(title: &str, curves: &[RuntimeCurve]) -> Result<String, String> {
    let mut svg = String::new();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    if points().any(|&(x, y)| x <= 0.0 || y <= 0.0 || !x.is_finite() || !y.is_finite()) {
        return Err("a logarithmic axis has no place for numbers that are not positive".into());
    }
    let range = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = points()
            .map(of)
            .fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)));
        decades(least, most)
    };
    if points().next().is_none() {
        return Err("there is nothing to draw".into());
    }
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    draw(&mut svg, title, curves, x, y).map_err(|error| error.to_string())?;
    Ok(svg)
}

/// Returns whole decades around a range; at least one.
fn decades(least: f64, most: f64) -> std::ops::Range<f64> {
    let (from, to) = (least.log10().floor(), most.log10().ceil());
    10f64.powf(from)..10f64.powf(if to > from { to } else { from + 1.0 })
}

fn draw(
    svg: &mut String,
    title: &str,
    curves: &[RuntimeCurve],
    x: std::ops::Range<f64>,
    y: std::ops::Range<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (820, 520)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(14)
        // The last label of an axis extends beyond its end.
        .margin_right(44)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("nodes")
        .y_desc("milliseconds")
        .x_label_formatter(&|v| grouped(*v))
        .y_label_formatter(&|v| grouped(*v))
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .bold_line_style(BOLD_LINES)
        .light_line_style(LIGHT_LINES)
        .draw()?;
    let mut colours = COLOURS.iter().cycle();
    for curve in curves {
        let colour = match (curve.is_limit, colours.clone().next()) {
            (false, Some(colour)) => {
                colours.next();
                *colour
            }
            _ => GREY,
        };
        let style = ShapeStyle { color: colour.into(), filled: true, stroke_width: 2 };
        let points = curve.points.iter().copied();
        let drawn = match curve.is_limit {
            true => chart.draw_series(DashedLineSeries::new(points.clone(), 6, 4, style))?,
            false => chart.draw_series(LineSeries::new(points.clone(), style))?,
        };
        drawn
            .label(curve.name.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        chart.draw_series(points.map(|at| Circle::new(at, 4, style)))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.9))
        .border_style(BOLD_LINES)
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()?;
    Ok(())
}

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

/// Returns histograms, one below the other, as SVG.
///
/// # Errors
/// If there is nothing to draw, or the drawing library fails.
pub fn histograms(panels: &[HistogramPanel]) -> Result<String, String> {
    if panels.iter().all(|panel| panel.bars.is_empty()) {
        return Err("there is nothing to draw".into());
    }
    let mut svg = String::new();
    draw_histograms(&mut svg, panels).map_err(|error| error.to_string())?;
    Ok(svg)
}

fn draw_histograms(
    svg: &mut String,
    panels: &[HistogramPanel],
) -> Result<(), Box<dyn std::error::Error>> {
    let height = 300 * panels.len() as u32;
    let area = SVGBackend::with_string(svg, (820, height)).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, panel) in area.split_evenly((panels.len(), 1)).iter().zip(panels) {
        let bars = panel.bars.iter();
        let most = bars.clone().map(|bar| bar.1).chain(panel.limit).fold(1.0, f64::max).ceil();
        let highest = bars.map(|bar| bar.2).fold(1.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(&panel.title, ("sans-serif", 16))
            .margin(12)
            .margin_right(44)
            .x_label_area_size(42)
            .y_label_area_size(74)
            .build_cartesian_2d(0.0..most, 0.0..highest * 1.16)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            // Loads are whole numbers.
            .x_labels((most as usize + 1).min(12))
            .x_desc(&panel.x)
            .y_desc(&panel.y)
            .x_label_formatter(&|v| grouped(*v))
            .y_label_formatter(&|v| grouped(*v))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .bold_line_style(RGBColor(205, 205, 205))
            .light_line_style(RGBColor(238, 238, 238))
            .draw()?;
        let bar = |&(from, to, count): &(f64, f64, f64)| {
            Rectangle::new([(from, 0.0), (to, count)], COLOURS[0].filled())
        };
        chart.draw_series(panel.bars.iter().map(bar))?;
        if let Some(limit) = panel.limit {
            let line = [(limit, 0.0), (limit, highest * 1.16)];
            let style = ShapeStyle { color: COLOURS[3].into(), filled: true, stroke_width: 2 };
            chart.draw_series(DashedLineSeries::new(line, 6, 4, style))?;
            let font = ("sans-serif", 13).into_font().color(&COLOURS[3]);
            let place = (limit + most * 0.008, highest * 1.13);
            chart.draw_series([Text::new("lower bound of the maximum", place, font)])?;
        }
    }
    area.present()?;
    Ok(())
}

/// Returns a round number for people: 10,000 or 0.1.
fn grouped(value: f64) -> String {
    if value < 1.0 {
        return format!("{value}");
    }
    thousands(&format!("{value:.0}"))
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
    fn a_figure_has_its_curves_and_axes() {
        let curve = |name: &str, scale: f64, is_limit| RuntimeCurve {
            name: name.into(),
            points: (1..5).map(|i| (10f64.powi(i), scale * 10f64.powi(i))).collect(),
            is_limit,
        };
        let curves = [curve("healthy", 0.001, false), curve("memset", 0.0005, true)];
        let svg = runtime("Complete re-routing", &curves).expect("it is drawn");
        for word in ["<svg", "healthy", "memset", "10,000", "milliseconds", "Complete re-routing"] {
            assert!(svg.contains(word), "{word}");
        }
        assert!(runtime("", &[]).is_err());
        let bars = vec![(0.5, 1.5, 10.0), (1.5, 2.5, 3000.0)];
        let (title, x, y) = ("shifts".into(), "flows".into(), "patterns".into());
        let panel = HistogramPanel { title, x, y, bars, limit: Some(1.0) };
        let svg = histograms(&[panel]).expect("it is drawn");
        for word in ["shifts", "flows", "patterns", "3,000", "lower bound"] {
            assert!(svg.contains(word), "{word}");
        }
        assert!(histograms(&[]).is_err());
        let zero = RuntimeCurve { name: "x".into(), points: vec![(0.0, 1.0)], is_limit: false };
        assert!(runtime("", &[zero]).is_err());
    }
}
