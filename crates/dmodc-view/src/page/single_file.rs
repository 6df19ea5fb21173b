//! The page as one file, with the engine and a fabric inside it.
//!
//! A browser loads no module from a file next to a page that was opened from a disk. So the modules become `data:` addresses,
//! and an import map gives them names. The engine is a WebAssembly module in base64, which a worker runs from a blob.
//!
//! A content security policy allows just these scripts and styles, and no connection to anywhere. They carry a number that
//! the policy names; modules inherit it from the script that imports them. The number is a digest of everything in the file,
//! so no text that somebody puts into a fabric can contain it.

use serde_json::{Map, Value, json};

use super::base64::encode;
use super::sha256::digest;
use super::{FILES, PageFile, text_of};
use crate::engines::PageEngine;
use crate::leaf_words::LeafWords;

/// The greatest number of nodes of a fabric for which one file is made. A browser has one thread for everything: with 11,664
/// nodes a change takes a tenth of a second, but judging takes one or two seconds, and trying all single faults minutes.
pub const MOST_NODES: usize = 12_000;

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    /// The engine: the WebAssembly module that `scripts/wasm` builds.
    pub wasm: &'a [u8],
    /// The text of the file of the fabric, in any format that is read.
    pub fabric_text: &'a str,
    /// What people call the fabric.
    pub title: &'a str,
    /// The engine that routes at first.
    pub engine: PageEngine,
    /// Parts that have failed at first.
    pub failed: &'a [String],
    /// Which switches are leaves; `None` if they are detected.
    pub leaves: Option<&'a LeafWords>,
}

/// Returns one self-contained HTML file.
pub fn single_file(input: &PageInput<'_>) -> String {
    let page = text_of("index.html");
    let embedded = embedded(input);
    let files: String = FILES.iter().map(PageFile::text).collect();
    let nonce = encode(&digest((files + &embedded).as_bytes()));
    let map = json!({ "imports": modules() }).to_string();
    let head = format!(
        "<style nonce=\"{nonce}\">\n{}</style>\n\
         <script type=\"importmap\" nonce=\"{nonce}\">{map}</script>\n\
         <script type=\"module\" nonce=\"{nonce}\">import \"{PREFIX}main.js\";</script>",
        text_of("style.css")
    );
    let page = replace_once(page, "<link rel=\"stylesheet\" href=\"./style.css\">\n", "");
    let page = replace_once(&page, "<script type=\"module\" src=\"./main.js\"></script>", &head);
    let title = format!("<title>{} – Dmodc</title>", escaped(input.title));
    let page = replace_once(&page, "<title>Dmodc</title>", &title);
    let charset = "<meta charset=\"utf-8\">";
    let policy = format!(
        "{charset}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">",
        policy(&nonce)
    );
    let page = replace_once(&page, charset, &policy);
    let data =
        format!("<script type=\"application/json\" id=\"embedded\">{embedded}</script>\n</body>");
    replace_once(&page, "</body>", &data)
}

/// The names of modules begin with this: a name that is no path means the import map.
const PREFIX: &str = "dmodc/";

/// The worker is no module of the page: it is started from its source.
const WORKER: &str = "worker.js";

/// Returns what the page reads when it starts, as JSON that can be inside a script element.
fn embedded(input: &PageInput<'_>) -> String {
    let data = json!({
        "wasm": encode(input.wasm),
        "worker": text_of(WORKER),
        "open": {
            "title": input.title,
            "fabric": input.fabric_text,
            "engine": input.engine,
            "failed": input.failed,
            "leaves": input.leaves.cloned().unwrap_or_default(),
        },
    });
    // The letter is only in strings. Without it, no text can end the element.
    data.to_string().replace('<', "\\u003c")
}

