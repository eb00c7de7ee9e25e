//! Devices with several logical devices on CXL.io: the LD-ID in front of their TLPs, and traffic between peers.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::link::io_ends::IoItem;
use scalepool::nodes::io::mode::FlexPort;
use scalepool::nodes::io::switch::hierarchy::{IoHierarchy, IoSide};
use scalepool::nodes::io::switch::{IoSeat, IoSwitch, IoSwitchConfig, IoSwitchPort, IoSwitchResult};
use scalepool::nodes::io::tlps::{with_ld, without_ld};
use scalepool::scenario::report::ScenarioReport;
use scalepool::system::description::Description;
use scalepool::trace::Tap;
use scalepool_protocols::cxl::cxlio::vdm::MESSAGE_CODE;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const SHARED: &str = include_str!("../../systems/io_logical_devices.toml");

fn good(set: &[&str]) -> ScenarioReport {
    let report = run(SHARED, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// Four hosts, each with four of 16 logical devices of one link: they find their own and no others, and every read has the bytes that
/// were written, although all hosts use the same identifiers, tags and addresses.
#[test]
fn fab_ior_05_p() {
    for set in [&[][..], &["device.mode=cxl-68b", "link.ber=1e-6"], &["host.power=reset"], &["host.power=flush"]] {
        let report = good(&[&["host.accesses=60"], set].concat());
        for n in 0..4 {
            let of_host = |name| count(&report, &format!("host[{n}]"), name);
            // The upstream port, four vPPBs, and what is behind each.
            assert_eq!((of_host("functions"), of_host("BARs"), of_host("memory ranges")), (9, 8, 4), "{set:?}");
            assert!(of_host("memory reads") > 0 && of_host("memory writes") > 0, "{set:?}");
        }
        assert_eq!(count(&report, "switch", "TLPs of unknown LD-ID"), 0);
    }
    let [one, two] = [1, 2].map(|threads| on_threads(SHARED, &["host.accesses=20", "link.ber=1e-6"], threads).json());
    assert_eq!(one, two);
}

#[test]
fn logical_devices_that_are_not_there_are_refused() {
    for (from, to, expected) in [
        ("logical_devices = 16", "logical_devices = 8", "found LD 8 at switch.dsp[0], expected 0 to 7"),
        ("logical_devices = 16", "logical_devices = 1", "found LD 0 at switch.dsp[0], expected none"),
        ("vcs = 1, vppb = 0, ld = 1 }", "vcs = 1, vppb = 0, ld = 0 }", "found port 0"),
        ("vcs = 1, vppb = 0, ld = 1 }", "vcs = 1, vppb = 0 }", "found port 0"),
        ("vcs = 1, vppb = 0, ld = 1 }", "vcs = 1, vppb = 0, ld = 16 }", "found 16, expected 0 to 15"),
    ] {
        let text = SHARED.replace(from, to);
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        let found = description.resolve().err().expect("it is refused").to_string();
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// A device that is bound whole works as one with a single logical device, whatever it could be (`fabric` MLD-4).
#[test]
fn a_device_that_is_bound_whole_has_no_prefixes() {
    let at = SHARED.find("hosts = 4\nbindings").expect("the hosts");
    let end = SHARED[at..].find("\n]\n").expect("the bindings") + at + 3;
    let text = format!("{}hosts = 1\n{}", &SHARED[..at], &SHARED[end..]).replace("count = 4", "count = 1");
    let report = run(&text, &["host.accesses=20"]).expect("it runs");
    assert_eq!(report.violations, []);
    assert_eq!(count(&report, "host[0]", "logical devices"), 16);
}

const FORM: TlpForm = TlpForm::Flit;
const BASE: u64 = 0x10_0000_0000;
const MIB: u64 = 1 << 20;

/// TLPs with their LD-IDs.
type CameTlps = Vec<(Option<u16>, Tlp)>;

/// What stands at a port: it sends its TLPs one a cycle, and keeps what comes but messages of power management.
struct End {
    sends: Vec<Vec<u8>>,
    tx: Out<IoItem>,
    rx: In<IoItem>,
    came: Arc<Mutex<CameTlps>>,
}

impl Module for End {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while let Some(item) = self.rx.pop(cx) {
            let IoItem::Tlp(bytes) = item else { continue };
            let (ld, bytes) = without_ld(&bytes);
            let tlp = Tlp::decode(bytes, FORM).expect("it is a TLP");
            if !matches!(tlp.kind, TlpKind::Message { code: MESSAGE_CODE, .. }) {
                self.came.lock().expect("no panic").push((ld, tlp));
            }
        }
        if !self.sends.is_empty() && self.tx.has_room(cx, 1) {
            let _ = self.tx.push(cx, IoItem::Tlp(self.sends.remove(0)));
        }
        Next::Busy
    }
}

/// TLPs that came at each end with their LD-IDs, and the result of the switch: a host at the first port, a device with two bound logical
/// devices, 0 and 1, at the second one, and a whole device at the third one. Each end sends TLPs; the host programs the switch first.
fn switched(sends: [Vec<Vec<u8>>; 3], redirects: bool) -> ([CameTlps; 3], IoSwitchResult) {
    let result: Arc<Mutex<IoSwitchResult>> = Arc::default();
    let came: [Arc<Mutex<CameTlps>>; 3] = Default::default();
    let (shared, kept) = (result.clone(), came.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
        let mut ports = Vec::new();
        for (n, (sends, came)) in sends.into_iter().zip(came).enumerate() {
            let (tx, switch_rx) = p.channel::<IoItem>(&format!("p{n}.to_switch"), 8, 1)?;
            let (switch_tx, rx) = p.channel::<IoItem>(&format!("p{n}.from_switch"), 8, 1)?;
            p.module(&format!("p{n}"), clock, |bind| End { sends, tx: bind.attach(tx), rx: bind.attach(rx), came })?;
            ports.push((n, switch_rx, switch_tx));
        }
        let mut hierarchy = IoHierarchy::new(&[true, true, true], 32, FlexPort::root("cxl-256b").can, 512);
        if redirects {
            [0, 1].into_iter().for_each(|vppb| hierarchy.redirects(vppb));
        }
        program(&mut hierarchy);
        p.module("switch", clock, |bind| {
            let seat = |ld, side, pm| IoSeat {
                ld,
                place: Some((0, side)),
                agent: PmAgent::new(PmConfig { is_of_switch: true, ..PmConfig::new(pm) }),
            };
            let port = |(n, rx, tx)| {
                let seats = match n {
                    0 => vec![seat(None, IoSide::Up, PmSide::Device)],
                    1 => [0, 1].map(|ld| seat(Some(ld as u16), IoSide::Down(ld), PmSide::Host)).into(),
                    _ => vec![seat(None, IoSide::Down(2), PmSide::Host)],
                };
                let own = IoSwitchPort { seats, form: FORM, has_uio: false, link: n as u32, tap: Tap::off() };
                (own, bind.attach(rx), bind.attach(tx))
            };
            let ports = ports.into_iter().map(port).collect();
            let config = IoSwitchConfig { latency_cycles: 10, queue: 4, width_bytes: 128 };
            IoSwitch::new(config, vec![hierarchy], ports, shared)
        })
    });
    let limit = Some(Time::from_fs(200_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let result = result.lock().expect("no panic").clone();
    (kept.map(|came| came.lock().expect("no panic").clone()), result)
}

/// Buses 3, 4 and 5 behind the three vPPBs, each with a window of 1 MiB.
fn program(hierarchy: &mut IoHierarchy) {
    crate::fab_io::hierarchy::program(hierarchy, 0x100, [2, 5], BASE, 4 * MIB);
    for n in 0..3u16 {
        let bus = 3 + n as u8;
        crate::fab_io::hierarchy::program(hierarchy, 0x200 | n << 3, [bus, bus], BASE + u64::from(n) * MIB, MIB);
    }
}

fn read(address: u64, requester: u16) -> Vec<u8> {
    let kind = TlpKind::MemRead { address, dw: 1, enables: Enables::all(1) };
    Tlp::new(kind, requester, Vec::new()).encode(FORM).expect("it is legal")
}

/// The rules of what was reported.
fn rules(result: &IoSwitchResult) -> Vec<&'static str> {
    let rule = |event: &EndpointEvent| if let EndpointEvent::Rule(broken) = event { Some(broken.rule) } else { None };
    result.events.iter().filter_map(rule).collect()
}

/// The same address, requester and tag for both logical devices: each has the LD-ID of its vPPB, and none above the switch. An LD-ID above
/// it, none on the link of the logical devices, and one that is not bound are dropped; the first two are findings (`fabric` MLD-5).
#[test]
fn fab_ior_05_n() {
    let down = vec![read(BASE, 0), read(BASE + MIB, 0)];
    let up = [0, 1].map(|ld| with_ld(Some(ld), read(0, 0x300 + 0x100 * ld))).to_vec();
    let (came, result) = switched([down, up, Vec::new()], true);
    assert_eq!(came[1].iter().map(|(ld, _)| *ld).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(came[0].iter().map(|(ld, _)| *ld).collect::<Vec<_>>(), [None, None]);
    assert_eq!((rules(&result), result.dropped), (Vec::new(), 0));

    let (came, result) = switched([vec![with_ld(Some(0), read(BASE, 0))], Vec::new(), Vec::new()], true);
    assert_eq!((rules(&result), result.dropped, came[1].len()), (vec!["FAB-IOR-05"], 1, 0), "above the switch");
    let (came, result) = switched([Vec::new(), vec![read(0, 0x300)], Vec::new()], true);
    assert_eq!((rules(&result), result.dropped, came[0].len()), (vec!["FAB-IOR-05"], 1, 0), "without one");
    let (came, result) = switched([Vec::new(), vec![with_ld(Some(2), read(0, 0x300))], Vec::new()], true);
    assert_eq!((rules(&result), result.unknown_ld, came[0].len()), (Vec::new(), 1, 0), "not bound");
}

/// A switch that turns the TLP of a logical device to its peer, another one of the same link or a whole device, is found.
#[test]
fn fab_mld_09_n() {
    for (redirects, [to_root, to_peer, to_whole], expected) in
        [(true, [2, 0, 0], &[][..]), (false, [0, 1, 1], &["FAB-MLD-09", "FAB-MLD-09"])]
    {
        let peers = [read(BASE + MIB, 0x300), read(BASE + 2 * MIB, 0x300)].map(|tlp| with_ld(Some(0), tlp)).to_vec();
        let (came, result) = switched([Vec::new(), peers, Vec::new()], redirects);
        assert_eq!(came.map(|came| came.len()), [to_root, to_peer, to_whole], "{redirects}");
        assert_eq!(rules(&result), expected, "{redirects}");
    }
}

/// A message from the root to everybody leaves at each logical device and at the whole device, more of them than the switch holds posted
/// requests of an input; one by identifier leaves at one of them.
#[test]
fn fab_ior_01_p3() {
    let message = |routing, dw2| {
        let kind = TlpKind::Message { routing, code: 0x7f, dw2, dw3: 0 };
        Tlp::new(kind, 0, Vec::new()).encode(FORM).expect("it is legal")
    };
    let of_root = vec![message(3, 0), message(3, 0), message(2, 0x0400_0000), message(3, 0)];
    let (came, result) = switched([of_root, Vec::new(), Vec::new()], true);
    let lds = |n: usize| came[n].iter().map(|(ld, _)| *ld).collect::<Vec<_>>();
    let [first, second] = [0, 1].map(Some);
    assert_eq!(lds(1), [first, second, first, second, second, first, second]);
    assert_eq!((lds(2), lds(0)), (vec![None; 3], Vec::new()));
    assert_eq!((rules(&result), result.dropped), (Vec::new(), 0));
}
