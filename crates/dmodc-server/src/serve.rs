//! The server: binds an address, answers until a signal ends it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use dmodc_view::{PageEngine, Problem, Setup, Workbench};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::access::{Access, Token};
use crate::follow::{self, Follow};
use crate::history::{History, HistoryError, HistoryLimits};
use crate::lanes::THREADS;
use crate::patient::Patient;
use crate::shared::{Parts, Pools, Shared, now_ms};
use crate::{judge, routes};

/// How many connections are open at once. Browsers use six for each page.
const CONNECTIONS: usize = 256;

/// A client must send the head of its request within this time.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// A client that takes nothing of its answer for this time is given up.
const TAKE_TIME: Duration = Duration::from_secs(60);

/// The greatest length of the head of a request.
const HEAD_BYTES: usize = 64 << 10;

/// What is served, and how.
pub struct ServeOptions {
    /// The fabric.
    pub setup: Setup,
    /// The engine that routes at first.
    pub engine: PageEngine,
    /// Where to listen. Port 0 is any free one.
    pub address: SocketAddr,
    /// The secret that requests must know. Addresses that are not loopback need one.
    pub token: Option<Token>,
    /// The file of the history; `None` keeps it in memory.
    pub history: Option<PathBuf>,
    /// How much history is kept.
    pub limits: HistoryLimits,
    /// The live fabric to follow.
    pub follow: Option<Follow>,
}

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not loopback, and there is no token.
    #[error(
        "{0} is not a loopback address, so others can reach it: give a token with --token-file or the environment variable DMODC_TOKEN"
    )]
    NeedsToken(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen at {0}: {1}")]
    Address(SocketAddr, io::Error),
    /// The fabric cannot be routed.
    #[error("{0}")]
    Problem(#[from] Problem),
    /// The history cannot be used.
    #[error("the history {0}: {1}")]
    History(String, HistoryError),
    /// The system refused a thread or a signal.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The system refused threads for computing.
    #[error("{0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Serves a fabric until a signal ends the program. `on_ready` hears the address.
///
/// # Errors
/// If it cannot start.
pub fn serve(
    options: ServeOptions,
    on_ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS)
        .enable_all()
        .build()?;
    let result = runtime.block_on(run(options, on_ready));
    // Questions that are still being answered have nobody to hear them.
    runtime.shutdown_background();
    result
}

async fn run(
    options: ServeOptions,
    on_ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> Result<(), ServeError> {
    let ServeOptions { setup, engine, address, token, history, limits, follow } = options;
    let access = Access::new(address, token).map_err(ServeError::NeedsToken)?;
    let listener =
        TcpListener::bind(address).await.map_err(|error| ServeError::Address(address, error))?;
    let bound = listener.local_addr()?;
    let access = access.at_port(bound.port());
    let name = history.as_ref().map_or("in memory".into(), |path| path.display().to_string());
    let history = match &history {
        Some(path) => History::open(path, limits),
        None => History::in_memory(limits),
    };
    let in_history = |error| ServeError::History(name.clone(), error);
    let history = history.map_err(in_history)?;
    let bench = Workbench::new(setup, engine, now_ms)?;
    let parts = Parts { bench, access, history, pools: Pools::new()? };
    let (shared, woken) = Shared::new(parts).map_err(in_history)?;
    let judging = shared.clone();
    std::thread::Builder::new().name("judge".into()).spawn(move || judge::run(&judging, &woken))?;
    if let Some(follow) = follow {
        follow::start(&shared, follow)?;
    }
    on_ready(bound)?;
    answer(listener, routes::router(shared)).await;
    Ok(())
}

/// Answers until the program ends.
async fn answer(listener: TcpListener, router: Router) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = listener.accept().await;
        // If a connection cannot be accepted (no more file descriptors), a later one may be.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Over the limit the connection is closed at once.
        let Ok(permit) = connections.clone().try_acquire_owned() else { continue };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            // Answers are small, and should not wait for others.
            let _ = stream.set_nodelay(true);
            let stream = TokioIo::new(Patient::new(stream, TAKE_TIME));
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(HEAD_BYTES);
            // A client that breaks off is no error of ours.
            let _ = builder.serve_connection(stream, service).await;
            drop(permit);
        });
    }
}
