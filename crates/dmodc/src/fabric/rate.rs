//! The rate of a cable: its width and speed, as `4xNDR`.

use std::fmt;
use std::str::FromStr;

/// The speed of one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are InfiniBand's own")]
pub enum Speed {
    #[default]
    Unknown,
    Sdr,
    Ddr,
    Qdr,
    Fdr10,
    Fdr,
    Edr,
    Hdr,
    Ndr,
    Xdr,
}

const SPEEDS: [(Speed, &str); 10] = [
    (Speed::Unknown, "???"),
    (Speed::Sdr, "SDR"),
    (Speed::Ddr, "DDR"),
    (Speed::Qdr, "QDR"),
    (Speed::Fdr10, "FDR10"),
    (Speed::Fdr, "FDR"),
    (Speed::Edr, "EDR"),
    (Speed::Hdr, "HDR"),
    (Speed::Ndr, "NDR"),
    (Speed::Xdr, "XDR"),
];

/// Width and speed of a cable. A cable that has trained badly shows less than its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Lanes; 0 is unknown.
    pub width: u8,
    /// Speed of a lane.
    pub speed: Speed,
}

impl Rate {
    /// The rate of generated fabrics.
    pub const NDR: Rate = Rate { width: 4, speed: Speed::Ndr };

    /// Returns whether width or speed is not known.
    pub fn is_unknown(self) -> bool {
        self.width == 0 || self.speed == Speed::Unknown
    }

    /// Returns the data that the cable carries in each direction, in gigabits per second; `None` if width or speed is not
    /// known. This is less than the signal: SDR, DDR and QDR send 10 bits for 8 bits of data, FDR10 and later 66 for 64.
    pub fn gigabits(self) -> Option<f64> {
        let lane = match self.speed {
            Speed::Unknown => return None,
            Speed::Sdr => 2.0,
            Speed::Ddr => 4.0,
            Speed::Qdr => 8.0,
            Speed::Fdr10 => 10.0,
            Speed::Fdr => 14.0625 * 64.0 / 66.0,
            Speed::Edr => 25.0,
            Speed::Hdr => 50.0,
            Speed::Ndr => 100.0,
            Speed::Xdr => 200.0,
        };
        (self.width > 0).then(|| lane * f64::from(self.width))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, speed) = SPEEDS[self.speed as usize];
        match self.width {
            0 => write!(f, "??{speed}"),
            lanes => write!(f, "{lanes}x{speed}"),
        }
    }
}

/// The error of a text that is no [`Rate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRateError {
    text: Box<str>,
}

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a width and speed such as 4xNDR, not '{}'", self.text)
    }
}

impl std::error::Error for ParseRateError {}

impl FromStr for Rate {
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let wrong = || ParseRateError { text: text.into() };
        let (width, speed) = match text.strip_prefix("??") {
            Some(speed) => (0, speed),
            None => {
                let (lanes, speed) = text.split_once('x').ok_or_else(wrong)?;
                (lanes.parse().map_err(|_| wrong())?, speed)
            }
        };
        // ibdiagnet's spelling.
        let speed = if speed == "FDR_10" { "FDR10" } else { speed };
        let (speed, _) = SPEEDS.into_iter().find(|(_, name)| *name == speed).ok_or_else(wrong)?;
        Ok(Rate { width, speed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_reads_back() {
        for (at, (speed, _)) in SPEEDS.into_iter().enumerate() {
            assert_eq!(speed as usize, at);
            for width in [0, 1, 2, 4, 8, 12] {
                let rate = Rate { width, speed };
                assert_eq!(rate.to_string().parse(), Ok(rate));
            }
        }
        assert_eq!(Rate::NDR.gigabits(), Some(400.0));
        assert_eq!(Rate { width: 0, ..Rate::NDR }.gigabits(), None);
        assert_eq!(Rate { width: 4, speed: Speed::Unknown }.gigabits(), None);
        assert_eq!("4xFDR_10".parse(), Ok(Rate { width: 4, speed: Speed::Fdr10 }));
        for wrong in ["4xNDRR", "NDR"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}
