//! Messages of CXL.cache and of CXL.mem on one link, judged by the monitor that knows the states of agents by their messages alone, or by the
//! checker of transactions.
//!
//! Modelled: what somebody's agents send, a message each nanosecond; the monitor keeps what each holder must hold by it. The wave has a scope
//! for each direction.
//! Left out: what agents do inside; other links of the same home or device.
//!
//! A walk: a device reads a line shared and answers SnpData by RspSFwdM: it has no dirty line to forward, COH-SNP-02.

use super::message_wave::{MessageWave, STEP_FS};
use super::timeline::told;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr};
use scalepool_coherence::message::{Msg, shown};
use scalepool_coherence::passive::{PassiveConfig, PassiveMonitor};
use scalepool_forms::message::message_to_json;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, GoState, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, MetaField,
    MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_protocols::wire::Violation;
use scalepool_trace::TimeAxis;
use scalepool_transactions::cxl_cache::{CxlCacheConfig, CxlCacheTransactions};

/// The line of every case.
const LINE: LineAddr = LineAddr(0);
/// What it holds.
const DATA: CacheLine = CacheLine::of([1; LINE_BYTES]);

/// The rule that the checker of transactions of CXL.cache tells; all others are those of the monitor.
const OF_TRANSACTIONS: &str = "TXN-ORD-03";

/// A rule, what breaks it, and the messages.
type Monitored = (&'static str, &'static str, fn() -> Vec<Msg<CacheLine>>);

/// The table, a rule once.
const BREAKS: &[Monitored] = &[
    ("COH-SNP-02", "a device in S answers SnpData as if it forwarded a dirty line", || {
        let snoop = Msg::H2dReq { opcode: H2dReqOpcode::SnpData, line: LINE, uqid: 16 };
        let answer = Msg::D2hRsp { opcode: D2hRspOpcode::RspSFwdM, uqid: 16 };
        cached(D2hReqOpcode::RdShared, GoState::Shared, &[snoop, answer])
    }),
    ("COH-SNP-10", "a device in S answers SnpCur as if it had given up a dirty line", || {
        let snoop = Msg::H2dReq { opcode: H2dReqOpcode::SnpCur, line: LINE, uqid: 16 };
        let answer = Msg::D2hRsp { opcode: D2hRspOpcode::RspIFwdM, uqid: 16 };
        cached(D2hReqOpcode::RdShared, GoState::Shared, &[snoop, answer])
    }),
    ("COH-MEM-38", "a host that owns a line reads it to share it", || {
        held(M2sReqOpcode::MemRd, MetaValue::Shared, SnpType::SnpData)
    }),
    ("COH-MEM-39", "a host that owns a line reads it and says that it will hold nothing", || {
        held(M2sReqOpcode::MemRd, MetaValue::Invalid, SnpType::SnpCur)
    }),
    ("COH-MEM-41", "a host that holds nothing says that it has evicted a clean line", || {
        vec![request(M2sReqOpcode::MemClnEvct, MetaValue::Invalid, SnpType::NoOp, 2)]
    }),
    (OF_TRANSACTIONS, "a home ends a WrInv before the data that it has pulled", || {
        let (cqid, uqid, invalid) = (1, 3, GoState::Invalid.0.into());
        vec![
            Msg::D2hReq { opcode: D2hReqOpcode::WrInv, line: LINE, cqid },
            Msg::H2dRsp { opcode: H2dRspOpcode::WritePull, rsp_data: uqid, cqid },
            Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: invalid, cqid },
        ]
    }),
];

/// A read of CXL.cache with its answer and data, and what comes behind it.
fn cached(opcode: D2hReqOpcode, state: GoState, more: &[Msg<CacheLine>]) -> Vec<Msg<CacheLine>> {
    let read = [
        Msg::D2hReq { opcode, line: LINE, cqid: 1 },
        Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: state.0.into(), cqid: 1 },
        Msg::H2dData { cqid: 1, go_err: false, data: DATA },
    ];
    [&read, more].concat()
}

fn request(opcode: M2sReqOpcode, meta: MetaValue, snp: SnpType, tag: u16) -> Msg<CacheLine> {
    Msg::M2sReq { opcode, snp, meta_field: MetaField::Meta0State, meta, line: LINE, tag }
}

/// A read of CXL.mem that brings a line dirty, and a request behind it.
fn held(opcode: M2sReqOpcode, meta: MetaValue, snp: SnpType) -> Vec<Msg<CacheLine>> {
    let (meta_field, none, devload) = (MetaField::NoOp, MetaValue::Invalid, DevLoad(0));
    vec![
        request(M2sReqOpcode::MemRd, MetaValue::Any, SnpType::SnpInv, 1),
        Msg::S2mNdr { opcode: NdrOpcode::CmpM, meta_field, meta: none, tag: 1, devload },
        Msg::S2mDrs { opcode: DrsOpcode::MemData, meta_field, meta: none, tag: 1, devload, data: DATA },
        request(opcode, meta, snp, 2),
    ]
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|(rule, ..)| *rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    BREAKS.iter().find(|(of, ..)| *of == rule).map(judged).transpose()
}

fn judged((rule, what, messages): &Monitored) -> Result<BrokenCase, CaseError> {
    let names = || vec!["link".to_owned()];
    let mut monitor = PassiveMonitor::new(PassiveConfig::default(), names());
    let mut transactions = CxlCacheTransactions::new(CxlCacheConfig::default(), names());
    let (mut steps, mut wave) = (Vec::new(), MessageWave::new("link"));
    for (n, msg) in messages().iter().enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let (message, dir) = (shown(msg), msg.class().dir().name());
        let (layout, bits) = message.spell(MessageForm::Hbr).map_err(CaseError::of)?;
        wave.message(t_fs, dir, &message_to_json(layout, bits))?;
        let line = msg.line().map_or_else(String::new, |line| format!(", line {:#x}", line.address()));
        let (class, label) = (msg.class().name(), msg.label());
        let said = if class.ends_with(&label) { class.to_owned() } else { format!("{class} {label}{line}") };
        steps.push(CaseStep { t_fs, place: dir.to_owned(), said });
        // Of each finding its rule, its words and what it is in a wave.
        let found: Vec<(&str, String, Violation)> = if *rule == OF_TRANSACTIONS {
            let found = transactions.see(0, n as u64, &message).into_iter().map(|finding| finding.violation);
            found.map(|violation| (violation.rule, told(&violation), violation)).collect()
        } else {
            let found = monitor.see(0, &message).into_iter();
            found.map(|event| (event.rule, event.to_string(), event.violation())).collect()
        };
        if found.is_empty() {
            continue;
        }
        let event = found.into_iter().find(|(of, ..)| of == rule);
        let (_, found, violation) = event.ok_or_else(|| CaseError::breaks_nothing(rule, "message"))?;
        return Ok(BrokenCase {
            what: (*what).to_owned(),
            t_fs,
            found,
            steps,
            records: Some(wave.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        });
    }
    Err(CaseError::breaks_nothing(rule, "message"))
}
