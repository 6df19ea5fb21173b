//! Comparing what a command printed with what the page shows.

use regex_lite::Regex;

/// Replaces what differs from run to run and machine to machine: times, speeds, sizes of memory, numbers of threads.
fn masked(line: &str) -> String {
    let measured = Regex::new(
        r"\d[\d,]*(\.\d+)? ?(ns|µs|ms|s|min|h|kB/s|MB/s|GB/s|KiB|MiB|GiB|kB|MB|GB|threads?)\b",
    )
    .unwrap();
    let masked = measured.replace_all(line.trim_end(), "#");
    // The width of a column follows from what stands in it.
    if masked.contains('#') {
        masked.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        masked.into_owned()
    }
}

/// Whether a command printed what the page shows. A line `…` of the page stands for any number of lines.
pub(crate) fn matches(shown: &[String], printed: &[String]) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| masked(line)).collect();
    let printed: Vec<String> = printed.iter().map(|line| masked(line)).collect();
    matches_from(&shown, &printed)
}

fn matches_from(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches_from(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| line == first && matches_from(rest, others)),
    }
}

#[test]
fn a_page_may_shorten_and_times_may_differ() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let printed = lines("12 nodes\nrouted in 1.25 ms\n6 switches\nvalid");
    assert!(matches(&lines("12 nodes\nrouted in   31 µs\n6 switches\nvalid"), &printed));
    assert!(matches(&lines("12 nodes\n…\nvalid"), &printed));
    assert!(matches(&lines("…\nvalid\n…"), &printed));
    assert!(!matches(&lines("12 nodes\n…\ninvalid"), &printed));
    assert!(!matches(&lines("12 nodes\nrouted in 1 ms\n7 switches\nvalid"), &printed));
    assert!(!matches(&lines("12 nodes"), &printed));
    assert!(!matches(&[], &printed));
}
