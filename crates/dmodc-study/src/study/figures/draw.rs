//! Panels of curves, with plotters.
//!
//! The degradations of a sweep stand at equal distances: they grow by factors, and all should be read.
//! Engines are told apart by colour and by the shape of their marks, and stand a little beside each other,
//! so that equal values do not hide.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::figure::{BOLD_LINES, COLOURS, GREY, LIGHT_LINES, thousands};

/// All values of a curve, throw by throw, for each degradation.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) throws: Vec<Vec<f64>>,
}

/// How values are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Median, quartiles and every throw.
    Spread,
    /// One number, from 0 to 100.
    Bars,
}

pub(super) struct Panel {
    pub(super) title: String,
    pub(super) axis: String,
    pub(super) kind: Kind,
    pub(super) curves: Vec<Curve>,
    /// What no curve can go below.
    pub(super) bound: Option<Vec<Vec<f64>>>,
}

pub(super) struct Figure {
    pub(super) title: String,
    /// What grows to the right, and its values.
    pub(super) axis: String,
    pub(super) labels: Vec<String>,
    /// A heading and the panels below it.
    pub(super) rows: Vec<(String, Vec<Panel>)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Pixels from the left and from above.
type Place = (i32, i32);
type Drawn<T = ()> = Result<T, Box<dyn std::error::Error>>;

const PANEL: (u32, u32) = (390, 290);
/// Above all panels: the title and the legend.
const HEAD: u32 = 78;
/// Above a row of panels.
const HEADING: u32 = 26;
const MARGIN: u32 = 12;

const INK: RGBColor = RGBColor(40, 40, 40);

/// Words of a figure, in one style.
fn font(size: u32, at: (HPos, VPos)) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK).pos(Pos::new(at.0, at.1))
}

impl Figure {
    /// The figure as SVG.
    pub(super) fn svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|error| error.to_string())?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let most = self.rows.iter().map(|(_, panels)| panels.len()).max().unwrap_or(1) as u32;
        // The title wants some width, even over a single panel.
        let width = (2 * MARGIN + most * PANEL.0).max(640);
        let heading = |heading: &str| if heading.is_empty() { 0 } else { HEADING };
        let heights = self.rows.iter().map(|(text, _)| heading(text) + PANEL.1);
        let height = HEAD + heights.sum::<u32>() + MARGIN;
        let area = SVGBackend::with_string(svg, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        self.head(&area, width)?;
        let mut top = HEAD;
        for (text, panels) in &self.rows {
            let place = (MARGIN as i32 + 6, top as i32 + 4);
            let words = Text::new(text.clone(), place, font(15, (HPos::Left, VPos::Top)));
            area.draw(&words)?;
            top += heading(text);
            let each = (width - 2 * MARGIN) / panels.len().max(1) as u32;
            for (column, panel) in panels.iter().enumerate() {
                let left = MARGIN + column as u32 * each;
                self.panel(&area.clone().shrink((left, top), (each, PANEL.1)), panel)?;
            }
            top += PANEL.1;
        }
        area.present()?;
        Ok(())
    }

    /// The title, and the legend below it.
    fn head(&self, area: &Area<'_>, width: u32) -> Drawn {
        let middle = (width / 2) as i32;
        let title =
            Text::new(self.title.clone(), (middle, 14), font(17, (HPos::Center, VPos::Top)));
        area.draw(&title)?;
        let panels = || self.rows.iter().flat_map(|(_, panels)| panels);
        let Some(panel) = panels().next() else { return Ok(()) };
        let mut entries: Vec<(String, usize)> =
            panel.curves.iter().enumerate().map(|(at, c)| (c.name.clone(), at)).collect();
        if panels().any(|panel| panel.bound.is_some()) {
            entries.push(("lower bound for any routing".into(), usize::MAX));
        }
        let length = |name: &str| 46 + 8 * name.len() as i32;
        let mut x = middle - entries.iter().map(|(name, _)| length(name)).sum::<i32>() / 2;
        for (name, engine) in entries {
            let y = 54;
            if engine == usize::MAX {
                for dash in [0, 10, 20] {
                    let ends = [(x + dash, y), (x + dash + 6, y)];
                    area.draw(&PathElement::new(ends, GREY.stroke_width(2)))?;
                }
            } else if panel.kind == Kind::Bars {
                area.draw(&Rectangle::new(
                    [(x + 8, y - 6), (x + 20, y + 6)],
                    colour(engine).filled(),
                ))?;
            } else {
                area.draw(&PathElement::new(
                    [(x, y), (x + 26, y)],
                    colour(engine).stroke_width(2),
                ))?;
                area.draw(&Polygon::new(mark(engine, (x + 13, y)), colour(engine).filled()))?;
            }
            area.draw(&Text::new(name.clone(), (x + 32, y), font(14, (HPos::Left, VPos::Center))))?;
            x += length(&name);
        }
        Ok(())
    }

    fn panel(&self, area: &Area<'_>, panel: &Panel) -> Drawn {
        let levels = self.labels.len();
        let values = panel.curves.iter().flat_map(|curve| curve.throws.iter().flatten());
        let greatest =
            values.chain(panel.bound.iter().flatten().flatten()).fold(0.0f64, |a, &b| a.max(b));
        let top = match panel.kind {
            Kind::Bars => 100.0,
            Kind::Spread if greatest <= 0.0 => 1.0,
            Kind::Spread => greatest * 1.06,
        };
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_top(26)
            .margin_right(12)
            .x_label_area_size(46)
            .y_label_area_size(62)
            .build_cartesian_2d(-0.5..levels as f64 - 0.5, 0.0..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .y_labels(6)
            .y_desc(&panel.axis)
            .y_label_formatter(&|value| short(*value))
            .label_style(("sans-serif", 12).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 13).into_font().color(&INK))
            .axis_style(GREY)
            .bold_line_style(BOLD_LINES)
            .light_line_style(LIGHT_LINES)
            .max_light_lines(1)
            .draw()?;
        let (left, above) = area.get_base_pixel();
        let at = |x: f64, y: f64| {
            let (px, py) = chart.plotting_area().map_coordinate(&(x, y));
            (px - left, py - above)
        };
        // Above the middle of the curves, not of the panel with its axis.
        let (x, y) = at((levels as f64 - 1.0) / 2.0, top);
        let style = font(14, (HPos::Center, VPos::Bottom));
        area.draw(&Text::new(panel.title.clone(), (x, y - 7), style))?;
        self.below(area, &at)?;
        if let Some(bound) = &panel.bound {
            let median =
                |(x, throws): (usize, &Vec<f64>)| Some(at(x as f64, quantile(throws, 0.5)?));
            let points: Vec<Place> = bound.iter().enumerate().filter_map(median).collect();
            let dashed = DashedPathElement::new(points, 6, 4, GREY.stroke_width(2));
            area.draw(&dashed)?;
        }
        for (engine, curve) in panel.curves.iter().enumerate() {
            let beside = engine as f64 - (panel.curves.len() as f64 - 1.0) / 2.0;
            let width = 0.8 / panel.curves.len() as f64;
            match panel.kind {
                Kind::Spread => spread(area, curve, engine, |x, y| at(x + 0.1 * beside, y))?,
                Kind::Bars => bars(area, curve, engine, |x, y| at(width * (x + beside), y), width)?,
            }
        }
        Ok(())
    }

    /// The degradations below the panel, and what they are.
    fn below(&self, area: &Area<'_>, at: &impl Fn(f64, f64) -> Place) -> Drawn {
        for (level, label) in self.labels.iter().enumerate() {
            let (x, y) = at(level as f64, 0.0);
            area.draw(&PathElement::new([(x, y), (x, y + 4)], GREY))?;
            let style = font(12, (HPos::Center, VPos::Top));
            area.draw(&Text::new(label.clone(), (x, y + 8), style))?;
        }
        let (x, y) = at((self.labels.len() as f64 - 1.0) / 2.0, 0.0);
        let axis = Text::new(self.axis.clone(), (x, y + 27), font(13, (HPos::Center, VPos::Top)));
        area.draw(&axis)?;
        Ok(())
    }
}