/// Returns the address of every module by its name.
fn modules() -> Map<String, Value> {
    let modules = FILES.iter().filter(|file| is_module(file));
    let address = |file: &PageFile| {
        format!(
            "data:text/javascript;charset=utf-8;base64,{}",
            encode(renamed(file.text()).as_bytes())
        )
    };
    modules.map(|file| (format!("{PREFIX}{}", file.name), json!(address(file)))).collect()
}

fn is_module(file: &PageFile) -> bool {
    file.name.ends_with(".js") && file.name != WORKER
}

/// Returns the text of a module in which other modules have the names of the import map.
fn renamed(text: &str) -> String {
    let names = FILES.iter().filter(|file| is_module(file)).map(|file| file.name);
    names.fold(text.to_owned(), |text, name| {
        text.replace(&format!("\"./{name}\""), &format!("\"{PREFIX}{name}\""))
    })
}

/// Returns the content security policy.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'wasm-unsafe-eval'; worker-src blob:; style-src 'nonce-{nonce}'; \
         img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
}

/// Returns a text that can be inside HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn replace_once(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "index.html has this line once: {old}");
    text.replacen(old, new, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: PageInput<'_> = PageInput {
        wasm: b"\0asm",
        fabric_text: "a </script><script>alert(1)</script> & \"quote\"",
        title: "<b>\"x\" & y</b>",
        engine: PageEngine::Stable,
        failed: &[],
        leaves: None,
    };

    /// Returns the text between two marks.
    fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
        let at = text.find(start).unwrap() + start.len();
        &text[at..at + text[at..].find(end).unwrap()]
    }

    #[test]
    fn the_embedded_data_are_what_was_given() {
        let page = single_file(&INPUT);
        let data = between(&page, "id=\"embedded\">", "</script>");
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["wasm"], "AGFzbQ==");
        assert_eq!(data["worker"], text_of("worker.js"));
        let open = &data["open"];
        assert_eq!(open["fabric"], INPUT.fabric_text);
        assert_eq!(open["title"], INPUT.title);
        assert_eq!(open["engine"], "stable");
    }

    #[test]
    fn no_text_becomes_markup() {
        let page = single_file(&INPUT);
        assert_eq!(page.matches("</script>").count(), 3, "map, start and data");
        assert!(page.contains("<title>&lt;b&gt;&quot;x&quot; &amp; y&lt;/b&gt; – Dmodc</title>"));
        assert!(!page.contains("<b>\"x\""));
    }

    #[test]
    fn every_import_has_a_module_and_nothing_is_loaded_from_elsewhere() {
        let modules = modules();
        assert!(modules.contains_key("dmodc/main.js") && !modules.contains_key("dmodc/worker.js"));
        for file in FILES.iter().filter(|file| is_module(file)) {
            let text = renamed(file.text());
            assert!(
                !text.contains("\"./") && !text.contains("'./"),
                "{}: a path is left",
                file.name
            );
            let statements = text.lines().filter(|line| line.starts_with("import "));
            for line in statements {
                let name = between(line, "\"", "\"");
                assert!(modules.contains_key(name), "{}: {line}", file.name);
            }
        }
        let page = single_file(&INPUT);
        assert!(!page.contains(" src="), "no script of another file");
        assert!(!page.contains("href=\"./"), "no style of another file");
        assert!(!text_of("style.css").contains("</style"), "the style does not end early");
    }

    #[test]
    fn the_nonce_depends_on_everything() {
        let nonce = |input: &PageInput<'_>| {
            let page = single_file(input);
            let nonce = between(&page, "script-src 'nonce-", "'").to_owned();
            assert_eq!(page.matches(&nonce).count(), 5, "the policy twice, style, map and start");
            nonce
        };
        let all = [
            nonce(&INPUT),
            nonce(&PageInput { wasm: b"\0asn", ..INPUT }),
            nonce(&PageInput { title: "other", ..INPUT }),
            nonce(&PageInput { fabric_text: "other", ..INPUT }),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one));
        }
        assert_eq!(nonce(&INPUT), all[0], "the same page has the same number");
    }
}
