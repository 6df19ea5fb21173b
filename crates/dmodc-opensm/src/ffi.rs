//! The border between OpenSM and Rust: all unsafe code of this crate. Panics end here.
//!
//! OpenSM calls one function after the other, with its lock held, so nothing here runs twice at once. The lock of
//! `Context` proves that to the compiler; nobody ever waits for it.
#![expect(unsafe_code, reason = "OpenSM is written in C")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use dmodc::{Fabric, Guid};

use crate::config::{Config, ConfigPath};
use crate::files::DeadlineWorker;
use crate::opensm_options::OpensmOptions;
use crate::plugin::{FIRST_PATIENCE, Plugin};
use crate::shim_records::{FabricCollector, ShimCable, ShimDevice, ShimEndPort};
use crate::subnet_manager::{Log, LogLevel, SubnetManager, TableChange, panic_line};
use crate::timeline::Timeline;

/// OpenSM itself: only the shim looks inside.
#[repr(C)]
struct OpenSm {
    _private: [u8; 0],
}

// The structures and functions that follow mirror shim.h.

#[repr(C)]
struct ShimSink {
    sink: *mut c_void,
    device: unsafe extern "C" fn(*mut c_void, *const ShimDevice),
    end_port: unsafe extern "C" fn(*mut c_void, *const ShimEndPort),
    cable: unsafe extern "C" fn(*mut c_void, *const ShimCable),
}

#[repr(C)]
#[derive(Default)]
struct ShimWritten {
    entries: u32,
    blocks: u32,
}

#[repr(C)]
struct ShimOptions {
    port: u64,
    roots: *const c_char,
    connect_roots: u8,
    hop_weights: u8,
    ignored: [c_char; 512],
}

unsafe extern "C" {
    static dmodc_osm_version: c_char;
    fn dmodc_layout_is_right(osm: *const OpenSm) -> c_int;
    fn dmodc_register(osm: *mut OpenSm, context: *mut c_void) -> c_int;
    fn dmodc_log(osm: *mut OpenSm, level: u8, text: *const c_char);
    fn dmodc_log_is_active(osm: *const OpenSm, level: u8) -> c_int;
    fn dmodc_options(osm: *const OpenSm, options: *mut ShimOptions);
    fn dmodc_collect(osm: *mut OpenSm, sink: *const ShimSink);
    fn dmodc_write(
        osm: *mut OpenSm,
        guid: u64,
        entries: *const u8,
        count: u32,
        written: *mut ShimWritten,
    ) -> c_int;
    fn dmodc_set_hops(
        osm: *mut OpenSm,
        guid: u64,
        lids: *const u16,
        count: u32,
        hops: *const u8,
        ports: u32,
    ) -> c_int;
    fn dmodc_empty(osm: *mut OpenSm);
    fn dmodc_time_engine(osm: *mut OpenSm);
}

/// `osm_event_plugin_t`: the one symbol that OpenSM looks for.
#[repr(C)]
struct EventPlugin {
    version: *const c_char,
    create: unsafe extern "C" fn(*mut OpenSm) -> *mut c_void,
    delete: unsafe extern "C" fn(*mut c_void),
    report: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void),
}

// SAFETY: nothing in it ever changes.
unsafe impl Sync for EventPlugin {}

#[unsafe(no_mangle)]
static osm_event_plugin: EventPlugin =
    EventPlugin { version: &raw const dmodc_osm_version, create, delete, report };

/// The plugin, as OpenSM hands it back with every call.
struct Context {
    opensm: LoadedOpenSm,
    /// The log for other threads; it ends before OpenSM does.
    logger: Arc<Logger>,
    plugin: Mutex<Plugin>,
    /// The file that `DMODC_EVENTS` names, to which events are written for measurements.
    timeline: Option<Mutex<Timeline>>,
}

/// OpenSM's log, for the threads of the plugin. OpenSM lets several threads write; the lock here makes sure that none
/// writes after `delete`, when OpenSM may be gone.
struct Logger(Mutex<*mut OpenSm>);

// SAFETY: the pointer is used for `dmodc_log` alone, which any thread may call, and only under the lock.
unsafe impl Send for Logger {}
// SAFETY: as above.
unsafe impl Sync for Logger {}

impl Logger {
    fn log(&self, level: LogLevel, line: &str) {
        let osm = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !osm.is_null() {
            log(*osm, level, line);
        }
    }

    /// Ends the log: later lines are dropped.
    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = std::ptr::null_mut();
    }
}

