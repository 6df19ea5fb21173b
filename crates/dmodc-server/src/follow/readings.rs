//! Readings of the whole fabric.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use dmodc::fabric::{CableEnds, Peer};
use dmodc::{Degradation, Fabric, Guid, NodeIndex, RoutingOptions, SwitchIndex};
use dmodc_view::Setup;

use super::{Follow, FollowSource, guarded, note, words};
use crate::shared::Shared;

/// The greatest length of a text: larger ones are no fabric.
const MOST_BYTES: u64 = 1 << 30;

/// The most that is kept of what a command complains about.
const MOST_COMPLAINTS: u64 = 1 << 16;

/// How long the output of a command that has ended is waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Returns how long a command may take.
pub(super) fn patience(every: Duration) -> Duration {
    (every * 6).max(Duration::from_secs(60))
}

/// Reads again and again, until the program ends.
pub(super) fn run(shared: &Shared, follow: &Follow) {
    let mut last: Option<Vec<u8>> = None;
    loop {
        let start = Instant::now();
        let result = read(&follow.source, patience(follow.every)).and_then(|text| {
            // The same text is the same fabric.
            if last.as_ref() == Some(&text) {
                return Ok(());
            }
            guarded(|| take(shared, &(follow.reader)(&text)?))?;
            last = Some(text);
            Ok(())
        });
        note(shared, result);
        std::thread::sleep(
            follow.every.saturating_sub(start.elapsed()).max(Duration::from_millis(50)),
        );
    }
}

/// Returns the text of a command or a file.
pub(super) fn read(source: &FollowSource, patience: Duration) -> Result<Vec<u8>, String> {
    match source {
        FollowSource::Command(command) => output_of(command, patience),
        FollowSource::File(path) | FollowSource::Plugin { events: path, .. } => {
            let size = std::fs::metadata(path).map(|file| file.len());
            match size {
                Ok(size) if size > MOST_BYTES => {
                    Err(format!("{}: the file is too large", path.display()))
                }
                _ => std::fs::read(path).map_err(|error| format!("{}: {error}", path.display())),
            }
        }
    }
}

/// Runs a command, and returns what it prints.
fn output_of(command: &str, patience: Duration) -> Result<Vec<u8>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("'{command}': {error}");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(&error))?;
    let text = read_all(child.stdout.take(), MOST_BYTES);
    let complaints = read_all(child.stderr.take(), MOST_COMPLAINTS);
    let start = Instant::now();
    let left = || patience.saturating_sub(start.elapsed());
    let too_long = || failed(&format!("it did not end within {} seconds", patience.as_secs()));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if left().is_zero() => {
                end(&mut child);
                return Err(too_long());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(failed(&error)),
        }
    };
    if !status.success() {
        let complaints = complaints.recv_timeout(LAST_WORDS).unwrap_or(Ok(vec![]));
        let complaints = complaints.unwrap_or_default();
        let complaints = String::from_utf8_lossy(&complaints);
        let last = complaints.lines().last().unwrap_or("").trim();
        let about = if last.is_empty() { String::new() } else { format!(": {last}") };
        return Err(failed(&format!("it ended with {status}{about}")));
    }
    // Somebody whom the command left behind may keep its output open.
    match text.recv_timeout(left().max(LAST_WORDS)) {
        Ok(text) => text.map_err(|error| failed(&error)),
        Err(_) => {
            end(&mut child);
            Err(too_long())
        }
    }
}

/// Reads a pipe to its end on a thread of its own, and returns where its first bytes arrive. The rest is read, too, because
/// a program whose output nobody reads does not go on.
fn read_all<R: Read + Send + 'static>(
    pipe: Option<R>,
    most: u64,
) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = vec![];
        let read = pipe.map(|mut pipe| {
            pipe.by_ref().take(most).read_to_end(&mut bytes)?;
            io::copy(&mut pipe, &mut io::sink())
        });
        // Nobody may wait for it any more.
        let _ = sender.send(read.transpose().map(|_| bytes));
    });
    receiver
}

