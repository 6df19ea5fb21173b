//! The machine and this process, as Linux reports them.

use std::fs;

use serde_json::{Value, json};

/// Returns the processor, the compiler and this version, for records.
pub fn description() -> Value {
    let cpu = fs::read_to_string("/proc/cpuinfo").ok();
    let cpu = cpu.as_deref().and_then(|text| field(text, "model name"));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    json!({
        "cpu": cpu.unwrap_or("unknown"),
        "cores": cores,
        "kernel": dmodc::Kernel::best().name(),
        "rustc": env!("DMODC_RUSTC"),
        "version": env!("CARGO_PKG_VERSION"),
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    })
}

/// Returns the resident memory of this process in bytes; `None` if the system does not report it.
pub fn resident() -> Option<u64> {
    kibibytes("/proc/self/status", "VmRSS")
}

/// Returns the peak of the resident memory since the last [`forget_peak`], in bytes.
pub fn peak() -> Option<u64> {
    kibibytes("/proc/self/status", "VmHWM")
}

/// Lets [`peak`] start again from the present memory. Returns whether that was possible.
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Returns the memory that is available without swapping, in bytes.
pub fn available() -> Option<u64> {
    kibibytes("/proc/meminfo", "MemAvailable")
}

fn kibibytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let number = field(&text, name)?.split_whitespace().next()?;
    number.parse::<u64>().ok().map(|n| n * 1024)
}

/// Returns the text after `name` and a colon, in the first line that has them.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "VmHWMx:\t1 kB\nVmHWM:\t  42 kB\nmodel name\t: A processor\n";
        assert_eq!(field(text, "VmHWM"), Some("42 kB"));
        assert_eq!(field(text, "model name"), Some("A processor"));
        assert_eq!(field(text, "model"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_is_never_below_what_is_there() {
        let now = resident().expect("Linux reports it");
        assert!(peak().is_some_and(|peak| peak >= now / 2));
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