/// Writes a line into the log of an OpenSM that is alive.
fn log(osm: *mut OpenSm, level: LogLevel, line: &str) {
    // The levels of osm_log.h.
    let level = match level {
        LogLevel::Error => 0x01,
        LogLevel::Info => 0x02,
        LogLevel::Verbose => 0x04,
    };
    let line = line.replace('\0', "?");
    // SAFETY: all callers have an OpenSM that lives; it copies the text.
    unsafe {
        if dmodc_log_is_active(osm, level) != 0
            && let Ok(line) = CString::new(line)
        {
            dmodc_log(osm, level, line.as_ptr());
        }
    }
}

/// OpenSM, as the safe part of the plugin uses it.
struct LoadedOpenSm {
    osm: *mut OpenSm,
    /// The LMC of switches with several LIDs in the fabric that was read last.
    switch_lmc: HashMap<Guid, u8>,
}

impl LoadedOpenSm {
    fn new(osm: *mut OpenSm) -> Self {
        LoadedOpenSm { osm, switch_lmc: HashMap::new() }
    }
}

impl SubnetManager for LoadedOpenSm {
    fn switch_lmc(&self) -> HashMap<Guid, u8> {
        self.switch_lmc.clone()
    }

    fn options(&self) -> OpensmOptions {
        // SAFETY: a structure of numbers and a pointer that may be null.
        let mut options: ShimOptions = unsafe { std::mem::zeroed() };
        // SAFETY: OpenSM lives as long as its plugin and holds its lock during a run.
        unsafe { dmodc_options(self.osm, &raw mut options) };
        // SAFETY: the shim gives a text that OpenSM keeps during a run, or null.
        let roots = (!options.roots.is_null()).then(|| unsafe { CStr::from_ptr(options.roots) });
        // SAFETY: the shim ends the text within the array.
        let ignored = unsafe { CStr::from_ptr(options.ignored.as_ptr()) };
        OpensmOptions {
            port: Guid(options.port),
            roots: roots.map(|path| OsStr::from_bytes(path.to_bytes()).into()),
            connect_roots: options.connect_roots != 0,
            hop_weights: options.hop_weights != 0,
            ignored: ignored.to_string_lossy().split_whitespace().map(String::from).collect(),
        }
    }

    fn fabric(&mut self) -> Fabric {
        let mut collector = FabricCollector::default();
        let sink = ShimSink {
            sink: (&raw mut collector).cast(),
            device: on_device,
            end_port: on_end_port,
            cable: on_cable,
        };
        // SAFETY: OpenSM lives as long as its plugin and holds its lock during a run; the sink is used
        // before this returns.
        unsafe { dmodc_collect(self.osm, &raw const sink) };
        self.switch_lmc = collector.switch_lmc;
        let (fabric, inconsistencies) = collector.builder.finish_sound();
        for inconsistency in inconsistencies.iter().take(10) {
            self.log(
                LogLevel::Error,
                format_args!("a part of the fabric is left out: {}", inconsistency.problem),
            );
        }
        fabric
    }

    fn write(&mut self, switch: Guid, entries: &[u8]) -> Result<TableChange, String> {
        let mut written = ShimWritten::default();
        let count = entries.len() as u32;
        // SAFETY: as above; the shim reads `count` entries and checks that the switch has room for them.
        let done =
            unsafe { dmodc_write(self.osm, switch.0, entries.as_ptr(), count, &raw mut written) };
        match done {
            0 => Ok(TableChange { entries: written.entries, blocks: written.blocks }),
            _ => Err(format!(
                "the table of switch {switch} in OpenSM has no room for {count} entries"
            )),
        }
    }

    fn set_hops(&mut self, switch: Guid, lids: &[u16], hops: &[u8]) -> Result<(), String> {
        let ports = hops.len() / lids.len().max(1);
        assert_eq!(ports * lids.len(), hops.len(), "an entry for each port of each switch");
        let (count, ports) = (lids.len() as u32, ports as u32);
        // SAFETY: as above; the shim reads `count` LIDs and `count` times `ports` entries, and checks that
        // the switch has room for them.
        let done = unsafe {
            dmodc_set_hops(self.osm, switch.0, lids.as_ptr(), count, hops.as_ptr(), ports)
        };
        match done {
            0 => Ok(()),
            _ => Err(format!(
                "the hop table of switch {switch} in OpenSM has no room for {count} switches"
            )),
        }
    }

    fn log(&self, level: LogLevel, line: fmt::Arguments<'_>) {
        log(self.osm, level, &line.to_string());
    }
}

