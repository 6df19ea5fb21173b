//! JSON Schema (draft 2020-12), as far as the files in `docs/src/reference/schemas` use it. A keyword that is not implemented
//! here is an error, so that no rule is silently ignored. (A complete validator would bring 49 more crates, half as many again
//! as the whole project has.)
//!
//! The validator also notes which keys occur, so that a test can find descriptions of keys that no command prints any more.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use serde_json::{Map, Value};

/// All schema files, and the keys that occurred in the documents so far.
pub(crate) struct Schemas {
    files: BTreeMap<String, Value>,
    uses: BTreeMap<KeyPlace, KeyUse>,
    patterns: Patterns,
}

/// A key in a schema: the file, and the place in it, such as `/$defs/loop/properties/hops`.
pub(crate) type KeyPlace = (String, String);

/// How a key was used in the documents so far.
#[derive(Clone, Copy, Default)]
struct KeyUse {
    /// Whether it had a value other than null.
    has_value: bool,
    /// Whether it was absent where it is allowed.
    is_absent: bool,
}

/// Compiled regular expressions.
#[derive(Default)]
struct Patterns(RefCell<HashMap<String, Regex>>);

/// Keywords that say nothing about documents.
const ANNOTATIONS: [&str; 5] = ["$schema", "$id", "title", "description", "$defs"];

/// The keywords whose values are schemas by key.
const BY_KEY: [&str; 2] = ["properties", "patternProperties"];

/// Returns the folder of the schema files; `manifest` is the folder of any crate.
pub(crate) fn folder(manifest: &str) -> PathBuf {
    Path::new(manifest).join("../../docs/src/reference/schemas")
}

/// Returns the name of the file for the value of a document's key `schema`: `check-2.json` for `dmodc/check/2`.
pub(crate) fn file_name(schema: &str) -> Option<String> {
    let (kind, version) = schema.strip_prefix("dmodc/")?.split_once('/')?;
    Some(format!("{kind}-{version}.json"))
}

impl Schemas {
    /// Reads all files of a folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).expect("the folder of the schemas is there") {
            let path = entry.expect("it can be listed").path();
            let text = fs::read_to_string(&path).expect("it can be read");
            let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
            let schema: Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            files.insert(name, schema);
        }
        Schemas { files, uses: BTreeMap::new(), patterns: Patterns::default() }
    }

    /// Returns the names of all files.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Compares a document with the schema that it names. Returns everything that is wrong.
    pub(crate) fn check(&mut self, document: &Value) -> Vec<String> {
        let Some(schema) = document["schema"].as_str() else {
            return vec!["the document has no key `schema`".into()];
        };
        let name = file_name(schema).unwrap_or_default();
        let Some(root) = self.files.get(&name) else {
            return vec![format!("there is no schema file for {schema}")];
        };
        let mut comparison = Comparison::new(root, &self.patterns);
        comparison.compare(root, "", document);
        for (path, found) in comparison.uses {
            self.uses.entry((name.clone(), path)).or_default().add(found);
        }
        comparison.errors
    }

    /// Returns the keys of these files that never had a value, and those that are not required and were never absent.
    pub(crate) fn untested(
        &self,
        is_meant: impl Fn(&str) -> bool,
    ) -> Vec<(KeyPlace, &'static str)> {
        let mut untested = vec![];
        for (name, root) in self.files.iter().filter(|(name, _)| is_meant(name)) {
            each_schema(root, "", &mut |path, schema| {
                for keyword in BY_KEY {
                    for key in keys(schema, keyword) {
                        let place = (name.clone(), format!("{path}/{keyword}/{key}"));
                        let found = self.uses.get(&place).copied().unwrap_or_default();
                        let is_required = required(schema).any(|required| required == key);
                        if !found.has_value {
                            untested.push((place, "it never has a value"));
                        } else if keyword == "properties" && !is_required && !found.is_absent {
                            untested.push((place, "it is never absent, but not required"));
                        }
                    }
                }
            });
        }
        untested
    }

    /// Returns what breaks the rules for schema files: every key has a description, and every object is closed.
    pub(crate) fn broken_rules(&self) -> Vec<String> {
        let mut broken = vec![];
        for (name, root) in &self.files {
            let mut note = |path: &str, what: &str| broken.push(format!("{name}#{path}: {what}"));
            if root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
                note("", "$schema is not that of draft 2020-12");
            }
            if root["$id"] != name.as_str() {
                note("", "$id is not the name of the file");
            }
            if !root["title"].is_string() || !root["description"].is_string() {
                note("", "there is no title or no description");
            }
            each_schema(root, "", &mut |path, schema| {
                let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
                if schema.contains_key("properties") && !is_closed {
                    note(path, "additionalProperties is not false");
                }
                for required in required(schema) {
                    if !keys(schema, "properties").any(|key| key == required) {
                        note(path, &format!("{required} is required and not described"));
                    }
                }
                for keyword in BY_KEY {
                    for key in keys(schema, keyword) {
                        let text = schema[keyword][key]["description"].as_str().unwrap_or("");
                        if !text.ends_with('.') {
                            note(path, &format!("{key} has no description that is a sentence"));
                        }
                    }
                }
            });
        }
        broken
    }
}

