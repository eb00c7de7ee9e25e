//! Unordered I/O to host-managed memory, request by request (`fabric` §2.6).

use scalepool::memory::decoder::Arithmetic;
use scalepool::memory::uio::{UIO_WAYS, UioError, UioRange, UioWay};

const BASE: u64 = 4 << 30;

fn range(ways: u64, position: u64) -> UioRange {
    UioRange {
        base: BASE,
        size: 1 << 30,
        granularity: 256,
        ways,
        position,
        arithmetic: Arithmetic::Modulo,
        allows_uio: true,
    }
}

/// Every chunk has one port that sends it to its peer, whichever way its offset is looked at; the others have none of it.
#[test]
fn fab_uio_01_p() {
    for ways in UIO_WAYS {
        let ports: Vec<UioRange> = (0..ways).map(|n| range(ways, n).check().expect("it is legal")).collect();
        for chunk in 0..40 {
            let address = BASE + chunk * 256;
            for (first, bytes) in [(0, 256), (0, 1), (255, 1), (64, 64)] {
                let found: Vec<UioWay> = ports.iter().map(|port| port.way(true, address + first, bytes)).collect();
                let mut expected = vec![UioWay::Elsewhere; ways as usize];
                expected[(chunk % ways) as usize] = UioWay::Peer;
                assert_eq!(found, expected, "{ways} ways, chunk {chunk}");
            }
        }
        for outside in [BASE - 64, BASE + (1 << 30)] {
            assert!(ports.iter().all(|port| port.way(true, outside, 64) == UioWay::Elsewhere));
        }
    }
}

#[test]
fn fab_uio_01_n() {
    for found in [0, 3, 6, 12, 32] {
        assert_eq!(range(found, 0).check(), Err(UioError::Ways { found }));
    }
    let xor = UioRange { arithmetic: Arithmetic::Xor, ..range(4, 0) };
    assert_eq!(xor.check(), Err(UioError::Arithmetic { found: "xor" }));
    assert_eq!(range(4, 4).check(), Err(UioError::Position { found: 4, ways: 4 }));
    let coarse = UioRange { granularity: 128, ..range(4, 0) };
    assert_eq!(coarse.check(), Err(UioError::Granularity { found: 128 }));
    let far = UioRange { size: u64::MAX, ..range(1, 0) };
    assert!(matches!(far.check(), Err(UioError::Alignment { .. })));
    let far = UioRange { base: 1 << 51, size: 1 << 52, ..range(1, 0) };
    assert!(matches!(far.check(), Err(UioError::Range { .. })));
    for (base, size) in [(0x40, 0x40), (BASE, 0), (BASE + 256, 1 << 28), (BASE, (1 << 28) + 256)] {
        assert_eq!(UioRange { base, size, ..range(1, 0) }.check(), Err(UioError::Alignment { base, size }));
    }
}

/// Two chunks of a request, both ends of the range, and a decoder without UIO.
#[test]
fn fab_uio_02_p() {
    let port = range(4, 1);
    for (address, bytes) in [(BASE + 0x1c0, 128), (BASE + 0xc0, 128), (BASE, 1024), (BASE + 0x100, 257)] {
        assert_eq!(port.way(true, address, bytes), UioWay::Host, "{address:#x}");
    }
    let alone = range(1, 0);
    assert_eq!(alone.way(true, BASE - 64, 128), UioWay::Host);
    assert_eq!(alone.way(true, BASE + (1 << 30) - 64, 128), UioWay::Host);
    let ordered = UioRange { allows_uio: false, ..port };
    assert_eq!(ordered.way(true, BASE + 0x100, 64), UioWay::Host);
}

/// Of a port that is not enabled no request reaches the peer: a whole one is aborted.
#[test]
fn fab_uio_02_n() {
    let port = range(4, 1);
    assert_eq!(port.way(true, BASE + 0x100, 64), UioWay::Peer);
    assert_eq!(port.way(false, BASE + 0x100, 64), UioWay::Abort);
    assert_eq!(port.way(false, BASE + 0x1c0, 128), UioWay::Host, "it is not the port that answers");
    assert_eq!(port.way(false, BASE, 64), UioWay::Elsewhere);
}

#[test]
fn fab_uio_03_p() {
    for ways in UIO_WAYS {
        for position in 0..ways {
            let device = range(ways, position);
            let own = BASE + position * 256;
            assert!(device.takes(own, 256) && device.takes(own + 192, 64) && device.takes(own + ways * 256, 1));
        }
    }
    assert!(range(1, 0).takes(BASE + 0xc0, 4096), "without interleave there is no chunk");
}

#[test]
fn fab_uio_03_n() {
    let device = range(2, 1);
    let refused = [(BASE + 0x1c0, 65), (BASE, 64), (BASE + 0xff, 2), (BASE - 1, 2), (BASE + (1 << 30), 1)];
    for (address, bytes) in refused {
        assert!(!device.takes(address, bytes), "{address:#x}");
    }
    assert!(!UioRange { allows_uio: false, ..device }.takes(BASE + 0x100, 64));
    // The second byte alone crosses into the chunk of the peer, though two chunks on it is its own again.
    assert!(!device.takes(BASE + 0x100, 513));
}