/// Runs a callback of the shim. A panic must not reach C: the record is lost then, and the builder of the fabric reports
/// whatever does not fit without it.
fn collect(sink: *mut c_void, work: impl FnOnce(&mut FabricCollector)) {
    // SAFETY: `fabric` alone hands out these callbacks, with a collector that outlives them.
    let collector = unsafe { &mut *sink.cast::<FabricCollector>() };
    let _ = catch_unwind(AssertUnwindSafe(|| work(collector)));
}

unsafe extern "C" fn on_device(sink: *mut c_void, device: *const ShimDevice) {
    // SAFETY: the shim gives a device and a name that live during the call.
    let (device, name) = unsafe { (&*device, CStr::from_ptr((*device).name)) };
    collect(sink, |collector| collector.device(device, &name.to_string_lossy()));
}

unsafe extern "C" fn on_end_port(sink: *mut c_void, port: *const ShimEndPort) {
    // SAFETY: the shim gives a port that lives during the call.
    let port = unsafe { &*port };
    collect(sink, |collector| collector.end_port(port));
}

unsafe extern "C" fn on_cable(sink: *mut c_void, cable: *const ShimCable) {
    // SAFETY: the shim gives a cable that lives during the call.
    let cable = unsafe { &*cable };
    collect(sink, |collector| collector.cable(cable));
}

/// Registers the engine when OpenSM has loaded the plugin. Returns null if the plugin refuses to be used.
unsafe extern "C" fn create(osm: *mut OpenSm) -> *mut c_void {
    let made = catch_unwind(|| {
        let opensm = LoadedOpenSm::new(osm);
        // SAFETY: OpenSM gives itself; only two pointers of it are compared.
        if unsafe { dmodc_layout_is_right(osm) } == 0 {
            // With another layout, the log may be in another place, too.
            eprintln!(
                "dmodc: the plugin is not loaded, because OpenSM was built with other options than the headers of the plugin; build the plugin again for this OpenSM"
            );
            return std::ptr::null_mut();
        }
        let config_path = ConfigPath::from_environment();
        log_loaded(&opensm, &config_path);
        let timeline = open_timeline(&opensm).map(Mutex::new);
        let logger = Arc::new(Logger(Mutex::new(osm)));
        let to_log: Log = {
            let logger = logger.clone();
            Arc::new(move |level, line: &str| logger.log(level, line))
        };
        let plugin = Mutex::new(Plugin::new(config_path, to_log));
        let context = Context { opensm, logger, plugin, timeline };
        let context = Box::into_raw(Box::new(context)).cast::<c_void>();
        // SAFETY: OpenSM gives itself, and keeps the context until `delete`.
        if unsafe { dmodc_register(osm, context) } != 0 {
            log(
                osm,
                LogLevel::Error,
                "OpenSM refused the routing engine dmodc, so it is not available",
            );
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(context.cast::<Context>()) });
            return std::ptr::null_mut();
        }
        TIMED_CONTEXT.store(context.cast(), std::sync::atomic::Ordering::Release);
        context
    });
    made.unwrap_or(std::ptr::null_mut())
}

/// Logs that the plugin is loaded, and whether its configuration can be read.
fn log_loaded(opensm: &LoadedOpenSm, config_path: &ConfigPath) {
    let path = config_path.clone();
    let read = DeadlineWorker::new().ask(FIRST_PATIENCE, |_| true, move || Config::read(&path));
    let (level, config_error) = match read.and_then(|read| read) {
        Ok(_) => (LogLevel::Info, String::new()),
        Err(error) => {
            let line =
                format!("; until this error is corrected, dmodc computes no tables: {error}");
            (LogLevel::Error, line)
        }
    };
    let (version, path) = (env!("CARGO_PKG_VERSION"), config_path.path.display());
    opensm.log(
        level,
        format_args!("version {version} loaded; configuration file {path}{config_error}"),
    );
}

/// Opens the timeline, if the environment names one.
fn open_timeline(opensm: &LoadedOpenSm) -> Option<Timeline> {
    let path = std::path::PathBuf::from(std::env::var_os("DMODC_EVENTS")?);
    match Timeline::open(&path) {
        Ok(timeline) => Some(timeline),
        Err(error) => {
            let path = path.display();
            let line = format_args!("{path}: {error}; no events are written there (DMODC_EVENTS)");
            opensm.log(LogLevel::Error, line);
            None
        }
    }
}

/// Ends the plugin, because OpenSM ends.
unsafe extern "C" fn delete(context: *mut c_void) {
    TIMED_CONTEXT.store(std::ptr::null_mut(), std::sync::atomic::Ordering::Release);
    // SAFETY: it is what `create` made, and OpenSM does not call again.
    let context = unsafe { Box::from_raw(context.cast::<Context>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        context.plugin.lock().unwrap_or_else(PoisonError::into_inner).end();
    }));
    context.logger.end();
    let _ = catch_unwind(AssertUnwindSafe(|| drop(context)));
}

