//! Windows: the tiles whose tables are in memory at the same time.
//!
//! A router for whole tables has one window with all tiles. A stream has several, which use the same memory one after the other.

use crate::arguments::{TILES, TileWindow};
use crate::layout::DeviceFabric;

/// Returns the window that has all tiles.
pub(crate) fn whole(device: &DeviceFabric) -> TileWindow {
    let bytes = device.sizes.table_bytes as usize;
    TileWindow { first_tile: 0, end_tile: device.sizes.tiles, offset: 0, bytes }
}

/// Returns windows of at most this number of bytes each, or of one tile if a tile has more. Together they have all tiles.
pub(crate) fn of_bytes(device: &DeviceFabric, most_bytes: usize) -> Vec<TileWindow> {
    let (all, tiles) = (whole(device), device.sizes.tiles);
    let offset = |tile: u32| match device.places.get(tile as usize) {
        Some(place) => place.offset,
        None => all.bytes,
    };
    let largest_tile = (0..tiles).map(|tile| offset(tile + 1) - offset(tile)).max().unwrap_or(0);
    if all.bytes <= most_bytes || largest_tile == 0 {
        return vec![all];
    }
    let window = |first_tile: u32| {
        let end_tile = tiles.min(first_tile + window_tiles(most_bytes / largest_tile));
        let start = offset(first_tile);
        TileWindow { first_tile, end_tile, offset: start, bytes: offset(end_tile) - start }
    };
    let first = (tiles > 0).then(|| window(0));
    let next = |before: &TileWindow| (before.end_tile < tiles).then(|| window(before.end_tile));
    std::iter::successors(first, next).collect()
}

/// Returns the number of tiles of a window if there is room for `fitting`: as many as some blocks take, or a part of one block
/// that starts at a multiple of itself. So no block takes tiles of two words of bits, which have one bit for each of 32 tiles.
fn window_tiles(fitting: usize) -> u32 {
    let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
    match fitting {
        0 => 1,
        1..TILES => 1 << fitting.ilog2(),
        _ => fitting / TILES * TILES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_blocks_or_parts_of_one() {
        let tiles = [0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100].map(window_tiles);
        assert_eq!(tiles, [1, 1, 2, 2, 4, 8, 16, 32, 32, 64, 96]);
        assert!(window_tiles(usize::MAX).is_multiple_of(TILES));
    }
}
