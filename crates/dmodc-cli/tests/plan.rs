//! `dmodc plan` and `check --union`, as users and their scripts meet them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::collections::BTreeMap;

use desk::Desk;

/// A fabric with its tables, and the same routed again without some cables, with the same orders.
fn degraded() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "3; 6,6,6; 1,3,3; 1,1,1", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft", "--save-orders", "orders"]);
    desk.ok(&["degrade", "f.topo", "--cables", "10%", "--seed", "3", "-o", "g.topo"]);
    desk.ok(&["route", "g.topo", "-o", "g.lft", "--orders", "orders"]);
    desk
}

/// Switch and LID to port.
fn entries(dump: &str) -> BTreeMap<(String, u32), u8> {
    let mut entries = BTreeMap::new();
    let mut switch = String::new();
    for line in dump.lines() {
        if let Some((_, guid)) = line.split_once(" guid ") {
            guid[..18].clone_into(&mut switch);
        } else if let Some(row) = line.strip_prefix("0x") {
            let lid = u32::from_str_radix(&row[..4], 16).unwrap();
            entries.insert((switch.clone(), lid), row[5..8].parse().unwrap());
        }
    }
    entries
}

#[test]
fn a_plan_ends_in_the_new_tables_and_says_what_it_takes() {
    let desk = degraded();
    let args = ["plan", "g.topo", "f.lft", "g.lft", "-o", "g.plan"];
    let text = desk.ok(&args);
    let plan = desk.json(0, &[&args[..], &["--json"]].concat());
    assert_eq!((&plan["schema"], &plan["safe"]), (&"dmodc/plan/1".into(), &true.into()));
    let diff = desk.json(1, &["diff", "g.topo", "f.lft", "g.lft", "--json"]);
    for key in ["entries", "blocks", "switches"] {
        assert_eq!(plan[key], diff[key], "{key}");
    }
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let rounds = plan["rounds"].as_array().unwrap();
    assert!(rounds.len() > 1, "{plan}");
    for (key, of) in [("entries", "entries"), ("blocks", "writes")] {
        assert_eq!(rounds.iter().map(|r| number(&r[key])).sum::<u64>(), number(&plan[of]));
    }
    assert_eq!(plan["pairs"]["new"], plan["pairs"]["of"]);
    assert!(number(&plan["pairs"]["old"]) < number(&plan["pairs"]["of"]));
    assert_eq!(
        (&plan["pairs"]["given_up"], &plan["old_loop_destinations"]),
        (&0.into(), &0.into())
    );

    let first = format!("{} rounds, {} block writes, ", rounds.len(), plan["writes"]);
    assert!(text.starts_with(&first), "{text}");
    for part in ["\n  round 1: ", "\n  round 2: ", " change; ", "\nverdict: safe ("] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    // The file, carried out line by line, makes new tables of old ones.
    let (mut now, new) = (entries(&desk.read("f.lft")), entries(&desk.read("g.lft")));
    let file = desk.read("g.plan");
    let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len() as u64, number(&plan["writes"]));
    let (mut last, mut written) = (1, 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (round, block): (usize, u32) = (words[0].parse().unwrap(), words[2].parse().unwrap());
        assert!(round == last || round == last + 1, "rounds follow each other: {line}");
        last = round;
        for word in &words[3..] {
            let (lid, port) = word.split_once(':').unwrap();
            let lid = u32::from_str_radix(lid.trim_start_matches("0x"), 16).unwrap();
            assert_eq!(lid / 64, block);
            let key = (words[1].to_owned(), lid);
            match port.parse().unwrap() {
                255 => assert!(now.remove(&key).is_some()),
                port => assert_ne!(now.insert(key, port), Some(port)),
            }
            written += 1;
        }
    }
    assert_eq!((last, written), (rounds.len(), number(&plan["entries"])));
    assert!(now == new);

    // More rounds never take more writes.
    let more = [&args[..4], &["--rounds", "5", "--json"]].concat();
    assert!(number(&desk.json(0, &more)["writes"]) <= number(&plan["writes"]));
}

