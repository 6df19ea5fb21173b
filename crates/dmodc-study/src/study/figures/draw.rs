//! Panels of curves, with plotters.
//!
//! The degradations of a sweep have equal distances: they grow by factors, and all should be readable. Engines differ in
//! colour and in the shape of their marks, and are shifted a little, so that equal values do not hide each other.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, Pixel};
use crate::figure::{BOLD_LINES, COLOURS, GREY, LIGHT_LINES, thousands};

/// The values of an engine: those of all trials, for each degradation.
pub(super) struct EngineCurve {
    pub(super) name: String,
    pub(super) trials: Vec<Vec<f64>>,
}

/// How values are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PanelKind {
    /// Median, quartiles and every trial.
    Spread,
    /// One number, from 0 to 100.
    Bars,
}

pub(super) struct StudyPanel {
    pub(super) title: String,
    pub(super) axis: String,
    pub(super) kind: PanelKind,
    pub(super) curves: Vec<EngineCurve>,
    /// The lower bound of all curves.
    pub(super) bound: Option<Vec<Vec<f64>>>,
}

pub(super) struct Figure {
    pub(super) title: String,
    /// The horizontal axis of all panels.
    pub(super) axis: Axis,
    /// The name of the bound in the legend.
    pub(super) bound: String,
    /// A heading and the panels below it.
    pub(super) rows: Vec<(String, Vec<StudyPanel>)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The least width of a panel, and its height.
const PANEL: (u32, u32) = (390, 290);
/// The width that a panel needs in addition to its degradations, and for each of them.
const AXIS_WIDTH: u32 = 90;
const DEGRADATION_WIDTH: f64 = 42.0;
/// The height of the title, and of a line of the legend.
const HEAD: u32 = 54;
const LEGEND: i32 = 24;
/// With more engines than this, bands and dots would hide each other.
const MOST_BANDS: usize = 3;
/// The height of the heading of a row of panels.
const HEADING: u32 = 26;
const MARGIN: u32 = 12;

const INK: RGBColor = RGBColor(40, 40, 40);

/// Returns the style of a text.
fn font(size: u32, at: (HPos, VPos)) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK).pos(Pos::new(at.0, at.1))
}

