//! Links of CXL.mem: requests and back-invalidates that are open, and what each message makes of a line (`coherence` §3).

use super::cache::CacheLinks;
use super::line::PossibleCopy;
use super::{PassiveHolder, PassiveLines};
use crate::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use crate::mem::host::block_lines;
use crate::mem::tables::{self, Copy4, HdmRegion, IssueRow};
use crate::message::Msg;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// A request of a host without its last answer.
#[derive(Debug)]
struct Open {
    line: LineAddr,
    /// Where the values begin that its data may have.
    mark: u64,
    kind: AwaitedAnswer,
    /// Its completion grants a copy, or does not.
    completed: Option<Option<Copy4>>,
    /// Data that came before the completion.
    data: Option<CacheLine>,
    has_data: bool,
}

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AwaitedAnswer {
    /// Data; `checked`: of the newest value.
    Read { checked: bool },
    /// A completion.
    NoData,
    /// The completion of a write, which is visible behind it.
    Write { mark: u64 },
}

/// A back-invalidate with the lines that are not answered.
#[derive(Debug)]
struct Snooped {
    opcode: BisnpOpcode,
    /// Each with the most that the host may have held of it when the snoop passed.
    lines: Vec<(LineAddr, Copy4)>,
}

/// All links of a device.
#[derive(Debug, Default)]
pub(super) struct MemLinks {
    open: OrderedMap<(PassiveHolder, u16), Open>,
    snoops: OrderedMap<(PassiveHolder, u16), Snooped>,
    snooped: OrderedMap<(PassiveHolder, LineAddr), u16>,
}

/// What is left of a copy behind a message that says so in its meta field.
fn left(field: MetaField, value: MetaValue) -> Option<Copy4> {
    match value {
        _ if field == MetaField::NoOp => None,
        MetaValue::Invalid => Some(Copy4::I),
        MetaValue::Shared => Some(Copy4::S),
        MetaValue::Any => Some(Copy4::E),
        _ => None,
    }
}

impl MemLinks {
    /// A message passes; `cache` has the requests that a device of HDM-D makes for its own memory.
    pub fn see(&mut self, lines: &mut PassiveLines, cache: &mut CacheLinks, host: PassiveHolder, msg: &Msg<CacheLine>) {
        match *msg {
            Msg::M2sReq { opcode, meta_field, meta, line, .. }
                if [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(&opcode) =>
            {
                cache.answered_by_forward(lines, host.link, msg);
                if let Some(left) = left(meta_field, meta) {
                    let held = lines.held(line, host);
                    lines.hold(line, host, held.lowered(left));
                }
            }
            Msg::M2sReq { .. } => self.request(lines, host, msg),
            Msg::M2sRwd { .. } => self.write(lines, host, msg),
            Msg::S2mNdr { opcode, tag, .. } => self.completion(lines, host, opcode, tag),
            Msg::S2mDrs { opcode, tag, data, .. } => self.data(lines, host, opcode, tag, &data),
            Msg::S2mBisnp { opcode, line, bi_tag } => self.snoop(lines, host, opcode, line, bi_tag),
            Msg::M2sBirsp { opcode, bi_tag, low_addr } => self.snoop_answer(lines, host, opcode, bi_tag, low_addr),
            _ => {}
        }
    }

    fn open(&mut self, lines: &mut PassiveLines, host: PassiveHolder, tag: u16, line: LineAddr, kind: AwaitedAnswer) {
        // Under a tag that is in use the older request will have no answer that can be told from others.
        self.close(lines, host, tag);
        let mark = lines.read_begins(line);
        self.open.insert((host, tag), Open { line, mark, kind, completed: None, data: None, has_data: false });
    }

    /// The last answer of a request, or nothing more is to be learned of it.
    fn close(&mut self, lines: &mut PassiveLines, host: PassiveHolder, tag: u16) {
        let Some(open) = self.open.remove(&(host, tag)) else { return };
        if let AwaitedAnswer::Write { mark } = open.kind {
            lines.line(open.line).values.write_ends(mark);
        }
        lines.read_ends(open.line);
    }

    /// A host may say this only in some states. What an HDM-H host holds nobody tells.
    fn check_issue(
        &self,
        lines: &mut PassiveLines,
        host: PassiveHolder,
        row: Option<&'static IssueRow>,
        line: LineAddr,
        name: Option<&'static str>,
    ) {
        let Some(row) = row.filter(|_| lines.config.region != HdmRegion::HdmH) else { return };
        let held = lines.held(line, host);
        // Where a snoop is open its answer may be behind this request, on a channel of its own.
        let is_snooped = self.snooped.contains_key(&(host, line));
        if !is_snooped && !held.possible_at_request().iter().any(|copy| row.states.contains(copy)) {
            let found = format!("{} of a host that {}", name.unwrap_or("?"), held.in_words());
            let states: Vec<String> = row.states.iter().map(|copy| copy.letter().to_string()).collect();
            lines.say(row.rule, line, host, found, format!("{} in {}", row.message, states.join(" or ")));
        }
    }

    fn request(&mut self, lines: &mut PassiveLines, host: PassiveHolder, msg: &Msg<CacheLine>) {
        let Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } = *msg else { return };
        if opcode == M2sReqOpcode::MemSpecRd {
            return;
        }
        let row = tables::issue_req(opcode, meta_field, meta);
        self.check_issue(lines, host, row, line, opcode.name());
        let held = lines.held(line, host);
        // It says what it holds, or that it holds nothing any more.
        let most = row.and_then(|row| row.states.iter().max()).copied().unwrap_or(Copy4::M);
        let now = match opcode {
            M2sReqOpcode::MemClnEvct => held.lowered(Copy4::I),
            _ if most < held.most => held.lowered(most),
            _ => held,
        };
        lines.hold(line, host, PossibleCopy { before: held.most, ..now });
        let kind = match tables::is_read(opcode) {
            // A host may read the memory below its own dirty copy, and knows why.
            true => AwaitedAnswer::Read { checked: lines.config.region == HdmRegion::HdmH || snp != SnpType::NoOp },
            false => AwaitedAnswer::NoData,
        };
        self.open(lines, host, tag, line, kind);
    }

