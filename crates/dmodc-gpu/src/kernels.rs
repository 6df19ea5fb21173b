//! The kernels: their source in CUDA C++, and their names.

/// The files of the source with their names. Each uses those before it, and together they are one program.
pub const SOURCES: &[(&str, &str)] = &[
    ("common.cu", include_str!("kernels/common.cu")),
    ("ranks.cu", include_str!("kernels/ranks.cu")),
    ("groups.cu", include_str!("kernels/groups.cu")),
    ("costs.cu", include_str!("kernels/costs.cu")),
    ("bytes.cu", include_str!("kernels/bytes.cu")),
    ("closer.cu", include_str!("kernels/closer.cu")),
    ("rows.cu", include_str!("kernels/rows.cu")),
    ("routes.cu", include_str!("kernels/routes.cu")),
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
    pub const ALL: [KernelName; 17] = [
        KernelName::RanksStart,
        KernelName::RanksWave,
        KernelName::Groups,
        KernelName::Ascend,
        KernelName::Descend,
        KernelName::AscendBytes,
        KernelName::DescendBytes,
        KernelName::DeadSlots,
        KernelName::Routes,
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
            let name = kernel.function();
            let has = |argument: &str| program.contains(&format!(" {name}({argument})"));
            assert!(
                has("Arguments a") || has("const __grid_constant__ JudgeArguments j"),
                "{name}"
            );
        }
    }
}