impl Figure {
    /// Returns the figure as SVG.
    pub(super) fn svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|error| error.to_string())?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let most = self.rows.iter().map(|(_, panels)| panels.len()).max().unwrap_or(1) as u32;
        // The title needs some width, even over a single panel.
        let panel = PANEL.0.max(AXIS_WIDTH + (DEGRADATION_WIDTH * (self.axis.end() + 1.0)) as u32);
        let width = (2 * MARGIN + most * panel).max(640);
        let legend = self.legend(width as i32 - 2 * MARGIN as i32);
        let head = HEAD + (LEGEND * legend.len() as i32) as u32;
        let heading = |heading: &str| if heading.is_empty() { 0 } else { HEADING };
        let heights = self.rows.iter().map(|(text, _)| heading(text) + PANEL.1);
        let height = head + heights.sum::<u32>() + MARGIN;
        let area = SVGBackend::with_string(svg, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        self.head(&area, width, &legend)?;
        let mut top = head;
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

    /// Returns the lines of the legend: names, and the index of the engine; `None` for the bound.
    fn legend(&self, width: i32) -> Vec<Vec<(String, Option<usize>)>> {
        let panels = || self.rows.iter().flat_map(|(_, panels)| panels);
        let curves = panels().next().map_or(&[][..], |panel| &panel.curves);
        let engines = curves.iter().enumerate().map(|(at, curve)| (curve.name.clone(), Some(at)));
        let bound = panels().any(|panel| panel.bound.is_some());
        let bound = bound.then(|| (self.bound.clone(), None));
        let mut lines: Vec<Vec<_>> = vec![vec![]];
        let mut used = 0;
        for entry in engines.chain(bound) {
            let length = length(&entry.0);
            match lines.last_mut() {
                Some(line) if line.is_empty() || used + length <= width => line.push(entry),
                _ => {
                    lines.push(vec![entry]);
                    used = 0;
                }
            }
            used += length;
        }
        lines
    }

    /// Draws the title, and the legend below it.
    fn head(&self, area: &Area<'_>, width: u32, legend: &[Vec<(String, Option<usize>)>]) -> Drawn {
        let middle = (width / 2) as i32;
        let title =
            Text::new(self.title.clone(), (middle, 14), font(17, (HPos::Center, VPos::Top)));
        area.draw(&title)?;
        let mut panels = self.rows.iter().flat_map(|(_, panels)| panels);
        let is_bars = panels.next().is_some_and(|panel| panel.kind == PanelKind::Bars);
        for (line, y) in legend.iter().zip((54..).step_by(LEGEND as usize)) {
            let mut x = middle - line.iter().map(|(name, _)| length(name)).sum::<i32>() / 2;
            for (name, engine) in line {
                match *engine {
                    None => {
                        for dash in [0, 10, 20] {
                            let ends = [(x + dash, y), (x + dash + 6, y)];
                            area.draw(&PathElement::new(ends, GREY.stroke_width(2)))?;
                        }
                    }
                    Some(engine) if is_bars => {
                        let corners = [(x + 8, y - 6), (x + 20, y + 6)];
                        area.draw(&Rectangle::new(corners, colour(engine).filled()))?;
                    }
                    Some(engine) => {
                        let ends = [(x, y), (x + 26, y)];
                        area.draw(&PathElement::new(ends, colour(engine).stroke_width(2)))?;
                        let mark = mark(engine, (x + 13, y));
                        area.draw(&Polygon::new(mark, colour(engine).filled()))?;
                    }
                }
                let style = font(14, (HPos::Left, VPos::Center));
                area.draw(&Text::new(name.clone(), (x + 32, y), style))?;
                x += length(name);
            }
        }
        Ok(())
    }

    fn panel(&self, area: &Area<'_>, panel: &StudyPanel) -> Drawn {
        let values = panel.curves.iter().flat_map(|curve| curve.trials.iter().flatten());
        let greatest =
            values.chain(panel.bound.iter().flatten().flatten()).fold(0.0f64, |a, &b| a.max(b));
        let top = match panel.kind {
            PanelKind::Bars => 100.0,
            PanelKind::Spread if greatest <= 0.0 => 1.0,
            PanelKind::Spread => greatest * 1.06,
        };
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_top(26)
            .margin_right(12)
            .x_label_area_size(46)
            .y_label_area_size(62)
            .build_cartesian_2d(-0.5..self.axis.end() + 0.5, 0.0..top)?;
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
        // The title is above the middle of the curves, not of the panel with its axis.
        let (x, y) = at(self.axis.end() / 2.0, top);
        let style = font(14, (HPos::Center, VPos::Bottom));
        area.draw(&Text::new(panel.title.clone(), (x, y - 7), style))?;
        self.below(area, &at)?;
        if let Some(bound) = &panel.bound {
            for points in self.axis.lines(bound, 0.5, &at) {
                area.draw(&DashedPathElement::new(points, 6, 4, GREY.stroke_width(2)))?;
            }
        }
        let count = panel.curves.len() as f64;
        for (engine, curve) in panel.curves.iter().enumerate() {
            let offset = engine as f64 - (count - 1.0) / 2.0;
            match panel.kind {
                PanelKind::Spread => {
                    let aside = (0.7 / count).min(0.1) * offset;
                    let many = panel.curves.len() > MOST_BANDS;
                    self.spread(area, curve, engine, many, |x, y| at(x + aside, y))?;
                }
                PanelKind::Bars => {
                    let width = 0.8 / count;
                    self.bars(area, curve, engine, |x, y| at(x + width * offset, y), width)?;
                }
            }
        }
        Ok(())
    }

    /// Draws the labels of the degradations below the panel, and the label of the axis.
    fn below(&self, area: &Area<'_>, at: &impl Fn(f64, f64) -> Pixel) -> Drawn {
        for (spot, label) in self.axis.spots.iter().zip(&self.axis.labels) {
            let (x, y) = at(*spot, 0.0);
            area.draw(&PathElement::new([(x, y), (x, y + 4)], GREY))?;
            let style = font(12, (HPos::Center, VPos::Top));
            area.draw(&Text::new(label.clone(), (x, y + 8), style))?;
        }
        for (text, places) in &self.axis.parts {
            let (x, y) = at(self.axis.middle(places), 0.0);
            let style = font(13, (HPos::Center, VPos::Top));
            area.draw(&Text::new(text.clone(), (x, y + 27), style))?;
        }
        Ok(())
    }

    /// Draws the median as a line, quartiles as a band and every trial as a dot; if there are many engines, quartiles as
    /// a bar and no dots.
    fn spread(
        &self,
        area: &Area<'_>,
        curve: &EngineCurve,
        engine: usize,
        many: bool,
        at: impl Fn(f64, f64) -> Pixel,
    ) -> Drawn {
        let colour = colour(engine);
        let [lower, median, upper] =
            [0.25, 0.5, 0.75].map(|share| self.axis.lines(&curve.trials, share, &at));
        for (lower, upper) in lower.into_iter().zip(upper) {
            if many {
                for ends in lower.into_iter().zip(upper) {
                    let bar = PathElement::new([ends.0, ends.1], colour.mix(0.5).stroke_width(3));
                    area.draw(&bar)?;
                }
                continue;
            }
            let band: Vec<Pixel> = lower.into_iter().chain(upper.into_iter().rev()).collect();
            area.draw(&Polygon::new(band, colour.mix(0.16).filled()))?;
        }
        for (spot, trials) in self.axis.spots.iter().zip(&curve.trials).filter(|_| !many) {
            for (trial, &value) in trials.iter().enumerate() {
                // Equal values are side by side.
                let aside = ((trial * 7 % 11) as f64 - 5.0) * 0.012;
                let place = at(spot + aside, value);
                area.draw(&Circle::new(place, 2, colour.mix(0.35).filled()))?;
            }
        }
        for points in median {
            for &place in &points {
                area.draw(&Polygon::new(mark(engine, place), colour.filled()))?;
            }
            area.draw(&PathElement::new(points, colour.stroke_width(2)))?;
        }
        Ok(())
    }

    fn bars(
        &self,
        area: &Area<'_>,
        curve: &EngineCurve,
        engine: usize,
        at: impl Fn(f64, f64) -> Pixel,
        width: f64,
    ) -> Drawn {
        for (spot, share) in self.axis.spots.iter().zip(&curve.trials) {
            let Some(&top) = share.first() else { continue };
            let corners = [at(spot - width / 2.0, top), at(spot + width / 2.0, 0.0)];
            // Even 0 % has a visible bar; an engine that takes no part has none.
            let top = corners[0].1.min(corners[1].1 - 2);
            let corners = [(corners[0].0 + 1, top), (corners[1].0 - 1, corners[1].1)];
            area.draw(&Rectangle::new(corners, colour(engine).filled()))?;
        }
        Ok(())
    }
}

/// Returns the width of a name in the legend, with its mark.
fn length(name: &str) -> i32 {
    46 + 8 * name.chars().count() as i32
}

fn colour(engine: usize) -> RGBColor {
    COLOURS[engine % COLOURS.len()]
}

/// Returns the corners of an engine's mark: a square, a triangle, a diamond, or a hexagon.
fn mark(engine: usize, (x, y): Pixel) -> Vec<Pixel> {
    let corners: &[Pixel] = match engine % 4 {
        0 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        1 => &[(0, -5), (5, 4), (-5, 4)],
        2 => &[(0, -6), (5, 0), (0, 6), (-5, 0)],
        _ => &[(-5, 0), (-3, -5), (3, -5), (5, 0), (3, 5), (-3, 5)],
    };
    corners.iter().map(|&(dx, dy)| (x + dx, y + dy)).collect()
}

/// Returns a number for an axis: 1,500 or 0.25.
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
    fn numbers_on_axes_are_short() {
        assert_eq!(short(1500.0), "1,500");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(2.5), "2.5");
        assert_eq!(short(0.25), "0.25");
    }
}
