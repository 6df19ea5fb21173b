//! The text of an SVG drawing: elements, escaping, and the style sheet of all figures.

use std::fmt::Write as _;

/// The number of styles of curves: each has a colour and a mark of its own.
pub const STYLES: usize = 10;

/// The width of every figure, in pixels.
pub(super) const WIDTH: f64 = 800.0;

/// The sizes of texts, in pixels. The smallest is readable.
pub(super) const TITLE_SIZE: f64 = 19.0;
pub(super) const TEXT_SIZE: f64 = 14.0;
pub(super) const TICK_SIZE: f64 = 13.0;

/// The distance between the edge of a figure and everything in it.
pub(super) const MARGIN: f64 = 22.0;

/// The colour of each style of curves in light and in dark. The first eight are those of Okabe and Ito, without their yellow, which is too pale
/// for lines, and lighter on dark ground. The last two are for figures with more engines.
const COLOURS: [(&str, &str); STYLES] = [
    ("#0072b2", "#4aa3e8"),
    ("#d55e00", "#f58b3c"),
    ("#6f6f6f", "#b0b0b0"),
    ("#009e73", "#2fc79a"),
    ("#b5579a", "#e3a3cc"),
    ("#b98000", "#f2c14e"),
    ("#2b9fd9", "#9bdcff"),
    ("#000000", "#f4f4f4"),
    ("#7a4a1e", "#c99a6b"),
    ("#6b6b00", "#c9c94a"),
];

/// The colours of everything else: class, property, light, dark.
const GROUND: [(&str, &str, &str, &str); 8] = [
    (".ground", "fill", "#ffffff", "#16191d"),
    (".ground", "stroke", "#d4d7db", "#3a3f46"),
    ("text", "fill", "#1c1f23", "#eceef0"),
    (".soft", "fill", "#50555b", "#b4b9bf"),
    (".grid", "stroke", "#e2e5e8", "#2c3137"),
    (".axis", "stroke", "#777c82", "#878d94"),
    (".limit", "stroke", "#1c1f23", "#eceef0"),
    (".mark", "stroke", "#ffffff", "#16191d"),
];

/// A drawing that grows from its beginning to its end.
pub(super) struct Svg {
    text: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// Starts a drawing. The title is for people who have it read aloud, the source says how the figure was made.
    pub(super) fn new(height: f64, title: &str, source: &[String]) -> Self {
        let mut text = String::new();
        let size =
            format!("width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\"");
        let _ = writeln!(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\">");
        // Commands have options such as --json, and a comment of XML must not contain two hyphens.
        let source = source.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "<metadata>\n{source}\n</metadata>");
        let _ = writeln!(text, "<title>{}</title>", escape(title));
        text.push_str(&style_sheet());
        let (width, high) = (WIDTH - 1.0, height - 1.0);
        let _ = writeln!(
            text,
            "<rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{width}\" height=\"{high}\" rx=\"8\"/>"
        );
        Svg { text, open: vec!["svg"] }
    }

    /// Writes an element without content.
    pub(super) fn element(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.text, "<{name} {attributes}/>");
    }

    /// Opens a group, which `close` closes.
    pub(super) fn group(&mut self, class: &str) {
        let _ = writeln!(self.text, "<g class=\"{class}\">");
        self.open.push("g");
    }

    /// Closes the last group.
    pub(super) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.text, "</{name}>");
        }
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ends = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
        let ends = ends.map(|(name, value)| format!("{name}=\"{}\"", pixels(value))).join(" ");
        self.element("line", &format!("class=\"{class}\" {ends}"));
    }

    /// Draws lines from point to point.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", pixels(x), pixels(y))).collect();
        self.element("polyline", &format!("class=\"{class}\" points=\"{}\"", points.join(" ")));
    }

    /// Draws the mark of a style; its words are shown where the pointer is.
    pub(super) fn mark(&mut self, style: usize, (x, y): (f64, f64), size: f64, words: &str) {
        let corners: Vec<String> = SHAPES[style % SHAPES.len()]
            .iter()
            .map(|(dx, dy)| format!("{},{}", pixels(x + dx * size), pixels(y + dy * size)))
            .collect();
        let corners = corners.join(" ");
        let at = format!("data-x=\"{}\" data-y=\"{}\"", pixels(x), pixels(y));
        let title = match words {
            "" => String::new(),
            words => format!("<title>{}</title>", escape(words)),
        };
        let _ = writeln!(
            self.text,
            "<polygon class=\"mark\" {at} data-size=\"{}\" points=\"{corners}\">{title}</polygon>",
            pixels(size)
        );
    }

    /// Writes words.
    pub(super) fn words(&mut self, class: &str, (x, y): (f64, f64), words: &str) {
        let (x, y, words) = (pixels(x), pixels(y), escape(words));
        let _ = writeln!(self.text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{words}</text>");
    }

    /// Returns the drawing.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }
}