/// Ends a command that takes too long, with everything that it started: they are one process group.
fn end(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// Takes a reading: makes its faults those of the workbench, or puts the grown fabric on it.
fn take(shared: &Shared, present: &Fabric) -> Result<(), String> {
    let (fabric, title) = {
        let bench = shared.bench();
        (bench.fabric().clone(), bench.setup().title().to_owned())
    };
    let known: usize = {
        let guids: std::collections::HashSet<Guid> =
            fabric.switches().iter().map(|switch| switch.guid).collect();
        present.switches().iter().filter(|switch| guids.contains(&switch.guid)).count()
    };
    if known == 0 {
        return Err("the reading has no switch of the fabric that is followed".into());
    }
    let changed = match absent_parts(&fabric, present) {
        Some(faults) => shared.follow_faults(&faults),
        None => {
            let options = RoutingOptions::default();
            let setup = Setup::joined(title, &fabric, present, &options)
                .map_err(|problem| problem.to_string())?;
            shared.replace(setup)
        }
    };
    changed.map(drop).map_err(words)
}

/// Returns the parts of a fabric that are absent from a reading; `None` if the reading has parts that the fabric does not
/// have: new or moved ones. Parts are matched by GUID and port. O(#ports).
fn absent_parts(fabric: &Fabric, present: &Fabric) -> Option<Degradation> {
    let mut faults = Degradation::none(fabric);
    let here: HashMap<Guid, SwitchIndex> =
        present.switch_indices().map(|s| (present.switch(s).guid, s)).collect();
    let there: HashMap<Guid, SwitchIndex> =
        fabric.switch_indices().map(|s| (fabric.switch(s).guid, s)).collect();
    if here.keys().any(|guid| !there.contains_key(guid)) {
        return None;
    }
    for (guid, &s) in &there {
        if !here.contains_key(guid) {
            faults.set_switch(s, true);
        }
    }
    // What is in a port, by GUIDs that both fabrics share.
    let end = |of: &Fabric, s: SwitchIndex, p| match of.port(s, p).map(|port| port.peer) {
        Some(Peer::Switch(t, q)) => Some((of.switch(t).guid, q)),
        Some(Peer::Node(n)) => Some((of.node(n).guid, of.node(n).adapter_port)),
        _ => None,
    };
    for (&guid, &s) in &here {
        let own = there[&guid];
        for number in 1..=present.switch(s).ports {
            let p = dmodc::PortNumber(number);
            if let Some(found) = end(present, s, p)
                && end(fabric, own, p) != Some(found)
            {
                return None;
            }
        }
    }
    for c in (0..fabric.cable_count()).map(dmodc::CableIndex::new) {
        let (s, p) = match fabric.cable(c) {
            CableEnds::Switches(cable) => cable.a,
            CableEnds::Node(n) => switch_port(fabric, n),
        };
        // A cable of an absent switch is not there either, but it is the switch that has failed.
        let other = match fabric.cable(c) {
            CableEnds::Switches(cable) => Some(cable.b.0),
            CableEnds::Node(_) => None,
        };
        let is_here = |s: SwitchIndex| here.get(&fabric.switch(s).guid).copied();
        let (Some(now), true) = (is_here(s), other.is_none_or(|t| is_here(t).is_some())) else {
            continue;
        };
        faults.set_cable(c, end(present, now, p).is_none());
    }
    Some(faults)
}

fn switch_port(fabric: &Fabric, n: NodeIndex) -> (SwitchIndex, dmodc::PortNumber) {
    (fabric.node(n).switch, fabric.node(n).switch_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Draw, Pgft};

    #[test]
    fn faults_are_found_in_a_reading() {
        let fabric =
            "3; 4,4,4; 1,2,2; 1,2,1".parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        for seed in 0..20 {
            let draw = Draw {
                cables: "5%".parse().expect("an amount"),
                switches: "2".parse().expect("an amount"),
                any_cable: true,
                any_switch: seed % 2 == 0,
                seed,
            };
            let mut faults = draw.degradation(&fabric).expect("a draw");
            let found = absent_parts(&fabric, &fabric.without(&faults)).expect("nothing is new");
            // Nobody can see whether a cable of an absent switch has failed, too.
            for c in (0..fabric.cable_count()).map(dmodc::CableIndex::new) {
                let ends = match fabric.cable(c) {
                    CableEnds::Switches(cable) => vec![cable.a.0, cable.b.0],
                    CableEnds::Node(n) => vec![fabric.node(n).switch],
                };
                if ends.iter().any(|&s| faults.switch_is_dead(s)) {
                    faults.set_cable(c, false);
                }
            }
            assert_eq!(found, faults, "seed {seed}");
        }
    }

    #[test]
    fn new_parts_are_noticed() {
        let whole = "2; 4,4; 1,2; 1,1".parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        let mut less = Degradation::none(&whole);
        less.set_switch(SwitchIndex::new(whole.switches().len() - 1), true);
        assert!(absent_parts(&whole.without(&less), &whole).is_none());
    }

    #[test]
    fn commands_that_fail_say_why() {
        let read = |command: &str| output_of(command, Duration::from_millis(300));
        assert_eq!(read("printf abc"), Ok(b"abc".to_vec()));
        let error = read("echo no such adapter >&2; exit 3").unwrap_err();
        assert!(error.contains("exit status: 3") && error.contains("no such adapter"), "{error}");
        let error = read("sleep 60").unwrap_err();
        assert!(error.contains("did not end"), "{error}");
    }
}
