//! The file itself.

use std::fs;

use serde_json::Value;

use crate::desk::Desk;

/// Returns what is embedded in a page.
fn embedded(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"embedded\">";
    let at = page.find(start).unwrap() + start.len();
    let end = page[at..].find("</script>").unwrap();
    serde_json::from_str(&page[at..at + end]).unwrap()
}

#[test]
fn the_page_of_a_file_has_its_fabric() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "paper-figure-1", "-o", "f.topo"]);
    let said = desk.ok(&["page", "f.topo", "-o", "f.html", "--engine", "stable", "--fail", "L2-1"]);
    assert!(said.starts_with("f.html: 12 nodes, 16 switches, 36 inter-switch cables; "), "{said}");
    let page = desk.read("f.html");
    let open = &embedded(&page)["open"];
    assert_eq!(open["title"], "f.topo");
    assert_eq!(open["engine"], "stable");
    assert_eq!(open["failed"], serde_json::json!(["L2-1"]));
    assert_eq!(open["leaves"], serde_json::json!({}));
    // The fabric inside is the fabric of the file.
    desk.write("inside.json", open["fabric"].as_str().unwrap());
    let again = desk.ok(&["convert", "inside.json", "--format", "ibnetdiscover"]);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(lines(&again), lines(&desk.read("f.topo")));
    // Standard output gets the same page.
    let printed = desk.ok(&["page", "f.topo", "--engine", "stable", "--fail", "L2-1"]);
    assert!(printed == page, "the same bytes");
}

#[test]
fn rules_for_leaves_are_kept() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "paper-figure-1", "-o", "f.topo"]);
    let leaves = |options: &[&str]| {
        let page = desk.ok(&[&["page", "f.topo"], options].concat());
        embedded(&page)["open"]["leaves"].clone()
    };
    assert_eq!(leaves(&["--leaf-min-nodes", "2"]), serde_json::json!({"at_least": 2}));
    let named = leaves(&["--leaf-name", "^L1-"]);
    assert_eq!(named["leaves"].as_array().unwrap().len(), 6, "{named}");
}

#[test]
fn what_a_page_could_not_show_is_refused() {
    let desk = Desk::new();
    let line = desk.error(&["page", "--preset", "quantum2-max", "-o", "p.html"]);
    assert!(line.contains("65,536 nodes") && line.contains("12,000 nodes"), "{line}");
    assert!(line.contains("dmodc serve"), "{line}");
    let line =
        desk.error(&["page", "--preset", "paper-figure-1", "--fail", "L9-9", "-o", "p.html"]);
    assert!(line.contains("L9-9"), "{line}");
    desk.ok(&["generate", "preset", "paper-figure-1", "-o", "f.topo"]);
    desk.ok(&["degrade", "f.topo", "--cables", "3", "-o", "cut.topo"]);
    let line = desk.error(&["page", "cut.topo", "--engine", "dmodk", "-o", "p.html"]);
    assert!(line.contains("dmodk"), "{line}");
    let line = desk.error(&["page", "--preset", "nothing", "-o", "p.html"]);
    assert!(line.contains("no preset 'nothing'"), "{line}");
    assert!(!desk.path("p.html").exists());
    assert!(fs::read_dir(desk.folder.path()).unwrap().count() == 2);
}
