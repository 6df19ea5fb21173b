//! Numbers and nouns in messages: "1 switch", "2 switches".

/// Returns a noun, in the plural unless the number is 1.
pub fn noun(count: u64, singular: &str) -> String {
    if count == 1 {
        return singular.to_owned();
    }
    let vowels = ['a', 'e', 'i', 'o', 'u'];
    if let Some(start) = singular.strip_suffix("leaf") {
        return format!("{start}leaves");
    }
    match singular.strip_suffix('y') {
        Some(start) if !start.ends_with(vowels) => format!("{start}ies"),
        _ if singular.ends_with("ch") || singular.ends_with('s') => format!("{singular}es"),
        _ => format!("{singular}s"),
    }
}

/// Returns a number and its noun, for logs: `counted(1, "switch")` is "1 switch". The number has no separators, so that other
/// programs can read it.
pub fn counted(count: impl TryInto<u64>, singular: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", noun(count, singular))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!(counted(1_u64, "switch"), "1 switch");
        assert_eq!(counted(2_usize, "leaf switch"), "2 leaf switches");
        assert_eq!(counted(0_u32, "entry"), "0 entries");
        assert_eq!(counted(1000_u64, "cable"), "1000 cables");
        assert_eq!(noun(2, "leaf"), "leaves");
        assert_eq!(noun(2, "leaf pair"), "leaf pairs");
        assert_eq!(noun(1, "leaf"), "leaf");
        assert_eq!(noun(2, "day"), "days");
    }
}
