//! Mistakes in the plan of a study.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::study::{PLAN, desk};

#[test]
fn errors_of_a_plan_name_the_line() {
    let desk = desk();
    for (from, to, expected) in [
        ("seed = 3", "sed = 3", "plan.toml:3:1: unknown field `sed`"),
        (
            "draws = 3",
            "draws = 0",
            "plan.toml:4:9: draws (the number of random draws) must be from 1 to 10000000",
        ),
        (
            "\"dmodk\"",
            "\"dmodx\"",
            "plan.toml:5:21: there is no engine 'dmodx'; expected dmodc, paper, stable",
        ),
        ("\"dmodk\"", "\"dmodc\"", "plan.toml:5:21: 'dmodc' is listed twice"),
        ("\"sp:4\"", "\"sp:0\"", "plan.toml:6:34: 'sp:0' is not a pattern for a study"),
        (
            "\"sp:4\"",
            "\"all-to-one:n1\"",
            "plan.toml:6:34: 'all-to-one:n1' is not a pattern for a study",
        ),
        ("1,2,2; 1,2,1", "1,2; 1,2,1", "plan.toml:8:8: pgft: "),
        ("file = \"f.topo\"", "preset = \"x\"", "plan.toml:11:10: there is no preset 'x'"),
        (
            "file = \"f.topo\"",
            "",
            "plan.toml:9:1: a fabric needs exactly one of the lines pgft, directors, pods, preset and file",
        ),
        (
            "file = \"f.topo\"",
            "pods = \"reach=9\"",
            "plan.toml:11:8: pods: a core cannot have more cables to a pod",
        ),
        (
            "file = \"f.topo\"",
            "directors = \"leafs=9\"",
            "plan.toml:11:13: directors: 'leafs' is not known; there are leaves, nodes, directors",
        ),
        (
            "file = \"f.topo\"",
            "preset = \"avakas\"\noptional = true",
            "plan.toml:12:12: optional is only for fabrics with a file",
        ),
        ("\"5%\"", "\"5\"", ""),
        (
            "\"5%\"",
            "\"500%\"",
            "plan.toml:13:17: expected a count such as 5, or a percentage from 0% to 100%, not '500%'",
        ),
        ("\"5%\"", "-1", "plan.toml:13:17: "),
        ("name = \"small\"", "name = \"a/b\"", "plan.toml:2:8: 'a/b' cannot be used in file names"),
        (
            "\"small\"",
            "\"shard-0001-of-0002\"",
            "plan.toml:2:8: 'shard-0001-of-0002' would be mistaken for",
        ),
        ("\"rp:5\"", "\"rp:99999999999\"", "plan.toml:6:20: 'rp:99999999999' is not a pattern"),
        ("engines = [\"dmodc\", \"dmodk\", \"random\"]", "engines = []", "the plan has no engine"),
        ("4]", "400]", "fabric '3; 2,2,3; 1,2,2; 1,2,1': cannot remove 400 inter-switch cables"),
        ("f.topo", "g.topo", "plan.toml: fabric 'from a file': g.topo: No such file"),
        ("f.topo", "g.topo", "with the line 'optional = true' the fabric is skipped"),
        ("[[degradation]]", "[[degradation", "plan.toml:12:"),
        ("[[deg", "[[slow]]\ndraws = 2\n[[deg", "plan.toml:12:1: missing field `engines`"),
        (
            "[[deg",
            "[[slow]]\nengines = []\n[[deg",
            "plan.toml:12:1: this [[slow]] table names no engine",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\n[[deg",
            "plan.toml:12:1: a [[slow]] table needs a limit: draws, nodes or both",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\ndraws = 0\n[[deg",
            "plan.toml:14:9: draws (the number of random draws) must be from 1 to 10000000",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\nnodes = 0\n[[deg",
            "plan.toml:14:9: nodes must be at least 1",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"dmodc\"]\nnodes = 9\n[[deg",
            "plan.toml:13:12: 'dmodc' is listed twice",
        ),
        (
            "engines = [\"dmodc\", \"dmodk\", \"random\"]\n",
            "engines = []\nslow = [{ engines = [\"dmodc\"], nodes = 9 }]\n",
            "plan.toml: every fabric has more nodes than the limits of the engines allow",
        ),
    ] {
        desk.write("plan.toml", &PLAN.replacen(from, to, 1));
        if expected.is_empty() {
            desk.code(1, &["study", "status", "plan.toml"]);
            continue;
        }
        let error = desk.error(&["study", "status", "plan.toml"]);
        assert!(error.contains(expected), "{to}: {error}");
    }
    assert!(desk.error(&["study", "run", "none.toml"]).contains("none.toml: No such file"));
    assert!(
        desk.error(&["study", "run", "plan.toml", "--shard", "4/3"])
            .contains("expected a shard such as")
    );
}