#[test]
fn the_same_tables_need_nothing_and_dash_is_standard_output() {
    let desk = degraded();
    let text = desk.ok(&["plan", "f.topo", "f.lft", "f.lft"]);
    assert!(text.starts_with("nothing to write: the tables are the same ("), "{text}");
    let plan = desk.json(0, &["plan", "f.topo", "f.lft", "f.lft", "--json"]);
    assert_eq!((&plan["rounds"], &plan["writes"]), (&serde_json::json!([]), &0.into()));
    let output = desk.run(&["plan", "g.topo", "f.lft", "g.lft", "-o", "-"]);
    let (out, err) = (desk::text(&output.stdout), desk::text(&output.stderr));
    assert!(out.starts_with("# dmodc plan, format 1: "), "{out}");
    assert!(err.ends_with("are delivered during the whole update)\n"), "{err}");
    let both = ["plan", "g.topo", "f.lft", "g.lft", "-o", "-", "--json"];
    assert!(desk.error(&both).contains("cannot both go to standard output"));
}

#[test]
fn tables_that_cannot_follow_each_other_are_refused() {
    let desk = degraded();
    assert!(
        desk.error(&["plan", "f.topo", "f.lft", "f.topo"]).contains("this file describes a fabric")
    );
    assert!(desk.error(&["plan", "f.topo", "absent", "f.lft"]).contains("absent"));
    assert!(desk.error(&["plan", "f.topo", "f.lft"]).contains("NEW"));
    desk.write("noise", "nothing\n");
    assert!(
        desk.error(&["plan", "f.topo", "f.lft", "noise"])
            .contains("the file has no forwarding table")
    );
    let new = desk.read("g.lft");
    desk.write("other.lft", &new.replace(" guid 0x02d0dc", " guid 0x0bad00"));
    let error = desk.error(&["plan", "f.topo", "f.lft", "other.lft"]);
    assert!(
        error.contains("other.lft: these tables belong to another fabric")
            && error.contains("0x0bad00"),
        "{error}"
    );
    // Half a file: the other half would be emptied. As old tables it is what is known.
    let (half, _) = new.match_indices("Unicast").nth(30).unwrap();
    desk.write("half.lft", &new[..half]);
    let error = desk.error(&["plan", "g.topo", "f.lft", "half.lft"]);
    assert!(error.contains("half.lft: the new tables are incomplete: 33 switches of the fabric have none, such as 'L"), "{error}");
    let text = desk.ok(&["plan", "g.topo", "half.lft", "g.lft"]);
    assert!(
        text.contains("half.lft: no table for ") && text.contains("\nverdict: safe ("),
        "{text}"
    );
    // A node has got another LID since.
    desk.write("lids.lft", &new.replace("\n0x0005 ", "\n0x7005 "));
    let error = desk.error(&["plan", "g.topo", "f.lft", "lids.lft"]);
    assert!(error.contains("has LID 5 in f.lft and LID 28677 in lids.lft"), "{error}");
    assert_eq!(desk.files().iter().filter(|name| name.ends_with("plan")).count(), 0);
}

