//! DVSECs of CXL and the mode that two ports agree on (CXLIO-DVS).

use scalepool::endpoint::config_space::ConfigSpace;
use scalepool::endpoint::config_space::port::port;
use scalepool::endpoint::config_space::type3::{Type3Config, type3};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PIDS, PidKind};
use scalepool_protocols::cxl::cxlio::dvsec::{
    self, ConnectedMode, DeviceCapability, DvsecHeader, DvsecId, FlexBus, FlexBusStatus, LAYOUTS, LinkError, Trained,
    check_header, device, flex_bus_port, negotiate,
};
use scalepool_protocols::wire::Wire;

/// An MLD, which shows every DVSEC of a device.
pub fn mld() -> ConfigSpace {
    type3(&Type3Config { logical_devices: 4, ..Type3Config::default() }).expect("legal")
}

/// (ID, length) of every DVSEC of a space, in order.
pub fn dvsecs(space: &ConfigSpace) -> Vec<(u16, u16)> {
    let headers = space.extended_capabilities().into_iter().map(|(at, _)| space.header_at(at));
    headers.map(|h| (h.dvsec_id, h.length_bytes)).collect()
}

#[test]
fn cxlio_dvs_01_p() {
    assert_eq!(dvsecs(&mld()), [(0, 0x3c), (2, 0x2c), (5, 0x10), (7, 0x20), (8, 0x14), (9, 0x10)]);
    let sld = type3(&Type3Config::default()).expect("legal");
    assert_eq!(dvsecs(&sld), [(0, 0x3c), (2, 0x2c), (5, 0x10), (7, 0x20), (8, 0x14)]);
    assert_eq!(dvsecs(&port(FlexBus::default())), [(3, 0x28), (4, 0x10), (7, 0x20), (8, 0x14)]);
    for space in [mld(), sld, port(FlexBus::default())] {
        let mut end = 0x100;
        for (at, id) in space.extended_capabilities() {
            assert_eq!((at, id), (end, 0x23), "one behind the other");
            let header = space.header_at(at);
            assert_eq!((header.vendor, check_header(&header)), (0x1e98, vec![]));
            end = at + usize::from(header.length_bytes);
        }
    }
    // The bytes of a header, by the table of the sheet.
    let header = DvsecId::Device.header(0x3c);
    let bytes = DvsecHeader::DEF.to_bytes(header.to_bits().expect("fits"));
    assert_eq!(bytes, [0x23, 0x00, 0x01, 0x00, 0x98, 0x1e, 0xc3, 0x03, 0x00, 0x00]);
}

#[test]
fn cxlio_dvs_01_n() {
    let good = DvsecId::Device.header(0x3c);
    let broken = |header: DvsecHeader| {
        let found = check_header(&header);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule, "CXLIO-DVS-01");
        found[0].at.to_string()
    };
    assert_eq!(broken(DvsecHeader { capability_id: 0x0b, ..good }), "byte 0");
    assert_eq!(broken(DvsecHeader { vendor: 0x8086, ..good }), "byte 4");
    assert_eq!(broken(DvsecHeader { length_bytes: 0x38, ..good }), "byte 6");
    for dvsec_id in [1, 6, 0xb, 0x100] {
        assert_eq!(broken(DvsecHeader { dvsec_id, ..good }), "byte 8");
    }
    // Every DVSEC with the length of its neighbour.
    for id in DvsecId::ALL {
        if let Some(length) = id.length_bytes() {
            assert_eq!(broken(id.header(length + 4)), "byte 6", "{id:?}");
        }
    }
    assert_eq!(broken(DvsecId::RegisterLocator.header(0x12)), "byte 6");
    assert_eq!(check_header(&DvsecId::Test.header(0x24)), [], "its length is not known");
}

