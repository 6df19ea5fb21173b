//! Notes the compiler, for records of measurements.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=DMODC_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
}
