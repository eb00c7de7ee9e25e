//! Compressed requests with their address cache, and compressed responses (`ualink` §10).
//!
//! Modelled: 4 ways of 1 MB regions a row, the row chosen by the accelerator on the far side of the link, loads by
//! CLOAD, conditions of the compressed forms, and a sender that replaces the way it used least recently. Left out: a
//! limit below 1024 rows.

use super::code::{CompressedCmd, RdWr, ReqCmd, Status};
use super::control::Field;
use super::field::{REGION_BYTES, TlCreq, TlCrspMulti, TlCrspSingle, TlReq, TlRsp};
use std::collections::BTreeMap;

/// Ways of a row.
pub const WAYS: usize = 4;
/// Address bits below a region: 1 MB.
const REGION_LSB: u32 = 20;

/// Which side of a switch port sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An accelerator sends to a switch: rows by destination.
    ToSwitch,
    /// A switch sends to an accelerator: rows by source.
    FromSwitch,
}

impl Role {
    /// Row of a pair of accelerators.
    const fn row(self, src: u16, dst: u16) -> u16 {
        match self {
            Role::ToSwitch => dst,
            Role::FromSwitch => src,
        }
    }
}

/// Stands in a way that was never loaded: no address has this region.
const NO_REGION: u64 = u64::MAX;

/// Regions of a row. Most rows know a single one, and a sender loads way 0 first; a pod has a row for each two accelerators.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    first: u64,
    others: Option<Box<[u64; WAYS - 1]>>,
}

impl Row {
    const EMPTY: Row = Row { first: NO_REGION, others: None };

    fn region(&self, way: usize) -> Option<u64> {
        let region = match way {
            0 => self.first,
            way => self.others.as_ref()?[way - 1],
        };
        (region != NO_REGION).then_some(region)
    }

    fn load(&mut self, way: usize, region: u64) {
        match way {
            0 => self.first = region,
            way => self.others.get_or_insert_with(|| Box::new([NO_REGION; WAYS - 1]))[way - 1] = region,
        }
    }

    fn way(&self, region: u64) -> Option<usize> {
        if self.first == region {
            return Some(0);
        }
        self.others.as_ref()?.iter().position(|&known| known == region).map(|at| at + 1)
    }
}

/// Regions that both ends know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressCache {
    role: Role,
    rows: BTreeMap<u16, Row>,
}

impl AddressCache {
    /// An empty cache.
    pub const fn new(role: Role) -> AddressCache {
        AddressCache { role, rows: BTreeMap::new() }
    }

    /// The row of a pair of accelerators.
    pub const fn row(&self, src: u16, dst: u16) -> u16 {
        self.role.row(src, dst)
    }

    /// What a request with CLOAD does; another one does nothing.
    pub fn load(&mut self, req: &TlReq) {
        if req.cload {
            let row = self.rows.entry(self.row(req.src, req.dst)).or_insert(Row::EMPTY);
            row.load(usize::from(req.cway) % WAYS, req.address >> REGION_LSB);
        }
    }

    /// The byte address of a compressed request; `None` when its way was never loaded.
    pub fn address(&self, req: &TlCreq) -> Option<u64> {
        let row = self.rows.get(&self.row(req.src, req.dst))?;
        let region = row.region(usize::from(req.cway) % WAYS)?;
        Some(region << REGION_LSB | u64::from(req.address))
    }

    /// The way that holds the region of an address.
    pub fn way(&self, src: u16, dst: u16, address: u64) -> Option<usize> {
        self.rows.get(&self.row(src, dst))?.way(address >> REGION_LSB)
    }
}

/// The compressed command of a request that may be compressed but for the address cache; `None` else.
pub fn compressible(req: &TlReq) -> Option<CompressedCmd> {
    let bytes = 4 * (u64::from(req.len) + 1);
    let cmd = match req.cmd {
        ReqCmd::Read => CompressedCmd::Read,
        ReqCmd::Write => CompressedCmd::Write,
        ReqCmd::WriteFull => CompressedCmd::WriteFull,
        _ => return None,
    };
    let attr = if cmd == CompressedCmd::Read { 0xff } else { 0 };
    let aligned = req.address.is_multiple_of(64)
        && bytes.is_multiple_of(64)
        && req.address % REGION_BYTES + bytes <= REGION_BYTES;
    let beats = !req.cmd.has_data() || u64::from(req.numbeats) + 1 == bytes / 64;
    (aligned && beats && req.attr == attr && req.metadata >> 3 == 0).then_some(cmd)
}

