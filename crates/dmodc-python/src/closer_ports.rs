//! The closer sets of one switch.

use dmodc::PortNumber;

/// The closer sets of one switch: the ports of each target, one target after the other.
pub(crate) struct CloserPorts {
    ports: Vec<u8>,
    ends: Vec<usize>,
}

impl CloserPorts {
    pub(crate) fn new(targets: usize) -> Self {
        CloserPorts { ports: Vec::new(), ends: vec![0; targets] }
    }

    /// Adds the ports of a target. Targets come in order.
    pub(crate) fn add(&mut self, target: usize, ports: &[PortNumber]) {
        self.ports.extend(ports.iter().map(|port| port.0));
        self.ends[target] = self.ports.len();
    }

    /// Gives targets that did not come, such as the switch itself, no ports.
    pub(crate) fn finish(&mut self) {
        let mut last = 0;
        for end in &mut self.ends {
            last = last.max(*end);
            *end = last;
        }
    }

    /// Returns the ports of a target.
    pub(crate) fn of(&self, target: usize) -> &[u8] {
        let start = target.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ports[start..self.ends[target]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_ports() {
        let mut closer = CloserPorts::new(5);
        closer.add(1, &[PortNumber(7), PortNumber(9)]);
        closer.add(2, &[]);
        closer.add(4, &[PortNumber(3)]);
        closer.finish();
        let all: Vec<&[u8]> = (0..5).map(|target| closer.of(target)).collect();
        assert_eq!(all, [&[][..], &[7, 9], &[], &[], &[3]]);
    }
}
