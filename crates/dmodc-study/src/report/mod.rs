//! The report of an analysis: one HTML page that needs no other files.
//!
//! The page is opened years later, on machines without a network, and printed; so styles, data and the few
//! lines of script are all inside, and a policy in its head forbids it to load anything. A report is plain
//! data, filled in by the caller; this module only lays it out. Names come from the fabric, so all are escaped.

mod faults;
mod heat;
mod histogram;
mod html;
mod page;
mod sections;

pub use faults::{FaultPage, FaultRow, faults_html};
pub use page::html;

/// The contents of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HtmlReport {
    /// The title of the page.
    pub title: String,
    /// What was analysed: names and values.
    pub facts: Vec<(String, String)>,
    /// One section for each traffic pattern.
    pub patterns: Vec<PatternSection>,
    /// Pairs without a route.
    pub unroutable: Unroutable,
    /// One row for each host, in the order to be shown; if empty, there is no such section.
    pub hosts: Vec<HostRow>,
    /// The last line: the program, its version, the command.
    pub made_by: String,
}

/// How a traffic pattern loads the fabric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternSection {
    /// Its name, such as "All to all".
    pub name: String,
    /// A sentence or two about the pattern, and how a load is counted.
    pub about: String,
    /// The greatest load.
    pub max: f64,
    /// The mean load.
    pub mean: f64,
    /// What the mean is taken over, such as "all ports".
    pub mean_over: String,
    /// The lower bound of the maximum for any routing, if it is known.
    pub max_bound: Option<f64>,
    /// The lower bound of the mean for any routing, if it is known.
    pub mean_bound: Option<f64>,
    /// Names and values of fair rates, such as ("mean rate", "0.62"); empty if they were not computed.
    pub rates: Vec<(String, String)>,
    /// The distribution of loads.
    pub histogram: Histogram,
    /// Names and values, such as ("median", 12.0).
    pub percentiles: Vec<(String, f64)>,
    /// The ports with the greatest loads, worst first.
    pub worst: Vec<WorstPortRow>,
    /// The loads of all ports; `None` if the pattern does not have them.
    pub heat: Option<HeatMap>,
}

/// How often each value occurs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// What the values are, such as "flows through a port".
    pub value: String,
    /// What is counted, such as "ports".
    pub count: String,
    /// Each value once, ascending, with how often it occurs.
    pub bars: Vec<(u64, u64)>,
}

/// A device by name. Names repeat in many fabrics, so a detail distinguishes devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceName {
    /// Its name.
    pub name: String,
    /// The detail, such as GUID and LID.
    pub detail: String,
}

/// A port with a great load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorstPortRow {
    /// The switch that sends.
    pub switch: DeviceName,
    /// Its port.
    pub port: u8,
    /// The switch at the other end.
    pub peer: DeviceName,
    /// The load.
    pub load: f64,
    /// The number of nodes that send through it, if known.
    pub sources: Option<u64>,
    /// The number of nodes that are reached through it, if known.
    pub destinations: Option<u64>,
}

/// The load of every port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// From the top of the page down.
    pub levels: Vec<HeatLevel>,
}

/// The switches of one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatLevel {
    /// Its name, such as "Level 2".
    pub name: String,
    /// Its switches, one line each.
    pub switches: Vec<HeatRow>,
}

/// The ports of one switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatRow {
    /// The switch.
    pub switch: DeviceName,
    /// The loads of its ports 1, 2, 3 …; `None` for a port that leads to no switch.
    pub loads: Vec<Option<u64>>,
}

/// Pairs without a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unroutable {
    /// The number of ordered pairs of nodes without a route.
    pub pairs: u64,
    /// The number of all ordered pairs of nodes.
    pub of: u64,
    /// Some of them.
    pub examples: Vec<LostPairRow>,
}

/// A pair without a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LostPairRow {
    /// The node that sends.
    pub from: DeviceName,
    /// The destination.
    pub to: DeviceName,
    /// Why there is no route.
    pub reason: String,
}

