//! Transactions judged from the messages of links alone: which request an answer belongs to, which answers are owed, and which
//! bytes a read may bring.
//!
//! Modelled: CXL.mem in 68B flits and in all 256B modes, for memory of the kinds HDM-H, HDM-DB and HDM-D, with
//! back-invalidate snoops and the BIConflict handshake ([`cxl_mem`]); CXL.cache, requests of devices and snoops of hosts
//! ([`cxl_cache`]); UALink, requests of both ends, in default and in strict order ([`ualink`]); the NVLink model, including posted
//! writes and FLUSH ([`nvlink`]); CXL.io on links of 256B flits, memory and configuration space ([`cxl_io`]). Detail: one verdict for
//! each message, with the number of the flit that brought it. Left out: UIO, except that the image of the memory has its writes; the
//! opcodes of trusted execution environments and Extended-Meta, whose requests are known but whose answers are not judged; and
//! copies of lines, which `scalepool_coherence::passive` judges.
//!
//! The checker looks into no agent and keeps no link state. Its callers are link ends, passive or active, and the reader of waves.
//! A caller shows it the messages in the order in which they pass, and each message once, even if a replay repeats it. The checker
//! may watch any place of a link, since an answer passes after its request everywhere.
//!
//! A walk through one read: `MemRd` with tag 7 passes in flit 3, and the checker records the completion and the data that the
//! tables of the agents (`scalepool_coherence::mem::tables`) list for it. `MemData` with tag 7 passes in flit 12. The request is owed
//! this data, so it is compared with the image of the memory and removed from the record. Once nothing is owed any more, the tag is
//! free. For a second `MemData` with tag 7 the checker finds no open request, but knows the flit in which the last request with this
//! tag had its last answer.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl_cache;
pub mod cxl_io;
pub mod cxl_mem;
mod image;
mod ledger;
pub mod nvlink;
mod owed;
pub mod ualink;

use cxl_cache::CxlCacheTransactions;
use cxl_io::CxlIoTransactions;
use cxl_mem::CxlMemTransactions;
use nvlink::NvlTransactions;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::tlp::IoTlpForm;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;
use ualink::UalTransactions;

/// A broken rule, and the flit that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionFinding {
    /// Link, as the caller numbers them.
    pub link: usize,
    /// Direction of the flit: that of the answers, for an answer that does not come.
    pub dir: Dir,
    /// Number of the flit in its direction, as the caller numbers them; for an answer that does not come, the last one so far.
    pub unit: u64,
    /// For an answer that does not come, direction and number of the flit of its request, which may be later than the one above.
    pub asked: Option<(Dir, u64)>,
    /// Tag of the request concerned, if it is about one; of CXL.cache, CQID or UQID.
    pub tag: Option<u16>,
    /// The rule; the place is the line concerned, where it is known.
    pub violation: Violation,
}

/// The longest time that an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimit {
    /// Time from a request to its last answer, in the caller's steps of time.
    pub time: u64,
    /// The unit of time in texts, `flit clocks`.
    pub unit: &'static str,
    /// Steps in one of these units, at least 1.
    pub steps: u64,
}

impl AnswerLimit {
    /// `no answer in 100 flit clocks`.
    fn exceeded(&self) -> String {
        format!("no answer in {} {}", self.time / self.steps.max(1), self.unit)
    }
}

/// The checker of a link, whatever its protocol.
#[derive(Debug)]
pub enum TransactionChecker {
    /// Of CXL.mem.
    CxlMem(Box<CxlMemTransactions>),
    /// Of CXL.cache.
    CxlCache(Box<CxlCacheTransactions>),
    /// Of CXL.io.
    CxlIo(Box<CxlIoTransactions>),
    /// Of UALink.
    Ualink(Box<UalTransactions>),
    /// Of the NVLink model.
    Nvlink(Box<NvlTransactions>),
}

impl TransactionChecker {
    /// See [`CxlMemTransactions::see`] and [`CxlCacheTransactions::see`]; messages of CXL are nothing to others.
    pub fn see_cxl(&mut self, link: usize, unit: u64, message: &Message) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::CxlMem(checker) => checker.see(link, unit, message),
            TransactionChecker::CxlCache(checker) => checker.see(link, unit, message),
            _ => Vec::new(),
        }
    }

    /// See [`CxlMemTransactions::see_spare_data`]; nothing to others.
    pub fn see_spare_data(&mut self, link: usize, dir: Dir, unit: u64, slot: u8) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::CxlMem(checker) => checker.see_spare_data(link, dir, unit, slot),
            _ => Vec::new(),
        }
    }

    /// See [`UalTransactions::see`]; transfers of UALink are nothing to others.
    pub fn see_ualink(&mut self, link: usize, dir: Dir, unit: u64, transfer: &Transfer) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::Ualink(checker) => checker.see(link, dir, unit, transfer),
            _ => Vec::new(),
        }
    }

    /// See [`NvlTransactions::see`]; packets of NVLink are nothing to others.
    pub fn see_nvlink(
        &mut self,
        link: usize,
        dir: Dir,
        unit: u64,
        packet: &NvlDecodedPacket,
    ) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::Nvlink(checker) => checker.see(link, dir, unit, packet),
            _ => Vec::new(),
        }
    }

    /// See [`CxlIoTransactions::see`]; TLPs are nothing to others.
    pub fn see_tlp(
        &mut self,
        link: usize,
        dir: Dir,
        unit: u64,
        tlp: &[u8],
        form: IoTlpForm,
    ) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::CxlIo(checker) => checker.see(link, dir, unit, tlp, form),
            _ => Vec::new(),
        }
    }

    /// A flit of a link passes, with or without a message; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        match self {
            TransactionChecker::CxlMem(checker) => checker.unit(link, dir, unit),
            TransactionChecker::CxlCache(checker) => checker.unit(link, dir, unit),
            TransactionChecker::CxlIo(checker) => checker.unit(link, dir, unit),
            TransactionChecker::Ualink(checker) => checker.unit(link, dir, unit),
            TransactionChecker::Nvlink(checker) => checker.unit(link, dir, unit),
        }
    }

    /// Time goes on: what has waited too long.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::CxlMem(checker) => checker.clock(now),
            TransactionChecker::CxlCache(checker) => checker.clock(now),
            TransactionChecker::CxlIo(checker) => checker.clock(now),
            TransactionChecker::Ualink(checker) => checker.clock(now),
            TransactionChecker::Nvlink(checker) => checker.clock(now),
        }
    }

    /// The run has ended with all at rest: what is still owed.
    pub fn finish(&mut self) -> Vec<TransactionFinding> {
        match self {
            TransactionChecker::CxlMem(checker) => checker.finish(),
            TransactionChecker::CxlCache(checker) => checker.finish(),
            TransactionChecker::CxlIo(checker) => checker.finish(),
            TransactionChecker::Ualink(checker) => checker.finish(),
            TransactionChecker::Nvlink(checker) => checker.finish(),
        }
    }
}

/// What is said of a request that is open when all is at rest.
const NO_ANSWER_AT_THE_END: &str = "no answer at the end of the run";