#[test]
fn cxlio_dvs_02_p() {
    // Literal offsets of the sheet: capability 0Ah, control 0Ch, ranges from 18h, 10h apart.
    let config = Type3Config { range_bytes: [0x1_3000_0000, 0x20_0000_0000], ..Type3Config::default() };
    let mut space = type3(&config).expect("legal");
    let at = 0x100;
    assert_eq!(space.read(at + 0x08) >> 16, 0xc02e, "io, mem, hardware init, two ranges, viral, PM report");
    assert_eq!(space.read(at + 0x0c) & 0xffff, 0x0002, "CXL.io alone");
    assert_eq!([space.read(at + 0x18), space.read(at + 0x1c)], [0x1, 0x3000_0003]);
    assert_eq!([space.read(at + 0x28), space.read(at + 0x2c)], [0x20, 0x0000_0003]);
    for (n, register) in [0x20, 0x24, 0x30, 0x34].into_iter().enumerate() {
        space.write(at + register, 0xf000_0000 >> n, 0xf);
    }
    assert_eq!([space.read(at + 0x20), space.read(at + 0x24)], [0xf000_0000, 0x7000_0000]);
    assert_eq!([space.read(at + 0x30), space.read(at + 0x34)], [0x3c00_0000, 0x1000_0000]);
    space.write(at + 0x0c, 0x4, 0x3);
    assert!(space.cxl_mem_enabled());
}

#[test]
fn cxlio_dvs_02_n() {
    // A register a DW further is another one: the size of a shifted range is not what was built.
    let space = type3(&Type3Config::default()).expect("legal");
    let at = space.dvsec(DvsecId::Device).expect("there");
    let size_at = |shift: usize| {
        let half = |range: std::ops::Range<usize>| space.number(at + shift, range);
        half(device::RANGE0_SIZE_HIGH) << 32 | half(device::RANGE0_SIZE_LOW) & 0xf000_0000
    };
    assert_eq!(size_at(0), 16 << 30);
    for shift in [4, 8, 16] {
        assert_ne!(size_at(shift), 16 << 30);
    }
    // Capability bits that are reserved are named.
    let mut found = Vec::new();
    LAYOUTS.iter().find(|l| l.name == "cxlio.dvsec_control").expect("there").check(0x8000, &mut found);
    assert_eq!((found.len(), found[0].rule), (1, "CXLIO-DVS-02"));
}

/// Capabilities by name: 68B with VH, LOpt, PBR.
pub fn can(vh_68b: bool, lopt_256b: bool, pbr: bool) -> FlexBus {
    FlexBus { io: true, mem: true, vh_68b, lopt_256b, pbr, ..FlexBus::default() }
}

pub const FLITS: Trained = Trained { flit_mode: true, rate_gtps: 64 };
pub const NO_FLITS: Trained = Trained { flit_mode: false, rate_gtps: 32 };

#[test]
fn cxlio_dvs_03_p() {
    // Bits of the sheet, then the whole table: 8 capabilities of one port by 8 of the other, with and without flit mode.
    let bits = FlexBus {
        cache: true,
        io: true,
        mem: true,
        vh_68b: true,
        mld: true,
        lopt_256b: true,
        pbr: true,
        ..FlexBus::default()
    };
    assert_eq!(bits.to_bits(), Ok(0b0110_0000_0110_0111));
    let all = || (0..8).map(|n| (n & 1 == 1, n & 2 == 2, n & 4 == 4));
    for (vh_a, lopt_a, pbr_a) in all() {
        for (vh_b, lopt_b, pbr_b) in all() {
            let (a, b) = (can(vh_a, lopt_a, pbr_a), can(vh_b, lopt_b, pbr_b));
            let with = match (pbr_a && pbr_b, lopt_a && lopt_b) {
                (true, _) => 5,
                (false, true) => 4,
                (false, false) => 3,
            };
            let without = if vh_a && vh_b { 2 } else { 1 };
            assert_eq!(negotiate(&a, &b, FLITS).map(|m| m as u8), Some(with));
            assert_eq!(negotiate(&a, &b, NO_FLITS).map(|m| m as u8), Some(without));
            assert_eq!(negotiate(&a, &b, FLITS), negotiate(&b, &a, FLITS), "both sides agree");
        }
    }
    // The status says what was agreed.
    for (mode, trained) in [(ConnectedMode::Vh68b, NO_FLITS), (ConnectedMode::LatencyOptimised256b, FLITS)] {
        let mut space = port(can(true, true, false));
        let peer = can(true, true, true);
        assert_eq!(negotiate(&space.flex_bus(), &peer, trained), Some(mode));
        space.trained(&peer, mode);
        let status = space.flex_bus_status();
        let expected = FlexBusStatus {
            io: true,
            mem: true,
            vh_68b: true,
            lopt_256b: mode == ConnectedMode::LatencyOptimised256b,
            ..FlexBusStatus::default()
        };
        assert_eq!(status, expected);
    }
}

