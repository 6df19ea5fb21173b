//! When equal messages arrive: a fluid model.
//!
//! Every flow sends one message of length 1, and all start at time 0. At any moment the rates are max-min fair among the
//! flows that are still on the way. When a message has arrived, its flow ends and the others get its share. Time is in
//! units of one message over one node's cable at full speed, so a message that is never slowed down takes 1.
//!
//! There is no latency, and a message has no packets. SimGrid's network model has the same definition, with links whose
//! directions are separate, no latency, and factors of 1.
//!
//! Example with links of capacity 1: flows a and b share a link, b, c and d another one. The rates are 2/3, 1/3, 1/3, 1/3.
//! At 1.5, a has arrived. The others gain nothing, because c and d still share a full link with b. They arrive at 3.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::filling::Filling;

/// Arrivals closer than this part of the time count as one, and rates closer than this part are the same. Without it,
/// rounding would make one moment into many.
const SAME: f64 = 1e-12;

/// The time at which a flow arrives unless its rate changes. Times are not negative, so their bits are in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    bits: u64,
    flow: u32,
    /// The number of the rate, to know when it is out of date.
    change: u32,
}

/// A message on the way.
#[derive(Clone, Copy, Debug)]
struct Message {
    rate: f64,
    /// What was left of it when it got this rate.
    left: f64,
    /// When it got this rate.
    since: f64,
    /// How often its rate has changed.
    changes: u32,
}

impl Message {
    fn arrival(&self, flow: u32) -> Reverse<Arrival> {
        let time = self.since + self.left / self.rate;
        Reverse(Arrival { bits: time.to_bits(), flow, change: self.changes })
    }
}

/// Returns when the message of each flow has arrived.
pub(super) fn times(mut filling: Filling<'_>) -> Vec<f64> {
    let start = |&rate: &f64| Message { rate, left: 1.0, since: 0.0, changes: 0 };
    let mut messages: Vec<Message> = filling.rates().iter().map(start).collect();
    let mut times = vec![0.0; messages.len()];
    let first = (0u32..).zip(&messages).map(|(flow, message)| message.arrival(flow));
    let mut arrivals: BinaryHeap<Reverse<Arrival>> = first.collect();
    let mut arrived = Vec::new();
    while let Some(now) = next(&mut arrivals, &messages, &mut arrived) {
        for &flow in &arrived {
            times[flow as usize] = now;
            // Other arrivals that were noted for it are out of date.
            messages[flow as usize].changes += 1;
        }
        filling.end(&arrived);
        for (flow, rate) in filling.changes() {
            let message = &mut messages[flow as usize];
            if (rate - message.rate).abs() <= SAME * rate {
                continue;
            }
            message.left = (message.left - message.rate * (now - message.since)).max(0.0);
            (message.rate, message.since) = (rate, now);
            message.changes += 1;
            arrivals.push(message.arrival(flow));
        }
    }
    times
}

/// Takes all arrivals of the next moment. Returns that moment; `None` if all messages have arrived.
fn next(
    arrivals: &mut BinaryHeap<Reverse<Arrival>>,
    messages: &[Message],
    arrived: &mut Vec<u32>,
) -> Option<f64> {
    arrived.clear();
    let mut moment: Option<f64> = None;
    while let Some(Reverse(Arrival { bits, flow, change })) = arrivals.peek().copied() {
        let time = f64::from_bits(bits);
        if messages[flow as usize].changes != change {
            arrivals.pop();
            continue;
        }
        if moment.is_some_and(|moment| time > moment * (1.0 + SAME)) {
            break;
        }
        moment.get_or_insert(time);
        arrived.push(flow);
        arrivals.pop();
    }
    moment
}
