//! Compiles the shim against the installed headers of OpenSM, if there are any.

use std::path::Path;

/// Where the headers are; `DMODC_OPENSM_INCLUDE` names another folder.
const INCLUDE: &str = "/usr/include/infiniband";

fn main() {
    println!("cargo:rustc-check-cfg=cfg(opensm)");
    println!("cargo:rerun-if-env-changed=DMODC_OPENSM_INCLUDE");
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-changed=src/shim.h");
    let include = std::env::var("DMODC_OPENSM_INCLUDE").unwrap_or_else(|_| INCLUDE.into());
    let header = Path::new(&include).join("opensm/osm_config.h");
    println!("cargo:rerun-if-changed={}", header.display());
    if !header.is_file() {
        println!(
            "cargo:warning=the OpenSM plugin is left out: there is no {}; install libopensm-dev \
             (and opensm, ibsim-utils, infiniband-diags to try it)",
            header.display()
        );
        return;
    }
    println!("cargo:rustc-cfg=opensm");
    cc::Build::new()
        .file("src/shim.c")
        .std("c11")
        .define("_GNU_SOURCE", None)
        .flag("-isystem")
        .flag(&include)
        .warnings(true)
        .extra_warnings(true)
        .compile("dmodc_shim");
    // Threads of the pool may still run when OpenSM closes the plugin.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
