//! Writing past the cache.
//!
//! A store to a line that is not in the cache first reads the line, even if all of it will be overwritten. That doubles the
//! traffic. Tables that are larger than any cache are therefore put together line by line in a buffer and stored around
//! the cache.

/// Copies to memory that will not be read soon. Drop it before other threads read the memory: dropping it orders its
/// stores before all later ones.
pub(crate) struct RowCopier {
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "other processors copy plainly")
    )]
    past_cache: bool,
}

impl RowCopier {
    /// Returns a copier that writes past the cache if `past_cache` is set and the processor can do so, and plainly
    /// otherwise.
    pub(crate) fn new(past_cache: bool) -> Self {
        RowCopier { past_cache: past_cache && cfg!(target_arch = "x86_64") && !cfg!(miri) }
    }

    /// Copies `from` to `to`, which has the same length.
    #[inline]
    pub(crate) fn copy(&mut self, to: &mut [u8], from: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        if self.past_cache {
            super::x86::copy_past_cache(to, from);
            return;
        }
        to.copy_from_slice(from);
    }
}

impl Drop for RowCopier {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.past_cache {
            super::x86::order_stores();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_and_length_is_copied_and_nothing_else() {
        let from: Vec<u8> = (0..400u32).map(|i| (i * 7 % 251) as u8).collect();
        for past_cache in [false, true] {
            for offset in 0..70 {
                for length in [0, 1, 15, 63, 64, 65, 127, 128, 200, 300] {
                    let mut to = vec![255; 400];
                    let mut stream = RowCopier::new(past_cache);
                    stream.copy(&mut to[offset..offset + length], &from[3..3 + length]);
                    drop(stream);
                    assert_eq!(to[offset..offset + length], from[3..3 + length]);
                    let around = to[..offset].iter().chain(&to[offset + length..]);
                    assert!(around.into_iter().all(|&byte| byte == 255));
                }
            }
        }
    }
}
