//! Flow control on every link: initialisation, credits, scales, UpdateFC and its clock.

use super::rig::*;
use scalepool_protocols::cxl::cxlio::code::FcType;
use scalepool_protocols::cxl::cxlio::dllp::{Dllp, DllpFc};
use scalepool_protocols::wire::Wire;

/// Flits of 10 us.
const SILENCE_FLITS: u64 = 10_000_000_000 / 1_062_500;

pub fn fc(dllp: DllpFc) -> Dllp {
    Dllp((dllp.to_bits().expect("the fields fit") as u32).to_be_bytes())
}

/// An UpdateFC for posted TLPs with scale 1.
fn update(hdr_fc: u8, data_fc: u16) -> Dllp {
    fc(DllpFc { fc_type: FcType::UpdateFcP, hdr_fc, data_fc, hdr_scale: 1, data_scale: 1, ..DllpFc::default() })
}

fn both(config: IoConfig) -> Vec<Box<dyn Link>> {
    links_of([config.clone(), config])
}

#[test]
fn cxlio_fcc_01_p() {
    // One header and one data credit of each kind: one TLP at a time, and everything comes.
    let one = Buffers { headers: Advertised::x1(1), data: Advertised::x1(4) };
    for mut link in both(IoConfig { buffers: [one; 3], ..config() }) {
        let form = link.form();
        link.bring_up();
        let sent: Vec<IoTlp> = (0..6).map(|n| write(form, n, 0x100, &pattern(n as u8, 64))).collect();
        sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        assert_eq!(link.end(Dir::Down).room(IoCreditClass::Posted), IoCreditRoom { headers: Some(0), data: Some(0) });
        // Nobody takes it: nothing more may come.
        link.steps(300);
        assert_eq!(link.end(Dir::Up).stats().received[0], 1);
        assert_eq!(link.collect(Dir::Down, 2000), sent);
        link.rest();
        link.assert_no_events();
        assert_eq!(link.end(Dir::Down).room(IoCreditClass::Posted), IoCreditRoom { headers: Some(1), data: Some(4) });
        // What can never go is told at once.
        let refused = link.end(Dir::Down).push(write(form, 7, 0, &pattern(0, 68))).expect_err("5 data credits");
        assert_eq!(refused.why, Why::NeverFits { found: 5, expected: 4 });
    }
}

#[test]
fn cxlio_fcc_01_n() {
    for mut link in both(config()) {
        let form = link.form();
        link.bring_up();
        link.rest();
        link.end(Dir::Up).hold_credits(true);
        // Somebody else grants 4 headers more than there are: 16.
        link.inject_dllp(Dir::Up, update(20, 256));
        (0..20).for_each(|n| link.push(Dir::Down, write(form, n, 0, &pattern(0, 4))));
        link.steps(300);
        let events = link.events(Dir::Up);
        assert_eq!(rules(&events), ["CXLIO-FCC-01"; 4]);
        assert!(events.iter().all(|e| e.severity == Severity::Protocol), "{}", events[0]);
        let stats = *link.end(Dir::Up).stats();
        assert_eq!((stats.received[0], stats.dropped), (16, 4));
    }
}

#[test]
fn cxlio_dll_03_p() {
    for scale in Scale::ALL {
        let some = |field| Advertised { field, scale };
        let buffers = [Buffers { headers: some(2), data: some(17) }; 3];
        for mut link in both(IoConfig { buffers, ..config() }) {
            let form = link.form();
            link.bring_up();
            let room = link.end(Dir::Down).room(IoCreditClass::Posted);
            let of = u64::from(scale.credits());
            assert_eq!(room, IoCreditRoom { headers: Some(2 * of), data: Some(17 * of) }, "{scale:?}");
            for n in 0..40u16 {
                let tlp = write(form, n, 0x40, &pattern(n as u8, 4 + 16 * usize::from(n % 16)));
                link.push(Dir::Down, tlp.clone());
                let came = link.collect(Dir::Down, 40);
                assert_eq!(came, [tlp], "{scale:?}");
            }
            link.rest();
            link.assert_no_events();
            assert!(link.end(Dir::Up).flow().is_home());
        }
    }
}

