//! Progressive filling in the plainest way, and the time at which equal messages arrive.
//!
//! All flows start at rate 0 and rise together. When a link is full, its flows stop, and the others rise on, until all have
//! stopped. Each round looks at every link and every flow. For messages, everything is filled again whenever one of them
//! has arrived.
//!
//! Cost: O(rounds × Σ hops) for rates; the same once more for each arrival.

/// A link is full if less than this part of its capacity is left.
const FULL: f64 = 1e-12;

/// Returns the max-min fair rate of each flow. A route lists the links of a flow, each once.
///
/// # Panics
/// If a route has no links.
pub fn rates(capacities: &[f64], routes: &[Vec<u32>]) -> Vec<f64> {
    assert!(routes.iter().all(|route| !route.is_empty()), "a flow without links has no limit");
    let mut rates = vec![0.0; routes.len()];
    let mut is_rising = vec![true; routes.len()];
    while is_rising.contains(&true) {
        let mut left = capacities.to_vec();
        let mut rising = vec![0u32; capacities.len()];
        for (flow, route) in routes.iter().enumerate() {
            for &link in route {
                left[link as usize] -= rates[flow];
                rising[link as usize] += u32::from(is_rising[flow]);
            }
        }
        let shares = left.iter().zip(&rising).filter(|(_, rising)| **rising > 0);
        let step =
            shares.map(|(left, &rising)| left / f64::from(rising)).fold(f64::INFINITY, f64::min);
        let is_full = |link: u32| {
            let at = link as usize;
            left[at] - step * f64::from(rising[at]) <= FULL * capacities[at]
        };
        for (flow, route) in
            routes.iter().enumerate().filter(|(flow, _)| is_rising[*flow]).collect::<Vec<_>>()
        {
            rates[flow] += step;
            is_rising[flow] = !route.iter().any(|&link| is_full(link));
        }
    }
    rates
}

/// Returns when the message of each flow has arrived, if all start at time 0 with messages of length 1 and rates are fair
/// at every moment.
pub fn completion_times(capacities: &[f64], routes: &[Vec<u32>]) -> Vec<f64> {
    let mut times = vec![0.0; routes.len()];
    let mut left = vec![1.0; routes.len()];
    let mut active: Vec<usize> = (0..routes.len()).collect();
    let mut now = 0.0;
    while !active.is_empty() {
        let present: Vec<Vec<u32>> = active.iter().map(|&flow| routes[flow].clone()).collect();
        let rates = rates(capacities, &present);
        let next = active
            .iter()
            .zip(&rates)
            .map(|(&flow, rate)| left[flow] / rate)
            .fold(f64::INFINITY, f64::min);
        now += next;
        for (&flow, rate) in active.iter().zip(&rates) {
            left[flow] -= rate * next;
            times[flow] = now;
        }
        active.retain(|&flow| left[flow] > 1e-12);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three flows on two links: the long one shares both.
    #[test]
    fn a_long_flow_takes_from_two() {
        let routes = [vec![0, 1], vec![0], vec![1], vec![1]];
        let close = |found: Vec<f64>, expected: [f64; 4]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        close(rates(&[1.0, 1.0], &routes), [1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        // Flow 1 arrives at 1.5; all others are limited by link 1 and arrive together at 3.
        close(completion_times(&[1.0, 1.0], &routes), [3.0, 1.5, 3.0, 3.0]);
    }
}