/// Compares a document with the schema at a place of another document, whose references are places in the same. Returns
/// everything that is wrong.
#[allow(dead_code, reason = "the description of the API has its schemas inside")]
pub(crate) fn check_at(root: &Value, place: &str, document: &Value) -> Vec<String> {
    let patterns = Patterns::default();
    let mut comparison = Comparison::new(root, &patterns);
    let schema = root.pointer(place).unwrap_or_else(|| panic!("{place} is missing"));
    comparison.compare(schema, place, document);
    comparison.errors
}

impl KeyUse {
    fn add(&mut self, other: KeyUse) {
        self.has_value |= other.has_value;
        self.is_absent |= other.is_absent;
    }
}

impl Patterns {
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut known = self.0.borrow_mut();
        if !known.contains_key(pattern) {
            let compiled = Regex::new(pattern).expect("it is a regular expression");
            known.insert(pattern.into(), compiled);
        }
        known[pattern].is_match(text)
    }
}

/// Returns the keys of a keyword's value.
fn keys<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a str> {
    let map = schema.get(keyword).and_then(Value::as_object);
    map.into_iter().flat_map(|map| map.keys().map(String::as_str))
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let list = schema.get("required").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// Calls a function with every schema of a file, and the way to it.
fn each_schema<'a>(
    schema: &'a Value,
    path: &str,
    visit: &mut dyn FnMut(&str, &'a Map<String, Value>),
) {
    let Some(map) = schema.as_object() else { return };
    visit(path, map);
    for keyword in ["properties", "patternProperties", "$defs"] {
        for key in keys(map, keyword) {
            each_schema(&map[keyword][key], &format!("{path}/{keyword}/{key}"), visit);
        }
    }
    for keyword in ["items", "additionalProperties", "propertyNames"] {
        if let Some(inner) = map.get(keyword) {
            each_schema(inner, &format!("{path}/{keyword}"), visit);
        }
    }
    let several = map.get("oneOf").and_then(Value::as_array);
    for (at, inner) in several.into_iter().flatten().enumerate() {
        each_schema(inner, &format!("{path}/oneOf/{at}"), visit);
    }
}

/// A comparison of a document with a schema.
struct Comparison<'a> {
    root: &'a Value,
    patterns: &'a Patterns,
    errors: Vec<String>,
    /// The keys that occurred, by their place in the schema.
    uses: BTreeMap<String, KeyUse>,
}

impl<'a> Comparison<'a> {
    fn new(root: &'a Value, patterns: &'a Patterns) -> Self {
        Comparison { root, patterns, errors: vec![], uses: BTreeMap::new() }
    }

    /// Compares a value with the schema at `path`.
    fn compare(&mut self, schema: &'a Value, path: &str, value: &Value) {
        let schema = schema.as_object().unwrap_or_else(|| panic!("{path}: it is no schema"));
        for (keyword, wanted) in schema {
            if !self.keyword(schema, (keyword, wanted), path, value) {
                let error = format!("{path}: {keyword} is {wanted}, and the value is {value}");
                self.errors.push(error);
            }
        }
    }

