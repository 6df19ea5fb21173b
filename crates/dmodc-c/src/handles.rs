//! Objects by number.
//!
//! C has no way to say how long an object lives. A pointer that was freed, or never given, would be undefined behaviour here; a
//! number that is not in the list is an error with a message. Numbers are never used twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use dmodc::Fabric;

use crate::builder::Builder;
use crate::delta::ExactDelta;
use crate::error::{DmodcStatus, Failure};
use crate::plan::Plan;
use crate::session::Session;
use crate::settings::Settings;

/// Something that C holds by number.
#[derive(Clone)]
pub(crate) enum Object {
    Builder(Arc<Mutex<Builder>>),
    Fabric(Arc<Fabric>),
    Settings(Arc<Mutex<Settings>>),
    Router(Arc<RwLock<Session>>),
    Delta(Arc<ExactDelta>),
    Plan(Arc<Plan>),
}

impl Object {
    fn kind(&self) -> &'static str {
        match self {
            Object::Builder(_) => "a builder",
            Object::Fabric(_) => "a fabric",
            Object::Settings(_) => "settings",
            Object::Router(_) => "a router",
            Object::Delta(_) => "a delta",
            Object::Plan(_) => "a plan",
        }
    }
}

/// All objects.
struct Objects {
    last: u64,
    by_number: BTreeMap<u64, Object>,
}

/// Numbers begin here, so that small numbers that a program may have by mistake are never objects.
const FIRST: u64 = 0xd0dc_0000_0000;

fn objects() -> MutexGuard<'static, Objects> {
    static OBJECTS: OnceLock<Mutex<Objects>> = OnceLock::new();
    let objects =
        OBJECTS.get_or_init(|| Mutex::new(Objects { last: FIRST, by_number: BTreeMap::new() }));
    // The list is consistent at every moment, so a panic elsewhere does not matter.
    objects.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives an object a number.
pub(crate) fn add(object: Object) -> u64 {
    let mut objects = objects();
    objects.last += 1;
    let number = objects.last;
    objects.by_number.insert(number, object);
    number
}

/// Forgets an object. Functions that use it in other threads end as usual.
pub(crate) fn remove(number: u64) -> Result<Object, Failure> {
    objects().by_number.remove(&number).ok_or_else(|| unknown(number))
}

/// Returns the number of objects that are not released.
pub(crate) fn count() -> usize {
    objects().by_number.len()
}

fn get(number: u64) -> Result<Object, Failure> {
    objects().by_number.get(&number).cloned().ok_or_else(|| unknown(number))
}

fn unknown(number: u64) -> Failure {
    let message = format!("{number:#x} is no object of this library, or it is released");
    Failure::new(DmodcStatus::BadHandle, message)
}

fn other(number: u64, object: &Object, wanted: &str) -> Failure {
    let message = format!("{number:#x} is {}, but {wanted} is needed here", object.kind());
    Failure::new(DmodcStatus::BadHandle, message)
}

pub(crate) fn builder(number: u64) -> Result<Arc<Mutex<Builder>>, Failure> {
    match get(number)? {
        Object::Builder(builder) => Ok(builder),
        object => Err(other(number, &object, "a builder")),
    }
}

pub(crate) fn fabric(number: u64) -> Result<Arc<Fabric>, Failure> {
    match get(number)? {
        Object::Fabric(fabric) => Ok(fabric),
        object => Err(other(number, &object, "a fabric")),
    }
}

pub(crate) fn settings(number: u64) -> Result<Arc<Mutex<Settings>>, Failure> {
    match get(number)? {
        Object::Settings(settings) => Ok(settings),
        object => Err(other(number, &object, "an object with settings")),
    }
}

pub(crate) fn router(number: u64) -> Result<Arc<RwLock<Session>>, Failure> {
    match get(number)? {
        Object::Router(router) => Ok(router),
        object => Err(other(number, &object, "a router")),
    }
}

pub(crate) fn delta(number: u64) -> Result<Arc<ExactDelta>, Failure> {
    match get(number)? {
        Object::Delta(delta) => Ok(delta),
        object => Err(other(number, &object, "a delta")),
    }
}

pub(crate) fn plan(number: u64) -> Result<Arc<Plan>, Failure> {
    match get(number)? {
        Object::Plan(plan) => Ok(plan),
        object => Err(other(number, &object, "a plan")),
    }
}

/// Returns what a lock protects. A panic while it was held leaves a builder or settings as they were.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
