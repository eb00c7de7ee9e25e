//! Compressed requests with their address cache, and compressed responses (`ualink` §10).
//!
//! Modelled: 4 ways of 1 MB regions a row, the row chosen by the accelerator on the far side of the link, loads by
//! CLOAD, conditions of the compressed forms, and a sender that replaces the way it used least recently. Left out: a
//! limit below 1024 rows.

use super::code::{CompressedCmd, RdWr, ReqCmd, Status};
use super::control::ControlField;
use super::field::{REGION_BYTES, TlCreq, TlCrspMulti, TlCrspSingle, TlReq, TlRsp};
use std::collections::BTreeMap;

/// Ways of a row.
pub const WAYS: usize = 4;
/// Address bits below a region: 1 MB.
const REGION_LSB: u32 = 20;

/// Which side of a switch port sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionRole {
    /// An accelerator sends to a switch: rows by destination.
    ToSwitch,
    /// A switch sends to an accelerator: rows by source.
    FromSwitch,
}

impl CompressionRole {
    /// Row of a pair of accelerators.
    const fn row(self, src: u16, dst: u16) -> u16 {
        match self {
            CompressionRole::ToSwitch => dst,
            CompressionRole::FromSwitch => src,
        }
    }
}

/// Stands in a way that was never loaded: no address has this region.
const NO_REGION: u64 = u64::MAX;
/// Stands in way 0 of a row that was never loaded.
const NO_FIRST: u16 = u16::MAX;
/// Stands in way 0 of a row whose region takes more bits: it is kept with the other ways.
const FAR_FIRST: u16 = u16::MAX - 1;

/// Rows of a block, which has room for them all as soon as one is used.
const BLOCK_ROWS: usize = 32;

/// Regions of rows. Most rows know a single region, in way 0, which a sender loads first, below 64 GB, and a pod has a row for
/// each two accelerators at four places: two bytes for each row take 0.7 kB for 255 rows, ordered nodes with all ways 9.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rows {
    /// Region in way 0, by row, in blocks of neighbours.
    first: Vec<Option<Box<[u16; BLOCK_ROWS]>>>,
    /// Of rows that have used another way, or a region of more bits.
    more: BTreeMap<u16, More>,
}

/// What a row has besides a near region in way 0.
#[derive(Debug, Clone, PartialEq, Eq)]
struct More {
    regions: [u64; WAYS],
    /// The ways of a sender, the one used least recently first.
    order: [u8; WAYS],
}

impl More {
    /// Of a row that has used way 0 at most.
    const NONE: More = More { regions: [NO_REGION; WAYS], order: [1, 2, 3, 0] };
}

impl Rows {
    const EMPTY: Rows = Rows { first: Vec::new(), more: BTreeMap::new() };

    fn first(&self, row: u16) -> u64 {
        let block = self.first.get(usize::from(row) / BLOCK_ROWS).and_then(Option::as_ref);
        match block.map_or(NO_FIRST, |block| block[usize::from(row) % BLOCK_ROWS]) {
            NO_FIRST => NO_REGION,
            FAR_FIRST => self.more.get(&row).map_or(NO_REGION, |more| more.regions[0]),
            near => near.into(),
        }
    }

    fn region(&self, row: u16, way: usize) -> Option<u64> {
        let region = match way {
            0 => self.first(row),
            way => self.more.get(&row)?.regions[way],
        };
        (region != NO_REGION).then_some(region)
    }

    fn way(&self, row: u16, region: u64) -> Option<usize> {
        if self.first(row) == region {
            return Some(0);
        }
        let others = &self.more.get(&row)?.regions[1..];
        others.iter().position(|&known| known == region).map(|at| at + 1)
    }

