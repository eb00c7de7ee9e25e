//! Messages with which the tests compare the paths of a checksum with its definition.

/// Messages that differ, the same in every run: a linear congruential sequence of 64 bits, of which the upper byte is taken.
pub fn random<const N: usize>(count: usize) -> impl Iterator<Item = [u8; N]> {
    let mut x = 1u64;
    (0..count).map(move |_| {
        core::array::from_fn(|_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 56) as u8
        })
    })
}

/// Every value at every place among zeros, then `count` random messages.
pub fn thorough<const N: usize>(count: usize) -> impl Iterator<Item = [u8; N]> {
    let alone = (0..N).flat_map(|at| {
        (0..=255).map(move |value| {
            let mut message = [0; N];
            message[at] = value;
            message
        })
    });
    alone.chain(random(count))
}
