//! Compiles the shim against the installed headers of OpenSM, if they compile.
//!
//! Without them the library still builds, so that the rest of the workspace does. It then has no plugin in it, and one
//! line of the build says what to install. Programs that load the library check first whether it exports
//! `osm_event_plugin`.

use std::path::Path;
use std::process::Stdio;

/// The folder of the headers, unless `DMODC_OPENSM_INCLUDE` names another.
const INCLUDE: &str = "/usr/include/infiniband";

/// The Debian packages with the headers. (The first includes the second without depending on it.)
const PACKAGES: &str = "libopensm-dev libibumad-dev";

/// Headers that decide whether the shim compiles. When one of them changes or vanishes, the build tries again.
const HEADERS: [&str; 2] = ["opensm/osm_config.h", "umad.h"];

fn main() {
    println!("cargo:rustc-check-cfg=cfg(opensm)");
    println!("cargo:rerun-if-env-changed=DMODC_OPENSM_INCLUDE");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/shim.c");
    println!("cargo:rerun-if-changed=src/shim.h");
    let include = std::env::var("DMODC_OPENSM_INCLUDE").unwrap_or_else(|_| INCLUDE.into());
    for header in HEADERS {
        println!("cargo:rerun-if-changed={}", Path::new(&include).join(header).display());
    }
    let mut shim = cc::Build::new();
    shim.file("src/shim.c")
        .std("c11")
        .define("_GNU_SOURCE", None)
        .flag("-isystem")
        .flag(&include)
        // A function that this OpenSM does not have must fail here, not when OpenSM loads the plugin.
        .flag("-Werror=implicit-function-declaration")
        .warnings(true)
        .extra_warnings(true);
    if let Err(why) = try_to_compile(&shim) {
        println!(
            "cargo:warning=the OpenSM plugin is left out of libdmodc.so: {why}; on Debian: apt-get install gcc {PACKAGES} \
             (and opensm ibsim-utils infiniband-diags to try it)"
        );
        // A file that never exists makes cargo run this script in every build until the headers are there. Cargo would not
        // notice them by itself, because files of packages have dates from before the last build.
        println!("cargo:rerun-if-changed=there-is-no-such-file");
        return;
    }
    println!("cargo:rustc-cfg=opensm");
    shim.compile("dmodc_shim");
    // Threads of the pool may still run when OpenSM closes the plugin.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // A library in a public folder has a name of its own. It has no version: OpenSM asks for this very name, and nobody
    // links with the library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libdmodc.so");
}

/// Compiles the shim without using the result. (A mere check of the syntax would be enough, but zig's compiler fails at that.)
///
/// # Errors
/// The first error of the compiler.
fn try_to_compile(shim: &cc::Build) -> Result<(), String> {
    let compiler = shim.try_get_compiler().map_err(|error| error.to_string())?;
    let folder = std::env::var_os("OUT_DIR").ok_or("cargo gives no folder for results")?;
    let mut command = compiler.to_command();
    command.args(["-c", "src/shim.c", "-o"]).arg(Path::new(&folder).join("trial.o"));
    command.env("LC_ALL", "C").stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| format!("{} does not start ({error})", compiler.path().display()))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().find(|line| line.contains("error")).unwrap_or("the compiler fails");
    Err(format!("OpenSM's headers do not compile ({})", first.trim()))
}
