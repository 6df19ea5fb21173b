use super::*;

/// Returns a row of a pattern, with a value, a lower bound and moved entries.
fn row(engine: &str, cables: &str, draw: usize, pattern: &str, value: f64) -> StudyRow {
    let mut row = StudyRow::default();
    for (column, text) in [
        ("study", "s"),
        ("fabric", "Half <full>, 2"),
        ("nodes", "1024"),
        ("switches", "320"),
        ("engine", engine),
        ("cables_asked", cables),
        ("switches_asked", "0"),
        ("pattern", pattern),
        ("unroutable_pairs", "0"),
        ("lost", "0"),
        ("entries_total", "1000"),
    ] {
        row.set(column, text);
    }
    row.set("throw", draw);
    for column in ["max", "mean", "median"] {
        row.set(column, value);
    }
    for column in ["bound", "bound_mean", "bound_median"] {
        row.set(column, 1);
    }
    row.set("entries_moved", if cables == "0" { 0.0 } else { 10.0 * value });
    row.set("entries_forced", if cables == "0" { 0 } else { 5 });
    row
}

fn rows() -> Vec<StudyRow> {
    let mut rows = Vec::new();
    for pattern in ["a2a", "rp:5", "sp"] {
        for (engine, draws) in [("stable", 3), ("dmodc", 3), ("slow", 2)] {
            rows.push(row(engine, "0", 1, pattern, 1.0));
            for draw in 1..=draws {
                // The third draw would change the mean of those that have it.
                rows.push(row(engine, "5%", draw, pattern, [2.0, 4.0, 9.0][draw - 1]));
            }
        }
    }
    rows
}

fn choice(pattern: &str, engines: &[&str]) -> FigureChoice {
    FigureChoice {
        pattern: Some(pattern.into()),
        engines: engines.iter().map(ToString::to_string).collect(),
        ..FigureChoice::default()
    }
}

#[test]
fn every_question_has_a_figure() {
    let figures = draw(&rows(), &FigureChoice::default()).expect("they are drawn");
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        ["s-half-full-2-a2a", "s-half-full-2-rp", "s-half-full-2-sp", "s-half-full-2-moved"]
    );
    assert!(figures[0].svg.contains("Half &lt;full&gt;, 2"));
    let again = draw(&rows(), &FigureChoice::default()).expect("they are drawn");
    assert!(figures.iter().zip(&again).all(|(one, other)| one.svg == other.svg));
}

#[test]
fn engines_are_compared_on_the_draws_that_all_have() {
    let all = draw(&rows(), &choice("sp", &[])).expect("it is drawn");
    assert_eq!(all.len(), 1);
    assert!(all[0].svg.contains("Mean of 2 random draws"));
    assert!(all[0].svg.contains("<title>stable, 5 %: 3 (2 to 4)</title>"));
    let fast = draw(&rows(), &choice("sp", &["stable", "dmodc"])).expect("it is drawn");
    assert!(fast[0].svg.contains("Mean of 3 random draws"));
    assert!(fast[0].svg.contains("<title>stable, 5 %: 5 (2 to 9)</title>"));
    assert!(!fast[0].svg.contains("slow"));
}

#[test]
fn what_moved_has_no_healthy_step() {
    let figures = draw(&rows(), &choice("moved", &[])).expect("it is drawn");
    let svg = &figures[0].svg;
    assert!(svg.contains("<title>stable, 5 %: 3 % (2 % to 4 %)</title>"), "{svg}");
    assert!(
        !svg.contains("none") && svg.contains("entries of stable&apos;s")
            || svg.contains("stable's")
    );
}

#[test]
fn an_engine_that_loses_pairs_is_left_out_by_name() {
    let mut rows = rows();
    for row in rows.iter_mut().filter(|row| row.get("engine") == "slow") {
        if row.get("cables_asked") == "5%" && row.get("throw") == "1" {
            row.set("lost", 7);
        }
    }
    let svg = &draw(&rows, &choice("a2a", &[])).expect("it is drawn")[0].svg;
    assert!(svg.contains("slow 1 of 3"), "{svg}");
    assert!(svg.contains("<title>slow, 5 %: 4</title>"), "{svg}");
}