/// Quartiles as a band, the median as a line, every throw as a dot.
fn spread(area: &Area<'_>, curve: &Curve, engine: usize, at: impl Fn(f64, f64) -> Place) -> Drawn {
    let colour = colour(engine);
    let line = |share: f64| -> Vec<Place> {
        let value = |(x, throws): (usize, &Vec<f64>)| Some(at(x as f64, quantile(throws, share)?));
        curve.throws.iter().enumerate().filter_map(value).collect()
    };
    let (median, mut band) = (line(0.5), line(0.25));
    band.extend(line(0.75).into_iter().rev());
    area.draw(&Polygon::new(band, colour.mix(0.16).filled()))?;
    for (x, throws) in curve.throws.iter().enumerate() {
        for (throw, &value) in throws.iter().enumerate() {
            // Equal values lie side by side.
            let aside = ((throw * 7 % 11) as f64 - 5.0) * 0.012;
            let place = at(x as f64 + aside, value);
            area.draw(&Circle::new(place, 2, colour.mix(0.35).filled()))?;
        }
    }
    for &place in &median {
        area.draw(&Polygon::new(mark(engine, place), colour.filled()))?;
    }
    area.draw(&PathElement::new(median, colour.stroke_width(2)))?;
    Ok(())
}

fn bars(
    area: &Area<'_>,
    curve: &Curve,
    engine: usize,
    at: impl Fn(f64, f64) -> Place,
    width: f64,
) -> Drawn {
    for (level, share) in curve.throws.iter().enumerate() {
        // Engines stand side by side: the unit of this axis is the width of a bar.
        let middle = level as f64 / width;
        let top = share.first().copied().unwrap_or(0.0);
        let corners = [at(middle - 0.5, top), at(middle + 0.5, 0.0)];
        let corners = [(corners[0].0 + 1, corners[0].1), (corners[1].0 - 1, corners[1].1)];
        area.draw(&Rectangle::new(corners, colour(engine).filled()))?;
    }
    Ok(())
}

fn colour(engine: usize) -> RGBColor {
    COLOURS[engine % COLOURS.len()]
}

/// The corners of an engine's mark: a square, a triangle, a diamond, or a hexagon.
fn mark(engine: usize, (x, y): Place) -> Vec<Place> {
    let corners: &[Place] = match engine % 4 {
        0 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        1 => &[(0, -5), (5, 4), (-5, 4)],
        2 => &[(0, -6), (5, 0), (0, 6), (-5, 0)],
        _ => &[(-5, 0), (-3, -5), (3, -5), (5, 0), (3, 5), (-3, 5)],
    };
    corners.iter().map(|&(dx, dy)| (x + dx, y + dy)).collect()
}

/// A value that this share of all is not above, between two where it falls there.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = share * values.len().checked_sub(1)? as f64;
    let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
    Some(below + (above - below) * at.fract())
}

/// A number on an axis: 1,500 or 0.25.
fn short(value: f64) -> String {
    match value {
        v if v.fract().abs() < 1e-9 || v >= 100.0 => thousands(&format!("{v:.0}")),
        v => format!("{v:.2}").trim_end_matches('0').trim_end_matches('.').into(),
    }
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

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!(short(1500.0), "1,500");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(2.5), "2.5");
        assert_eq!(short(0.25), "0.25");
    }
}
