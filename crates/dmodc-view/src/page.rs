//! The files of the page, and all of them as one file. They are written by hand and need no build step.
//!
//! A server sends [`FILES`] as they are; `index.html` is the page, and the others are named by it. [`single_file`] makes one
//! self-contained file of them, which needs no server.

mod base64;
mod sha256;
mod single_file;

pub use single_file::{PageInput, single_file};

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// Its name, without a folder.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

impl PageFile {
    /// Returns its media type, as HTTP names it.
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            _ => "text/plain; charset=utf-8",
        }
    }
}

macro_rules! files {
    ($($name:literal)*) => {
        &[$(PageFile { name: $name, text: include_str!(concat!("../page/", $name)) }),*]
    };
}

/// All files of the page, sorted by name.
pub const FILES: &[PageFile] = files! {
    "app.js"
    "ask-order.js"
    "ask-whatif.js"
    "backend-error.js"
    "backend-http.js"
    "backend-wasm.js"
    "banner.js"
    "camera.js"
    "colours.js"
    "compare-view.js"
    "condition.js"
    "describe.js"
    "dom.js"
    "draw-lines.js"
    "draw-overlay.js"
    "draw-switches.js"
    "format.js"
    "geometry.js"
    "help.js"
    "hint.js"
    "hooks.js"
    "index.html"
    "keyboard.js"
    "legend.js"
    "lines.js"
    "main.js"
    "panel-ask.js"
    "panel-break.js"
    "panel-compare.js"
    "panel-events.js"
    "panel-export.js"
    "panel-part.js"
    "panel.js"
    "picture.js"
    "pointer.js"
    "results.js"
    "scene.js"
    "search.js"
    "store.js"
    "style.css"
    "theme.js"
    "timeline.js"
    "toolbar.js"
    "tooltip.js"
    "tree-view.js"
    "worker.js"
};

/// Returns the file of a name, if there is one.
pub fn file(name: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_list_has_all_files_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        let listed: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        assert_eq!(listed, names, "crates/dmodc-view/src/page.rs lists the files of the folder");
    }

    #[test]
    fn every_file_has_a_media_type_and_can_be_found() {
        for one in FILES {
            assert_ne!(one.media_type(), "text/plain; charset=utf-8", "{}", one.name);
            assert_eq!(file(one.name), Some(one));
        }
        assert_eq!(file("../index.html"), None);
    }
}
