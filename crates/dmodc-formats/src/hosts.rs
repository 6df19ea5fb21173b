//! Lists of hosts and of pairs of hosts, which users and Slurm write.
//!
//! ```text
//! n[001-003,7],login1      # a list of hosts, folded as Slurm folds it
//! n001 n002                # a line of a list of pairs: n001 sends to n002
//! train ring n[001-064]    # a line of a list of jobs: a name, a pattern and hosts
//! ```
//!
//! In a list of hosts, names are separated by blanks, commas or line ends. Lists of pairs and of jobs have one of them in a line. A `#`
//! begins a comment.
//!
//! A list of hosts may also be a host file of Open MPI. What it says about slots is checked and not used:
//!
//! ```text
//! n001 slots=4 max_slots=8
//! n002:4
//! ```

use crate::ReadError;
use crate::scan::{Cursor, lines, printable};

/// The most hosts of a list: a typing error in a range must not fill the memory.
const MOST_HOSTS: usize = 1 << 20;

/// A name, and the line in which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// The name of a host, a description, a GUID or a LID.
    pub name: String,
    /// Its line, from 1.
    pub line: u32,
}

/// Reads a list of hosts.
///
/// # Errors
/// If a range is wrong, or no host is listed.
pub fn read_hosts(text: &[u8]) -> Result<Vec<ListedName>, ReadError> {
    let mut hosts = Vec::new();
    for mut line in lines(text) {
        let mut has_host = false;
        while let Some(word) = next(&mut line, true) {
            let number = line.number();
            if is_slots(&word, has_host).map_err(|message| line.error(message))? {
                continue;
            }
            has_host = true;
            let names = unfold(without_slots(&word)).map_err(|message| line.error(message))?;
            hosts.extend(names.into_iter().map(|name| ListedName { name, line: number }));
            if hosts.len() > MOST_HOSTS {
                return Err(line.error(format!("more than {MOST_HOSTS} hosts are listed")));
            }
        }
    }
    match hosts.is_empty() {
        true => Err(ReadError {
            line: 1,
            column: 1,
            message: "the file lists no host; expected host names, GUIDs or LIDs".into(),
        }),
        false => Ok(hosts),
    }
}

/// Returns whether a word of a host file of Open MPI is about the slots of the host before it.
fn is_slots(word: &str, has_host: bool) -> Result<bool, String> {
    let Some((key, value)) = word.split_once('=') else { return Ok(false) };
    if !["slots", "max_slots", "max-slots"].contains(&key) {
        return Ok(false);
    }
    let word = printable(word);
    if value.parse::<u32>().is_err() {
        return Err(format!("expected a number of slots after '{key}=', not '{word}'"));
    }
    match has_host {
        true => Ok(true),
        false => Err(format!("expected a host before '{word}'")),
    }
}

/// Returns a name without the number of slots after it, as in `n1:4`.
fn without_slots(word: &str) -> &str {
    match word.rsplit_once(':') {
        Some((name, slots)) if !name.is_empty() && slots.parse::<u32>().is_ok() => name,
        _ => word,
    }
}

/// Reads a list of pairs.
///
/// # Errors
/// If a line does not have exactly two names, or no pair is listed.
pub fn read_pairs(text: &[u8]) -> Result<Vec<(ListedName, ListedName)>, ReadError> {
    let mut pairs = Vec::new();
    for mut line in lines(text) {
        let number = line.number();
        let Some(from) = next(&mut line, false) else { continue };
        let Some(to) = next(&mut line, false) else {
            return Err(line.error("expected 'source destination' in each line; give a list of hosts with --nodes instead"));
        };
        if let Some(third) = next(&mut line, false) {
            return Err(line.error(format!(
                "expected two names in a line, but '{}' is a third",
                printable(&third)
            )));
        }
        let named = |name| ListedName { name, line: number };
        pairs.push((named(from), named(to)));
    }
    match pairs.is_empty() {
        true => Err(ReadError {
            line: 1,
            column: 1,
            message: "the file lists no pair; expected lines 'source destination'".into(),
        }),
        false => Ok(pairs),
    }
}

/// A job: its hosts send by a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedJob {
    /// Its name and its line.
    pub name: ListedName,
    /// The name of its pattern, as it stands in the file.
    pub pattern: String,
    /// Its hosts.
    pub hosts: Vec<ListedName>,
}

/// Reads a list of jobs: in each line the name of a job, its pattern, and its hosts, folded or not.
///
/// # Errors
/// If a line lacks one of these, two jobs have one name, or no job is listed.
pub fn read_jobs(text: &[u8]) -> Result<Vec<ListedJob>, ReadError> {
    let mut jobs: Vec<ListedJob> = Vec::new();
    for mut line in lines(text) {
        let number = line.number();
        let Some(name) = next(&mut line, false) else { continue };
        let Some(pattern) = next(&mut line, false) else {
            return Err(line.error("expected 'job pattern hosts' in each line"));
        };
        let mut hosts = Vec::new();
        while let Some(word) = next(&mut line, true) {
            let names = unfold(&word).map_err(|message| line.error(message))?;
            hosts.extend(names.into_iter().map(|name| ListedName { name, line: number }));
            if hosts.len() > MOST_HOSTS {
                return Err(line.error(format!("more than {MOST_HOSTS} hosts are listed")));
            }
        }
        let shown = printable(&name);
        if hosts.is_empty() {
            let what =
                format!("job '{shown}' has no hosts; expected 'job pattern hosts' in each line");
            return Err(line.error(what));
        }
        if let Some(same) = jobs.iter().find(|job| job.name.name == name) {
            let first = same.name.line;
            return Err(line.error(format!("job '{shown}' is in line {first}, too")));
        }
        jobs.push(ListedJob { name: ListedName { name, line: number }, pattern, hosts });
    }
    match jobs.is_empty() {
        true => Err(ReadError {
            line: 1,
            column: 1,
            message: "the file lists no job; expected lines 'job pattern hosts'".into(),
        }),
        false => Ok(jobs),
    }
}

