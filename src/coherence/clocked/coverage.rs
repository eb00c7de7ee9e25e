//! Coverage points: which rows of the agents' tables a run has used.
//!
//! A point is a row that can be used, so impossible pairs are no points. Detail: a row counts when a message is taken by
//! it. Left out: rows that concern no message (what a core does with its copy).

use crate::bias::tables as bias;
use crate::cache::state::{CacheLineState, HostAnswer, Snoop};
use crate::cache::{answers, requests, snoops};
use crate::mem::host_rows;
use crate::mem::tables as mem;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, D2hRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType,
};

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageTable {
    /// CXL.cache requests at the home.
    Requests,
    /// Snoops at a device cache, by state.
    Snoops,
    /// Snoop answers at the home.
    Readings,
    /// Answers at a device cache, by state.
    Answers,
    /// CXL.mem requests at the device.
    MemRequests,
    /// CXL.mem writes at the device.
    MemWrites,
    /// What a host does, by situation and event.
    Host,
    /// Requests of an HDM-D device at the host.
    Bias,
}

/// A row: the table, and the place of the row among those of it that can be used.
pub type Point = (CoverageTable, usize);

impl CoverageTable {
    /// All of them.
    pub const ALL: [CoverageTable; 8] = [
        CoverageTable::Requests,
        CoverageTable::Snoops,
        CoverageTable::Readings,
        CoverageTable::Answers,
        CoverageTable::MemRequests,
        CoverageTable::MemWrites,
        CoverageTable::Host,
        CoverageTable::Bias,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CoverageTable::Requests => "cache request",
            CoverageTable::Snoops => "snoop in state",
            CoverageTable::Readings => "snoop answer",
            CoverageTable::Answers => "answer in state",
            CoverageTable::MemRequests => "mem request",
            CoverageTable::MemWrites => "mem write",
            CoverageTable::Host => "host situation",
            CoverageTable::Bias => "bias request",
        }
    }

    /// Names of the rows that can be used: what they are looked up by.
    pub fn row_names(self) -> Vec<String> {
        let meta = |meta: Option<MetaValue>| meta.map_or_else(|| "NoOp".to_owned(), |meta| format!("{meta:?}"));
        match self {
            CoverageTable::Requests => requests::REQUESTS.iter().map(|r| format!("{:?}", r.op)).collect(),
            CoverageTable::Snoops => {
                let rows = snoops::rows().filter(|r| !r.replies.is_empty());
                rows.map(|r| format!("{:?} {:?}", r.at, r.snoop)).collect()
            }
            CoverageTable::Readings => snoops::READINGS.iter().map(|r| format!("{:?}", r.rsp)).collect(),
            CoverageTable::Answers => answers::ROWS.iter().map(|r| format!("{:?} {:?}", r.at, r.got)).collect(),
            CoverageTable::MemRequests => {
                let rows = mem::REQ_ROWS.iter();
                rows.map(|r| format!("{:?} {} {:?}", r.opcodes, meta(r.meta), r.snp)).collect()
            }
            CoverageTable::MemWrites => {
                let rows = mem::RWD_ROWS.iter().filter(|r| r.legal);
                rows.map(|r| format!("{:?} {:?} {:?}", r.opcodes, r.metas, r.snps)).collect()
            }
            CoverageTable::Host => {
                let rows = host_rows::ROWS.iter().filter(|r| r.act.is_some());
                rows.map(|r| format!("{:?} {:?}", r.phase, r.input)).collect()
            }
            CoverageTable::Bias => bias::ROWS.iter().map(|r| format!("{:?}", r.opcodes)).collect(),
        }
    }

    /// Rows that can be used.
    pub fn rows(self) -> usize {
        match self {
            CoverageTable::Requests => requests::REQUESTS.len(),
            CoverageTable::Snoops => snoops::rows().filter(|r| !r.replies.is_empty()).count(),
            CoverageTable::Readings => snoops::READINGS.len(),
            CoverageTable::Answers => answers::ROWS.len(),
            CoverageTable::MemRequests => mem::REQ_ROWS.len(),
            CoverageTable::MemWrites => mem::RWD_ROWS.iter().filter(|r| r.legal).count(),
            CoverageTable::Host => host_rows::ROWS.iter().filter(|r| r.act.is_some()).count(),
            CoverageTable::Bias => bias::ROWS.len(),
        }
    }
}

/// A request at the home.
pub fn request(opcode: D2hReqOpcode) -> Option<Point> {
    Some((CoverageTable::Requests, requests::REQUESTS.iter().position(|r| r.op == opcode)?))
}

/// A request of an HDM-D device at its host.
pub fn bias_request(opcode: D2hReqOpcode) -> Option<Point> {
    Some((CoverageTable::Bias, bias::ROWS.iter().position(|r| r.opcodes.contains(&opcode))?))
}

/// A snoop at a device cache.
pub fn snoop(at: CacheLineState, snoop: Snoop) -> Option<Point> {
    let mut rows = snoops::rows().filter(|r| !r.replies.is_empty());
    let place = rows.position(|r| r.at == at && r.snoop == snoop)?;
    Some((CoverageTable::Snoops, place))
}

/// A snoop answer at the home.
pub fn reading(opcode: D2hRspOpcode) -> Option<Point> {
    Some((CoverageTable::Readings, snoops::READINGS.iter().position(|r| r.rsp == opcode)?))
}

/// An answer (`None`: data) at a device cache.
pub fn answer(at: CacheLineState, answer: Option<HostAnswer>) -> Option<Point> {
    let got = answer.map_or(answers::Got::Data, answers::Got::Answer);
    Some((CoverageTable::Answers, answers::ROWS.iter().position(|r| r.at == at && r.got == got)?))
}

/// A request at a device with coherent memory.
pub fn mem_request(opcode: M2sReqOpcode, field: MetaField, meta: MetaValue, snp: SnpType) -> Option<Point> {
    let said = mem::meta_said(field, meta);
    let fits =
        |r: &mem::ReqRow| r.opcodes.contains(&opcode) && (r.meta_ignored || said == Some(r.meta)) && r.snp == snp;
    Some((CoverageTable::MemRequests, mem::REQ_ROWS.iter().position(fits)?))
}

/// A write at a device with coherent memory.
pub fn mem_write(opcode: M2sRwdOpcode, field: MetaField, meta: MetaValue, snp: SnpType) -> Option<Point> {
    let fits = |r: &mem::RwdRow| {
        let meta_fits = if field == MetaField::Meta0State { r.metas.contains(&meta) } else { r.metas.is_empty() };
        r.opcodes.contains(&opcode) && meta_fits && r.snps.contains(&snp)
    };
    Some((CoverageTable::MemWrites, mem::RWD_ROWS.iter().filter(|r| r.legal).position(fits)?))
}

/// An event at a host.
pub fn host(phase: host_rows::Phase, input: host_rows::MemHostInput) -> Option<Point> {
    let mut rows = host_rows::ROWS.iter().filter(|r| r.act.is_some());
    let place = rows.position(|r| r.phase == phase && r.input == input)?;
    Some((CoverageTable::Host, place))
}
