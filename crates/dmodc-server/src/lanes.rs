//! How much is computed at once. Each kind of work has a lane of its own, so that long answers never take the place of a
//! change, and a monitoring system still gets its numbers while others ask for comparisons.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Changes of the fabric.
    Change,
    /// Answers that are there already: the state, numbers, the history.
    Light,
    /// Answers that are computed from the tables.
    Question,
    /// Answers that take much memory: they route again, or they are large files.
    Heavy,
}

/// The threads that answers may use, all lanes together. One thread for each place in a lane.
pub(crate) const THREADS: usize = 8 + 8 + 8 + 2;

/// The lanes.
pub(crate) struct Lanes {
    change: Arc<Semaphore>,
    light: Arc<Semaphore>,
    question: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
}

impl Default for Lanes {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Lanes { change: places(8), light: places(8), question: places(8), heavy: places(2) }
    }
}

/// A place in a lane. It is free again when this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

impl Lanes {
    /// Returns a place in a lane; `None` if the lane is full.
    pub(crate) fn enter(&self, lane: Lane) -> Option<Place> {
        let lane = match lane {
            Lane::Change => &self.change,
            Lane::Light => &self.light,
            Lane::Question => &self.question,
            Lane::Heavy => &self.heavy,
        };
        lane.clone().try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_leaves_the_others_free() {
        let lanes = Lanes::default();
        let enter_all = |lane| std::iter::from_fn(|| lanes.enter(lane)).collect::<Vec<Place>>();
        let questions = enter_all(Lane::Question);
        let heavy = enter_all(Lane::Heavy);
        assert!(lanes.enter(Lane::Question).is_none() && lanes.enter(Lane::Heavy).is_none());
        let (changes, light) = (enter_all(Lane::Change), enter_all(Lane::Light));
        assert_eq!(questions.len() + heavy.len() + changes.len() + light.len(), THREADS);
        drop(heavy);
        assert!(lanes.enter(Lane::Heavy).is_some());
    }
}
