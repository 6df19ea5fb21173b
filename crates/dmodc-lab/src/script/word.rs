//! The words of a line.

use dmodc_formats::ReadError;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptWord {
    pub(super) text: String,
    /// In bytes, from 1.
    pub(super) column: u32,
    pub(super) is_quoted: bool,
}

impl ScriptWord {
    pub(super) fn as_written(&self) -> String {
        if self.is_quoted { format!("\"{}\"", self.text) } else { self.text.clone() }
    }
}

/// Returns the words of a line, without its comment.
pub(super) fn words(line: &[u8], number: u32) -> Result<Vec<ScriptWord>, ReadError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(blanks) = line[at..].iter().position(|byte| !byte.is_ascii_whitespace()) {
        at += blanks;
        let (column, is_quoted) = (at as u32 + 1, line[at] == b'"');
        let length = match line[at] {
            b'#' => break,
            b'"' => {
                at += 1;
                line[at..].iter().position(|byte| *byte == b'"').ok_or_else(|| ReadError {
                    line: number,
                    column,
                    message: "this name has no closing quotation mark".into(),
                })?
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'#';
                line[at..].iter().position(ends).unwrap_or(line.len() - at)
            }
        };
        let text = String::from_utf8_lossy(&line[at..at + length]).into_owned();
        words.push(ScriptWord { text, column, is_quoted });
        at += length + usize::from(is_quoted);
    }
    Ok(words)
}
