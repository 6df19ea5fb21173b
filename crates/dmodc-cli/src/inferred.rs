//! The inferred whole of a fabric, for people and for scripts.

use dmodc::{AddedCables, Fabric, InferredLevel, InferredWhole, TooIrregular};
use serde_json::{Value, json};

use crate::text::counted;

/// Returns which cables the inferred whole adds, level by level; or that it adds none; or why nothing can be inferred.
pub(crate) fn text(whole: &Result<InferredWhole, TooIrregular>) -> String {
    let levels = match whole {
        Ok(whole) => &whole.levels,
        Err(why) => return format!("none, because the fabric is too irregular: {why}"),
    };
    let list = |cables: fn(&InferredLevel) -> usize| -> Vec<String> {
        let levels = levels.iter().map(cables).enumerate().filter(|(_, cables)| *cables > 0);
        levels.map(|(rank, n)| format!("{} above rank {rank}", counted(n, "cable"))).collect()
    };
    let (added, without) = (list(InferredLevel::added_cables), list(without_port));
    let mut text = match added.is_empty() {
        true => "no cable is missing".into(),
        false => format!("adds {}", added.join(", ")),
    };
    if !without.is_empty() {
        text = format!("{text}; without a free port: {}", without.join(", "));
    }
    text
}

/// Returns the cables that are missing on a level, but for which a switch has no free port.
pub(crate) fn without_port(level: &InferredLevel) -> usize {
    level.without_port.iter().map(|pair| pair.cables).sum()
}

/// Returns the same for scripts.
pub(crate) fn json(fabric: &Fabric, whole: &Result<InferredWhole, TooIrregular>) -> Value {
    let pairs = |pairs: &[AddedCables]| -> Vec<Value> {
        let guid = |s| fabric.switch(s).guid.to_string();
        let of = |pair: &AddedCables| json!({"lower": guid(pair.lower), "upper": guid(pair.upper), "cables": pair.cables});
        pairs.iter().map(of).collect()
    };
    let level = |(rank, level): (usize, &InferredLevel)| {
        json!({
            "rank": rank,
            "present_cables": level.present,
            "added_cables": level.added_cables(),
            "added": pairs(&level.added),
            "cables_without_port": without_port(level),
            "without_port": pairs(&level.without_port),
        })
    };
    let levels = whole.as_ref().map_or(&[][..], |whole| &whole.levels[..]);
    json!({
        "too_irregular": whole.as_ref().err().map(ToString::to_string),
        "added_cables": whole.as_ref().map_or(0, InferredWhole::added_cables),
        "levels": levels.iter().enumerate().map(level).collect::<Vec<_>>(),
    })
}
