//! Finding a cycle among channels (Tarjan's strongly connected components, without recursion).

use std::ops::ControlFlow;

use crate::id::{PortNumber, SwitchIndex};

/// A channel: a cable in one direction, named by the port that sends into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel {
    /// The sending switch.
    pub switch: SwitchIndex,
    /// Its port.
    pub port: PortNumber,
}

/// Returns a cycle of the directed graph on `0..count` that can be reached from `starts`, if there is one.
/// O(vertices + edges).
///
/// A strongly connected component of more than one vertex holds a cycle. The cycle that is returned is a shortest one
/// through its first vertex, so that people can read it. Self-edges count as cycles.
pub(super) fn find_cycle<I: Iterator<Item = u32>>(
    count: usize,
    starts: impl IntoIterator<Item = u32>,
    successors: impl Fn(u32) -> I,
) -> Option<Vec<u32>> {
    let cycle = components(count, starts, &successors, |component| {
        let has_cycle = component.len() > 1 || successors(component[0]).any(|w| w == component[0]);
        match has_cycle {
            true => ControlFlow::Break(shortest_through(count, component, &successors)),
            false => ControlFlow::Continue(()),
        }
    });
    cycle.break_value()
}

/// Calls `found` with the strongly connected components that can be reached from `starts`, each after those that it
/// leads to, until `found` breaks. O(vertices + edges).
pub(super) fn components<I: Iterator<Item = u32>, T>(
    count: usize,
    starts: impl IntoIterator<Item = u32>,
    successors: impl Fn(u32) -> I,
    mut found: impl FnMut(&[u32]) -> ControlFlow<T>,
) -> ControlFlow<T> {
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; count];
    let mut low = vec![0u32; count];
    let mut on_stack = vec![false; count];
    let mut stack: Vec<u32> = Vec::new();
    let mut search: Vec<(u32, I)> = Vec::new();
    let mut next_number = 0;
    for start in starts {
        if number[start as usize] != UNSEEN {
            continue;
        }
        let mut entering = Some(start);
        loop {
            if let Some(v) = entering.take() {
                number[v as usize] = next_number;
                low[v as usize] = next_number;
                next_number += 1;
                stack.push(v);
                on_stack[v as usize] = true;
                search.push((v, successors(v)));
            }
            let Some((v, rest)) = search.last_mut() else { break };
            let v = *v as usize;
            match rest.next() {
                Some(w) if number[w as usize] == UNSEEN => entering = Some(w),
                Some(w) if on_stack[w as usize] => low[v] = low[v].min(number[w as usize]),
                Some(_) => {}
                None => {
                    search.pop();
                    if let Some((parent, _)) = search.last() {
                        let parent = *parent as usize;
                        low[parent] = low[parent].min(low[v]);
                    }
                    if low[v] == number[v] {
                        let at = stack.iter().rposition(|&w| w as usize == v);
                        let component = stack.split_off(at.expect("v is on the stack"));
                        for &w in &component {
                            on_stack[w as usize] = false;
                        }
                        found(&component)?;
                    }
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// Returns a shortest cycle through the first vertex of a strongly connected component.
fn shortest_through<I: Iterator<Item = u32>>(
    count: usize,
    component: &[u32],
    successors: impl Fn(u32) -> I,
) -> Vec<u32> {
    let start = component[0];
    let mut inside = vec![false; count];
    for &v in component {
        inside[v as usize] = true;
    }
    let mut came_from = vec![u32::MAX; count];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(v) = queue.pop_front() {
        for w in successors(v).filter(|&w| inside[w as usize]) {
            if w == start {
                let mut cycle = vec![v];
                while cycle[cycle.len() - 1] != start {
                    cycle.push(came_from[cycle[cycle.len() - 1] as usize]);
                }
                cycle.reverse();
                return cycle;
            }
            if came_from[w as usize] == u32::MAX {
                came_from[w as usize] = v;
                queue.push_back(w);
            }
        }
    }
    unreachable!("every vertex of a strongly connected component lies on a cycle")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn cycle(edges: &[Vec<u32>]) -> Option<Vec<u32>> {
        find_cycle(edges.len(), 0..edges.len() as u32, |v| edges[v as usize].iter().copied())
    }

    #[test]
    fn cycles_are_found_where_they_are() {
        assert_eq!(cycle(&[]), None);
        assert_eq!(cycle(&[vec![1], vec![2], vec![]]), None);
        assert_eq!(cycle(&[vec![1], vec![1]]), Some(vec![1]));
        assert_eq!(cycle(&[vec![1, 2], vec![], vec![3], vec![2]]).map(|c| c.len()), Some(2));
    }

    #[test]
    fn agrees_with_peeling_off_sinks_on_random_graphs() {
        let mut random = Random::new(1, 0);
        let (mut cyclic, mut acyclic) = (0, 0);
        for _ in 0..3000 {
            let n = 1 + random.below(9);
            let mut edges: Vec<Vec<u32>> = vec![vec![]; n as usize];
            for _ in 0..random.below(2 * n) {
                edges[random.below(n) as usize].push(random.below(n) as u32);
            }
            let mut left: Vec<u32> = (0..n as u32).collect();
            loop {
                let before = left.clone();
                left.retain(|&v| edges[v as usize].iter().any(|w| before.contains(w)));
                if left == before {
                    break;
                }
            }
            match cycle(&edges) {
                None => {
                    acyclic += 1;
                    assert!(left.is_empty(), "{edges:?}");
                }
                Some(cycle) => {
                    cyclic += 1;
                    for (i, &v) in cycle.iter().enumerate() {
                        let next = cycle[(i + 1) % cycle.len()];
                        assert!(edges[v as usize].contains(&next), "{edges:?} {cycle:?}");
                    }
                }
            }
        }
        assert!(cyclic > 300 && acyclic > 300, "{cyclic} {acyclic}");
    }
}