    fn write(&mut self, lines: &mut PassiveLines, host: PassiveHolder, msg: &Msg<CacheLine>) {
        let Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables } = *msg else { return };
        if ![M2sRwdOpcode::MemWr, M2sRwdOpcode::MemWrPtl].contains(&opcode) {
            return;
        }
        self.check_issue(lines, host, tables::issue_rwd(opcode, snp), line, opcode.name());
        let values = &mut lines.line(line).values;
        let (last, is_alone) = (values.last().copied(), values.open_writes() == 0);
        let mark = values.write_begins();
        let merged = match last {
            _ if enables == WHOLE_LINE => Some(data),
            Some(mut value) => {
                value.merge(&data, enables);
                Some(value)
            }
            None => None,
        };
        self.open(lines, host, tag, line, AwaitedAnswer::Write { mark });
        // Two writes under way may be done in either order.
        lines.changed(line, merged.filter(|_| is_alone));
        let held = lines.held(line, host);
        let left = left(meta_field, meta).unwrap_or(Copy4::E);
        lines.hold(line, host, PossibleCopy { before: held.most, ..held.lowered(left) });
    }

    fn completion(&mut self, lines: &mut PassiveLines, host: PassiveHolder, opcode: NdrOpcode, tag: u16) {
        if opcode == NdrOpcode::BIConflictAck {
            return;
        }
        let Some(open) = self.open.get_mut(&(host, tag)) else { return };
        let granted = match opcode {
            NdrOpcode::CmpS => Some(Copy4::S),
            NdrOpcode::CmpE => Some(Copy4::E),
            NdrOpcode::CmpM => Some(Copy4::M),
            _ => None,
        };
        open.completed = Some(granted);
        let (line, early) = (open.line, open.data.take());
        let is_over = open.has_data || !matches!(open.kind, AwaitedAnswer::Read { .. });
        if let Some(copy) = granted {
            lines.check_alone(line, host, copy, opcode.name().unwrap_or("?"));
            lines.hold(line, host, PossibleCopy::granted(copy));
        }
        if let Some(data) = early {
            self.check_data(lines, host, tag, &data);
        }
        if is_over {
            self.close(lines, host, tag);
        }
    }

    fn data(&mut self, lines: &mut PassiveLines, host: PassiveHolder, opcode: DrsOpcode, tag: u16, data: &CacheLine) {
        let Some(open) = self.open.get_mut(&(host, tag)) else { return };
        open.has_data = true;
        let is_over = open.completed.is_some() || lines.config.region == HdmRegion::HdmH;
        if opcode != DrsOpcode::MemData {
            // Nothing was there to be read.
        } else if is_over {
            self.check_data(lines, host, tag, data);
        } else {
            open.data = Some(*data);
        }
        if is_over {
            self.close(lines, host, tag);
        }
    }

    fn check_data(&self, lines: &mut PassiveLines, host: PassiveHolder, tag: u16, data: &CacheLine) {
        let Some(open) = self.open.get(&(host, tag)) else { return };
        let granted = open.completed.flatten().is_some();
        if open.kind == (AwaitedAnswer::Read { checked: true }) || granted {
            let kept = granted && lines.held(open.line, host).most > Copy4::I;
            lines.check_read(open.line, host, open.mark, kept, data);
        }
    }

    fn snoop(
        &mut self,
        lines: &mut PassiveLines,
        host: PassiveHolder,
        opcode: BisnpOpcode,
        line: LineAddr,
        bi_tag: u16,
    ) {
        let covered = if opcode.is_block() { block_lines(line) } else { Some((line, 1)) };
        let Some((first, count)) = covered else { return };
        let covered: Vec<LineAddr> = (0..count).map(|n| LineAddr(first.0 + n)).collect();
        for line in &covered {
            if let Some(other) = self.snooped.insert((host, *line), bi_tag) {
                let name = opcode.name().unwrap_or("?");
                let found = format!("{name} under BITag {bi_tag} while BITag {other} is not answered");
                lines.say("COH-SFI-08", *line, host, found, "one open BISnp of a host and line");
            }
        }
        let covered = covered.into_iter().map(|line| (line, lines.held(line, host).most)).collect();
        self.snoops.insert((host, bi_tag), Snooped { opcode, lines: covered });
    }

    fn snoop_answer(
        &mut self,
        lines: &mut PassiveLines,
        host: PassiveHolder,
        answer: BirspOpcode,
        bi_tag: u16,
        low_addr: u8,
    ) {
        let Some(of) = self.snoops.get_mut(&(host, bi_tag)) else { return };
        let opcode = of.opcode;
        let is_meant = |(line, _): &(LineAddr, Copy4)| {
            !opcode.is_block() || answer.is_block() || line.0 & 3 == u64::from(low_addr)
        };
        let (now, later): (Vec<_>, Vec<_>) = of.lines.iter().copied().partition(is_meant);
        of.lines = later;
        if of.lines.is_empty() {
            self.snoops.remove(&(host, bi_tag));
        }
        for (line, most) in now {
            self.snooped.remove(&(host, line));
            let held = lines.held(line, host);
            // A request that was made behind the answer may have passed it.
            let then = PossibleCopy { most: held.most.max(most), ..held };
            let plain = tables::plain_answer(answer);
            // An answer for a whole block says the most that any of its lines has.
            let fits = then.possible().iter().any(|from| tables::answers(opcode, *from).any(|row| row.answer == plain));
            let rule = tables::answers(opcode, Copy4::M).next().map_or("COH-SFI-02", |row| row.rule);
            let name = answer.name().unwrap_or("?");
            let snoop = opcode.name().unwrap_or("?");
            if !fits && !answer.is_block() {
                let found = format!("{name} to {snoop} of a host that {}", then.in_words());
                lines.say(rule, line, host, found, "an answer of what it holds");
            } else if held.dirty {
                let found = format!("{name} to {snoop} of a host that {}", held.in_words());
                lines.say(rule, line, host, found, "MemWr and its Cmp before the answer");
            }
            let left = match plain {
                BirspOpcode::BIRspS => Copy4::S,
                BirspOpcode::BIRspE => Copy4::E,
                _ => Copy4::I,
            };
            lines.hold(line, host, held.lowered(left));
        }
    }
}
