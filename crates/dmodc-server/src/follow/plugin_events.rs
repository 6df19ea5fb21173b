//! Following the plugin for OpenSM: its event file, a line of JSON for every run with the parts that died or came back, and
//! its status file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use dmodc::fabric::Part;
use dmodc::{CableIndex, Degradation};
use dmodc_view::Setup;
use serde_json::Value;

use super::{guarded, note, words};
use crate::shared::Shared;

/// The format of the lines.
const SCHEMA: &str = "dmodc/opensm-event/1";

/// The format of the status file.
const STATUS_SCHEMA: &str = "dmodc/opensm/1";

/// The most that is read at a time.
const MOST_BYTES: u64 = 64 << 20;

/// How far the file was read.
#[derive(Default)]
struct Place {
    /// The bytes that were read.
    offset: u64,
    /// The beginning of a line whose end is not there yet.
    half: Vec<u8>,
}

/// Reads new lines again and again, until the program ends.
pub(super) fn run(shared: &Shared, path: &Path, status: Option<&Path>, every: Duration) {
    let mut place = Place::default();
    loop {
        let result = new_lines(path, &mut place)
            .and_then(|lines| guarded(|| lines.iter().try_for_each(|line| take(shared, line))));
        if let Some(status) = status {
            note_plugin(shared, plugin_words(status));
        }
        note(shared, result.map_err(|error| format!("{}: {error}", path.display())));
        std::thread::sleep(every);
    }
}

/// Notes how the plugin is doing, and tells pages if that is news.
fn note_plugin(shared: &Shared, words: String) {
    let mut is_news = false;
    if let Some(status) = &mut *shared.follow_status() {
        is_news = status.plugin.as_ref() != Some(&words);
        status.plugin = Some(words);
    }
    if is_news {
        shared.publish_present();
    }
}

/// Returns what the status file of the plugin says, in words.
fn plugin_words(path: &Path) -> String {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return format!("{}: {error}", path.display()),
    };
    let status: Value = match serde_json::from_str(&text) {
        Ok(status) => status,
        Err(error) => return format!("{}: no JSON: {error}", path.display()),
    };
    if status["schema"] != STATUS_SCHEMA {
        return format!("{}: expected the schema '{STATUS_SCHEMA}'", path.display());
    }
    let runs = status["runs"].as_u64().unwrap_or(0);
    let mut words = vec![format!("run {runs}")];
    match (status["ok"].as_bool(), status["error"].as_str()) {
        (Some(false), error) => {
            words.push(format!("the last run failed: {}", error.unwrap_or("no reason given")));
        }
        _ => {
            let verdict = &status["verdict"];
            let valid = if verdict["valid"] == true { "valid" } else { "NOT VALID" };
            words.push(format!(
                "{valid}, {} of {} pairs delivered",
                verdict["delivered"], verdict["pairs"]
            ));
        }
    }
    if let Some(error) = status["config_error"].as_str() {
        words.push(format!("configuration not in use: {error}"));
    }
    let warnings = status["warnings"].as_array().into_iter().flatten();
    words.extend(warnings.filter_map(|warning| warning.as_str().map(str::to_owned)));
    words.join("; ")
}

/// Returns the lines that were added. A file that became shorter is a new one: the plugin renames full files.
fn new_lines(path: &Path, place: &mut Place) -> Result<Vec<String>, String> {
    let words = |error: std::io::Error| error.to_string();
    let mut file = File::open(path).map_err(words)?;
    let length = file.metadata().map_err(words)?.len();
    if length < place.offset {
        *place = Place::default();
    }
    file.seek(SeekFrom::Start(place.offset)).map_err(words)?;
    let mut text = std::mem::take(&mut place.half);
    let read = file.take(MOST_BYTES).read_to_end(&mut text).map_err(words)?;
    place.offset += read as u64;
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    place.half = text.split_off(end);
    if place.half.len() as u64 > MOST_BYTES {
        place.half.clear();
        return Err("a line is too long".into());
    }
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

/// Takes the changes of a line.
fn take(shared: &Shared, line: &str) -> Result<(), String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("no line of JSON: {error}"))?;
    if value["schema"] != SCHEMA {
        return Err(format!("expected lines of the schema '{SCHEMA}'"));
    }
    if value["kind"] != "run" || value["changes"].is_null() {
        return Ok(());
    }
    let (setup, mut faults) = {
        let bench = shared.bench();
        (bench.setup().clone(), bench.router().degradation().clone())
    };
    let changes = &value["changes"];
    let mut unlisted = 0;
    for (word, dead) in [("came_back", false), ("joined", false), ("died", true)] {
        unlisted += apply(&setup, &changes[word], dead, &mut faults);
    }
    shared.follow_faults(&faults).map(drop).map_err(words)?;
    match unlisted {
        0 => Ok(()),
        _ => Err(format!(
            "run {}: {unlisted} changed parts are not listed by name or not part of the fabric",
            value["run"]
        )),
    }
}

/// Marks the parts of a list, and returns how many of them are not known.
fn apply(setup: &Setup, list: &Value, dead: bool, faults: &mut Degradation) -> u64 {
    let mut unknown = 0;
    let empty = vec![];
    let rows = |kind: &str| list[kind]["list"].as_array().unwrap_or(&empty).clone();
    let count = |kind: &str| list[kind]["count"].as_u64().unwrap_or(0);
    for kind in ["switches", "cables", "nodes"] {
        let listed = rows(kind);
        unknown += count(kind).saturating_sub(listed.len() as u64);
        for row in listed {
            let part = match kind {
                "switches" => row["guid"].as_str().and_then(|guid| setup.find_part(guid).ok()),
                "cables" => {
                    let end = &row[0];
                    let name = end["guid"].as_str().map(|guid| format!("{guid}/{}", end["port"]));
                    name.and_then(|name| setup.find_part(&name).ok())
                }
                _ => row["guid"].as_str().and_then(|guid| node_cable(setup, guid)),
            };
            match part {
                Some(part) => faults.set(part, dead),
                None => unknown += 1,
            }
        }
    }
    unknown
}

/// Returns the cable of the node with a GUID.
fn node_cable(setup: &Setup, guid: &str) -> Option<Part> {
    let fabric = setup.fabric();
    let n = fabric.node_indices().find(|&n| fabric.node(n).guid.to_string() == guid)?;
    let cable: CableIndex = fabric.node_cable(n);
    Some(Part::Cable(cable))
}