#[test]
fn cxlio_dll_03_n() {
    for mut link in both(config()) {
        let form = link.form();
        link.bring_up();
        link.rest();
        let wrong = [FcType::UpdateFcP, FcType::InitFc1P, FcType::InitFc2P].map(|fc_type| {
            fc(DllpFc { fc_type, hdr_fc: 17, data_fc: 257, hdr_scale: 2, data_scale: 1, ..DllpFc::default() })
        });
        for dllp in wrong {
            link.inject_dllp(Dir::Up, dllp);
            assert_eq!(rules(&link.events(Dir::Down)), ["CXLIO-DLL-03"], "{dllp:02x?}");
        }
        assert_eq!(
            link.end(Dir::Down).room(IoCreditClass::Posted),
            IoCreditRoom { headers: Some(16), data: Some(256) }
        );
        link.push(Dir::Down, write(form, 1, 0, &[1; 4]));
        assert_eq!(link.collect(Dir::Down, 100).len(), 1);
    }
}

#[test]
fn cxlio_dll_08_p() {
    for mut link in both(config()) {
        link.bring_up();
        let before = link.end(Dir::Up).stats().dllps_sent;
        link.steps(4 * SILENCE_FLITS);
        link.assert_no_events();
        // Three kinds, at least every 10 us.
        assert!(link.end(Dir::Up).stats().dllps_sent - before >= 12);
    }
}

#[test]
fn cxlio_dll_08_n() {
    for mut link in both(config()) {
        link.bring_up();
        link.steps(10);
        link.end(Dir::Up).hold_credits(true);
        link.steps(SILENCE_FLITS - 20);
        link.assert_no_events();
        link.steps(SILENCE_FLITS);
        // Each kind once, however long it lasts.
        assert_eq!(rules(&link.events(Dir::Down)), ["CXLIO-DLL-08"; 3]);
        link.end(Dir::Up).hold_credits(false);
        link.steps(2 * SILENCE_FLITS);
        link.assert_no_events();
    }
}

#[test]
fn infinite_credits_are_never_counted() {
    let endless = Buffers { headers: Advertised::INFINITE, data: Advertised::INFINITE };
    for mut link in both(IoConfig { buffers: [endless; 3], queue_tlps: [400; 3], ..config() }) {
        let form = link.form();
        link.bring_up();
        (0..400).for_each(|n| link.push(Dir::Down, write(form, n, 0, &[n as u8; 32])));
        link.steps(2000);
        assert_eq!(link.end(Dir::Up).stats().received[0], 400);
        link.assert_no_events();
        // An UpdateFC must not begin to count.
        link.inject_dllp(Dir::Up, update(3, 0));
        assert_eq!(rules(&link.events(Dir::Down)), ["CXLIO-FCC-01"]);
    }
}

#[test]
fn the_link_comes_up_although_dllps_are_lost() {
    for mode in Mode::ALL {
        let mut link = Flits::plain(mode);
        link.dllp_loss = 32;
        link.bring_up();
        link.assert_no_events();
    }
    for seed in 0..8 {
        let mut link = Units::plain();
        for dir in Dir::ALL {
            let rng = scalepool::kernel::Rng::for_name(seed, dir.name());
            link.wires.put(dir, FaultyWire::new(Vec::new(), 2e-3, rng));
        }
        link.bring_up();
    }
}

#[test]
fn illegal_choices_are_refused() {
    let with = |headers| {
        let buffers = [Buffers { headers: Advertised::x1(headers), data: Advertised::x1(1) }; 3];
        FlitEnd::new(IoConfig { buffers, ..config() }, FlitConfig::new(Mode::Standard)).map(|_| ())
    };
    assert!(with(127).is_ok());
    let error = with(128).expect_err("too many");
    assert_eq!(error.to_string(), "buffers.headers: found 128, expected at most 127 counts");
    assert!(NonFlitEnd::new(IoConfig { flit_fs: 0, ..config() }, ReplayConfig::default()).is_err());
    assert!(NonFlitEnd::new(config(), ReplayConfig { buffer_tlps: 4096, ..ReplayConfig::default() }).is_err());
}
