//! HDM decoders: from an address to the target at the root, the target below it, and the address in the device.
//!
//! Modelled: every number of ways, every granularity, modulo and XOR at the root, and every split of the ways between the root
//! and decoders below it that the sheet allows (`fabric` §2.2 to §2.4). A window lies behind another one of its device, so
//! its share begins where that of the other one ends. Left out: skips, which the model has none of; commits.

use super::{FabricVectors, SEED, hex};
use scalepool_kernel::Rng;
use scalepool_memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, WAYS, WINDOW_STEP_BYTES, Window};
use serde_json::{Value, json};

/// Addresses at random of each window.
const RANDOM: usize = 5;

pub(super) fn vectors() -> FabricVectors {
    let mut rng = Rng::for_name(SEED, "decoder_walk");
    let mut cases = Vec::new();
    for arithmetic in Arithmetic::ALL {
        for (ways, granularity) in
            WAYS.into_iter().flat_map(|ways| GRANULARITIES.map(|granularity| (ways, granularity)))
        {
            let whole = Interleave::new(ways, granularity, arithmetic);
            for interleave in WAYS.into_iter().filter_map(|root_ways| whole?.over_root(root_ways)) {
                cases.push(case(interleave, &mut rng));
            }
        }
    }
    FabricVectors {
        name: "decoder_walk",
        about: "HDM decoders: target at the root, target below it, and address in the device",
        cases,
    }
}

/// A window, with the one before it in its devices.
fn case(interleave: Interleave, rng: &mut Rng) -> Value {
    let (ways, granularity) = (interleave.ways(), interleave.granularity());
    // Multiples of three windows steps, as a remainder at the root needs (`fabric` HDM-6).
    let unit = 3 * WINDOW_STEP_BYTES;
    let before = Window { base: unit * (1 + rng.below(8)), size: WINDOW_STEP_BYTES * ways, interleave };
    let base = (before.end().div_ceil(unit) + rng.below(1 << 20)) * unit;
    let window = Window { base, size: WINDOW_STEP_BYTES * ways * (1 + rng.below(4)), interleave };
    let mut device = Decoders::default();
    device.push(before);
    device.push(window);
    let chunk = |n: u64| base + n * granularity;
    let mut addresses = vec![base - 1, base, chunk(1) - 1, chunk(1), chunk(ways - 1), chunk(ways), window.end() - 1];
    addresses.extend([window.end(), before.base + 1]);
    addresses.extend((0..RANDOM).map(|_| base + rng.below(window.size)));
    let walks: Vec<Value> = addresses.into_iter().map(|address| walk(interleave, &device, address)).collect();
    let (below_ways, below_granularity) = interleave.below();
    json!({
        "arithmetic": interleave.arithmetic().name(), "ways": ways, "granularity": granularity,
        "root_ways": interleave.root_ways(), "below_ways": below_ways, "below_granularity": below_granularity,
        "decoders": device.list().iter().map(|decoder| json!({
            "base": hex(decoder.window.base), "size": hex(decoder.window.size), "device_base": hex(decoder.device_base),
        })).collect::<Vec<_>>(),
        "walks": walks,
    })
}

/// One address; without a hit it leads nowhere.
fn walk(interleave: Interleave, device: &Decoders, address: u64) -> Value {
    let Some(device_address) = device.device_address(address) else { return json!({ "address": hex(address) }) };
    let way = interleave.way(address) as u64;
    json!({
        "address": hex(address), "root": way % interleave.root_ways(), "below": way / interleave.root_ways(),
        "device_address": hex(device_address),
    })
}
