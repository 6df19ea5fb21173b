//! A small study, shared by the tests of `dmodc study`.

use super::Desk;

pub(crate) const PLAN: &str = r#"
name = "small"
seed = 3
draws = 3
engines = ["dmodc", "dmodk", "random"]
patterns = ["a2a", "rp:5", "sp", "sp:4", "bisection:2"]
[[fabric]]
pgft = "3; 2,2,3; 1,2,2; 1,2,1"
[[fabric]]
name = "from a file"
file = "f.topo"
[[degradation]]
cables = ["0%", "5%", 4]
switches = [0, 1]
"#;

/// Returns the plan with two engines that take part only in some cells: the first fabric has 12 nodes, the second 16.
pub(crate) fn with_slow_engines() -> String {
    let slow = "[[slow]]\nengines = [\"random\"]\ndraws = 2\nnodes = 12\n\
                [[slow]]\nengines = [\"dmodk\"]\ndraws = 1\n[[degradation]]";
    PLAN.replace(", \"dmodk\", \"random\"", "").replace("[[degradation]]", slow)
}

/// The number of cells of the plan: for each fabric a healthy one, and three trials of each of five degradations.
pub(crate) const CELLS: usize = 2 * (1 + 5 * 3);

/// Returns a desk with the plan and its fabric.
pub(crate) fn desk() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 4,4; 1,2; 1,2", "-o", "f.topo"]);
    desk.write("plan.toml", PLAN);
    desk
}

/// Returns the rows of a table, each as its values by column.
pub(crate) fn table(csv: &str) -> Vec<std::collections::HashMap<String, String>> {
    // The only field with commas is the first fabric's name, which is quoted.
    let mut lines = csv.lines().map(|line| line.replace("\"3; 2,2,3; 1,2,2; 1,2,1\"", "figure 1"));
    let header: Vec<String> = lines.next().unwrap().split(',').map(Into::into).collect();
    let row = |line: String| header.iter().cloned().zip(line.split(',').map(Into::into)).collect();
    lines.map(row).collect()
}