#[test]
fn cxlio_dvs_03_n() {
    // 256B without PCIe flit mode: mode 2 at most, whatever the ports can do.
    let best = can(true, true, true);
    for rate_gtps in [8, 16, 32] {
        let trained = Trained { flit_mode: false, rate_gtps };
        assert_eq!(negotiate(&best, &best, trained), Some(ConnectedMode::Vh68b));
    }
    // 64 GT/s is never without flit mode, below 8 GT/s there is no CXL, and none without CXL.io.
    assert_eq!(negotiate(&best, &best, Trained { flit_mode: false, rate_gtps: 64 }), None);
    assert_eq!(negotiate(&best, &best, Trained { flit_mode: true, rate_gtps: 5 }), None);
    assert_eq!(negotiate(&best, &FlexBus { io: false, ..best }, FLITS), None);
}

/// The error bits of a status as the sheet numbers them: 7 even half, 8 corrected, 9 uncorrectable, 10 unexpected.
fn error_bits(space: &ConfigSpace) -> u128 {
    space.flex_bus_status().to_bits().expect("fits") >> 7 & 0xf
}

#[test]
fn cxlio_dvs_04_p() {
    let io_only = Enabled { io: true, cachemem: false };
    let code = |kind| PIDS.iter().find(|p| p.kind == kind && !p.eds).expect("listed").code;
    let (io, cachemem) = (code(PidKind::Io), code(PidKind::Cachemem));
    for (pair, bit) in
        [([io, 0], 1), ([0, io], 1), ([0, 0], 2), ([io, cachemem], 2), ([cachemem; 2], 3), ([cachemem, 0], 3)]
    {
        let mut space = port(can(true, false, false));
        space.trained(&can(true, false, false), ConnectedMode::Vh68b);
        let log = pid::receive(u16::from_le_bytes(pair), io_only).log.expect("an error");
        space.note(LinkError::of_rule(log.rule()).expect("an error of the port"));
        assert_eq!(error_bits(&space), 1 << bit, "{pair:?}");
        assert!(space.flex_bus_status().vh_68b, "what was agreed stays");
        // It stays when 0 is written, and goes when 1 is.
        let status_at = (space.dvsec(DvsecId::FlexBusPort).expect("there") + flex_bus_port::STATUS.start) as u16;
        space.write(status_at, 0, 0xc);
        assert_eq!(error_bits(&space), 1 << bit);
        space.write(status_at, 1 << (16 + 7 + bit), 0xc);
        assert_eq!(error_bits(&space), 0);
    }
    let mut space = port(can(true, true, false));
    space.note(LinkError::of_rule("CXL256-LOP-04").expect("an error of the port"));
    assert_eq!(error_bits(&space), 1);
}

#[test]
fn cxlio_dvs_04_n() {
    // Errors of other layers and good IDs set no bit; a write cannot set one.
    let mut space = port(can(true, true, true));
    for rule in ["CXL68-CRC-01", "CXL68-PID-01", "CXL68-PID-07", "CXL256-CRC-04"] {
        assert_eq!(LinkError::of_rule(rule), None);
    }
    assert_eq!(pid::receive(pid::IO, Enabled::ALL).log, None);
    let at = space.dvsec(DvsecId::FlexBusPort).expect("there") as u16;
    space.write(at + flex_bus_port::STATUS.start as u16, u32::MAX, 0xf);
    assert_eq!(error_bits(&space), 0);
    // One error sets one bit: the three others are missing then.
    space.note(LinkError::PidCorrected);
    assert_ne!(error_bits(&space), 0b1110);
    assert_eq!(error_bits(&space), 0b0010);
}

#[test]
fn the_capability_of_the_device_follows_its_memory() {
    for (range_bytes, mem, count) in [([0, 0], false, 0), ([1 << 28, 0], true, 1), ([1 << 28, 1 << 30], true, 2)] {
        let space = type3(&Type3Config { range_bytes, ..Type3Config::default() }).expect("legal");
        let at = space.dvsec(DvsecId::Device).expect("there");
        let found = DeviceCapability::from_bits(space.number(at, device::CAPABILITY));
        assert_eq!((found.io, found.mem, found.hdm_count), (true, mem, count));
    }
    assert_eq!(dvsec::CAPABILITY_ID, 0x23);
}
