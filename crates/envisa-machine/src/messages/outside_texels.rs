//! Texels outside of their image: their coordinates, in place of an address.

/// Bits of each coordinate, x first: rows over buffers are the longest.
const BITS: [u32; 3] = [28, 18, 18];

/// The coordinates as an address; those beyond what fits are the farthest that do.
pub fn address_of(coordinates: [i64; 3]) -> u64 {
    let mut at = 0;
    coordinates.iter().zip(BITS).fold(0, |all, (x, bits)| {
        let most = (1i64 << (bits - 1)) - 1;
        let field = x.clamp(&-most, &most) & ((1 << bits) - 1);
        let all = all | (field as u64) << at;
        at += bits;
        all
    })
}

/// The coordinates of an address, each `None` if it is farther than what fits.
pub fn coordinates_of(address: u64) -> [Option<i64>; 3] {
    let mut at = 0;
    BITS.map(|bits| {
        let x = (address << (64 - at - bits)) as i64 >> (64 - bits);
        at += bits;
        Some(x).filter(|x| x.unsigned_abs() < (1 << (bits - 1)) - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_what_was_packed() {
        for at in [[0, 0, 0], [-1, 3, -7], [16384, -16384, 2048], [1 << 26, 0, -1]] {
            assert_eq!(coordinates_of(address_of(at)), at.map(Some));
        }
        assert_eq!(coordinates_of(address_of([i64::MAX, 5, i64::MIN])), [None, Some(5), None]);
    }
}
