//! Inter-switch links of CXL.io, TLP by TLP: first contact, streams, and headers that do not belong there.

use scalepool::endpoint::config_space::registers as reg;
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool::fabric::cxl_switch::pbr::DrtEntry;
use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::rgt::Rgt;
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::link::io_ends::IoItem;
use scalepool::nodes::io::mode::FlexPort;
use scalepool::nodes::io::switch::fabric::{
    ContactWatch, HANDLE_HERE, IoFabric, IoVirtualLink, StreamWatch, first_contact, is_first_contact,
};
use scalepool::nodes::io::switch::hierarchy::{IoHierarchy, IoSide};
use scalepool::nodes::io::switch::reset::{LinkMessage, RELEASES, ResetAction, ResetWatch, VirtualReset};
use scalepool::nodes::io::switch::{IoSeat, IoSwitch, IoSwitchConfig, IoSwitchPort, IoSwitchResult};
use scalepool::ordered::OrderedSet;
use scalepool::trace::Tap;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// PIDs: the host at the switch and the binding elsewhere that it has; the device at the switch as a binding, and its host elsewhere.
const HOST: u16 = 0x10;
const FAR_DEVICE: u16 = 0x20;
const DEVICE: u16 = 0x30;
const FAR_HOST: u16 = 0x40;
const OWN: u16 = 0x01;
/// A window of the device.
const BASE: u64 = 1 << 36;
const MIB: u64 = 1 << 20;
const END: u64 = 20_000;

/// What stands at a port: it sends its TLPs as there is room, and takes what comes, or nothing.
struct End {
    sends: VecDeque<Vec<u8>>,
    takes: bool,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
    tx: Out<IoItem>,
    rx: In<IoItem>,
}

impl Module for End {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while self.takes
            && let Some(item) = self.rx.pop(cx)
        {
            if let IoItem::Tlp(bytes) = item {
                self.got.lock().expect("no panic").push(bytes);
            }
        }
        while self.tx.has_room(cx, 1)
            && let Some(bytes) = self.sends.pop_front()
        {
            let _ = self.tx.push(cx, IoItem::Tlp(bytes));
        }
        Next::Busy
    }
}

/// A hierarchy with one bridge, whose window begins at [`BASE`].
fn hierarchy() -> IoHierarchy {
    let mut switch = IoHierarchy::new(&[true], 1, FlexPort::root("cxl-256b-pbr").can, 512);
    for (target, buses) in [(0x100u16, [1, 2, 3, 0]), (0x200, [2, 3, 3, 0])] {
        let half = |address: u64| (address >> 16) as u32 & 0xfff0;
        let last = BASE + MIB - 1;
        let at = reg::PREFETCHABLE.start;
        for (register, value) in [
            (reg::BUSES.start, u32::from_le_bytes(buses)),
            (reg::WINDOW.start, 0xfff0),
            (at, half(last) << 16 | half(BASE)),
            (at + 4, (BASE >> 32) as u32),
            (at + 8, (last >> 32) as u32),
            (reg::COMMAND.start, u32::from(reg::COMMAND_MEMORY | reg::COMMAND_MASTER)),
        ] {
            let (level, register) = (u8::from(target != 0x100), register as u16);
            let kind = TlpKind::ConfigWrite { level, target, register, enables: 0xf };
            switch.route(IoSide::Up, Tlp::new(kind, 0, value.to_le_bytes().to_vec()));
        }
    }
    switch
}

