//! Names as Slurm accepts them, and lists of names as Slurm folds them.

use dmodc::natural_cmp;

/// Returns a name without the characters that mean something to Slurm: letters, digits, `-`, `_` and `.` stay.
pub(super) fn safe_name(name: &str, longest: usize) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.trim().chars().map(|c| if keep(c) { c } else { '_' }).take(longest).collect()
}

/// A name that is split at the number at its end.
#[derive(Clone, Copy)]
struct NumberedName<'a> {
    /// Everything before the number.
    stem: &'a str,
    /// The digits of the number; empty if there is none.
    digits: &'a str,
    number: u32,
}

impl<'a> NumberedName<'a> {
    /// Splits a name. A number that is too long to count with stays part of the stem, and so does one that is the whole
    /// name.
    fn split(name: &'a str) -> Self {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        match digits.parse() {
            Ok(number) if !stem.is_empty() && digits.len() <= 9 => {
                NumberedName { stem, digits, number }
            }
            _ => NumberedName { stem: name, digits: "", number: 0 },
        }
    }

    /// Returns whether two names can share brackets. A name without a number cannot stand in brackets.
    fn shares_brackets(&self, next: &Self) -> bool {
        self.stem == next.stem && !self.digits.is_empty()
    }

    /// Returns whether the next name has the next number, with as many leading zeros.
    fn is_followed_by(&self, next: &Self) -> bool {
        format!("{:01$}", self.number + 1, self.digits.len()) == next.digits
    }
}

/// Returns a list of names as Slurm writes it: `node[1-3,007-009],login`. Leading zeros are kept.
pub(super) fn fold(names: &[String]) -> String {
    let mut names: Vec<NumberedName> = names.iter().map(|name| NumberedName::split(name)).collect();
    names.sort_by(|a, b| {
        let by_number = (a.number, a.digits.len()).cmp(&(b.number, b.digits.len()));
        natural_cmp(a.stem, b.stem).then(by_number)
    });
    let range = |range: &[NumberedName]| match (range[0].digits, range[range.len() - 1].digits) {
        (only, _) if range.len() == 1 => only.to_owned(),
        (from, to) => format!("{from}-{to}"),
    };
    let groups = names.chunk_by(NumberedName::shares_brackets).map(|group| match group {
        [only] => format!("{}{}", only.stem, only.digits),
        _ => {
            let ranges: Vec<String> =
                group.chunk_by(NumberedName::is_followed_by).map(range).collect();
            format!("{}[{}]", group[0].stem, ranges.join(","))
        }
    });
    groups.collect::<Vec<_>>().join(",")
}
