//! Unordered I/O to host-managed memory, request by request (`fabric` §1.5, §2.6).

use scalepool::fabric::cxl_switch::{UioFrom, UioRouted, UioRoutes};
use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool::memory::decoder::Arithmetic;
use scalepool::memory::uio::{UIO_WAYS, UioError, UioRange, UioWay};

const GIB: u64 = 1 << 30;
const BASE: u64 = 4 * GIB;

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

/// Two decoders: the first one in turn to vPPBs 2 and 0, with UIO; the second one to vPPB 1, with or without it.
fn hierarchy(second: bool) -> UioRoutes {
    let mut decoders = BridgeDecoders::default();
    for (base, granularity, targets) in [(BASE, 512, vec![2, 0]), (BASE + GIB, 256, vec![1])] {
        let decoder = BridgeDecoder { base, size: GIB, granularity, targets, back_invalidate: false };
        decoders.commit(decoder).expect("it is legal");
    }
    UioRoutes::new(&decoders, |n| n == 0 || second)
}

/// From above and from peers by the decoders of the upstream port.
#[test]
fn fab_ior_06_p() {
    let all = hierarchy(true);
    let peer = |vppb| UioFrom::Down { vppb, is_enabled: true };
    for (address, bytes, vppb) in [
        (BASE, 512, 2),
        (BASE + 0x1ff, 1, 2),
        (BASE + 0x200, 64, 0),
        (BASE + 0x400, 256, 2),
        (BASE + GIB - 64, 64, 0),
        (BASE + GIB, 64, 1),
        (BASE + 2 * GIB - 1024, 1024, 1),
    ] {
        assert_eq!(all.route(UioFrom::Up, address, bytes), UioRouted::Down(vppb), "{address:#x}");
        for from in 0..3 {
            let expected = if from == vppb { UioRouted::Up } else { UioRouted::Down(vppb) };
            assert_eq!(all.route(peer(from), address, bytes), expected, "{address:#x} from vPPB {from}");
        }
    }
    assert_eq!(all.route(peer(1), BASE - 64, 64), UioRouted::Up, "no decoder has it");
}

/// A decoder without UIO, a request over two chunks or two decoders, a port that is not enabled: none reaches a device.
#[test]
fn fab_ior_06_n() {
    let peer = UioFrom::Down { vppb: 0, is_enabled: true };
    let shut = UioFrom::Down { vppb: 0, is_enabled: false };
    let refused = [
        (false, BASE + GIB, 64, UioRouted::Up),
        (true, BASE + 0x1c0, 128, UioRouted::Up),
        (true, BASE + GIB - 64, 128, UioRouted::Up),
        (true, BASE + 2 * GIB - 64, 128, UioRouted::Up),
        (true, BASE + 3 * GIB, 64, UioRouted::Up),
        (true, BASE + GIB, 64, UioRouted::Abort),
        (true, BASE, 64, UioRouted::Abort),
    ];
    for (second, address, bytes, expected) in refused {
        let from = if expected == UioRouted::Abort { shut } else { peer };
        assert_eq!(hierarchy(second).route(from, address, bytes), expected, "{address:#x}");
        // The watcher of a switch says of each request where it went instead.
        assert_eq!(hierarchy(second).judge(from, address, bytes, expected), None, "{address:#x}");
        let wrong = hierarchy(second).judge(from, address, bytes, UioRouted::Down(1)).expect("it is wrong");
        assert_eq!(wrong.rule, "FAB-IOR-06", "{address:#x}");
    }
    let ignores_bit = hierarchy(false).judge(peer, BASE + GIB, 64, UioRouted::Down(1)).expect("it is wrong");
    assert!(ignores_bit.to_string().contains("whose decoder has UIO off"), "{ignores_bit}");
    // Nothing that came from above goes up again.
    for (second, address, bytes, _) in &refused[..5] {
        assert_eq!(hierarchy(*second).route(UioFrom::Up, *address, *bytes), UioRouted::Unsupported, "{address:#x}");
    }
    assert_eq!(hierarchy(false).route(shut, BASE + GIB, 64), UioRouted::Up, "it is not the port that answers");
}
