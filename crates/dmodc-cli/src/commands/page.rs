//! `dmodc page`: the web page of a fabric as one file, with the engine inside it.

#[cfg(feature = "page")]
mod write;

#[cfg(feature = "page")]
pub(super) use write::run;

/// Says how to get a program that writes pages.
#[cfg(not(feature = "page"))]
pub(super) fn run(_: &crate::args::PageArgs) -> anyhow::Result<crate::Answer> {
    anyhow::bail!(
        "this dmodc was built without the engine for browsers; packages have it, and in the sources 'scripts/wasm' and then \
         'DMODC_WASM=$PWD/target/page/dmodc.wasm cargo install --path crates/dmodc-cli --features page' build it"
    )
}