/// The compressed form of a request whose region stands in way `way`; `None` where it may not be compressed.
pub fn compress(req: &TlReq, way: usize) -> Option<TlCreq> {
    let cmd = compressible(req)?;
    Some(TlCreq {
        cway: way as u8,
        dst: req.dst,
        src: req.src,
        address: (req.address & ((1 << REGION_LSB) - 1)) as u32,
        metadata: req.metadata,
        len: req.len / 16,
        pool: req.pool,
        tag: req.tag,
        asi: req.asi,
        vchan: req.vchan,
        cmd,
        ..TlCreq::default()
    })
}

/// The request that a compressed one stands for; `None` when its way was never loaded or its command is reserved.
pub fn expand(req: &TlCreq, cache: &AddressCache) -> Option<TlReq> {
    let cmd = match req.cmd {
        CompressedCmd::Read => ReqCmd::Read,
        CompressedCmd::Write => ReqCmd::Write,
        CompressedCmd::WriteFull => ReqCmd::WriteFull,
        _ => return None,
    };
    Some(TlReq {
        numbeats: if cmd.has_data() { req.len } else { 0 },
        dst: req.dst,
        src: req.src,
        address: cache.address(req)?,
        metadata: req.metadata,
        len: 16 * req.len + 15,
        attr: if cmd == ReqCmd::Read { 0xff } else { 0 },
        pool: req.pool,
        tag: req.tag,
        asi: req.asi,
        vchan: req.vchan,
        cmd,
        ..TlReq::default()
    })
}

/// The compressed form of a response, which loses the source; `None` where it may not be compressed: another status than
/// OKAY, several beats from another than the first.
pub fn compress_response(rsp: &TlRsp) -> Option<Field> {
    let TlRsp { dst, pool, tag, vchan, len, offset, last, rdwr, .. } = *rsp;
    match rsp.status {
        Status::OKAY if rdwr == RdWr::Read && len == 0 => Some(Field::CompressedSingle(TlCrspSingle {
            last,
            offset,
            dst,
            pool,
            tag,
            vchan,
            ..TlCrspSingle::default()
        })),
        Status::OKAY if offset == 0 => {
            Some(Field::CompressedMulti(TlCrspMulti { rdwr, len, dst, pool, tag, vchan, ..TlCrspMulti::default() }))
        }
        _ => None,
    }
}

/// What a sender makes of its requests: compressed where the region is known, else with CLOAD where that pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compressor {
    role: Role,
    /// What the peer knows, and the ways of each row, the one used least recently first.
    rows: BTreeMap<u16, (Row, [u8; WAYS])>,
}

/// A request as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressed {
    /// The region is known.
    Hit(TlCreq),
    /// As it was, or with CLOAD and a way.
    Miss(TlReq),
}

impl Compressor {
    /// Of an empty cache.
    pub const fn new(role: Role) -> Compressor {
        Compressor { role, rows: BTreeMap::new() }
    }

    /// The form in which the next request is sent. Requests have to be sent in the order of these calls.
    pub fn request(&mut self, req: &TlReq) -> Compressed {
        if compressible(req).is_none() {
            return Compressed::Miss(*req);
        }
        let (row, order) = self.rows.entry(self.role.row(req.src, req.dst)).or_insert((Row::EMPTY, [0, 1, 2, 3]));
        let region = req.address >> REGION_LSB;
        let hit = row.way(region);
        let way = hit.unwrap_or(order[0].into());
        let at = order.iter().position(|&w| usize::from(w) == way).unwrap_or(0);
        order[at..].rotate_left(1);
        if hit.is_some()
            && let Some(compressed) = compress(req, way)
        {
            return Compressed::Hit(compressed);
        }
        row.load(way, region);
        Compressed::Miss(TlReq { cload: true, cway: way as u8, ..*req })
    }
}
