//! References of fabrics with port based routing, of loads that devices tell, of isolated ports and of devices for many hosts.

use super::machine::{Figure, number, said};
use scalepool_coherence::mem::load::{Steps, Throttle};
use scalepool_fabric::cxl_switch::pbr::{AccessVector, CompletionRoutes, EdgeIds, PbrPid, SegmentTable};
use scalepool_fabric::hdm_registers::{DecoderOwner, HdmDecoderRegisters, HdmDecoderSetup, HdmHit, HdmTarget};
use scalepool_fabric::spread::{SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool_memory::gfd::{GfdDecoder, GfdGroup, GfdRequester, GfdTable};
use scalepool_nodes::cxl::isolation::{
    IsolatedAnswer, IsolatedLine, IsolatedSnoop, IsolationControl, RootPortIsolation,
};
use scalepool_nodes::cxl::memory::telemetry::{
    EgressSamples, LdShare, internal_load, over_allocation, told as told_load,
};
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use scalepool_protocols::cxl::hdm_decoder::{HdmGranularity, HdmWays};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

fn parse(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

fn pid(number: u64) -> Option<PbrPid> {
    PbrPid::new(u16::try_from(number).ok()?).ok()
}

fn list(text: &str) -> Option<Vec<u64>> {
    text.split(',').map(parse).collect()
}

/// A segment table: `BASE LIMIT CODE DEPTH ADDRESS`; entry n has the PID 16 + n.
pub(super) fn segments(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let &[base, limit, code, depth, address] = words else { return None };
    let (depth, address) = (depth.parse().ok()?, parse(address)?);
    let mut table = SegmentTable::new(parse(base)?, parse(limit)?, code.parse().ok()?, depth).ok()?;
    let mut access = AccessVector::default();
    for entry in 0..depth {
        let pid = pid(16 + entry as u64)?;
        access.set(pid, true);
        table.set(entry, 256, &[pid], &access).ok()?;
    }
    Some(vec![vec![match (table.index(address), table.dpid(address)) {
        (Some(entry), Some(pid)) => {
            said("address", entry as u64 + 1, format!("entry {entry}, DPID {:#05x}", pid.number()))
        }
        _ => said("address", 0, "in no segment of the table"),
    }]])
}

/// The header in front of a TLP of a logical device, `LD-ID`; logical device n belongs to the host with PID 256 + n.
pub(super) fn tlp_header(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [ld] = words else { return None };
    let hosts = (0..4).map(|n| Some((n, pid(0x100 + u64::from(n))?))).collect::<Option<Vec<_>>>()?;
    let header = EdgeIds::Mld { own: pid(0x500)?, hosts }.tlp_header(ld.parse().ok()?, None, false).ok()?;
    let hex = |name, value: u16| said(name, value.into(), format!("{value:#05x}"));
    Some(vec![vec![hex("SPID", header.spid), hex("DPID", header.dpid), number("DSAR", header.dsar.into())]])
}

/// A completion of unordered I/O: `SEGMENT BUS`; bus 3 of segment 0 is behind PID 100h, that of segment 1 behind 101h.
pub(super) fn completions(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [segment, bus] = words else { return None };
    let mut routes = CompletionRoutes::default();
    for n in 0..2 {
        routes.set(n, 3, pid(0x100 + u64::from(n))?);
    }
    let dpid = routes.dpid(segment.parse().ok()?, bus.parse().ok()?).ok()?.number();
    Some(vec![vec![said("DPID", dpid.into(), format!("{dpid:#05x}"))]])
}

/// The port of a message of a routing group: `POLICY MIX DRAW PORT ..`; a port is `pN:BACKLOG:LINKS`, or `sN` for a secondary one, with `full`
/// where its queue has no room.
pub(super) fn spread(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [policy, mix, draw, ports @ ..] = words else { return None };
    let policy = SpreadPolicy::by_name(policy)?;
    let mut group = SpreadGroup { primary: Vec::new(), secondary: Vec::new(), policy, mix: mix.parse().ok()? };
    let mut waiting = Vec::new();
    for word in ports {
        let &[port, backlog, links] = &word.split(':').collect::<Vec<_>>()[..] else { return None };
        let (kind, port) = port.split_at_checked(1)?;
        let one = SpreadPort { port: port.parse().ok()?, links: links.parse().ok()? };
        if kind == "p" {
            group.primary.push(one)
        } else {
            group.secondary.push(one)
        }
        waiting.push((one.port, if backlog == "full" { None } else { Some(backlog.parse().ok()?) }));
    }
    let backlog = |port: usize| waiting.iter().find(|(of, _)| *of == port).and_then(|(_, backlog)| *backlog);
    Some(vec![vec![match group.choose(parse(draw)?, &backlog) {
        Some(port) => said("message", port as u64, format!("leaves at port {port}")),
        None => said("message", 255, "waits"),
    }]])
}

/// The load that a device without logical devices tells: `REQUESTS PERCENT`, of a queue with 100 places and of congested samples.
pub(super) fn device_load(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [queued, percent] = words else { return None };
    let (queued, percent) = (queued.parse().ok()?, parse(percent)?.min(100));
    let mut samples = EgressSamples::new(1);
    samples.pass(percent, true);
    samples.pass(100, false);
    let load = internal_load(queued, 100).max(samples.load(10, 25));
    Some(vec![vec![number("DevLoad", load.into())]])
}

/// What a logical device is told: `TOTAL LIMIT ALLOCATION`, the load of the device, and whether it is `over` or `within` both.
pub(super) fn told(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [total, limit, allocation] = words else { return None };
    let load = told_load(total.parse().ok()?, *limit == "over", *allocation == "over");
    Some(vec![vec![number("DevLoad", load.into())]])
}

/// Whether the first logical device is over its allocation: `USED FRACTIONS`, lists for all of them.
pub(super) fn allocation(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [used, fractions] = words else { return None };
    let shares: Vec<LdShare> = list(fractions)?.into_iter().map(|fraction| LdShare { fraction, limit: 0 }).collect();
    let used = list(used)?;
    let over = *(used.len() == shares.len()).then(|| over_allocation(&used, &shares))?.first()?;
    let text = if over { "over its allocation" } else { "within its allocation" };
    Some(vec![vec![said("logical device 0", over.into(), text), number("DevLoad", told_load(3, false, over).into())]])
}

/// The throttle of a host whose window has 100 cycles: `CYCLE:LOAD ..`, the answers that it gets.
pub(super) fn throttle(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut throttle = Throttle::new(Steps { normal_delta: 4, severe_delta: 16, most: 40, window_cycles: 100 });
    let mut answer = |word: &&str| {
        let (cycle, load) = word.split_once(':')?;
        let cycle = parse(cycle)?;
        throttle.answer(cycle, DevLoad(load.parse().ok()?));
        Some(vec![number("throttle", throttle.level(cycle).into())])
    };
    words.iter().map(&mut answer).collect()
}

/// A root port: `CONTROL EVENT ..`, control being `timeout`, `down`, `both` or `neither`, events `timeout`, `down` and `clear`.
pub(super) fn isolation(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (control, events) = words.split_first()?;
    let (on_timeout, on_link_down) = match *control {
        "timeout" => (true, false),
        "down" => (false, true),
        "both" => (true, true),
        "neither" => (false, false),
        _ => return None,
    };
    let mut port = RootPortIsolation::new(IsolationControl { on_timeout, on_link_down });
    let figures = |port: &RootPortIsolation| {
        let answer = |name, is_write| match port.answer(is_write) {
            None => said(name, 0, "goes to the link"),
            Some(IsolatedAnswer::PoisonedData) => said(name, 1, "ends with poisoned data"),
            Some(IsolatedAnswer::Completion) => said(name, 2, "ends with a completion"),
        };
        let is = port.is_isolated();
        vec![
            said("root port", is.into(), if is { "isolated" } else { "in use" }),
            answer("read", false),
            answer("write", true),
        ]
    };
    let mut answers = vec![figures(&port)];
    for event in events {
        match *event {
            "timeout" => drop(port.timed_out()),
            "down" => drop(port.link_down()),
            "clear" => port.clear(0).ok()?,
            _ => return None,
        }
        answers.push(figures(&port));
    }
    Some(answers)
}

/// A snoop in the place of an isolated cache, which has the line `owned`, `shared` or `pulled`.
pub(super) fn isolated_snoop(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [line] = words else { return None };
    let line = match *line {
        "owned" => IsolatedLine::MaybeOwned,
        "shared" => IsolatedLine::SharedOrInvalid,
        "pulled" => IsolatedLine::OpenWritePull,
        _ => return None,
    };
    Some(vec![vec![match IsolatedSnoop::of(line) {
        IsolatedSnoop::Poisoned => said("snoop", 1, "ends with poison"),
        IsolatedSnoop::Invalid => said("snoop", 0, "ends as invalid"),
    }]])
}

/// A device of 1 GiB for many hosts: `device SPID ADDRESS` or `requester SPID ADDRESS`, the address of one side of the other. PID 7 has the device
/// from 64 GiB on, 8 from 96 GiB on, 9 twice from 64 GiB on.
pub(super) fn many_hosts(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [way, spid, address] = words else { return None };
    let groups = vec![GfdGroup { first: 256 * MIB, bytes: 256 * MIB, group: 1 }];
    let mut table = GfdTable::new(&[512 * MIB; 2], groups).ok()?;
    let decoder = |base: u64, device_base: u64| GfdDecoder {
        base: base * GIB,
        device_base,
        bytes: 64 * MIB,
        granularity: 256,
        ways: 1,
        way: 0,
    };
    for (pid, decoders) in
        [(7, vec![decoder(64, 0)]), (8, vec![decoder(96, 0)]), (9, vec![decoder(64, 0), decoder(64, 128 * MIB)])]
    {
        table.set(pid, GfdRequester { decoders, groups: OrderedSet::from([0]) }).ok()?;
    }
    let (spid, address) = (u16::try_from(parse(spid)?).ok()?, parse(address)?);
    Some(vec![vec![match *way {
        "device" => match table.device_address(spid, address) {
            Ok(at) => said("device address", at, format!("{at:#x}")),
            Err(_) => said("device address", u64::MAX, "none, an access error"),
        },
        "requester" => {
            let at = table.requester_address(spid, address)?;
            said("snooped address", at, format!("{at:#x}"))
        }
        _ => return None,
    }]])
}

/// The device address behind two decoders of a device, at 4 and 8 GiB, 1 GiB each: `SKIP ADDRESS`, the skip of the second one in steps of
/// 256 MiB.
pub(super) fn shares(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    /// Capability of up to ten decoders with every way and granularity.
    const CAPABILITY: u32 = 0x1b02;
    const ENABLE: u32 = 2;
    let [skip, address] = words else { return None };
    let mut registers = HdmDecoderRegisters::new(DecoderOwner::Device, CAPABILITY).ok()?;
    registers.write(4, ENABLE).ok()?;
    for (n, (base, skip)) in [(4 * GIB, 0), (8 * GIB, parse(skip)? * 256 * MIB)].into_iter().enumerate() {
        let (ways, granularity) = (HdmWays::Ways1, HdmGranularity::Bytes256);
        let setup = HdmDecoderSetup { base, size: GIB, ways, granularity, lock: true, targets: Vec::new(), skip };
        for write in setup.writes(DecoderOwner::Device, n).ok()? {
            registers.write(write.offset, write.value).ok()?;
        }
    }
    Some(vec![vec![match registers.look_up(parse(address)?) {
        Some(HdmHit { target: HdmTarget::Device(at), .. }) => said("device address", at, format!("{at:#x}")),
        _ => said("device address", u64::MAX, "none"),
    }]])
}