    /// Compares a value with one keyword of a schema. Returns whether the keyword itself allows the value; what is wrong
    /// inside the value is noted.
    fn keyword(
        &mut self,
        schema: &'a Map<String, Value>,
        (keyword, wanted): (&str, &'a Value),
        path: &str,
        value: &Value,
    ) -> bool {
        let count = value.as_array().map(|list| list.len() as u64);
        match keyword {
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|wanted| has_type(value, wanted)),
                one => has_type(value, one),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().expect("it is a list").contains(value),
            "minimum" => value.as_f64().is_none_or(|number| Some(number) >= wanted.as_f64()),
            "maximum" => value.as_f64().is_none_or(|number| Some(number) <= wanted.as_f64()),
            "minLength" => value
                .as_str()
                .is_none_or(|text| Some(text.chars().count() as u64) >= wanted.as_u64()),
            "minItems" => count.is_none_or(|count| Some(count) >= wanted.as_u64()),
            "maxItems" => count.is_none_or(|count| Some(count) <= wanted.as_u64()),
            "pattern" => {
                let pattern = wanted.as_str().expect("it is a text");
                value.as_str().is_none_or(|text| self.patterns.matches(pattern, text))
            }
            "$ref" => {
                let target = wanted.as_str().and_then(|target| target.strip_prefix('#'));
                let target = target.expect("it is a place in the same file");
                let inner = self.root.pointer(target);
                self.compare(inner.unwrap_or_else(|| panic!("{target} is missing")), target, value);
                true
            }
            "oneOf" => {
                self.one_of(wanted.as_array().expect("it is a list"), path, value);
                true
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    self.compare(wanted, &format!("{path}/items"), item);
                }
                true
            }
            "propertyNames" => {
                for key in value.as_object().into_iter().flat_map(Map::keys) {
                    self.compare(wanted, &format!("{path}/propertyNames"), &key.as_str().into());
                }
                true
            }
            // Every object has this keyword, so the others that belong to it need not be looked at again.
            "additionalProperties" => {
                self.object(schema, path, value);
                true
            }
            "properties" | "patternProperties" | "required" => {
                assert!(schema.contains_key("additionalProperties"), "{path} is not closed");
                true
            }
            annotation if ANNOTATIONS.contains(&annotation) => true,
            unknown => panic!("{path}: the keyword {unknown} is not implemented in this validator"),
        }
    }

    /// Compares a value with several schemas, of which exactly one must match.
    fn one_of(&mut self, schemas: &'a [Value], path: &str, value: &Value) {
        let mut matching = 0;
        let mut nearest: Option<Vec<String>> = None;
        for (at, schema) in schemas.iter().enumerate() {
            let mut one = Comparison::new(self.root, self.patterns);
            one.compare(schema, &format!("{path}/oneOf/{at}"), value);
            if one.errors.is_empty() {
                matching += 1;
                for (key, found) in one.uses {
                    self.uses.entry(key).or_default().add(found);
                }
            } else if nearest.as_ref().is_none_or(|errors| one.errors.len() < errors.len()) {
                nearest = Some(one.errors);
            }
        }
        match matching {
            0 => self.errors.extend(nearest.unwrap_or_default()),
            1 => {}
            several => self.errors.push(format!("{path}: {several} schemas match instead of one")),
        }
    }

    /// Compares the keys of an object with the described ones.
    fn object(&mut self, schema: &'a Map<String, Value>, path: &str, value: &Value) {
        let Some(object) = value.as_object() else { return };
        for key in required(schema).filter(|key| !object.contains_key(*key)) {
            self.errors.push(format!("{path}: {key} is missing"));
        }
        for key in keys(schema, "properties") {
            let has_value = object.get(key).is_some_and(|value| !value.is_null());
            let is_absent = !object.contains_key(key);
            let place = format!("{path}/properties/{key}");
            self.uses.entry(place).or_default().add(KeyUse { has_value, is_absent });
        }
        for (key, value) in object {
            let mut is_described = false;
            if let Some(inner) = schema.get("properties").and_then(|all| all.get(key)) {
                is_described = true;
                self.compare(inner, &format!("{path}/properties/{key}"), value);
            }
            for pattern in keys(schema, "patternProperties") {
                if self.patterns.matches(pattern, key) {
                    is_described = true;
                    let place = format!("{path}/patternProperties/{pattern}");
                    let found = KeyUse { has_value: !value.is_null(), is_absent: false };
                    self.uses.entry(place.clone()).or_default().add(found);
                    self.compare(&schema["patternProperties"][pattern], &place, value);
                }
            }
            match &schema["additionalProperties"] {
                _ if is_described => {}
                Value::Bool(false) => self.errors.push(format!("{path}: {key} is not described")),
                inner => self.compare(inner, &format!("{path}/additionalProperties"), value),
            }
        }
    }
}

fn has_type(value: &Value, wanted: &Value) -> bool {
    match wanted.as_str().expect("it is the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("there is no type {unknown}"),
    }
}
