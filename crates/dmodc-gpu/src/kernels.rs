//! The kernels: their source in CUDA C++, and their names.

/// The files of the source with their names. Each uses those before it, and together they are one program.
pub const SOURCES: &[(&str, &str)] = &[
    ("common.cu", include_str!("kernels/common.cu")),
    ("ranks.cu", include_str!("kernels/ranks.cu")),
    ("groups.cu", include_str!("kernels/groups.cu")),
    ("costs.cu", include_str!("kernels/costs.cu")),
    ("bytes.cu", include_str!("kernels/bytes.cu")),
    ("shared.cu", include_str!("kernels/shared.cu")),
    ("closer.cu", include_str!("kernels/closer.cu")),
    ("sets.cu", include_str!("kernels/sets.cu")),
    ("rows.cu", include_str!("kernels/rows.cu")),
    ("routes.cu", include_str!("kernels/routes.cu")),
    ("stable.cu", include_str!("kernels/stable.cu")),
    ("stable_losses.cu", include_str!("kernels/stable_losses.cu")),
    ("stable_row.cu", include_str!("kernels/stable_row.cu")),
    ("stable_routes.cu", include_str!("kernels/stable_routes.cu")),
    ("stable_moved.cu", include_str!("kernels/stable_moved.cu")),
    ("digest.cu", include_str!("kernels/digest.cu")),
    ("judge.cu", include_str!("kernels/judge.cu")),
    ("subtrees.cu", include_str!("kernels/subtrees.cu")),
    ("shuffle.cu", include_str!("kernels/shuffle.cu")),
    ("patterns.cu", include_str!("kernels/patterns.cu")),
    ("update.cu", include_str!("kernels/update.cu")),
];

/// Returns the whole program.
pub(crate) fn program() -> String {
    SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}")).collect()
}

/// Returns a number that the source defines.
#[cfg(test)]
pub(crate) fn defined(name: &str) -> u64 {
    let program = program();
    let start = format!("#define {name} ");
    let line = program.lines().find_map(|line| line.strip_prefix(&start));
    let text = line.unwrap_or_else(|| panic!("the kernels do not define {name}"));
    let text = text.split_whitespace().next().unwrap().trim_end_matches('u');
    let hexadecimal = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    hexadecimal.unwrap_or_else(|| text.parse()).unwrap()
}

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the files of the source describe them")]
pub enum KernelName {
    RanksStart,
    RanksWave,
    Groups,
    Ascend,
    Descend,
    AscendBytes,
    DescendBytes,
    DeadSlots,
    Routes,
    ReferenceCloser,
    Losses,
    StableRoutes,
    MovedEntries,
    Digest,
    Channels,
    Subtrees,
    Moved,
    LinkLoads,
    Shuffle,
    PatternLoads,
    Update,
}

impl KernelName {
    /// All of them, in the order of their numbers.
    pub const ALL: [KernelName; 21] = [
        KernelName::RanksStart,
        KernelName::RanksWave,
        KernelName::Groups,
        KernelName::Ascend,
        KernelName::Descend,
        KernelName::AscendBytes,
        KernelName::DescendBytes,
        KernelName::DeadSlots,
        KernelName::Routes,
        KernelName::ReferenceCloser,
        KernelName::Losses,
        KernelName::StableRoutes,
        KernelName::MovedEntries,
        KernelName::Digest,
        KernelName::Channels,
        KernelName::Subtrees,
        KernelName::Moved,
        KernelName::LinkLoads,
        KernelName::Shuffle,
        KernelName::PatternLoads,
        KernelName::Update,
    ];

    /// Returns the name of the function.
    pub const fn function(self) -> &'static str {
        match self {
            KernelName::RanksStart => "ranks_start",
            KernelName::RanksWave => "ranks_wave",
            KernelName::Groups => "groups",
            KernelName::Ascend => "ascend",
            KernelName::Descend => "descend",
            KernelName::AscendBytes => "ascend_bytes",
            KernelName::DescendBytes => "descend_bytes",
            KernelName::DeadSlots => "dead_slots",
            KernelName::Routes => "routes",
            KernelName::ReferenceCloser => "reference_closer",
            KernelName::Losses => "losses",
            KernelName::StableRoutes => "stable_routes",
            KernelName::MovedEntries => "moved_entries",
            KernelName::Digest => "digest",
            KernelName::Channels => "channels",
            KernelName::Subtrees => "subtrees",
            KernelName::Moved => "moved",
            KernelName::LinkLoads => "link_loads",
            KernelName::Shuffle => "shuffle",
            KernelName::PatternLoads => "pattern_loads",
            KernelName::Update => "update",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_number_and_a_source() {
        let program = program();
        for (at, kernel) in KernelName::ALL.into_iter().enumerate() {
            assert_eq!(kernel as usize, at);
            assert!(program.contains(&format!(" {}(", kernel.function())));
        }
    }
}
