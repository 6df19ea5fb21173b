//! Closer sets, eq. (1): which port groups lead nearer to a destination switch. Each form of costs finds them in its own way
//! ([`Hops::closer`](super::Hops::closer), [`CostBlock::closer`](super::CostBlock)).

/// The closer sets of one switch, for all targets of a tile at once (eq. (1), under up\*down\*).
///
/// If a target can be reached downwards, its closer groups are the down groups whose down cost is smaller by one; otherwise
/// they are the up groups whose cost is smaller by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CloserSets {
    /// Targets that need an up hop first.
    pub(crate) up: u64,
    /// Targets below the switch.
    pub(crate) down: u64,
    /// The switch itself.
    pub(crate) own: u64,
    /// For each group above, in order: the targets that it is closer to.
    pub(crate) through_up: Vec<u64>,
    /// Whether each of these is known to be closer to all of `up`.
    pub(crate) up_is_uniform: bool,
    /// For each group below, in order: the targets that it is closer to.
    pub(crate) through_down: Vec<u64>,
}

impl CloserSets {
    /// Forgets all other targets.
    pub(crate) fn restrict(&mut self, targets: u64) {
        for all in [&mut self.up, &mut self.down, &mut self.own] {
            *all &= targets;
        }
        for through in self.through_up.iter_mut().chain(&mut self.through_down) {
            *through &= targets;
        }
    }
}