/// One switch with a host, a device and an inter-switch link, over which `comes` comes; what it reports, and what left at the three.
fn run(comes: Vec<(Pth, Tlp)>, device_takes: bool) -> (IoSwitchResult, [Vec<Vec<u8>>; 3]) {
    let result: Arc<Mutex<IoSwitchResult>> = Arc::default();
    let got: [Arc<Mutex<Vec<Vec<u8>>>>; 3] = Default::default();
    let (shared, outs) = (result.clone(), got.clone());
    let comes: VecDeque<Vec<u8>> =
        comes.into_iter().map(|(header, tlp)| tlp.encode_behind(&header).expect("it is legal")).collect();
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
        let mut ports = Vec::new();
        for (n, got) in outs.into_iter().enumerate() {
            let (tx, switch_rx) = p.channel::<IoItem>(&format!("p{n}.to_switch"), 8, 1)?;
            let (switch_tx, rx) = p.channel::<IoItem>(&format!("p{n}.from_switch"), 8, 1)?;
            let sends = if n == 2 { comes.clone() } else { VecDeque::new() };
            let takes = n != 1 || device_takes;
            p.module(&format!("p{n}"), clock, |bind| End {
                sends,
                takes,
                got,
                tx: bind.attach(tx),
                rx: bind.attach(rx),
            })?;
            ports.push((n, switch_rx, switch_tx));
        }
        p.module("switch", clock, |bind| {
            let places = [Some((0, IoSide::Up)), Some((1, IoSide::Down(0))), None];
            let port = |(n, rx, tx): (usize, _, _)| {
                let form = if n == 2 { TlpForm::Pbr { spid: 0, dpid: 0 } } else { TlpForm::Flit };
                let agent = |side| PmAgent::new(PmConfig { is_of_switch: true, ..PmConfig::new(side) });
                let seat = |place: (usize, IoSide)| {
                    let side = if place.1 == IoSide::Up { PmSide::Device } else { PmSide::Host };
                    IoSeat { ld: None, place: Some(place), agent: agent(side) }
                };
                let seats = places[n].map(seat).into_iter().collect();
                let own = IoSwitchPort { seats, form, has_uio: true, link: n as u32, tap: Tap::off() };
                (own, bind.attach(rx), bind.attach(tx))
            };
            let ports = ports.into_iter().map(port).collect();
            let mut tables = Drts::new(1, 3, Rgt::new(Vec::new()).expect("it is empty"));
            for (pid, port) in [(HOST, 0), (DEVICE, 1), (FAR_DEVICE, 2), (FAR_HOST, 2)] {
                let table = tables.table(0).expect("there is one");
                table.set(pid.into(), &[DrtEntry::Port(port)]).expect("there is such a port");
            }
            let link = |place, own, far, ingress, side| {
                let agent = PmAgent::new(PmConfig { is_of_switch: true, ..PmConfig::new(side) });
                IoVirtualLink { place, own, far, ingress, agent, reset: Default::default() }
            };
            let links = vec![
                link((0, IoSide::Down(0)), HOST, FAR_DEVICE, 0, PmSide::Host),
                link((1, IoSide::Up), DEVICE, FAR_HOST, 1, PmSide::Device),
            ];
            let fabric = IoFabric {
                may_lose: false,
                own: OWN,
                first_isl: 2,
                tables,
                links,
                ur_on_unknown: false,
                reset_cycles: [5, 100],
                changes: Vec::new(),
                tree: OrderedSet::from([2]),
            };
            let config = IoSwitchConfig { latency_cycles: 10, queue: 4, width_bytes: 128 };
            IoSwitch::new(config, vec![hierarchy(), hierarchy()], ports, shared).in_fabric(fabric)
        })
    });
    let limit = Some(Time::from_fs(END * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let mut got = got.map(|got| got.lock().expect("no panic").clone());
    // What agents of power management say at the edge is not of interest.
    let is_message =
        |bytes: &[u8]| matches!(Tlp::decode(bytes, TlpForm::Flit).expect("it is a TLP").kind, TlpKind::Message { .. });
    got[..2].iter_mut().for_each(|left| left.retain(|bytes| !is_message(bytes)));
    (result.lock().expect("no panic").clone(), got)
}

/// A posted write to the device, in the stream that goes down.
fn write() -> (Pth, Tlp) {
    let kind = TlpKind::MemWrite { address: BASE, enables: Enables::all(1) };
    let header = Pth { spid: FAR_HOST, dpid: DEVICE, dsar: true, hie: true, ..Pth::default() };
    (header, Tlp::new(kind, 0, vec![1, 2, 3, 4]))
}

/// A completion for the host, in the stream that goes up.
fn completion() -> (Pth, Tlp) {
    let kind = TlpKind::Completion { completer: 0x300, status: CplStatus::SC, byte_count: 4, lower_address: 0 };
    let header = Pth { spid: FAR_DEVICE, dpid: HOST, hie: true, ..Pth::default() };
    (header, Tlp::new(kind, 0, vec![0; 4]))
}

/// The rules of what was reported.
fn rules(result: &IoSwitchResult) -> Vec<&'static str> {
    let rule = |event: &EndpointEvent| if let EndpointEvent::Rule(broken) = event { Some(broken.rule) } else { None };
    result.events.iter().filter_map(rule).collect()
}

/// First contact is the first TLP that leaves, and the first that comes.
#[test]
fn fab_isl_06_p() {
    let (result, [_, device, isl]) = run(vec![first_contact(0x02), write()], true);
    assert_eq!((rules(&result), result.fabric.contacts, device.len()), (Vec::new(), 1, 1));
    let header = Tlp::pbr_header(&isl[0]).expect("it has one");
    let tlp = Tlp::decode(&isl[0], TlpForm::Pbr { spid: 0, dpid: 0 }).expect("it is a TLP");
    assert!(is_first_contact(&header, &tlp));
    assert_eq!((header.spid, header.dpid, tlp.data.len()), (OWN, HANDLE_HERE, 64));
}

/// Traffic before it is reported once, and so is a message that is none of first contact.
#[test]
fn fab_isl_06_n() {
    let (header, contact) = first_contact(0x02);
    let short = Tlp { data: vec![0; 16], ..contact.clone() };
    for comes in [vec![write(), write(), first_contact(0x02)], vec![(header, short), write()]] {
        let (result, _) = run(comes, true);
        assert_eq!(rules(&result), ["FAB-ISL-06"]);
    }
    let mut watch = ContactWatch::default();
    assert_eq!(watch.judge(&header, Some(&contact)), None);
    assert!(watch.is_made());
    assert_eq!(watch.judge(&write().0, None), None);
}