/// The corners of the marks, in a box of width and height 1 around the place: a circle, a square, a triangle, a diamond, a
/// triangle on its tip, a cross, a star, a hexagon, an hourglass, and a bar.
const SHAPES: [&[(f64, f64)]; STYLES] = [
    &[
        (0.5, 0.0),
        (0.43, 0.25),
        (0.25, 0.43),
        (0.0, 0.5),
        (-0.25, 0.43),
        (-0.43, 0.25),
        (-0.5, 0.0),
        (-0.43, -0.25),
        (-0.25, -0.43),
        (0.0, -0.5),
        (0.25, -0.43),
        (0.43, -0.25),
    ],
    &[(-0.44, -0.44), (0.44, -0.44), (0.44, 0.44), (-0.44, 0.44)],
    &[(0.0, -0.5), (0.5, 0.42), (-0.5, 0.42)],
    &[(0.0, -0.5), (0.5, 0.0), (0.0, 0.5), (-0.5, 0.0)],
    &[(0.0, 0.5), (0.5, -0.42), (-0.5, -0.42)],
    &[
        (-0.17, -0.5),
        (0.17, -0.5),
        (0.17, -0.17),
        (0.5, -0.17),
        (0.5, 0.17),
        (0.17, 0.17),
        (0.17, 0.5),
        (-0.17, 0.5),
        (-0.17, 0.17),
        (-0.5, 0.17),
        (-0.5, -0.17),
        (-0.17, -0.17),
    ],
    &[
        (0.0, -0.5),
        (0.15, -0.16),
        (0.5, -0.12),
        (0.22, 0.12),
        (0.32, 0.48),
        (0.0, 0.26),
        (-0.32, 0.48),
        (-0.22, 0.12),
        (-0.5, -0.12),
        (-0.15, -0.16),
    ],
    &[(0.5, 0.0), (0.25, 0.44), (-0.25, 0.44), (-0.5, 0.0), (-0.25, -0.44), (0.25, -0.44)],
    &[(-0.45, -0.5), (0.45, -0.5), (0.12, 0.0), (0.45, 0.5), (-0.45, 0.5), (-0.12, 0.0)],
    &[(-0.5, -0.22), (0.5, -0.22), (0.5, 0.22), (-0.5, 0.22)],
];

/// Returns the style sheet: sizes, and colours for light and for dark. A page may have another theme than the system, so a figure
/// has its own ground.
fn style_sheet() -> String {
    let mut text = String::from("<style>\n");
    let fonts = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
    let _ = writeln!(text, "text{{font-family:{fonts};font-size:{TEXT_SIZE}px}}");
    let _ = writeln!(text, ".title{{font-size:{TITLE_SIZE}px;font-weight:600}}");
    let _ = writeln!(text, ".tick{{font-size:{TICK_SIZE}px}}");
    text.push_str(".middle{text-anchor:middle}.end{text-anchor:end}\n");
    text.push_str(".curve{fill:none;stroke:currentColor;stroke-width:2.2;stroke-linejoin:round}\n");
    text.push_str(".range{stroke:currentColor;stroke-width:1.6;opacity:.75}\n");
    text.push_str(".mark{fill:currentColor;stroke-width:.8}.bar{fill:currentColor}\n");
    text.push_str(".limit{fill:none;stroke-width:2;stroke-dasharray:7 5}\n");
    for dark in [false, true] {
        if dark {
            text.push_str("@media (prefers-color-scheme:dark){\n");
        }
        for (class, property, light, night) in GROUND {
            let _ = writeln!(text, "{class}{{{property}:{}}}", if dark { night } else { light });
        }
        for (style, (light, night)) in COLOURS.iter().enumerate() {
            let _ = writeln!(text, ".s{style}{{color:{}}}", if dark { night } else { light });
        }
        if dark {
            text.push_str("}\n");
        }
    }
    text + "</style>\n"
}

/// Returns a coordinate with one decimal.
pub(super) fn pixels(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".into(),
        text => text.into(),
    }
}

/// Returns text in the notation of XML, which has no place for control characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns about how wide words are. Fonts differ; this is for a wide one.
pub(super) fn width(words: &str, size: f64) -> f64 {
    0.6 * size * words.chars().count() as f64
}

/// Returns words in lines that are not wider than this, unless one word is.
pub(super) fn wrap(words: &str, size: f64, widest: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + size < widest => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"c\"\u{1b}\n"), "a&lt;b&gt;&amp;&quot;c&quot;  ");
        assert_eq!(
            (pixels(1.25), pixels(3.0), pixels(-0.01)),
            ("1.2".into(), "3".into(), "0".into())
        );
    }

    #[test]
    fn long_lines_are_wrapped() {
        assert_eq!(wrap("one two three", 10.0, 60.0), ["one two", "three"]);
        assert_eq!(wrap("", 10.0, 60.0), [""]);
    }

    #[test]
    fn marks_fit_into_their_box() {
        for shape in SHAPES {
            assert!(shape.iter().all(|(x, y)| x.abs() <= 0.5 && y.abs() <= 0.5));
        }
    }
}
