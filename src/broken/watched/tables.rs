//! Tables of a fabric with port based routing, and what judges them.
//!
//! | table | its lines |
//! | --- | --- |
//! | `pids` | `give WHO PID`, who being `manager`, `switch`, `host`, `binding` or `device`; `check` |
//! | `routing_table` | of a switch with 3 ports: `set DPID PORT` |
//! | `groups` | `PRIMARY SECONDARY`, how many ports of each a group has |
//! | `identity` | `TABLES GROUPS MODES` |
//! | `segments` | from 1 TiB up to 2 TiB: `table CODE DEPTH`, `enable PID`, `set ENTRY PID ..` |
//! | `peers` | `REQUESTER TARGET`, kinds being `sld`, `mld`, `gfd`, `switch`, `host`, with `-inner` at a port inside the fabric |
//! | `cache_ids` | `assign CACHEID PID`, `acknowledged CACHEID PID`, `release CACHEID`, `sends CACHEID` |
//! | `crawl` | `PID TUNNELS`; PID 512 leads to port 1 |
//! | `containment` | `only` or `other`, and `contained` or `up` |
//! | `dsar` | `SOURCE BIT`, source being `device`, `gfd`, `host`, `above-gfd` or `peers` |
//! | `decoder` | of a device: `BASE SIZE` in bytes |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_fabric::cxl_switch::pbr::drt::Drts;
use scalepool_fabric::cxl_switch::pbr::management::crawl;
use scalepool_fabric::cxl_switch::pbr::segments::SEGMENT_BYTES;
use scalepool_fabric::cxl_switch::pbr::{
    AccessVector, CacheIdEdge, CacheIdUpdate, Drt, DrtEntry, PbrIdentity, PbrPid, PeerEnd, PeerKind, PidHolder, Rgt,
    SegmentTable, TlpSource, judge_containment, judge_pids,
};
use scalepool_fabric::hdm_registers::{DecoderOwner, HdmDecoderSetup};
use scalepool_fabric::spread::{SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::hdm_decoder::{HdmGranularity, HdmWays};

/// Ports of a switch.
const PORTS: usize = 3;

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] = &[
    ("pids", || Some(Box::new(Pids::default()))),
    ("routing_table", || Some(Box::new(Drt::new(PORTS, &Rgt::default())))),
    ("groups", || Some(Box::new(MulticastGroups))),
    ("identity", || Some(Box::new(VendorIdentity))),
    ("segments", || Some(Box::new(Segments::default()))),
    ("peers", || Some(Box::new(Peers))),
    ("cache_ids", || Some(Box::new(CacheIdEdge::default()))),
    ("crawl", || Some(Box::new(Crawl::new()?))),
    ("containment", || Some(Box::new(Containment))),
    ("dsar", || Some(Box::new(Dsar))),
    ("decoder", || Some(Box::new(Decoder))),
];

fn number(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

fn pid(text: &str) -> Option<PbrPid> {
    PbrPid::new(u16::try_from(number(text)?).ok()?).ok()
}

/// PIDs that are given.
#[derive(Default)]
struct Pids(Vec<(PidHolder, PbrPid)>);

impl CaseWatcher for Pids {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        match words {
            ["give", who, given] => {
                let number = number(given)?;
                let holder = match *who {
                    "manager" => PidHolder::Manager,
                    "switch" => PidHolder::Switch(0),
                    "host" => PidHolder::Host(0),
                    "binding" => PidHolder::Binding(0),
                    "device" => PidHolder::Device(0),
                    _ => return None,
                };
                let pid = PbrPid::new(u16::try_from(number).ok()?);
                if let Ok(pid) = pid {
                    self.0.push((holder, pid));
                }
                LineOutcome::tried(format!("{holder} gets the PID {given}"), number, pid)
            }
            ["check"] => {
                let needed = [PidHolder::Manager, PidHolder::Switch(0), PidHolder::Host(0)];
                LineOutcome::tried("the PIDs are compared", 0, judge_pids(&needed, &self.0))
            }
            _ => None,
        }
    }
}

impl CaseWatcher for Drt {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let ["set", first, port] = words else { return None };
        let (first, port) = (number(first)? as usize, u8::try_from(number(port)?).ok()?);
        let said = format!("Set: DPID {first:#05x} leaves at port {port}");
        LineOutcome::tried(said, port.into(), self.set(first, &[DrtEntry::Port(port)]))
    }
}

struct MulticastGroups;

impl CaseWatcher for MulticastGroups {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [primary, secondary] = words else { return None };
        let ports = |count: &str| {
            let port = |port| SpreadPort { port, links: 1 };
            Some((0..usize::try_from(number(count)?).ok()?.min(64)).map(port).collect::<Vec<_>>())
        };
        let said = format!("a routing group has {primary} primary and {secondary} secondary ports");
        let (primary, secondary) = (ports(primary)?, ports(secondary)?);
        let count = (primary.len() + secondary.len()) as u64;
        LineOutcome::tried(
            said,
            count,
            Rgt::new(vec![SpreadGroup { primary, secondary, policy: SpreadPolicy::Random, mix: 0 }]),
        )
    }
}

struct VendorIdentity;

impl CaseWatcher for VendorIdentity {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [drts, groups, modes] = words else { return None };
        let said = format!("Identify: {drts} routing tables, {groups} routing groups, modes {modes}");
        let modes = u8::try_from(number(modes)?).ok()?;
        let identity = PbrIdentity { drts: number(drts)? as usize, groups: number(groups)? as usize, modes };
        LineOutcome::tried(said, modes.into(), identity.check())
    }
}

