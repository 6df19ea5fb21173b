//! The dividers of levels, for people and for scripts.

use dmodc::{LevelDividers, LevelRule, Routing};
use serde_json::{Value, json};

use crate::text::number;

/// Returns a line with the levels whose dividers were measured, and the reason; an empty string if no pair of leaves has
/// several ways down.
pub(crate) fn text(routing: &Routing) -> String {
    let levels = routing.orders().level_dividers();
    if levels.are_the_papers() {
        return routing.choices_down().map_or(String::new(), |why| {
            let (some, all) = (number(why.pairs_with_choice), number(why.pairs));
            let so = match why.looks_like_damage {
                true => {
                    ", but a damaged tree may look the same, so the paper's dividers stand; if the fabric was built like this, name \
                     its top switches with --roots"
                }
                false => "; the paper's dividers spread routes over them",
            };
            format!("{some} of {all} pairs of leaves have several ways down{so}\n")
        });
    }
    let sides = [("up", levels.up()), ("down", levels.down())];
    let rules = sides.into_iter().flat_map(|(way, rules)| {
        let measured = rules.iter().enumerate().filter(|(_, rule)| **rule != LevelRule::PAPER);
        measured.map(move |(rank, rule)| {
            format!("{} going {way}: {}", level(levels, rank), words(rule))
        })
    });
    let rules: Vec<String> = rules.collect();
    let why = match routing.choices_down() {
        Some(why) => format!(
            "{} of {} pairs of leaves have several ways down",
            number(why.pairs_with_choice),
            number(why.pairs)
        ),
        None => "as decided for the reference or saved with the orders".into(),
    };
    format!(
        "dividers were measured for {} ({why}); other levels have the paper's\n",
        rules.join("; ")
    )
}

/// Returns the name of a level. Where ranks are counted from roots, they are not those of the shape, which other lines show, and
/// a fault can change them all; the distance from the roots stays.
fn level(levels: &LevelDividers, rank: usize) -> String {
    match levels.levels_from_root().map(|levels| (levels as usize).saturating_sub(rank + 1)) {
        None => format!("rank {rank}"),
        Some(0) => "roots".into(),
        Some(1) => "1 hop below the roots".into(),
        Some(hops) => format!("{hops} hops below the roots"),
    }
}

/// Returns the dividers of a level: of groups, and of ports.
fn words(rule: &LevelRule) -> String {
    match (rule.group, rule.port) {
        (Some(group), Some(port)) => format!("{group} and {port} for ports"),
        (Some(group), None) => group.to_string(),
        (None, Some(port)) => format!("{port} for ports"),
        (None, None) => "the paper's".into(),
    }
}

/// Adds the same for scripts, as `dividers`; nothing if no pair of leaves has several ways down. A divider that is `null` is
/// the paper's.
pub(crate) fn set(summary: &mut Value, routing: &Routing) {
    let levels = routing.orders().level_dividers();
    if levels.are_the_papers() && routing.choices_down().is_none() {
        return;
    }
    let rules = |rules: &[LevelRule]| -> Vec<Value> {
        rules.iter().map(|rule| json!({"group": rule.group, "port": rule.port})).collect()
    };
    summary["dividers"] = json!({
        "up": rules(levels.up()),
        "down": rules(levels.down()),
        "levels_from_root": levels.levels_from_root(),
        "leaf_pairs_with_several_ways_down": routing.choices_down().map(|why| why.pairs_with_choice),
        "leaf_pairs": routing.choices_down().map(|why| why.pairs),
        "looks_like_damage": routing.choices_down().is_some_and(|why| why.looks_like_damage),
    });
}
