//! Adapters and the hosts that they belong to.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

/// Slurm's files list hosts alone, and say what they cannot list.
#[test]
fn adapters_without_a_host_are_left_out_of_slurm_and_reported() {
    let desk = Desk::new();
    desk.figure_1();
    let named = desk.read("f.topo");
    let model = "\"MT4129 ConnectX7   Mellanox Technologies\"";
    let text = named.replace("\"node-3\"", model).replace("\"node-4\"", model);
    desk.write("f.topo", &text.replace("\"node-11\"", "\"localhost HCA-6\""));
    for format in ["slurm-conf", "slurm-yaml"] {
        let output = desk.run(&["convert", "f.topo", "--format", format]);
        let (out, err) = (desk::text(&output.stdout), desk::text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(!out.contains("MT4129") && !out.contains("localhost"), "{out}");
        assert!(
            out.contains("node-2") && out.contains("node-5") && out.contains("node-10"),
            "{out}"
        );
        let said = "dmodc: 3 nodes without a host name in the description are left out of the topology of Slurm, such as 'MT4129";
        assert!(err.starts_with(said), "{err}");
    }
    desk.write("f.topo", &named);
    let output = desk.run(&["convert", "f.topo", "--format", "slurm-conf"]);
    assert_eq!(desk::text(&output.stderr), "", "nothing is left out of a fabric of named hosts");
}

/// Adapters without the name of a host are hosts of their own, in `info` and `analyze` alike.
#[test]
fn adapters_of_one_model_are_no_host() {
    let desk = Desk::new();
    desk.figure_1();
    let model = "\"MT4129 ConnectX7   Mellanox Technologies\"";
    let mut text = desk.read("f.topo");
    for node in 0..4 {
        text = text.replace(&format!("\"node-{node}\""), model);
    }
    desk.write("g.topo", &text);
    let info = desk.json(0, &["info", "g.topo", "--json"]);
    assert_eq!(info["hosts_by_nodes"], serde_json::json!({"1": 12}));
    let args = ["analyze", "g.topo", "f.lft", "--patterns", "rp:10", "--html", "p.html", "--json"];
    let found = desk.json(0, &args);
    assert_eq!(found["rp"]["hosts"]["count"], 12);
    let page = desk.read("p.html");
    let named = |guid: &str| page.contains(&format!("<small>{guid} · LID "));
    assert!(named("0x02d0dc0100000001"), "switches have their GUIDs");
    assert_eq!(page.matches("Mellanox Technologies</span> <small>0x").count(), 4);
}