/// A segment table with the PIDs that its host may reach.
#[derive(Default)]
struct Segments {
    table: Option<SegmentTable>,
    access: AccessVector,
}

impl CaseWatcher for Segments {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        const BASE: u64 = 16 * SEGMENT_BYTES;
        match words {
            ["table", code, depth] => {
                let made =
                    SegmentTable::new(BASE, 2 * BASE, u8::try_from(number(code)?).ok()?, number(depth)? as usize);
                self.table = made.as_ref().ok().cloned();
                LineOutcome::tried(format!("a table with {depth} segments of code {code}"), number(depth)?, made)
            }
            ["enable", one] => {
                self.access.set(pid(one)?, true);
                LineOutcome::judged(format!("the access vector enables PID {one}"), number(one)?, None)
            }
            ["set", entry, pids @ ..] => {
                let dpids = pids.iter().map(|one| pid(one)).collect::<Option<Vec<_>>>()?;
                let entry = number(entry)? as usize;
                let set = self.table.as_mut()?.set(entry, 256, &dpids, &self.access);
                LineOutcome::tried(format!("entry {entry} leads to {}", pids.join(", ")), entry as u64, set)
            }
            _ => None,
        }
    }
}

struct Peers;

impl CaseWatcher for Peers {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [requester, target] = words else { return None };
        let end = |word: &str, number: &str| {
            let is_edge_dsp = !word.ends_with("-inner");
            let kind = match word.strip_suffix("-inner").unwrap_or(word) {
                "sld" => PeerKind::Sld,
                "mld" => PeerKind::Mld(Vec::new()),
                "gfd" => PeerKind::Gfd,
                "switch" => PeerKind::Switch,
                "host" => PeerKind::Host,
                _ => return None,
            };
            Some(PeerEnd { kind, is_edge_dsp, pid: pid(number)? })
        };
        let asked = end(requester, "0x100")?.may_ask(&end(target, "0x101")?);
        LineOutcome::tried(format!("PID 0x100 asks PID 0x101 for CXL.mem: {requester} to {target}"), 0, asked)
    }
}

impl CaseWatcher for CacheIdEdge {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let id = u8::try_from(number(words.get(1)?)?).ok()?;
        match words {
            ["assign", _, of] => {
                LineOutcome::tried(format!("CacheID {id} is assigned to PID {of}"), 1, self.assign(id, pid(of)?))
            }
            ["acknowledged", _, of] => {
                let acknowledged = self.acknowledged(CacheIdUpdate { cache_id: id, pid: Some(pid(of)?) });
                LineOutcome::tried(format!("the other edge acknowledges CacheID {id}"), 2, acknowledged)
            }
            ["release", _] => LineOutcome::tried(format!("CacheID {id} is released"), 3, self.release(id)),
            ["sends", _] => LineOutcome::judged(format!("a message with CacheID {id} is sent"), 4, self.judge(id)),
            _ => None,
        }
    }
}

struct Crawl(Drts);

impl Crawl {
    fn new() -> Option<Crawl> {
        let mut tables = Drts::new(1, PORTS, Rgt::default());
        tables.table(0).ok()?.set(0x200, &[DrtEntry::Port(1)]).ok()?;
        Some(Crawl(tables))
    }
}

impl CaseWatcher for Crawl {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [to, tunnels] = words else { return None };
        let said = format!("a crawl to PID {to} in {tunnels} tunnels");
        LineOutcome::tried(said, number(to)?, crawl(&self.0, 0, pid(to)?, number(tunnels)? as usize))
    }
}

struct Containment;

impl CaseWatcher for Containment {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [way, state] = words else { return None };
        let (is_only, is_contained) = (*way == "only", *state == "contained");
        let link = if is_only { "the only way to the manager" } else { "one of several ways" };
        let said = format!("an uncorrectable error at an inter-switch link that is {link}: the link is {state}");
        LineOutcome::judged(said, is_contained.into(), judge_containment(is_only, is_contained))
    }
}

struct Dsar;

impl CaseWatcher for Dsar {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [source, bit] = words else { return None };
        let (source, name) = match *source {
            "device" => (TlpSource::EdgeDsp, "the edge port of a device"),
            "gfd" => (TlpSource::Gfd, "a device with port based routing"),
            "host" => (TlpSource::EdgeUsp, "the edge port of a host"),
            "above-gfd" => (TlpSource::DspAboveGfd, "the port above a device with port based routing"),
            "peers" => (TlpSource::ForwardingVdsp, "a virtual port that sends traffic of peers down"),
            _ => return None,
        };
        let dsar = number(bit)? == 1;
        LineOutcome::judged(
            format!("a TLP from {name} with DSAR {bit}"),
            dsar.into(),
            source.judge(&Pth { dsar, ..Pth::default() }),
        )
    }
}

struct Decoder;

impl CaseWatcher for Decoder {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [base, size] = words else { return None };
        let said = format!("a decoder for {size} bytes from {base} on");
        let (base, size, ways, granularity) = (number(base)?, number(size)?, HdmWays::Ways1, HdmGranularity::Bytes256);
        let setup = HdmDecoderSetup { base, size, ways, granularity, lock: true, targets: Vec::new(), skip: 0 };
        LineOutcome::tried(said, base, setup.writes(DecoderOwner::Device, 0))
    }
}
