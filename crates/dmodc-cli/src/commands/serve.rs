//! `dmodc serve`: the web page of a fabric.

#[cfg(feature = "serve")]
mod setup;
#[cfg(feature = "serve")]
mod start;

#[cfg(feature = "serve")]
pub(super) use start::run;

/// Says how to get a program with the web page.
#[cfg(not(feature = "serve"))]
pub(super) fn run(_: &crate::args::ServeArgs) -> anyhow::Result<crate::Answer> {
    anyhow::bail!(
        "this dmodc was built without the web page; packages have it, and 'cargo install --path crates/dmodc-cli --features serve' builds it"
    )
}