/// Calls the plugin. A panic becomes an error, and an error is one line for the log.
fn with_plugin<T>(
    context: &Context,
    work: impl FnOnce(&mut Plugin, &mut LoadedOpenSm) -> Result<T, String>,
) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut plugin = match context.plugin.try_lock() {
            Ok(plugin) => plugin,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                let mut plugin = poisoned.into_inner();
                plugin.forget();
                context.plugin.clear_poison();
                plugin
            }
            Err(std::sync::TryLockError::WouldBlock) => {
                return Err("another routing run is not finished yet".into());
            }
        };
        work(&mut plugin, &mut LoadedOpenSm::new(context.opensm.osm))
    }));
    done.unwrap_or_else(|panic| Err(panic_line(panic.as_ref())))
}

/// `build_lid_matrices`: returns 0 if the hop tables are filled, or 1 to have OpenSM compute them.
#[unsafe(no_mangle)]
unsafe extern "C" fn dmodc_hops(context: *mut c_void) -> c_int {
    // SAFETY: it is what `create` made; OpenSM deletes it last.
    let context = unsafe { &*context.cast::<Context>() };
    match with_plugin(context, Plugin::hop_tables) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let line = format_args!("hop tables: {error}; OpenSM computes them instead");
            context.opensm.log(LogLevel::Error, line);
            1
        }
    }
}

/// `ucast_build_fwd_tables`: returns 0 if all tables are written. Otherwise all are emptied, and −1 makes OpenSM go on with
/// the next engine.
#[unsafe(no_mangle)]
unsafe extern "C" fn dmodc_route(context: *mut c_void) -> c_int {
    // SAFETY: it is what `create` made; OpenSM deletes it last.
    let context = unsafe { &*context.cast::<Context>() };
    let Err(error) = with_plugin(context, Plugin::run) else { return 0 };
    // SAFETY: OpenSM holds its lock during a run.
    unsafe { dmodc_empty(context.opensm.osm) };
    let line = format_args!(
        "{error}; no tables from dmodc, OpenSM continues with the next routing engine"
    );
    context.opensm.log(LogLevel::Error, line);
    -1
}

/// The context whose timeline is written. The shim's timing has no context of its own.
static TIMED_CONTEXT: std::sync::atomic::AtomicPtr<Context> =
    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());

/// The events of osm_event_plugin.h that are written to the timeline.
mod event {
    pub(super) const SUBNET_UP: i32 = 4;
    pub(super) const HEAVY_SWEEP_START: i32 = 5;
    pub(super) const HEAVY_SWEEP_DONE: i32 = 6;
    pub(super) const UCAST_ROUTING_DONE: i32 = 7;
}

/// Notes an event that OpenSM reports.
unsafe extern "C" fn report(context: *mut c_void, event: c_int, _data: *mut c_void) {
    // SAFETY: it is what `create` made; OpenSM deletes it last.
    let context = unsafe { &*context.cast::<Context>() };
    let Some(timeline) = &context.timeline else { return };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let mut timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            event::HEAVY_SWEEP_START => {
                // SAFETY: OpenSM is between two runs.
                unsafe { dmodc_time_engine(context.opensm.osm) };
                timeline.add(format_args!("sweep"));
            }
            event::UCAST_ROUTING_DONE => timeline.add(format_args!("routed")),
            event::HEAVY_SWEEP_DONE => timeline.add(format_args!("swept")),
            event::SUBNET_UP => timeline.add(format_args!("up")),
            _ => {}
        }
    }));
}

/// Notes how long a stage of an engine took.
#[unsafe(no_mangle)]
unsafe extern "C" fn dmodc_timed(
    engine: *const c_char,
    stage: *const c_char,
    nanoseconds: u64,
    cpu_nanoseconds: u64,
) {
    // SAFETY: it is set while the context is there.
    let context = unsafe { TIMED_CONTEXT.load(std::sync::atomic::Ordering::Acquire).as_ref() };
    let Some(timeline) = context.and_then(|context| context.timeline.as_ref()) else { return };
    // SAFETY: the shim gives names that live during the call.
    let (engine, stage) = unsafe { (CStr::from_ptr(engine), CStr::from_ptr(stage)) };
    let (engine, stage) = (engine.to_string_lossy(), stage.to_string_lossy());
    let mut timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
    let (wall, cpu) = (nanoseconds as f64 / 1e6, cpu_nanoseconds as f64 / 1e6);
    timeline.add(format_args!("{stage} {engine} {wall:.3} {cpu:.3}"));
}
