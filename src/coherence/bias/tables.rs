//! Which answer a D2H request to HDM-D gets, and what the device may hold afterwards (`coherence` §3.3).

use crate::mem::tables::Copy4;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode, MetaValue};

/// How a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// A Mem*Fwd; the device uses its own memory.
    Forward(M2sReqOpcode),
    /// The CXL.cache flow, as for host memory; the host then writes over CXL.mem.
    Cache,
    /// Inside the device, without a message.
    Inside,
}

/// One row: a request, and for each MetaValue that the answer may carry what the device may hold.
#[derive(Debug)]
pub struct Row {
    /// Rule of the row.
    pub rule: &'static str,
    /// Requests that share the row.
    pub opcodes: &'static [D2hReqOpcode],
    /// How it is served.
    pub served: Served,
    /// Allowed MetaValue, the state that the device may hold, and whether the line is in device bias then.
    pub grants: &'static [(MetaValue, Copy4, bool)],
}

const RD_FWD: Served = Served::Forward(M2sReqOpcode::MemRdFwd);
const WR_FWD: Served = Served::Forward(M2sReqOpcode::MemWrFwd);
const ANY: MetaValue = MetaValue::Any;
const SHARED: MetaValue = MetaValue::Shared;
const INVALID: MetaValue = MetaValue::Invalid;
use Copy4::{E, I, S};

/// Every request of §2.2 that one line can have, in the order of the sheet.
pub static ROWS: &[Row] = &[
    Row {
        rule: "COH-BIA-02",
        opcodes: &[D2hReqOpcode::RdCurr],
        served: RD_FWD,
        grants: &[(ANY, I, false), (SHARED, I, false), (INVALID, I, false)],
    },
    Row {
        rule: "COH-BIA-03",
        opcodes: &[D2hReqOpcode::RdShared],
        served: RD_FWD,
        grants: &[(SHARED, S, false), (INVALID, S, false)],
    },
    Row {
        rule: "COH-BIA-04",
        opcodes: &[D2hReqOpcode::RdAny],
        served: RD_FWD,
        grants: &[(SHARED, S, false), (INVALID, E, true)],
    },
    Row {
        rule: "COH-BIA-05",
        opcodes: &[D2hReqOpcode::RdOwn, D2hReqOpcode::RdOwnNoData],
        served: RD_FWD,
        grants: &[(INVALID, E, true)],
    },
    // No flip: the device goes on as if the host had S.
    Row { rule: "COH-BIA-06", opcodes: &[D2hReqOpcode::CLFlush], served: RD_FWD, grants: &[(INVALID, I, false)] },
    Row {
        rule: "COH-BIA-07",
        opcodes: &[D2hReqOpcode::WOWrInv, D2hReqOpcode::WOWrInvF],
        served: WR_FWD,
        grants: &[(INVALID, I, false)],
    },
    Row {
        rule: "COH-BIA-08",
        opcodes: &[D2hReqOpcode::ItoMWr, D2hReqOpcode::WrCur, D2hReqOpcode::WrInv],
        served: Served::Cache,
        grants: &[],
    },
    Row {
        rule: "COH-BIA-09",
        opcodes: &[D2hReqOpcode::CleanEvict, D2hReqOpcode::CleanEvictNoData, D2hReqOpcode::DirtyEvict],
        served: Served::Inside,
        grants: &[],
    },
];

/// The row of a request; `None` for codes that concern no line of device memory.
pub fn find(opcode: D2hReqOpcode) -> Option<&'static Row> {
    ROWS.iter().find(|r| r.opcodes.contains(&opcode))
}

/// States from which the device issues a request (`coherence` §2.2).
pub fn starts(opcode: D2hReqOpcode) -> &'static [Copy4] {
    match opcode {
        D2hReqOpcode::RdOwnNoData => &[S, I],
        D2hReqOpcode::CleanEvict => &[E],
        D2hReqOpcode::CleanEvictNoData => &[E, S],
        D2hReqOpcode::DirtyEvict => &[Copy4::M],
        _ => &[I],
    }
}

/// The table as Markdown.
pub fn markdown() -> String {
    let mut text = String::from(
        "## D2H requests to HDM-D\n\n| rule | request | served by | MetaValue -> device may hold |\n|---|---|---|---|\n",
    );
    for r in ROWS {
        let ops: Vec<_> = r.opcodes.iter().map(|o| o.name().unwrap_or("?")).collect();
        let served = match r.served {
            Served::Forward(opcode) => opcode.name().unwrap_or("?"),
            Served::Cache => "the CXL.cache flow",
            Served::Inside => "the device itself",
        };
        let grants: Vec<String> = r
            .grants
            .iter()
            .map(|(m, s, bias)| {
                let flip = if *bias { ", device bias" } else { "" };
                format!("{} -> {}{flip}", m.name().unwrap_or("?"), s.letter())
            })
            .collect();
        text += &format!("| {} | {} | {served} | {} |\n", r.rule, ops.join(", "), grants.join("; "));
    }
    text
}