/// The loads that a host meets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostRow {
    /// Its name.
    pub name: DeviceName,
    /// The number of its nodes.
    pub nodes: u64,
    /// The switch, or switches, that it is cabled to.
    pub switches: Vec<DeviceName>,
    /// The greatest load that packets it sends meet, on average over a series, for each pattern of the report in
    /// order; `None` if it is not known.
    pub loads: Vec<Option<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "</script><script>alert(1)</script>'\"&";

    /// A report in which every text is hostile.
    fn evil() -> HtmlReport {
        let evil = || EVIL.to_string();
        let device = || DeviceName { name: evil(), detail: evil() };
        let heat = HeatMap {
            levels: vec![HeatLevel {
                name: evil(),
                switches: vec![HeatRow { switch: device(), loads: vec![Some(3), None, Some(1)] }],
            }],
        };
        let port =
            WorstPortRow { switch: device(), port: 7, peer: device(), ..WorstPortRow::default() };
        let pattern = PatternSection {
            name: evil(),
            about: evil(),
            max: 12.0,
            mean: 3.25,
            mean_over: evil(),
            max_bound: Some(4.0),
            mean_bound: Some(2.5),
            rates: vec![(evil(), evil())],
            histogram: Histogram { value: evil(), count: evil(), bars: vec![(1, 9), (12, 1)] },
            percentiles: vec![(evil(), 2.0)],
            worst: vec![port],
            heat: Some(heat),
        };
        HtmlReport {
            title: evil(),
            facts: vec![(evil(), evil())],
            patterns: vec![pattern],
            unroutable: Unroutable {
                pairs: 3,
                of: 30,
                examples: vec![LostPairRow { from: device(), to: device(), reason: evil() }],
            },
            hosts: vec![HostRow {
                name: device(),
                switches: vec![device()],
                loads: vec![Some(2.0)],
                ..HostRow::default()
            }],
            made_by: evil(),
        }
    }

    #[test]
    fn no_text_of_a_fabric_becomes_markup() {
        let page = html(&evil());
        assert!(!page.contains("<script>alert"), "{page}");
        // The data, the script, and nothing that a name opened or closed.
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        assert!(
            page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&quot;&amp;")
        );
    }

    #[test]
    fn the_data_of_the_map_reads_back() {
        let page = html(&evil());
        let (_, data) = page.split_once("id=\"maps\">").expect("the data is there");
        let (data, _) = data.split_once("</script>").expect("it ends");
        let maps: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
        assert_eq!(maps[0][0]["switches"][0], format!("{EVIL} ({EVIL})"));
        assert_eq!(maps[0][0]["loads"][0], serde_json::json!([3, null, 1]));
    }

    #[test]
    fn a_page_stands_alone_and_says_everything() {
        let page = html(&evil());
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        let parts = [
            ("<dd>12</dd><dd class=\"least\">at least 4 by any routing</dd>", "maximum"),
            ("<dd>3.25</dd><dd class=\"least\">at least 2.50 by any routing</dd>", "mean"),
            ("<dt>maximum / its bound</dt><dd>3.00</dd>", "maximum / bound"),
            (
                "<p class=\"alarm\"><strong>3 of 30 node pairs have no route</strong> (10.00 %)",
                "alarm",
            ),
            ("<small>&lt;/script&gt;", "details of devices"),
            ("<svg class=\"histogram\"", "bars"),
            ("<canvas id=\"heat0-0\"", "map"),
            ("<strong>3</strong> of 30 node pairs have no route (10.00 %)", "unroutable"),
            ("and 2 more", "more examples"),
            ("<section id=\"hosts\">", "hosts"),
        ];
        for (part, what) in parts {
            assert!(page.contains(part), "{what}");
        }
        let (_, hosts) = page.split_once("<section id=\"hosts\">").expect("hosts are there");
        assert!(
            hosts.contains("Mean of worst loads: &lt;/script")
                && !hosts.contains("without a route")
        );
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let pattern = PatternSection { name: "A2A".into(), ..PatternSection::default() };
        let page = html(&HtmlReport { patterns: vec![pattern], ..HtmlReport::default() });
        assert!(page.contains("None: all 0 node pairs have a route."));
        assert!(!page.contains("class=\"alarm\"") && !page.contains("at least"));
        assert!(page.contains("id=\"maps\">[null]</script>"));
        for part in ["<canvas", "<svg", "id=\"hosts\"", "Worst ports", "NaN"] {
            assert!(!page.contains(part), "{part}");
        }
    }
}
