//! Inputs that no reader understands: compressed, binary, empty, or of another kind. Most of them are mistakes, so the error
//! says what the input is and what to do.

/// The first bytes of compressed files, the name of their format, and the program that unpacks them.
const PACKED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "gunzip -c"),
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bunzip2 -c"),
];

/// The number of bytes at the beginning of an input that are searched for zeros, which no text has.
const BEGINNING: usize = 64 << 10;

/// Returns what an input is, if it is certainly none of our formats, or `None` if it is text.
pub(crate) fn describe_unsupported(input: &[u8]) -> Option<String> {
    let what = if input.is_empty() {
        "the input is empty".into()
    } else if let Some((_, name, unpack)) =
        PACKED.iter().find(|(magic, ..)| input.starts_with(magic))
    {
        format!(
            "the input is compressed by {name}; unpack it first, as in '{unpack} FILE | dmodc … -'"
        )
    } else if input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff") {
        "the input is UTF-16 text; convert it first, as in 'iconv -f UTF-16 -t UTF-8 FILE | dmodc … -'".into()
    } else if input[..input.len().min(BEGINNING)].contains(&0) {
        "the input is binary, not text".into()
    } else {
        let text = input.strip_prefix("\u{feff}".as_bytes()).unwrap_or(input);
        let mut lines =
            text.split(|&c| c == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        match lines.next() {
            None => "the input is empty: it has only blank lines".into(),
            Some(first) if first.starts_with(b"#") && lines.all(|line| line.starts_with(b"#")) => {
                "the input is empty: it has only comments".into()
            }
            Some(first) if first.starts_with(b"{") || first.starts_with(b"[{") || first == b"[" => {
                "the input looks like JSON, but has no \"schema\" of dmodc; only the JSON that 'dmodc convert --format json' writes can be read".into()
            }
            Some(_) => return None,
        }
    };
    Some(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_no_text_of_ours_are_described() {
        for (input, what) in [
            (&b""[..], "is empty"),
            (b" \n\r\n\t", "only blank lines"),
            (b"\xef\xbb\xbf", "only blank lines"),
            (b"# one\n\n  # two\r\n", "only comments"),
            (b"\x1f\x8b\x08\0rest", "gzip; unpack it first, as in 'gunzip -c FILE"),
            (b"\x28\xb5\x2f\xfdrest", "zstd"),
            (b"\xff\xfeS\0w\0", "UTF-16"),
            (b"\x7fELF\x02\x01\x01\0\0", "binary"),
            (b"{\"name\": \"package\"}", "JSON"),
            (b"\n[{\"a\": 1}]", "JSON"),
        ] {
            let description = describe_unsupported(input).unwrap();
            assert!(description.contains(what), "{description}");
        }
        assert_eq!(describe_unsupported(b"# one\nhello\n"), None);
        assert_eq!(
            describe_unsupported(b"[root@host ~]# ibnetdiscover\n"),
            None,
            "a prompt is no JSON"
        );
    }
}
