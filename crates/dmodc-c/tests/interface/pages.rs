//! The pages of the book about the C library.

use std::fs;

use crate::header::{functions, types_and_constants};
use crate::workshop::{Program, Recipe, STRICT, folder, has};

#[test]
fn the_reference_has_every_name_of_the_header() {
    let page = fs::read_to_string(folder().join("../../docs/src/reference/c.md")).unwrap();
    for name in functions().into_iter().chain(types_and_constants()) {
        assert!(page.contains(&format!("`{name}`")), "reference/c.md does not have {name}");
    }
}

/// The output of the example stands in the guide as it is.
#[test]
fn the_guide_shows_what_the_example_prints() {
    let test = "the_guide_shows_what_the_example_prints";
    if !has("cc", test) {
        return;
    }
    let page = fs::read_to_string(folder().join("../../docs/src/howto/embed-c.md")).unwrap();
    let recipe = Recipe { compiler: "cc", options: &STRICT, libraries: &["-ldmodc-engine"] };
    let printed = Program::with("examples/reroute.c", "guide", recipe).run(&[]);
    let shown: String = printed.lines().map(|line| format!("   {line}\n")).collect();
    assert!(page.contains(&format!("   $ ./reroute\n{shown}   ```\n")), "{printed}");
}
