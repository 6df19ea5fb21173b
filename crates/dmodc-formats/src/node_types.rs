//! Types of nodes by their names, for destination orders that number type by type.
//!
//! ```text
//! # type    regular expression
//! storage   ^oss-
//! storage   ^mds-
//! login     ^login[0-9]+
//! ```
//!
//! The first line whose expression matches the name of a node decides its type. Types are numbered in the order in which
//! they first appear; nodes that no line matches are numbered last. A `#` at the beginning of a line begins a comment, and
//! elsewhere it is part of the expression.

use dmodc::{End, NodeTypes};
use regex_lite::Regex;

use crate::ReadError;
use crate::scan::{Cursor, lines};

/// The name of the type of nodes that match nothing.
pub const UNNAMED: &str = "others";

/// An expression, and the type of the nodes that it matches.
struct TypeRule {
    regex: Regex,
    kind: u32,
}

/// Types as far as they are read.
#[derive(Default)]
struct TypeList {
    names: Vec<String>,
    rules: Vec<TypeRule>,
}

impl TypeList {
    fn add(&mut self, name: &str, regex: Regex) {
        let known = self.names.iter().position(|known| known == name);
        let kind = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        self.rules.push(TypeRule { regex, kind: kind as u32 });
    }

    fn finish(self) -> NodeTypes {
        let TypeList { mut names, rules } = self;
        let last = names.len() as u32;
        let text = |rule: &TypeRule| format!("{} {}\n", names[rule.kind as usize], rule.regex);
        let rule: String = rules.iter().map(text).collect();
        names.push(UNNAMED.into());
        NodeTypes::new(names, &rule, move |fabric, n| {
            let name = End::Node(n).name(fabric);
            let found = rules.iter().find(|rule| rule.regex.is_match(name));
            found.map_or(last, |rule| rule.kind)
        })
    }
}

/// Reads a file of types.
///
/// # Errors
/// The first line that is wrong, or that the file names no type.
pub fn read(text: &[u8]) -> Result<NodeTypes, ReadError> {
    let mut list = TypeList::default();
    for mut line in lines(text) {
        line.skip_blanks();
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            continue;
        }
        let here = line;
        let name = utf8(here, line.word())?;
        if name == UNNAMED {
            return Err(here.error(format!(
                "the type '{UNNAMED}' is of nodes that no line matches, so it has no expression of its own; choose another name"
            )));
        }
        line.skip_blanks();
        let expression = line.rest().trim_ascii_end();
        if expression.is_empty() {
            return Err(line.expected("a regular expression after the type"));
        }
        let regex = regex(utf8(line, expression)?).map_err(|message| line.error(message))?;
        list.add(name, regex);
    }
    match list.rules.is_empty() {
        true => {
            let message = "the file names no type; expected a type and a regular expression in each line, such as 'storage ^oss'";
            Err(ReadError { line: 1, column: 1, message: message.into() })
        }
        false => Ok(list.finish()),
    }
}

/// Reads types from a list of regular expressions. Commas separate them, and each of them is a type.
///
/// # Errors
/// The first expression that is wrong.
pub fn from_list(text: &str) -> Result<NodeTypes, String> {
    let mut list = TypeList::default();
    for expression in text.split(',') {
        if expression.is_empty() {
            return Err(format!(
                "'{text}' has an empty expression; commas separate expressions, and an expression with commas needs a file"
            ));
        }
        list.add(expression, regex(expression)?);
    }
    Ok(list.finish())
}

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("'{text}' is not a regular expression: {error}"))
}

fn utf8<'a>(here: Cursor<'_>, text: &'a [u8]) -> Result<&'a str, ReadError> {
    std::str::from_utf8(text).map_err(|_| here.error("this is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use dmodc::{Fabric, NodeIndex, Pgft};

    use super::*;

    fn fabric() -> Fabric {
        "2; 4,3; 1,4; 1,1".parse::<Pgft>().unwrap().fabric(Default::default())
    }

    fn kinds(types: &NodeTypes) -> Vec<u32> {
        let fabric = fabric();
        (0..12).map(|n| types.type_of(&fabric, NodeIndex::new(n))).collect()
    }

    #[test]
    fn the_first_line_that_matches_decides() {
        let text = "# types\r\n\n  storage\t-[05]$ \r\nlogin -1\nstorage -2$\nlogin -3$ #\n";
        let types = read(text.as_bytes()).unwrap();
        assert_eq!(types.names(), ["storage", "login", "others"]);
        assert_eq!(kinds(&types), [0, 1, 0, 2, 2, 0, 2, 2, 2, 2, 1, 1]);
        assert_eq!(types.counts(&fabric()), [3, 3, 6]);
    }

    #[test]
    fn a_list_has_a_type_for_each_expression() {
        let types = from_list("-[05]$,-1").unwrap();
        assert_eq!(types.names(), ["-[05]$", "-1", "others"]);
        assert_eq!(kinds(&types), [0, 1, 2, 2, 2, 0, 2, 2, 2, 2, 1, 1]);
        assert_eq!(types, from_list("-[05]$,-1").unwrap());
        assert_ne!(types, from_list("-[05]$,-2").unwrap());
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("", "1:1: the file names no type"),
            ("# nothing\n", "1:1: the file names no type"),
            (
                "storage ^oss\nlogin\n",
                "2:6: expected a regular expression after the type, found the end",
            ),
            ("a b\n\nstorage (oss\n", "3:9: '(oss' is not a regular expression: "),
            ("others ^n", "1:1: the type 'others' is of nodes that no line matches"),
            ("a \u{e9}\nb \u{e9}", ""),
        ] {
            match read(text.as_bytes()) {
                Ok(_) => assert_eq!(message, "", "{text}"),
                Err(error) => assert!(error.to_string().starts_with(message), "{error}"),
            }
        }
        assert!(read(b"a \xff\n").unwrap_err().to_string().starts_with("1:3: this is not UTF-8"));
        assert!(read(b"\xff a\n").unwrap_err().to_string().starts_with("1:1: this is not UTF-8"));
        assert!(from_list("").unwrap_err().contains("an empty expression"));
        assert!(from_list("a,,b").unwrap_err().contains("an empty expression"));
        assert!(from_list("a,(").unwrap_err().starts_with("'(' is not a regular expression"));
    }
}
