//! Credits at both sides of a bridge, counted from what passes.
//!
//! Modelled: a pool for each point, port, class of messages and virtual channel that the caller names, with the buffers behind it. Credits are told
//! when their receiver gives them; messages spend them. A message needs a credit that was given and not spent; credits that are out are no more than
//! the buffers; at the end all of them are out again, so none was lost and none given twice. A request passes behind the wire, when the bridge has
//! accepted it, and its credit may be told before: there a credit too many is found at the end. A message that lacks a credit is found once: those behind it are judged as if it had been given. Left out: pools that are not named, which nobody
//! judges; when a credit comes back; initial credits, which are told like any others.
//!
//! A walk: the pool of `m2s_req` at CXL port 0 has 2 buffers; 2 credits are told; the bridge sends two MemRd, and a third one: it has no
//! credit (BRG-CRD-01). One credit is told, and the run ends: one buffer is still taken (BRG-CRD-03).

use super::config::{AcceleratorProtocol, TARGETS};
use super::message::{BridgeMessage, CxlMessage};
use super::model::BridgePoint;
use scalepool_coherence::message::Msg;
use scalepool_forms::{FormError, number, object, shown, text};
use scalepool_nodes::ualink::read::lines_of;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::control::ControlField;
use serde_json::Value;

/// Most buffers of a pool: more than any receiver has.
const MOST_BUFFERS: u64 = 1 << 20;
/// Most pools of a bridge: four points with 16 ports, 3 classes and 8 channels each, and room.
const MOST_POOLS: usize = 1 << 12;
/// Classes of messages that requests of accelerators are, by protocol; UALink counts commands and beats, NVLink packets and data flits.
const UALINK: [&[&str]; 2] = [&["request", "request_data"], &["response", "response_data"]];
const NVLINK: [&[&str]; 2] = [&["header", "data"]; 2];
/// Classes of CXL.mem, from host to memory and back.
const CXL: [&[&str]; 2] = [&["m2s_req", "m2s_rwd", "m2s_birsp"], &["s2m_ndr", "s2m_drs", "s2m_bisnp"]];

/// Classes of CXL.cache, from device to host and back: those of a bridge that asks hosts.
const CXL_CACHE: [&[&str]; 2] = [&["d2h_req", "d2h_rsp", "d2h_data"], &["h2d_req", "h2d_rsp", "h2d_data"]];

/// Classes of CXL.io, from who asks to who completes and back: headers, and units of 16 bytes of data (`cxl-io` §2.2).
const CXL_IO: [&[&str]; 2] = [&["p_header", "p_data", "np_header", "np_data"], &["cpl_header", "cpl_data"]];
/// Bytes of a credit of data of CXL.io.
const IO_UNIT_BYTES: usize = 16;

/// Which credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CreditKey {
    point: BridgePoint,
    port: usize,
    class: &'static str,
    /// Virtual channel; `None`: none, or the common pool of UALink.
    vchan: Option<u8>,
}

impl CreditKey {
    fn shown(self) -> String {
        let CreditKey { point, port, class, vchan } = self;
        let vchan = vchan.map_or(String::new(), |vchan| format!(" of channel {vchan}"));
        format!("{class}{vchan} at the point `{}`, port {port}", point.name())
    }
}

/// A pool as a configuration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditPool {
    key: CreditKey,
    /// Buffers of the receiver.
    depth: u64,
}

/// What is counted of a pool.
#[derive(Debug, Clone, Copy)]
struct CreditCounts {
    depth: u64,
    given: u64,
    spent: u64,
    /// Credits that messages have spent although they were not given: each is found once, at the message that lacked it.
    lacked: u64,
}

impl CreditCounts {
    /// Credits that were given and are not spent.
    fn out(&self) -> u64 {
        self.given.saturating_sub(self.spent)
    }

    /// More of them are out than there are buffers.
    fn too_many(&self, key: CreditKey) -> CreditFault {
        CreditFault {
            rule: "BRG-CRD-02",
            found: format!("{} credits of {} that are out", self.out(), key.shown()),
            expected: format!("at most {}, the buffers of their receiver", self.depth),
        }
    }
}

/// A rule that credits have broken.
pub(crate) struct CreditFault {
    pub rule: &'static str,
    pub found: String,
    pub expected: String,
}

/// The half of a bridge whose points are named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CreditSides {
    pub protocol: AcceleratorProtocol,
    pub is_inbound: bool,
    /// Accelerators ask an inbound half too.
    pub has_hairpin: bool,
    /// It is a device of CXL.io.
    pub is_bar: bool,
    /// Ports by which an inbound half asks accelerators. How many others there are, the model is not told.
    pub ports: u64,
}

