//! Events for pages, as they happen (server-sent events).

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::{Stream, StreamExt};

use super::compute::{Pairs, compute, parameters};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::{News, Shared};

/// The greatest number of pages that listen.
const MOST_LISTENERS: u64 = 128;

/// A page that listens. It is counted until its connection ends.
struct Listener(Shared);

impl Listener {
    /// Counts one more; `None` if there are too many.
    fn new(shared: &Shared) -> Option<Self> {
        let listener = Listener(shared.clone());
        let before = shared.metrics().listeners.fetch_add(1, Ordering::Relaxed);
        (before < MOST_LISTENERS).then_some(listener)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.metrics().listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends the present state first, then everything that happens. A page that was too slow to hear everything gets the present
/// state again.
pub(super) async fn stream(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    parameters(pairs)?.finish()?;
    let listener = Listener::new(&shared).ok_or_else(Refusal::busy)?;
    let news = BroadcastStream::new(shared.listen());
    let first = compute(&shared, Lane::Light, |shared| Ok(shared.state().to_string())).await?;
    let first = Event::default().event("state").data(first.answer);
    let later = news.map(move |news| match news {
        Ok(News { name, data }) => Event::default().event(name).data(&*data),
        // The state that was told last is at hand: the threads that serve all connections must not wait for the workbench.
        Err(BroadcastStreamRecvError::Lagged(_)) => {
            Event::default().event("state").data(&*listener.0.newest_state())
        }
    });
    let all = tokio_stream::once(first).chain(later).map(Ok);
    Ok(Sse::new(all).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}
