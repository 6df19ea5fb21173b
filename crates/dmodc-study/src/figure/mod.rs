//! Figures as SVG: line charts and histograms, readable 800 pixels wide, in light and in dark.
//!
//! | module | |
//! |---|---|
//! | `numbers` | numbers for people |
//! | `svg` | the text of a drawing: elements, escaping, the style sheet |
//! | `scale` | from values to places along an axis, and ticks |
//! | `styles` | which colour and mark an engine has |
//! | `labels` | names at the ends of curves, which do not cover each other |
//! | `chart` | curves, one for each engine |
//! | `histogram` | bars, one panel for each pattern |

mod chart;
mod histogram;
mod labels;
mod numbers;
mod scale;
mod styles;
mod svg;

pub use chart::{Across, Chart, ChartPoint, Curve};
pub use histogram::{HistogramPanel, histograms};
pub use numbers::{Unit, thousands};
pub use styles::engine_style;
pub use svg::STYLES;