impl CreditSides {
    /// Classes of messages that pass a point.
    fn classes(self, point: BridgePoint) -> Vec<&'static str> {
        let (is_above, is_back) = match point {
            BridgePoint::Request => (true, 0),
            BridgePoint::Sent => (false, 0),
            BridgePoint::Answer => (false, 1),
            BridgePoint::Response => (true, 1),
        };
        let of_accelerators = match self.protocol {
            AcceleratorProtocol::Ualink => UALINK[is_back],
            AcceleratorProtocol::Nvlink => NVLINK[is_back],
        };
        match (is_above != self.is_inbound, is_above && self.has_hairpin) {
            (true, _) => of_accelerators.to_vec(),
            (false, _) if !self.is_inbound => [CXL[is_back], CXL_CACHE[is_back], CXL_IO[is_back]].concat(),
            (false, _) if self.is_bar => CXL_IO[is_back].to_vec(),
            (false, true) => [CXL[is_back], of_accelerators].concat(),
            (false, false) => CXL[is_back].to_vec(),
        }
    }

    fn key(self, form: &scalepool_forms::Object) -> Result<CreditKey, FormError> {
        let of = |key: &str, expected: &str| {
            let value = form.get(key).ok_or_else(|| FormError::new(key, "no such key", expected))?;
            text(value, key, expected).map(str::to_owned)
        };
        let points = "request, sent, answer or response";
        let name = of("point", points)?;
        let point = BridgePoint::ALL.into_iter().find(|point| point.name() == name);
        let point = point.ok_or_else(|| FormError::new("point", format!("`{name}`"), points))?;
        let classes = self.classes(point);
        let expected = format!("one of: {}", classes.join(", "));
        let name = of("class", &expected)?;
        let class = classes.iter().find(|class| **class == name);
        let class = class.ok_or_else(|| FormError::new("class", format!("`{name}`"), expected))?;
        let asks_accelerators = self.is_inbound && matches!(point, BridgePoint::Sent | BridgePoint::Answer);
        let ports = if asks_accelerators { self.ports } else { TARGETS as u64 };
        let port = bounded(form, "port", 0..=ports - 1, Some(0))? as usize;
        let has_vchan = form.contains_key("vchan");
        let vchan = if [CXL, CXL_CACHE, CXL_IO].iter().any(|of_link| of_link.concat().contains(class)) {
            if has_vchan {
                return Err(FormError::new("vchan", format!("a channel of {class}"), "none: CXL has one"));
            }
            None
        } else {
            // The field has 2 bits in UALink, 3 in NVLink. There are common credits in UALink alone: without a channel they are meant there.
            let (last, is_named) = match self.protocol {
                AcceleratorProtocol::Ualink => (3, has_vchan),
                AcceleratorProtocol::Nvlink => (7, true),
            };
            is_named.then(|| bounded(form, "vchan", 0..=last, None)).transpose()?
        };
        Ok(CreditKey { point, port, class, vchan: vchan.map(|vchan| vchan as u8) })
    }

    /// Reads the pools of a configuration: `[{"point":"sent","port":0,"class":"m2s_req","depth":64}]`.
    pub fn pools(self, form: &Value) -> Result<Vec<CreditPool>, FormError> {
        let expected = format!("a list of at most {MOST_POOLS} pools");
        let list = form.as_array().filter(|list| list.len() <= MOST_POOLS);
        let list = list.ok_or_else(|| FormError::new("credits", shown(form), &*expected))?;
        let mut pools: Vec<CreditPool> = Vec::new();
        for (n, entry) in list.iter().enumerate() {
            let pool = self.pool(entry).map_err(|error| error.within(format!("credits[{n}]")))?;
            if pools.iter().any(|other| other.key == pool.key) {
                let found = format!("{} a second time", pool.key.shown());
                return Err(FormError::new(format!("credits[{n}]"), found, "each pool once"));
            }
            pools.push(pool);
        }
        Ok(pools)
    }

    fn pool(self, entry: &Value) -> Result<CreditPool, FormError> {
        let form = object(entry, "pool", &["point", "port", "class", "vchan", "depth"])?;
        Ok(CreditPool { key: self.key(form)?, depth: bounded(form, "depth", 1..=MOST_BUFFERS, None)? })
    }
}

/// The number of a key in a range.
fn bounded(
    form: &scalepool_forms::Object,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
    default: Option<u64>,
) -> Result<u64, FormError> {
    let expected = || format!("{} to {}", range.start(), range.end());
    let Some(value) = form.get(key) else {
        return default.ok_or_else(|| FormError::new(key, "no such key", expected()));
    };
    let found = number::from_json(value, key)?;
    let within = u64::try_from(found).ok().filter(|found| range.contains(found));
    within.ok_or_else(|| FormError::new(key, found.to_string(), expected()))
}