/// Two leaves that swap their ways to a third: in between they send to each other.
fn swapping() -> Desk {
    let desk = Desk::new();
    let mut text = String::new();
    for (at, peers) in [(1, [2, 3]), (2, [1, 3]), (3, [1, 2])] {
        text += &format!(
            "switchguid=0x{at}({at})\nSwitch\t4 \"S-{at:016x}\" # \"s{at}\" base port 0 lid {at} lmc 0\n"
        );
        for (port, peer) in peers.iter().enumerate() {
            let back = if at < *peer { at } else { at - 1 };
            text += &format!(
                "[{}]\t\"S-{peer:016x}\"[{back}] # \"s{peer}\" lid {peer} 4xNDR\n",
                port + 1
            );
        }
        let (node, lid) = (at + 16, at + 10);
        text += &format!("[3]\t\"H-{node:016x}\"[1](1{at}) # \"n{at}\" lid {lid} 4xNDR\n\n");
    }
    for at in 1..=3 {
        let (node, lid) = (at + 16, at + 10);
        text += &format!(
            "caguid=0x{node:x}\nCa\t1 \"H-{node:016x}\" # \"n{at}\"\n[1](1{at})\t\"S-{at:016x}\"[3] # lid {lid} lmc 0 \"s{at}\" lid {at} 4xNDR\n\n"
        );
    }
    desk.write("f.topo", &text);
    // Port towards LID 13 at the first two switches.
    let tables = |first: u8, second: u8| {
        let rows = [[3, 1, first], [1, 3, second], [1, 2, 3]];
        let mut text = String::new();
        for (at, row) in (1..).zip(rows) {
            text +=
                &format!("Unicast lids [0x0-0xd] of switch Lid {at} guid 0x{at:016x} ('s{at}'):\n");
            for (lid, port) in (11..).zip(row) {
                text += &format!("0x{lid:04x} {port:03}\n");
            }
        }
        text
    };
    desk.write("over-1.lft", &tables(2, 1));
    desk.write("over-2.lft", &tables(1, 2));
    desk.write("loop.lft", &tables(1, 1));
    desk
}

#[test]
fn a_mixture_that_can_loop_is_reported_and_planned_around() {
    let desk = swapping();
    desk.ok(&["check", "f.topo", "over-1.lft"]);
    desk.ok(&["check", "f.topo", "over-2.lft"]);
    let text = desk.code(1, &["check", "f.topo", "over-1.lft", "over-2.lft", "--union"]);
    let expected =
        "LOOP possible while tables are replaced: packets to 1 destination, such as 'n3' (";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains(") port 1 (old table)\n") && text.contains(") port 1 (new table)\n"),
        "{text}"
    );
    let union = ["check", "f.topo", "over-1.lft", "over-2.lft", "--union", "--json"];
    let check = desk.json(1, &union);
    assert_eq!((&check["loop_destinations"], &check["loop"]["to_name"]), (&1.into(), &"n3".into()));
    assert_eq!(check["loop"]["hops"].as_array().unwrap().len(), 2);
    assert!(check["loops"].as_u64().unwrap() > 0 && check["everything"]["loop"].is_object());
    let sound = desk.json(0, &["check", "f.topo", "over-1.lft", "--json"]);
    assert_eq!(
        (&sound["loop_destinations"], &sound["loop"]),
        (&0.into(), &serde_json::Value::Null)
    );

    let plan = desk.json(0, &["plan", "f.topo", "over-1.lft", "over-2.lft", "--json"]);
    assert_eq!((plan["rounds"].as_array().unwrap().len(), &plan["writes"]), (2, &2.into()));

    // New tables that loop: no order is safe. Old ones that loop are reported.
    let text = desk.code(1, &["plan", "f.topo", "over-1.lft", "loop.lft", "-o", "no.plan"]);
    assert!(text.starts_with("the new tables loop for 1 destination, such as 'n3' ("), "{text}");
    assert!(
        text.contains("\nverdict: NO SAFE ORDER (hint: ")
            && !desk.files().contains(&"no.plan".into())
    );
    let plan = desk.json(1, &["plan", "f.topo", "over-1.lft", "loop.lft", "--json"]);
    assert_eq!((&plan["safe"], &plan["new_loop"]["lid"]), (&false.into(), &13.into()));
    assert_eq!(plan["new_loop"]["switches"].as_array().unwrap().len(), 2);
    let text = desk.ok(&["plan", "f.topo", "loop.lft", "over-1.lft"]);
    assert!(text.contains("the old tables loop for 1 destination; the plan ends"), "{text}");
    let text = desk.code(1, &["check", "f.topo", "loop.lft"]);
    assert!(text.contains("LOOP found: packets to 1 destination, such as 'n3' ("), "{text}");
}