    fn load(&mut self, row: u16, way: usize, region: u64) {
        let near = u16::try_from(region).ok().filter(|&near| near < FAR_FIRST);
        if way > 0 || near.is_none() {
            self.more.entry(row).or_insert(More::NONE).regions[way] = region;
        }
        if way > 0 {
            return;
        }
        let (block, at) = (usize::from(row) / BLOCK_ROWS, usize::from(row) % BLOCK_ROWS);
        if self.first.len() <= block {
            self.first.reserve_exact(block + 1 - self.first.len());
            self.first.resize(block + 1, None);
        }
        self.first[block].get_or_insert_with(|| Box::new([NO_FIRST; BLOCK_ROWS]))[at] = near.unwrap_or(FAR_FIRST);
    }

    /// The way that a sender replaces next. The first one is empty until it is used.
    fn least_recent(&self, row: u16) -> usize {
        match self.more.get(&row) {
            Some(more) => more.order[0].into(),
            None if self.first(row) == NO_REGION => 0,
            None => More::NONE.order[0].into(),
        }
    }

    /// A sender uses a way.
    fn used(&mut self, row: u16, way: usize) {
        if let Some(More { order, .. }) = self.more.get_mut(&row) {
            let at = order.iter().position(|&known| usize::from(known) == way).unwrap_or(0);
            order[at..].rotate_left(1);
        }
    }
}

/// Regions that both ends know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressCache {
    role: CompressionRole,
    rows: Rows,
}

impl AddressCache {
    /// An empty cache.
    pub const fn new(role: CompressionRole) -> AddressCache {
        AddressCache { role, rows: Rows::EMPTY }
    }

    /// The row of a pair of accelerators.
    pub const fn row(&self, src: u16, dst: u16) -> u16 {
        self.role.row(src, dst)
    }

    /// What a request with CLOAD does; another one does nothing.
    pub fn load(&mut self, req: &TlReq) {
        if req.cload {
            let row = self.row(req.src, req.dst);
            self.rows.load(row, usize::from(req.cway) % WAYS, req.address >> REGION_LSB);
        }
    }

    /// The byte address of a compressed request; `None` when its way was never loaded.
    pub fn address(&self, req: &TlCreq) -> Option<u64> {
        let region = self.rows.region(self.row(req.src, req.dst), usize::from(req.cway) % WAYS)?;
        Some(region << REGION_LSB | u64::from(req.address))
    }

    /// The way that holds the region of an address.
    pub fn way(&self, src: u16, dst: u16, address: u64) -> Option<usize> {
        self.rows.way(self.row(src, dst), address >> REGION_LSB)
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
pub fn compress_response(rsp: &TlRsp) -> Option<ControlField> {
    let TlRsp { dst, pool, tag, vchan, len, offset, last, rdwr, .. } = *rsp;
    match rsp.status {
        Status::OKAY if rdwr == RdWr::Read && len == 0 => Some(ControlField::CompressedSingle(TlCrspSingle {
            last,
            offset,
            dst,
            pool,
            tag,
            vchan,
            ..TlCrspSingle::default()
        })),
        Status::OKAY if offset == 0 => Some(ControlField::CompressedMulti(TlCrspMulti {
            rdwr,
            len,
            dst,
            pool,
            tag,
            vchan,
            ..TlCrspMulti::default()
        })),
        _ => None,
    }
}

/// What a sender makes of its requests: compressed where the region is known, else with CLOAD where that pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compressor {
    role: CompressionRole,
    /// What the peer knows, with the order in which ways were used.
    rows: Rows,
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
    pub const fn new(role: CompressionRole) -> Compressor {
        Compressor { role, rows: Rows::EMPTY }
    }

    /// The form in which the next request is sent. Requests have to be sent in the order of these calls.
    pub fn request(&mut self, req: &TlReq) -> Compressed {
        if compressible(req).is_none() {
            return Compressed::Miss(*req);
        }
        let (row, region) = (self.role.row(req.src, req.dst), req.address >> REGION_LSB);
        if let Some(way) = self.rows.way(row, region)
            && let Some(compressed) = compress(req, way)
        {
            self.rows.used(row, way);
            return Compressed::Hit(compressed);
        }
        let way = self.rows.least_recent(row);
        self.rows.load(row, way, region);
        self.rows.used(row, way);
        Compressed::Miss(TlReq { cload: true, cway: way as u8, ..*req })
    }
}
