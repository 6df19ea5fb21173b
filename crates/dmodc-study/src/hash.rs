//! The hash by which plans and tables are recognised.

/// FNV-1a with 128 bits. It detects mistakes, not forgeries.
#[derive(Clone, Copy)]
pub(crate) struct ContentHash(u128);

impl Default for ContentHash {
    fn default() -> Self {
        ContentHash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl ContentHash {
    /// Adds bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        // The length comes first, so that "ab", "c" and "a", "bc" differ.
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }

    /// Returns the hash of one text.
    pub(crate) fn of(text: &str) -> String {
        let mut hash = ContentHash::default();
        hash.take(text.as_bytes());
        hash.to_string()
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