#[test]
fn an_engine_without_values_has_no_figure() {
    let mut rows = rows();
    for row in rows.iter_mut().filter(|row| row.get("engine") == "slow") {
        row.set("max", "");
    }
    let figures = draw(&rows, &FigureChoice { engines: vec!["slow".into()], ..Default::default() });
    let names: Vec<String> =
        figures.expect("some are drawn").into_iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["s-half-full-2-rp", "s-half-full-2-sp", "s-half-full-2-moved"]);
    assert_eq!(
        draw(&rows, &choice("a2a", &["slow"])).expect_err("none"),
        "there is nothing to draw"
    );
}

#[test]
fn names_that_are_not_there_are_refused() {
    let error = |choice: &FigureChoice| draw(&rows(), choice).expect_err("it is not there");
    assert_eq!(
        error(&choice("bisection", &[])),
        "no pattern of the study is called 'bisection': a2a, rp:5, sp, moved"
    );
    assert!(error(&choice("sp", &["ftree"])).contains("'ftree': stable, dmodc, slow"));
    let fabric = FigureChoice { fabric: Some("x".into()), ..FigureChoice::default() };
    assert!(error(&fabric).starts_with("no fabric of the study is called 'x'"));
    let failed = FigureChoice { failed: Some("switches".into()), ..FigureChoice::default() };
    assert!(error(&failed).ends_with("cables"));
    assert!(draw(&[], &FigureChoice::default()).is_err());
}

#[test]
fn fabrics_with_similar_names_have_different_files() {
    assert_eq!(file_names(&["a b", "A-b", "!"]), ["a-b", "a-b-2", "fabric"]);
}

/// A study with rates has a figure of them for each pattern, of which higher is better.
#[test]
fn rates_have_figures() {
    let mut rows = vec![];
    for (engine, rate) in [("dmodc", 0.75), ("random", 0.5)] {
        for cables in ["0", "5%"] {
            let mut with_rates = StudyRow::with_rates();
            let plain = row(engine, cables, 1, "rp:5", 2.0);
            crate::study::COLUMNS
                .iter()
                .for_each(|column| with_rates.set(column, plain.get(column)));
            with_rates.set("mean_rate", rate);
            rows.push(with_rates);
        }
    }
    let figures = draw(&rows, &choice("rp-rate", &[])).expect("they are drawn");
    assert_eq!(figures.len(), 1);
    assert_eq!(figures[0].name, "s-half-full-2-rp-rate");
    assert!(figures[0].svg.contains("Higher is better.") && !figures[0].svg.contains("Dashed"));
    assert_eq!(draw(&rows, &choice("rp", &[])).expect("one").len(), 1);
    assert_eq!(draw(&rows, &FigureChoice::default()).expect("all").len(), 3);
}

/// A degradation with very many draws has figures of rare events, which say how often pairs are lost.
#[test]
fn very_many_draws_show_rare_events() {
    let mut rows = vec![];
    for engine in ["dmodc", "stable"] {
        for draw in 1..=2000 {
            let mut row = row(engine, "1%", draw, "a2a", draw as f64);
            row.set("lost", if engine == "dmodc" && draw <= 3 { 2 } else { 0 });
            rows.push(row);
        }
    }
    let figures = draw(&rows, &choice("a2a-rare", &[])).expect("they are drawn");
    assert_eq!(figures.len(), 1);
    assert_eq!(figures[0].name, "s-half-full-2-1pct-cables-a2a-rare");
    let svg = &figures[0].svg;
    assert!(svg.contains("accidents in which 1 % of the cables"), "{svg}");
    assert!(svg.contains("dmodc loses a pair in 3 of 2,000 draws"), "{svg}");
    assert!(svg.contains("<title>stable, 100: 1,981 (1,971 to 1,989)</title>"), "{svg}");
    let names: Vec<String> =
        draw(&rows, &FigureChoice::default()).expect("all").into_iter().map(|f| f.name).collect();
    assert_eq!(names[0], "s-half-full-2-1pct-cables-a2a-rare");
    assert_eq!(names.len(), 3, "{names:?}");
    let few = draw(&rows[..900], &choice("a2a-rare", &[])).expect_err("there are too few draws");
    assert_eq!(few, "there is nothing to draw");
}
