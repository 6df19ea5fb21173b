//! Gives the shared library its name for the dynamic linker: programs look for `libdmodc-engine.so.0`. The number is the first one of
//! the version, so functions and records change only with it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        let major = env!("CARGO_PKG_VERSION_MAJOR");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdmodc-engine.so.{major}");
    }
}
