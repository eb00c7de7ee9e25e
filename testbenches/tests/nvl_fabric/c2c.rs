//! NVL-C2C: a preset without a wire format.

use scalepool_protocols::nvlink::{C2C, C2cError, Packet};

#[test]
fn nvl_c2c_01_p() {
    assert_eq!((C2C.link_mbps(), C2C.side_mbps(), C2C.links), (45_000, 450_000, 10));
    // 450 kB in 1 us, behind a latency of 5 ns.
    assert_eq!(C2C.transfer_fs(450_000), 1_000_000_000 + 5_000_000);
    assert_eq!(C2C.transfer_fs(0), C2C.latency_fs);
}

#[test]
fn nvl_c2c_01_n() {
    let packet = Packet::new(&[0; 3]).expect("three flits");
    assert_eq!(C2C.encode(&packet), Err(C2cError::NoWireFormat { found: 3 }));
}
