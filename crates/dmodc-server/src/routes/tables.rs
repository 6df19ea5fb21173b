//! The tables as a file. Their text is fifty times as large as they are, so it is never in memory as a whole: it is written
//! from a copy of the tables while the client takes it.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dmodc_formats::lft;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::compute::{Pairs, parameters};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::Shared;

/// The length of a piece, and how many of them wait for the client.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;

pub(super) async fn tables(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Response, Refusal> {
    parameters(pairs)?.finish()?;
    let place = shared.lanes().enter(Lane::Heavy).ok_or_else(Refusal::busy)?;
    let (sender, receiver) = mpsc::channel(PIECES);
    // If the client is gone, or the thread ends by a defect, the file ends early, which the client notices: its last piece
    // is missing.
    tokio::task::spawn_blocking(move || {
        let mut pieces = Pieces { sender, piece: Vec::with_capacity(PIECE) };
        if let Err(error) = write(&shared, &mut pieces) {
            let _ = pieces.sender.blocking_send(Err(error));
        }
        drop(place);
    });
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"tables.lft\""),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

fn write(shared: &Shared, pieces: &mut Pieces) -> io::Result<()> {
    let (router, comment) = {
        let bench = shared.bench();
        let comment = format!("{} routed by {}", bench.setup().title(), bench.engine());
        (bench.router().clone(), comment)
    };
    lft::write(router.live(), router.tables(), &[comment], pieces)?;
    io::Write::flush(pieces)
}

/// Hands what is written to a connection, piece by piece, and waits while it is full.
struct Pieces {
    sender: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        let sent = self.sender.blocking_send(Ok(piece.into()));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
