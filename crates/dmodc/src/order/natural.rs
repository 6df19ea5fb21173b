//! Natural order of names: numbers inside them count as numbers.

use std::cmp::Ordering;

/// Compares names as people do: `leaf-2` before `leaf-10`. A total order; names that differ only in
/// leading zeros are compared by their bytes.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    loop {
        let (Some(&cx), Some(&cy)) = (x.first(), y.first()) else {
            return x.len().cmp(&y.len()).then_with(|| a.cmp(b));
        };
        if cx.is_ascii_digit() && cy.is_ascii_digit() {
            let (nx, ny) = (number(&mut x), number(&mut y));
            // Without leading zeros the longer number is the greater one.
            match nx.len().cmp(&ny.len()).then_with(|| nx.cmp(ny)) {
                Ordering::Equal => {}
                unequal => return unequal,
            }
        } else {
            match cx.cmp(&cy) {
                Ordering::Equal => (x, y) = (&x[1..], &y[1..]),
                unequal => return unequal,
            }
        }
    }
}

/// Removes the digits at the front of a text, and returns them without leading zeros.
fn number<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|c| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    let zeros = digits.iter().take_while(|&&c| c == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let ordered = [
            "",
            "L1",
            "L1-0",
            "L1-2",
            "L1-10",
            "L2-0",
            "a",
            "a00",
            "a0",
            "a01",
            "a1",
            "a1b",
            "a2",
            "a99999999999999999999999",
            "a100000000000000000000000",
            "b",
        ];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                // "a00" and "a0", "a01" and "a1" are compared by bytes, in either order.
                let same_value = |x: &str, y: &str| x.replace('0', "") == y.replace('0', "");
                if i == j || !same_value(a, b) {
                    assert_eq!(natural_cmp(a, b), i.cmp(&j), "{a:?} {b:?}");
                }
                assert_eq!(natural_cmp(a, b), natural_cmp(b, a).reverse());
            }
        }
    }
}
