//! Sums of the NVLink switch in the order that the model states.

use scalepool::fabric::nvlink_switch::reduction::{NumberType, round_to_bf16, sum};

#[test]
fn sums_follow_the_stated_order() {
    let f = |x: f32| x.to_le_bytes();
    let (a, b, c) = (f(1e8), f(-1e8), f(1.0));
    assert_eq!(sum(NumberType::F32, &[&a, &b, &c]), f(1.0));
    assert_eq!(sum(NumberType::F32, &[&a, &c, &b]), f(0.0), "1 is lost beside 1e8");
    let ints: [[u8; 4]; 3] = [u32::MAX, 2, 40].map(u32::to_le_bytes);
    assert_eq!(sum(NumberType::Int32, &[&ints[0], &ints[1], &ints[2]]), 41u32.to_le_bytes());
    // 1 + 2^-8 lies between two bfloat16; three of 2^-9 on top decide only because the sum is rounded once.
    let b = |x: f32| round_to_bf16(x).to_le_bytes();
    assert_eq!(sum(NumberType::Bf16, &[&b(1.0), &b(1.0 / 256.0)]), b(1.0), "ties to even");
    assert_eq!(sum(NumberType::Bf16, &[&b(1.0), &b(1.0 / 256.0), &b(1.0 / 512.0)]), b(1.0078125));
    assert_eq!([round_to_bf16(f32::INFINITY), round_to_bf16(f32::MAX)], [0x7f80, 0x7f80]);
    assert!(f32::from_bits(u32::from(round_to_bf16(f32::from_bits(0x7f80_0001))) << 16).is_nan());
}
