//! Names of options in messages of the library.

/// Returns a message with options such as `--leaf-name` as `leaf_name`.
pub(crate) fn in_python(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for (at, part) in message.split("--").enumerate() {
        // A name may contain dashes, too.
        let is_word = text.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let is_option = at > 0 && !is_word && part.starts_with(|c: char| c.is_ascii_lowercase());
        if at > 0 && !is_option {
            text += "--";
        }
        let end = match is_option {
            true => part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len()),
            false => 0,
        };
        text += &part[..end].replace('-', "_");
        text += &part[end..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::in_python;

    #[test]
    fn options_have_names_of_python() {
        for (message, expected) in [
            ("--leaf-name does not match", "leaf_name does not match"),
            (
                "use --engine stable, or leave out --reference",
                "use engine stable, or leave out reference",
            ),
            ("'a--b' and -- and ---x", "'a--b' and -- and ---x"),
            ("", ""),
            ("ends with --", "ends with --"),
        ] {
            assert_eq!(in_python(message), expected);
        }
    }
}
