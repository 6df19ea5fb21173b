//! Loops over all threads: one level of parallelism at a time.
//!
//! Every parallel loop of the workspace is one of the functions here, and nothing else names `rayon`'s
//! iterators. Why that is a rule:
//!
//! A `rayon` thread that waits for a loop takes up other work meanwhile, on top of the stack that it already
//! has. With a parallel loop inside a parallel loop (tiles, and within a tile rows) that other work is another
//! outer piece, which again waits for an inner loop, and so on. Each level holds its scratch, and nothing bounds
//! their number: on 16 cores the stack overflowed in every run.
//!
//! Here a thread takes the next item, finishes it, and takes the next one. A loop that is started inside
//! another one runs on the thread that started it, item by item. So the outermost loop is the parallel one,
//! and the stack is as deep as in a program with one thread. Work that has an inner loop worth sharing is
//! split into [stages](in_stages) instead.
//!
//! Results come in the order of the items, so they do not depend on the number of threads.
//!
//! ```
//! let squares = dmodc::parallel::map(0..4, |n| n * n);
//! assert_eq!(squares, [0, 1, 4, 9]);
//! ```

mod stages;

pub use stages::in_stages;

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Whether this thread is working on an item of a parallel loop.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns how many threads a loop that starts here would use: 1 inside another loop.
pub fn threads() -> usize {
    if IS_INSIDE.get() { 1 } else { rayon::current_num_threads() }
}

/// Returns how long pieces of `length` items should be if every thread is to get `each` of them.
pub fn piece_length(length: usize, each: usize) -> usize {
    length.div_ceil(threads() * each).max(1)
}

/// Calls `work` for every item.
pub fn for_each<I>(items: I, work: impl Fn(I::Item) + Sync)
where
    I: IntoIterator<IntoIter: Send, Item: Send>,
{
    fold(items, || (), |(), item| work(item));
}

/// Returns what `work` makes of every item, in the order of the items.
pub fn map<I, R: Send>(items: I, work: impl Fn(I::Item) -> R + Sync) -> Vec<R>
where
    I: IntoIterator<IntoIter: Send, Item: Send>,
{
    map_with(items, || (), |(), item| work(item))
}

/// Maps items like [`map`], with a scratch value that a thread keeps from item to item.
pub fn map_with<I, S, R: Send>(
    items: I,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) -> R + Sync,
) -> Vec<R>
where
    I: IntoIterator<IntoIter: Send, Item: Send>,
{
    let made = Mutex::new(Vec::new());
    // `S` need not be `Send`: each thread creates and drops its own scratch, and hands over only the results.
    run(items, |next| {
        let (mut scratch, mut results) = (scratch(), Vec::new());
        while let Some((at, item)) = next() {
            results.push((at, work(&mut scratch, item)));
        }
        lock(&made).append(&mut results);
    });
    in_order(made.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Lets every thread add up its share of the items, and returns the sums of all threads. Which items a sum is
/// of depends on chance: use it where adding is commutative.
pub fn fold<I, S: Send>(
    items: I,
    start: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, I::Item) + Sync,
) -> Vec<S>
where
    I: IntoIterator<IntoIter: Send, Item: Send>,
{
    let sums = Mutex::new(Vec::new());
    run(items, |next| {
        // Threads that come too late for any item need no sum.
        let Some((_, first)) = next() else { return };
        let mut sum = start();
        add(&mut sum, first);
        while let Some((_, item)) = next() {
            add(&mut sum, item);
        }
        lock(&sums).push(sum);
    });
    sums.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `worker` on all threads. Its argument is a function that returns the next item with its index, or `None` when all
/// items are taken.
fn run<I>(items: I, worker: impl Fn(&mut dyn FnMut() -> Option<(usize, I::Item)>) + Sync)
where
    I: IntoIterator<IntoIter: Send, Item: Send>,
{
    let items = items.into_iter();
    let workers = items.size_hint().1.unwrap_or(usize::MAX).min(threads());
    let mut items = items.enumerate();
    if workers <= 1 {
        return worker(&mut || items.next());
    }
    let items = Mutex::new(items);
    on_threads(workers, || worker(&mut || lock(&items).next()));
}

/// Runs `worker` on some threads of the pool at once, this one among them, and waits for all.
fn on_threads(workers: usize, worker: impl Fn() + Sync) {
    let flagged = || {
        let _inside = Inside::enter();
        worker();
    };
    rayon::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| flagged());
        }
        flagged();
    });
}

/// The time that a thread works on items of a parallel loop.
struct Inside {
    before: bool,
}

impl Inside {
    fn enter() -> Self {
        Inside { before: IS_INSIDE.replace(true) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(self.before);
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock: no data behind a mutex of this module can be left half
/// changed. The pool passes the panic on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sorts numbered results and drops their numbers.
fn in_order<R>(mut results: Vec<(usize, R)>) -> Vec<R> {
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Runs a test on many threads with little stack.
    pub(super) fn on_small_stacks<R: Send>(test: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(64).stack_size(256 << 10);
        pool.build().expect("64 threads").install(test)
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        on_small_stacks(|| {
            for count in [0, 1, 2, 63, 1000] {
                let expected: Vec<usize> = (0..count).map(|n| 3 * n).collect();
                assert_eq!(map(0..count, |n| 3 * n), expected);
                let sums = fold(0..count, || 0, |sum, n| *sum += n);
                assert_eq!(sums.into_iter().sum::<usize>(), (0..count).sum());
            }
            let mut numbers = vec![1; 500];
            for_each(numbers.chunks_mut(7), |piece| piece.iter_mut().for_each(|n| *n += 1));
            assert!(numbers.iter().all(|n| *n == 2));
        });
    }

    /// A loop inside a loop runs where it was started, so at most one outer item is on any stack.
    #[test]
    fn only_the_outermost_loop_is_parallel() {
        thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
        let deepest = AtomicUsize::new(0);
        let inner = |n: usize| {
            let scratch = std::hint::black_box([n as u8; 4096]);
            usize::from(scratch[n % 4096])
        };
        let outer = |n: usize| {
            let depth = DEPTH.replace(DEPTH.get() + 1) + 1;
            deepest.fetch_max(depth, Ordering::Relaxed);
            assert_eq!(threads(), 1);
            let here = std::thread::current().id();
            let sum: usize = map(0..100, |i| {
                assert_eq!(std::thread::current().id(), here);
                inner(n + i)
            })
            .into_iter()
            .sum();
            DEPTH.set(DEPTH.get() - 1);
            sum
        };
        let sums = on_small_stacks(|| {
            assert_eq!(threads(), 64);
            let sums = map(0..2000, outer);
            assert_eq!(threads(), 64);
            sums
        });
        let expected: Vec<usize> =
            (0..2000).map(|n| (0..100).map(|i| inner(n + i)).sum()).collect();
        assert_eq!(sums, expected);
        assert_eq!(deepest.into_inner(), 1);
    }

    /// One item leaves all threads to the loops inside.
    #[test]
    fn a_loop_of_one_item_is_none() {
        on_small_stacks(|| map([()], |()| assert_eq!(threads(), 64)));
    }

    #[test]
    fn a_panic_is_passed_on_and_later_loops_work() {
        on_small_stacks(|| {
            let panicked = std::panic::catch_unwind(|| {
                for_each(0..100, |n| assert!(n != 50, "item 50"));
            });
            assert!(panicked.is_err());
            assert_eq!(threads(), 64);
            assert_eq!(map(0..3, |n| n), [0, 1, 2]);
        });
    }
}