/// What a message spends: class, channel, how many.
fn spending(message: &BridgeMessage) -> [(&'static str, Option<u8>, u64); 2] {
    match message {
        BridgeMessage::Upli(transfer) => {
            let (classes, pool, vchan) = match transfer.field {
                ControlField::Response(rsp) => (UALINK[1], rsp.pool, rsp.vchan),
                ControlField::Request(req) => (UALINK[0], req.pool, req.vchan),
                _ => (UALINK[0], false, 0),
            };
            let vchan = (!pool).then_some(vchan);
            [(classes[0], vchan, 1), (classes[1], vchan, lines_of(&transfer.data).count() as u64)]
        }
        BridgeMessage::Nvlink(message) => {
            let vchan = Some(message.vc.0);
            [(NVLINK[0][0], vchan, 1), (NVLINK[0][1], vchan, message.data_flits().into())]
        }
        BridgeMessage::Tlp(tlp) => {
            let of =
                if tlp.is_completion() { CXL_IO[1] } else { &CXL_IO[0][if tlp.is_non_posted() { 2 } else { 0 }..] };
            [(of[0], None, 1), (of[1], None, tlp.data.len().div_ceil(IO_UNIT_BYTES) as u64)]
        }
        BridgeMessage::Cxl(CxlMessage { msg, .. }) => {
            let class = match msg {
                Msg::M2sReq { .. } => CXL[0][0],
                Msg::M2sRwd { .. } => CXL[0][1],
                Msg::M2sBirsp { .. } => CXL[0][2],
                Msg::S2mNdr { .. } => CXL[1][0],
                Msg::S2mDrs { .. } => CXL[1][1],
                Msg::S2mBisnp { .. } => CXL[1][2],
                Msg::D2hReq { .. } => CXL_CACHE[0][0],
                Msg::D2hRsp { .. } => CXL_CACHE[0][1],
                Msg::D2hData { .. } => CXL_CACHE[0][2],
                Msg::H2dReq { .. } => CXL_CACHE[1][0],
                Msg::H2dRsp { .. } => CXL_CACHE[1][1],
                Msg::H2dData { .. } => CXL_CACHE[1][2],
            };
            [(class, None, 1), (class, None, 0)]
        }
    }
}

/// All pools.
pub(crate) struct PortCredits {
    sides: CreditSides,
    pools: OrderedMap<CreditKey, CreditCounts>,
}

impl PortCredits {
    /// These pools, without a credit.
    pub fn new(sides: CreditSides, pools: &[CreditPool]) -> PortCredits {
        let counts = |pool: &CreditPool| (pool.key, CreditCounts { depth: pool.depth, given: 0, spent: 0, lacked: 0 });
        PortCredits { sides, pools: pools.iter().map(counts).collect() }
    }

    /// Credits are given: `{"point":"sent","port":0,"class":"m2s_req","count":4}`.
    ///
    /// # Errors
    /// Credits of a pool that the configuration does not name.
    pub fn given(&mut self, form: &Value) -> Result<Option<CreditFault>, FormError> {
        let form = object(form, "credit", &["point", "port", "class", "vchan", "count"])?;
        let key = self.sides.key(form)?;
        let count = bounded(form, "count", 1..=MOST_BUFFERS, Some(1))?;
        let Some(pool) = self.pools.get_mut(&key) else {
            let found = format!("credits of {}", key.shown());
            return Err(FormError::new("credit", found, "a pool that `credits` of the configuration names"));
        };
        pool.given += count;
        let is_too_many = key.point != BridgePoint::Request && pool.out() > pool.depth;
        Ok(is_too_many.then(|| pool.too_many(key)))
    }

    /// A message passes.
    pub fn passes(&mut self, point: BridgePoint, port: usize, message: &BridgeMessage) -> Vec<CreditFault> {
        let mut faults = Vec::new();
        for (class, vchan, count) in spending(message).into_iter().filter(|(.., count)| *count > 0) {
            let key = CreditKey { point, port, class, vchan };
            let Some(pool) = self.pools.get_mut(&key) else { continue };
            let left = (pool.given + pool.lacked).saturating_sub(pool.spent);
            pool.spent += count;
            if left < count {
                pool.lacked += count - left;
                faults.push(CreditFault {
                    rule: "BRG-CRD-01",
                    found: format!("a message that spends {count} of {left} credits of {}", key.shown()),
                    expected: "credits that its receiver has given".to_owned(),
                });
            }
        }
        faults
    }

    /// The end: credits that are out beyond the buffers at the point of requests, where no earlier message can say so, and buffers that are not free.
    pub fn ends(&mut self) -> Vec<CreditFault> {
        let mut faults = Vec::new();
        for (key, pool) in self.pools.iter().filter(|(_, pool)| pool.given != pool.depth + pool.spent) {
            if key.point == BridgePoint::Request && pool.out() > pool.depth {
                faults.push(pool.too_many(*key));
            }
            faults.push(CreditFault {
                rule: "BRG-CRD-03",
                found: format!("{} credits of {} given and {} spent", pool.given, key.shown(), pool.spent),
                expected: format!("{} given, so that all {} buffers are free", pool.depth + pool.spent, pool.depth),
            });
        }
        faults
    }
}
