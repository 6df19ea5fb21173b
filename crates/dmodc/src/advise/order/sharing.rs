//! What a job shares with other hosts, and a choice that shares little.

/// What a job shares with others. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sharing {
    /// The number of directed ports between switches that carry flows of the job and flows of others.
    pub ports: usize,
    /// The most mixed flows of one port: the lesser of both numbers.
    pub worst: u64,
}

/// Hosts that were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The hosts, ascending.
    pub hosts: Vec<usize>,
    /// What they share with all others.
    pub sharing: Sharing,
    /// Whether no choice is better.
    pub is_best: bool,
    /// The number of choices that were compared.
    pub compared: usize,
}

impl Sharing {
    /// Returns what a job shares, by the flows of the job and of others on each port.
    pub(super) fn of(job: &[u64], others: &[u64]) -> Self {
        let mixed = job.iter().zip(others).map(|(&job, &others)| job.min(others));
        let shared = mixed.filter(|&mixed| mixed > 0);
        shared.fold(Sharing { ports: 0, worst: 0 }, |sum, mixed| Sharing {
            ports: sum.ports + 1,
            worst: sum.worst.max(mixed),
        })
    }
}
