//! The files of the page, and all of them as one file. They are written by hand and need no build step.
//!
//! A server sends [`FILES`] as they are; `index.html` is the page, and the others are named by it. [`single_file`] makes one
//! self-contained file of them, which needs no server.

mod base64;
mod sha256;
mod single_file;

pub use single_file::{MOST_NODES, PageInput, single_file};

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// Its name.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

impl PageFile {
    /// Returns its content as text.
    fn text(&self) -> &'static str {
        std::str::from_utf8(self.bytes).expect("the files of the page are text")
    }
}

/// Makes the list of files from their names.
macro_rules! page_files {
    ($($name:literal),* $(,)?) => {
        /// All files of the page, by name.
        pub const FILES: &[PageFile] = &[$(PageFile {
            name: $name,
            media_type: media_type($name),
            bytes: include_bytes!(concat!("../page/", $name)),
        }),*];
    };
}

page_files![
    "app.js",
    "ask-order.js",
    "ask-whatif.js",
    "backend-error.js",
    "backend-http.js",
    "backend-wasm.js",
    "banner.js",
    "camera.js",
    "colours.js",
    "compare-view.js",
    "condition.js",
    "describe.js",
    "dom.js",
    "draw-lines.js",
    "draw-overlay.js",
    "draw-switches.js",
    "format.js",
    "geometry.js",
    "help.js",
    "hint.js",
    "hooks.js",
    "index.html",
    "keyboard.js",
    "legend.js",
    "lines.js",
    "main.js",
    "panel-ask.js",
    "panel-break.js",
    "panel-compare.js",
    "panel-events.js",
    "panel-export.js",
    "panel-part.js",
    "panel.js",
    "picture.js",
    "pointer.js",
    "results.js",
    "scene.js",
    "search.js",
    "store.js",
    "style.css",
    "theme.js",
    "timeline.js",
    "toolbar.js",
    "tooltip.js",
    "tree-view.js",
    "worker.js",
];

/// Returns the text of a file of the page.
fn text_of(name: &str) -> &'static str {
    FILES.iter().find(|file| file.name == name).map(PageFile::text).expect("the page has this file")
}

/// Returns the media type of a file by the last letter of its name.
const fn media_type(name: &str) -> &'static str {
    let name = name.as_bytes();
    match name[name.len() - 1] {
        b'l' => "text/html; charset=utf-8",
        b'g' => "image/svg+xml",
        b's' if name[name.len() - 2] == b's' => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_file_of_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder is there")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        found.sort();
        let listed: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        assert_eq!(listed, found);
    }

    #[test]
    fn media_types_follow_names() {
        for file in FILES {
            let expected = match file.name.rsplit_once('.').expect("a name has an end").1 {
                "html" => "text/html; charset=utf-8",
                "css" => "text/css; charset=utf-8",
                "svg" => "image/svg+xml",
                _ => "text/javascript; charset=utf-8",
            };
            assert_eq!(file.media_type, expected, "{}", file.name);
        }
    }
}
