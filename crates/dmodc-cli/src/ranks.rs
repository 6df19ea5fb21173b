//! From which switches ranks are counted, for people and for scripts.

use dmodc::{Live, Oddity, RankRule, Routing};
use serde_json::{Value, json};

use crate::text::{counted, switch};

/// Returns a line with the root from which ranks are counted, and the reason; an empty string if they are counted from the
/// leaves, or from roots of the command line.
pub(crate) fn text(live: Live<'_>, routing: &Routing) -> String {
    let roots = routing.ranking(live).single_roots(live);
    let Some(&first) = roots.first() else { return String::new() };
    let more = match roots.len() {
        1 => String::new(),
        parts => format!(" (and from one root in each of {})", counted(parts - 1, "other part")),
    };
    let why = match routing.unconnected() {
        Some(why) => {
            let pairs = counted(why.pairs, "node pair");
            let oddity = oddity(why.oddity);
            format!(
                "This is not a fat tree: {oddity}. With ranks counted from the leaves, {pairs} would have no \
                 up*down* route. (--roots FILE chooses other roots.)"
            )
        }
        None => "This was decided for the reference, or saved with the orders.".into(),
    };
    format!("ranks are counted from one root, {}{more}.\n  {why}\n", switch(live.fabric, first))
}

/// Returns why a fabric is no fat tree.
pub(crate) fn oddity(oddity: Oddity) -> &'static str {
    match oddity {
        Oddity::EqualRanks => "cables join switches of the same rank",
        Oddity::ParallelCables => {
            "a leaf has far more parallel cables to one switch than other leaves have, and faults cannot be the reason"
        }
    }
}

/// Returns the same for scripts: `from` is `leaves`, `given roots` or `one root`.
pub(crate) fn json(live: Live<'_>, routing: &Routing) -> Value {
    let ranking = routing.ranking(live);
    let guid = |s: &dmodc::SwitchIndex| live.fabric.switch(*s).guid.to_string();
    json!({
        "from": match ranking.rule() {
            RankRule::Leaves => "leaves",
            RankRule::GivenRoots(_) => "given roots",
            RankRule::SingleRoot(_) => "one root",
        },
        "roots": ranking.single_roots(live).iter().map(guid).collect::<Vec<_>>(),
        "unconnected_from_leaves": routing.unconnected().map(|why| why.pairs),
    })
}
