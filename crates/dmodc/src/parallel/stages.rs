//! Work in two stages: a job is opened by one thread, and its pieces are done by whoever is free.
//!
//! This replaces a parallel loop inside a parallel loop: routing a tile takes costs first, which one thread computes, and
//! then rows, which many can write. A thread opens a job and does its pieces. Only once no job is left to be
//! opened, it helps with the pieces of others, or waits for a job that is just being opened. So at most as many
//! jobs are open as there are threads, nobody is idle while there are pieces to do, and no stack grows.
//!
//! ```text
//! thread 1   open A | A0 A1 A2 A3 | open C | C0 C2 C4
//! thread 2   open B | B0 B1 B2 B3 B4 B5 | wait | C1 C3 C5
//! ```

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::{in_order, lock, on_threads, threads};

/// How a job is done: see [`in_stages`].
struct Stages<Open, Scratch, Piece, Close> {
    open: Open,
    scratch: Scratch,
    piece: Piece,
    close: Close,
}

/// Does all jobs and returns what `close` makes of each, in the order of the jobs.
///
/// - `open` prepares a job, and says what its pieces are. One thread does that.
/// - `scratch` makes what a thread keeps from piece to piece of one job.
/// - `piece` does one piece; several threads may do pieces of the same job.
/// - `close` gets what `open` prepared, and the results of all pieces in their order.
///
/// The types are: `J` a job, `P` what is prepared for it, `I` the iterator over its pieces, `S` the scratch, `R` the result
/// of a piece, `D` the result of a job that is done, `E` the error.
///
/// # Errors
/// The error of the first job that could not be opened. Jobs after it may be done or not.
pub fn in_stages<J, P, I, S, R, D, E>(
    jobs: impl IntoIterator<Item = J, IntoIter: Send>,
    open: impl Fn(J) -> Result<(P, I), E> + Sync,
    scratch: impl Fn(&P) -> S + Sync,
    piece: impl Fn(&P, &mut S, I::Item) -> R + Sync,
    close: impl Fn(P, Vec<R>) -> D + Sync,
) -> Result<Vec<D>, E>
where
    J: Send,
    P: Send + Sync,
    I: Iterator + Send,
    R: Send,
    D: Send,
    E: Send,
{
    let stages = Stages { open, scratch, piece, close };
    let workers = threads();
    if workers <= 1 {
        return jobs.into_iter().map(|job| stages.alone(job)).collect();
    }
    let board = Board::new(jobs.into_iter().enumerate());
    on_threads(workers, || board.work(&stages));
    let done = board.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    in_order(done).into_iter().collect()
}

impl<Open, Scratch, Piece, Close> Stages<Open, Scratch, Piece, Close> {
    /// Does a job on this thread.
    fn alone<J, P, I: Iterator, S, R, D, E>(&self, job: J) -> Result<D, E>
    where
        Open: Fn(J) -> Result<(P, I), E>,
        Scratch: Fn(&P) -> S,
        Piece: Fn(&P, &mut S, I::Item) -> R,
        Close: Fn(P, Vec<R>) -> D,
    {
        let (prepared, pieces) = (self.open)(job)?;
        let mut scratch = (self.scratch)(&prepared);
        let results = pieces.map(|piece| (self.piece)(&prepared, &mut scratch, piece)).collect();
        Ok((self.close)(prepared, results))
    }
}

/// A job whose pieces are being done.
struct OpenJob<P, I, R> {
    number: usize,
    prepared: P,
    pieces: Mutex<std::iter::Enumerate<I>>,
    results: Mutex<Vec<(usize, R)>>,
}

/// What the threads share.
struct Board<Js, P, I, R, D, E> {
    state: Mutex<State<Js, P, I, R>>,
    /// Called whenever a job was opened, or could not be.
    opened: Condvar,
    done: Mutex<Vec<(usize, Result<D, E>)>>,
}

struct State<Js, P, I, R> {
    jobs: Js,
    open: Vec<Arc<OpenJob<P, I, R>>>,
    /// How many jobs are being opened.
    opening: usize,
    /// Where the next helper looks first, so that helpers spread over the open jobs.
    next: usize,
}

/// What a thread does next.
enum Next<J, P, I, R> {
    Open { number: usize, job: J },
    Help(Arc<OpenJob<P, I, R>>),
    Stop,
}

/// A job that is being opened. When this is dropped, even by a panic, the waiting threads are woken.
struct Opening<'a, Js, P, I, R, D, E>(&'a Board<Js, P, I, R, D, E>);

impl<Js, P, I, R, D, E> Drop for Opening<'_, Js, P, I, R, D, E> {
    fn drop(&mut self) {
        lock(&self.0.state).opening -= 1;
        self.0.opened.notify_all();
    }
}

