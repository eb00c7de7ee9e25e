//! HDM-D: who may hold a line in which bias (V13), and what device and host may make of a step (`coherence` §3.3).

use super::View;
use super::dcoh::may_keep;
use crate::agent::AgentOutput;
use crate::bias::{Bias, BiasDevice, BiasHost};
use crate::content::LineContent;
use crate::event::CoherenceEvent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode, NdrOpcode};

/// V13 bias: no copy but the device's in device bias, no ownership of the device in host bias. `device` is its agent,
/// `name` the name of an agent by its number.
pub fn check_bias<D: LineContent>(
    view: &View<D>,
    device: usize,
    in_device_bias: bool,
    name: &dyn Fn(usize) -> String,
    events: &mut Vec<CoherenceEvent>,
) {
    for copy in &view.copies {
        let at = || name(copy.agent);
        if copy.agent != device && in_device_bias {
            let found = "a copy outside the device in device bias";
            events.push(CoherenceEvent::new("COH-INV-13", view.line, at(), found, "no host copy in device bias"));
        }
        if copy.agent == device && copy.writable && !in_device_bias {
            let found = "the device owns the line in host bias";
            events.push(CoherenceEvent::new("COH-INV-13", view.line, at(), found, "ownership in device bias only"));
            let found = "local use in host bias";
            events.push(CoherenceEvent::new("COH-BIA-01", view.line, at(), found, "a bias flip before the local use"));
        }
    }
}

/// What an HDM-D device may make of a message of its host: bias and own cache, before and after.
pub fn check_bias_device<D: LineContent>(
    before: &BiasDevice<D>,
    msg: &Msg<D>,
    out: &AgentOutput<D>,
    after: &BiasDevice<D>,
    events: &mut Vec<CoherenceEvent>,
) {
    let (line, snp, forwards) = match *msg {
        _ if !out.events.is_empty() => return,
        Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, .. } => return,
        Msg::M2sReq { opcode, line, snp, .. } => {
            (line, snp, [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(&opcode))
        }
        Msg::M2sRwd { line, snp, .. } => (line, snp, false),
        _ => return,
    };
    let mut say = |rule, found: String, expected: &str| {
        events.push(CoherenceEvent::new(rule, line, "device", found, expected));
    };
    if forwards {
        if before.asked(line) == Some(D2hReqOpcode::CLFlush) && after.bias(line) == Bias::Device {
            say("COH-BIA-14", "device bias after CLFlush".into(), "host bias, the host taken to hold S");
        }
        return;
    }
    let left = after.own(line).0;
    if !may_keep(snp, left) {
        let found = format!("{} in the device's cache after {}", left.letter(), snp.name().unwrap_or("?"));
        say("COH-BIA-13", found.clone(), "a snoop of the own cache by SnpType, and host bias");
        say("COH-MEM-02", found, "I after SnpInv, S or I after SnpData");
    }
    let grants = |m: &Msg<D>| matches!(m, Msg::S2mNdr { opcode, .. } if *opcode != NdrOpcode::Cmp);
    if after.bias(line) == Bias::Device && out.sends.iter().any(|(_, m)| grants(m)) {
        say("COH-BIA-13", "device bias after a grant to the host".into(), "host bias");
    }
}

/// What an HDM-D host may make of a step: Mem*Fwd leaves when its own write back has ended.
pub fn check_bias_host<D: LineContent>(out: &AgentOutput<D>, after: &BiasHost<D>, events: &mut Vec<CoherenceEvent>) {
    for (_, m) in &out.sends {
        if let Msg::M2sReq { opcode, line, .. } = *m
            && [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(&opcode)
            && after.mem.is_writing(line)
        {
            let found = format!("{} before the Cmp of the host's MemWr", opcode.name().unwrap_or("?"));
            events.push(CoherenceEvent::new(
                "COH-BIA-12",
                line,
                "host",
                found,
                "MemWr, its Cmp, then MemRdFwd or MemWrFwd",
            ));
        }
    }
}
