//! Starts the server.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use dmodc_server::history::HistoryLimits;
use dmodc_server::{ServeOptions, Token, serve};
use dmodc_view::Setup;

use super::setup::{self, Served};
use crate::Answer;
use crate::args::ServeArgs;
use crate::commands::shown::engine;

/// The environment variable with the token.
const TOKEN: &str = "DMODC_TOKEN";

pub(in crate::commands) fn run(args: &ServeArgs) -> Result<Answer> {
    ensure!(
        (0.1..=86_400.0).contains(&args.every),
        "--every must be a number of seconds from 0.1 to 86400, not {}",
        args.every
    );
    let token = token(args)?;
    let address = SocketAddr::new(args.listen, args.port);
    ensure!(
        address.ip().is_loopback() || token.is_some(),
        "{} is not a loopback address, so others can reach it: give a token with --token-file or the environment variable \
         {TOKEN}",
        address.ip()
    );
    let Served { setup, follow } = setup::read(args)?;
    let history = history_file(args, &setup)?;
    let has_token = token.is_some();
    let options = ServeOptions {
        engine: engine(args.shown.engine),
        setup,
        address,
        token,
        history,
        limits: HistoryLimits {
            age_ms: u64::from(args.history_days) * 24 * 3600 * 1000,
            bytes: u64::from(args.history_megabytes) << 20,
        },
        follow,
    };
    let about = match &options.history {
        Some(path) => format!("History: {}", path.display()),
        None => "History: in memory; it is lost when this program ends".into(),
    };
    serve(options, |bound| {
        let mut out = std::io::stdout();
        writeln!(out, "http://{bound}")?;
        if out.is_terminal() {
            let how = if has_token {
                "Open it once with ?token=TOKEN after the address."
            } else {
                "Open it in a browser."
            };
            writeln!(out, "{how} {about}. Ctrl-C ends the server.")?;
        }
        out.flush()
    })?;
    Ok(Answer::Yes)
}

/// Returns the token from the file or the environment.
fn token(args: &ServeArgs) -> Result<Option<Token>> {
    let (text, place) = match &args.token_file {
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            (text.lines().next().unwrap_or("").to_owned(), name)
        }
        None => match std::env::var(TOKEN) {
            Ok(text) => (text, TOKEN.to_owned()),
            Err(_) => return Ok(None),
        },
    };
    let token = Token::new(&text).map_err(|error| anyhow!("{place}: {error}"))?;
    Ok(Some(token))
}

/// Returns the file of the history; `None` for one in memory.
fn history_file(args: &ServeArgs, setup: &Setup) -> Result<Option<PathBuf>> {
    match &args.history {
        Some(path) if path.as_os_str() == "none" => Ok(None),
        Some(path) => Ok(Some(path.clone())),
        None => Ok(usual_file(setup)),
    }
}

/// Returns a file in the state folder of the user whose name belongs to the fabric: `None` if there is no such folder, or
/// another program uses the file.
fn usual_file(setup: &Setup) -> Option<PathBuf> {
    let of =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")))?;
    let folder = state.join("dmodc");
    std::fs::create_dir_all(&folder).ok()?;
    let title: String =
        setup.title().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(40).collect();
    let path = folder.join(format!("{title}-{:016x}.redb", setup::cabling(setup.fabric())));
    match dmodc_server::history::History::open(&path, HistoryLimits::default()) {
        Ok(_) => Some(path),
        Err(error) => {
            warn(&path, &error);
            None
        }
    }
}

fn warn(path: &Path, error: &dyn std::fmt::Display) {
    eprintln!("dmodc: {}: {error}; the history is kept in memory", path.display());
}