/// Writes for a device that takes none are many more than the switch holds for it, and completions for the host come all the same.
#[test]
fn fab_isl_03_p() {
    let streams = (0..200).flat_map(|_| [write(), completion()]);
    let comes = std::iter::once(first_contact(0x02)).chain(streams).collect();
    let (result, [host, device, _]) = run(comes, false);
    assert_eq!((rules(&result), host.len(), device.len()), (Vec::new(), 200, 0));
}

/// A stream that two TLPs of the other one pass, although it could leave, is reported; one that could not, is not.
#[test]
fn fab_isl_03_n() {
    for stream in [0, 1] {
        let mut watch = StreamWatch::default();
        assert_eq!(watch.leaves(stream, true), None);
        assert_eq!(watch.leaves(stream, true).map(|violation| violation.rule), Some("FAB-ISL-03"));
        let mut watch = StreamWatch::default();
        let waits = [true, false, true, false].map(|is_ready| watch.leaves(stream, is_ready));
        assert_eq!(waits, [const { None }; 4]);
        let mut watch = StreamWatch::default();
        let turns = [0, 1, 0, 1].map(|stream| watch.leaves(stream, true));
        assert_eq!(turns, [const { None }; 4]);
    }
}

/// A message of a reset as the far end of the virtual link of the device sends it.
fn of_reset(message: LinkMessage) -> (Pth, Tlp) {
    (write().0, message.tlp())
}

/// A reset is asserted once, and released until the link is up: with the first, second or tenth release. After the tenth one the
/// manager is told.
#[test]
fn fab_isl_05_p() {
    for (lost, is_up) in [(0, true), (1, true), (9, true), (10, false)] {
        let mut reset = VirtualReset::new(LinkMessage::AssertPerst, 1000, 100);
        assert_eq!(reset.act(999, 5), None);
        assert_eq!(reset.act(1000, 5), Some(ResetAction::Send(LinkMessage::AssertPerst)));
        let mut watch = ResetWatch::default();
        assert_eq!(watch.judge(LinkMessage::AssertPerst, 1000, (100, 0)), None);
        for n in 0..10 {
            let due = 1005 + 100 * n;
            assert_eq!((reset.act(due - 1, 5), reset.due()), (None, due));
            assert_eq!(reset.act(due, 5), Some(ResetAction::Send(LinkMessage::Deassert)));
            if n >= lost {
                assert_eq!(watch.judge(LinkMessage::Deassert, due, (100, 0)), None);
                break;
            }
        }
        // With the link up the reset is over; else nothing is left to try.
        if !is_up {
            assert_eq!(reset.act(1_000_000, 5), Some(ResetAction::GiveUp), "{lost}");
        }
    }
    let comes = [LinkMessage::AssertReset, LinkMessage::Deassert].map(of_reset);
    let (result, [.., isl]) = run(std::iter::once(first_contact(0x02)).chain(comes).collect(), true);
    assert_eq!((rules(&result), result.fabric.resets_taken), (Vec::new(), 1));
    let form = TlpForm::Pbr { spid: 0, dpid: 0 };
    let left = isl.iter().filter_map(|bytes| LinkMessage::of(&Tlp::decode(bytes, form).expect("it is a TLP")));
    assert_eq!(left.collect::<Vec<_>>(), [LinkMessage::LinkUp]);
}

/// A release without a reset, one too soon, an eleventh one, and link up from the wrong side.
#[test]
fn fab_isl_05_n() {
    let (assert, release) = (LinkMessage::AssertReset, LinkMessage::Deassert);
    for comes in [vec![release], vec![assert, release, release], vec![assert, LinkMessage::LinkUp]] {
        let comes = std::iter::once(first_contact(0x02)).chain(comes.into_iter().map(of_reset)).collect();
        let (result, _) = run(comes, true);
        assert_eq!(rules(&result), ["FAB-ISL-05"]);
    }
    let mut watch = ResetWatch::default();
    assert_eq!(watch.judge(assert, 0, (100, 0)), None);
    let mut at = (1u64..).map(|n| watch.judge(release, 100 * n, (100, 0)).map(|violation| violation.rule));
    assert!(at.by_ref().take(RELEASES.into()).all(|rule| rule.is_none()));
    assert_eq!(at.next(), Some(Some("FAB-ISL-05")));
}

/// A header with the wrong stream is reported where it ends, and one that no virtual link has is dropped.
#[test]
fn headers_that_do_not_belong_there_are_found() {
    let (header, tlp) = write();
    let contact = || first_contact(0x02);
    let up = Pth { dsar: false, ..header };
    let (result, [_, device, _]) = run(vec![contact(), (up, tlp.clone())], true);
    assert_eq!((rules(&result), device.len()), (vec!["FAB-ISL-02"], 1));
    for (other, name) in [
        (Pth { spid: FAR_DEVICE, ..header }, "not claimed"),
        (Pth { dpid: FAR_HOST, ..header }, "back where it came"),
        (Pth { dpid: 0x77, ..header }, "no route"),
    ] {
        let (result, [_, device, _]) = run(vec![contact(), (other, tlp.clone())], true);
        let counts = (result.fabric.not_claimed, result.fabric.no_route);
        assert_eq!((counts, device.len()), (if name == "no route" { (0, 1) } else { (1, 0) }, 0), "{name}");
    }
}