impl<J, Js, P, I, R, D, E> Board<Js, P, I, R, D, E>
where
    Js: Iterator<Item = (usize, J)>,
    I: Iterator,
{
    fn new(jobs: Js) -> Self {
        Board {
            state: Mutex::new(State { jobs, open: vec![], opening: 0, next: 0 }),
            opened: Condvar::new(),
            done: Mutex::new(vec![]),
        }
    }

    /// Runs the loop of one thread.
    fn work<Open, Scratch, Piece, Close, S>(&self, stages: &Stages<Open, Scratch, Piece, Close>)
    where
        Open: Fn(J) -> Result<(P, I), E>,
        Scratch: Fn(&P) -> S,
        Piece: Fn(&P, &mut S, I::Item) -> R,
        Close: Fn(P, Vec<R>) -> D,
    {
        loop {
            let job = match self.next() {
                Next::Stop => return,
                Next::Help(job) => job,
                Next::Open { number, job } => {
                    let opening = Opening(self);
                    match (stages.open)(job) {
                        Ok((prepared, pieces)) => {
                            let job = self.publish(number, prepared, pieces);
                            drop(opening);
                            job
                        }
                        Err(error) => {
                            lock(&self.done).push((number, Err(error)));
                            continue;
                        }
                    }
                }
            };
            let mut scratch = None;
            // (The lock must not be held while the piece is done.)
            while let Some((at, piece)) = { lock(&job.pieces).next() } {
                let scratch = scratch.get_or_insert_with(|| (stages.scratch)(&job.prepared));
                let result = (stages.piece)(&job.prepared, scratch, piece);
                lock(&job.results).push((at, result));
            }
            lock(&self.state).open.retain(|open| !Arc::ptr_eq(open, &job));
            // Whoever leaves the job last has all results.
            if let Some(job) = Arc::into_inner(job) {
                let results = job.results.into_inner().unwrap_or_else(PoisonError::into_inner);
                let closed = (stages.close)(job.prepared, in_order(results));
                lock(&self.done).push((job.number, Ok(closed)));
            }
        }
    }

    fn next(&self) -> Next<J, P, I, R> {
        let mut state = lock(&self.state);
        loop {
            if let Some((number, job)) = state.jobs.next() {
                state.opening += 1;
                return Next::Open { number, job };
            }
            if !state.open.is_empty() {
                state.next = (state.next + 1) % state.open.len();
                return Next::Help(state.open[state.next].clone());
            }
            if state.opening == 0 {
                return Next::Stop;
            }
            state = self.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn publish(&self, number: usize, prepared: P, pieces: I) -> Arc<OpenJob<P, I, R>> {
        let pieces = Mutex::new(pieces.enumerate());
        let job = Arc::new(OpenJob { number, prepared, pieces, results: Mutex::default() });
        lock(&self.state).open.push(job.clone());
        job
    }
}

#[cfg(test)]
mod tests {
    use super::super::map;
    use super::super::tests::on_small_stacks;
    use super::*;

    /// Jobs of uneven size; every 7th cannot be opened if so wanted. With scratch that would fill the stack if
    /// jobs were stacked.
    fn squares(jobs: usize, fail: bool) -> Result<Vec<Vec<usize>>, usize> {
        in_stages(
            0..jobs,
            |job| match fail && job % 7 == 6 {
                true => Err(job),
                false => Ok((job, 0..job % 50)),
            },
            |_| [0u8; 32 << 10],
            |job, scratch, piece| {
                std::hint::black_box(scratch)[piece] = 1;
                assert_eq!(map(0..3, |n| n), [0, 1, 2]);
                job * piece
            },
            |job, results| {
                assert_eq!(results.len(), job % 50);
                results
            },
        )
    }

    #[test]
    fn every_piece_is_done_once_and_results_are_in_order() {
        for jobs in [0, 1, 3, 64, 500] {
            let expected: Vec<Vec<usize>> =
                (0..jobs).map(|job| (0..job % 50).map(|piece| job * piece).collect()).collect();
            assert_eq!(on_small_stacks(|| squares(jobs, false)), Ok(expected.clone()));
            assert_eq!(map([()], |()| squares(jobs, false)), [Ok(expected)]);
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        for _ in 0..20 {
            assert_eq!(on_small_stacks(|| squares(300, true)), Err(6));
        }
    }

    /// Threads that wait for a job to be opened are called when its opening panics.
    #[test]
    fn a_panic_while_opening_lets_nobody_wait() {
        let open = |job: usize| -> Result<((), std::ops::Range<usize>), ()> {
            // The others have time to begin waiting.
            (0..1000).for_each(|_| std::thread::yield_now());
            assert!(job != 1, "job 1 cannot be opened");
            Ok(((), 0..3))
        };
        let run = || on_small_stacks(|| in_stages(0..2, open, |()| (), |(), (), _| (), |(), _| ()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