/// Takes the next name of a line: up to a blank or, in lists of hosts, a comma outside of brackets.
fn next(line: &mut Cursor<'_>, commas: bool) -> Option<String> {
    while line.take(" ") || line.take("\t") || (commas && line.take(",")) {}
    let rest = line.rest();
    if rest.is_empty() || rest[0] == b'#' {
        return None;
    }
    let mut depth = 0usize;
    let ends = |byte: &u8| {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        matches!(byte, b' ' | b'\t') || (commas && *byte == b',' && depth == 0)
    };
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    let word = String::from_utf8_lossy(&rest[..length]).into_owned();
    line.skip(length);
    Some(word)
}

/// Returns all names that a folded name stands for.
fn unfold(word: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("'{}' is not a list of hosts such as node[1-4,7]", printable(word));
    let (mut names, mut rest) = (vec![String::new()], word);
    while let Some((before, folded)) = rest.split_once('[') {
        let (inside, after) = folded.split_once(']').ok_or_else(wrong)?;
        let middles = ranges(inside).ok_or_else(wrong)?;
        if names.len().saturating_mul(middles.len()) > MOST_HOSTS {
            return Err(wrong());
        }
        // Every number in the brackets follows every beginning so far.
        let mut longer = Vec::with_capacity(names.len() * middles.len());
        for name in &names {
            longer.extend(middles.iter().map(|middle| format!("{name}{before}{middle}")));
        }
        names = longer;
        rest = after;
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok(names)
}

/// Returns the numbers of a text such as `001-003,7`, each as wide as the first of its range.
fn ranges(text: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| -> Option<usize> {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|_| is_number)
        };
        let (from, to) = (number(first)?, number(last)?);
        if from > to || to - from >= MOST_HOSTS || numbers.len() >= MOST_HOSTS {
            return None;
        }
        let width = first.len();
        numbers.extend((from..=to).map(|n| format!("{n:0width$}")));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Vec<String>, String> {
        let named = read_hosts(text.as_bytes()).map_err(|e| e.to_string())?;
        Ok(named.into_iter().map(|named| named.name).collect())
    }

    #[test]
    fn hosts_are_unfolded_as_slurm_folds_them() {
        let list = hosts("n[001-003,7],login1 # the job\n\nr[1-2]n[08-09]x\r\n").unwrap();
        let expected =
            ["n001", "n002", "n003", "n7", "login1", "r1n08x", "r1n09x", "r2n08x", "r2n09x"];
        assert_eq!(list, expected);
    }

    #[test]
    fn host_files_of_open_mpi_are_lists_of_hosts() {
        let list =
            hosts("# a comment\nn1 slots=4\nn2:8\nn3 slots=2 max_slots=4 # n9\nn4 max-slots=1\n\n");
        assert_eq!(list.unwrap(), ["n1", "n2", "n3", "n4"]);
        assert_eq!(hosts("n[1-2]:4,n3:1").unwrap(), ["n1", "n2", "n3"]);
        // Only a number after a colon is a number of slots.
        assert_eq!(hosts("n1:x :4").unwrap(), ["n1:x", ":4"]);
        for (text, what) in [
            ("n1 slots=many", "1:14: expected a number of slots after 'slots=', not 'slots=many'"),
            ("n1\nslots=4", "2:8: expected a host before 'slots=4'"),
        ] {
            assert_eq!(hosts(text).unwrap_err(), what);
        }
    }

    #[test]
    fn errors_in_lists_are_reported_with_their_line() {
        for (text, what) in [
            ("", "1:1: the file lists no host"),
            ("a\nn[1-", "'n[1-' is not a list of hosts"),
            ("n[3-1]", "'n[3-1]' is not a list of hosts"),
            ("n[a-b]", "'n[a-b]' is not a list of hosts"),
            ("n[]", "'n[]' is not a list of hosts"),
            ("n[1-99999999999999]", "is not a list of hosts"),
            ("n[1-9999]m[1-9999]", "is not a list of hosts"),
        ] {
            let error = hosts(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
        assert!(hosts("a\nb\nn[1-").unwrap_err().starts_with("3:"));
    }

    #[test]
    fn pairs_are_two_names_a_line() {
        let pairs = read_pairs(b"a b # first\n\n0x1\t28\n").unwrap();
        let names: Vec<(&str, &str, u32)> =
            pairs.iter().map(|(a, b)| (a.name.as_str(), b.name.as_str(), b.line)).collect();
        assert_eq!(names, [("a", "b", 1), ("0x1", "28", 3)]);
        for (text, what) in [
            ("a b\na", "2:2: expected 'source destination'"),
            ("a b c", "'c' is a third"),
            ("# nothing\n", "1:1: the file lists no pair"),
        ] {
            let error = read_pairs(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
