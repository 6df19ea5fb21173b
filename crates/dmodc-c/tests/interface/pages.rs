//! The pages of the book about the C library.

use std::fs;

use crate::header::{functions, types_and_constants};
use crate::workshop::folder;

#[test]
fn the_reference_has_every_name_of_the_header() {
    let page = fs::read_to_string(folder().join("../../docs/src/reference/c.md")).unwrap();
    for name in functions().into_iter().chain(types_and_constants()) {
        assert!(page.contains(&format!("`{name}`")), "reference/c.md does not have {name}");
    }
}
