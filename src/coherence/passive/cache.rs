//! Links of CXL.cache: requests, snoops and pulls that are open, and what each message makes of a line (`coherence` §2).

use super::half::LineHalf;
use super::line::PossibleCopy;
use super::{PassiveHolder, PassiveLines};
use crate::cache::requests::{self, CacheRequestKind, CacheRequestRow};
use crate::cache::snoops::{self, Left};
use crate::cache::state::{CacheLineState, HostAnswer, Snoop};
use crate::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use crate::mem::tables::{Copy4, HdmRegion};
use crate::message::Msg;
use crate::monitor::IssueWatch;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, D2hRspOpcode, H2dReqOpcode, H2dRspOpcode};

/// A request of a device without its last answer.
#[derive(Debug)]
struct Open {
    row: &'static CacheRequestRow,
    line: LineAddr,
    /// Where the values begin that its data may have.
    mark: u64,
    /// The value of a copy that an evict gives up.
    clean: Option<CacheLine>,
    /// The answer under which its copy stays.
    granted: bool,
    /// Data that came before the GO.
    data: Option<CacheLine>,
    has_data: bool,
    half: LineHalf,
    /// Answers of a write that were seen: its pull, and its end.
    pulled: bool,
    ended: bool,
}

/// A snoop without its answer, or without the data that belongs to it.
#[derive(Debug)]
struct Snooped {
    holder: PassiveHolder,
    line: LineAddr,
    snoop: Snoop,
    /// The most that the device may have held when the snoop passed.
    most: Copy4,
    answer: Option<D2hRspOpcode>,
    has_data: bool,
    half: LineHalf,
}

/// A pull without its data.
#[derive(Debug)]
struct Pull {
    holder: PassiveHolder,
    line: LineAddr,
    op: Op,
    /// What the device could still hold when the home took its evict, and the value that a clean copy had.
    held: PossibleCopy,
    clean: Option<CacheLine>,
    /// The home drops the data.
    refused: bool,
    half: LineHalf,
}

/// All links of a home.
#[derive(Debug, Default)]
pub(super) struct CacheLinks {
    /// Peers that have asked, by link.
    peers: OrderedMap<usize, OrderedSet<u16>>,
    open: OrderedMap<(PassiveHolder, u16), Open>,
    /// Which requests of a device may be open together.
    issued: OrderedMap<PassiveHolder, IssueWatch>,
    /// By link and UQID.
    snoops: OrderedMap<(usize, u16), Snooped>,
    snooped: OrderedMap<(PassiveHolder, LineAddr), u16>,
    pulls: OrderedMap<(usize, u16), Pull>,
    pulled: OrderedMap<(PassiveHolder, LineAddr), u16>,
}

/// The state of the tables for what a copy is at most.
fn state(most: Copy4) -> CacheLineState {
    match most {
        Copy4::I => CacheLineState::I,
        Copy4::S => CacheLineState::S,
        Copy4::E => CacheLineState::E,
        Copy4::M => CacheLineState::M,
    }
}

impl CacheLinks {
    /// A message passes, with these bytes of its line; `device` is the peer that it names, if it names one.
    pub fn see(&mut self, lines: &mut PassiveLines, device: PassiveHolder, msg: &Msg<CacheLine>, enables: u64) {
        let device = self.known(device, msg);
        let Some(msg) = &self.whole(device, msg, enables) else { return };
        if matches!(msg, Msg::D2hReq { .. } | Msg::H2dRsp { .. } | Msg::H2dData { .. }) {
            let (first, at) = (lines.events.len(), lines.name(device));
            let issued = self.issued.entry(device).or_default();
            issued.may_flip = lines.config.region == HdmRegion::HdmD;
            issued.up(msg, &mut lines.events);
            issued.ends(msg);
            lines.events[first..].iter_mut().for_each(|event| event.at.clone_from(&at));
        }
        match msg {
            Msg::D2hReq { opcode, line, cqid } => self.request(lines, device, *opcode, *line, *cqid),
            Msg::H2dRsp { opcode, rsp_data, cqid } => self.answer(lines, device, *opcode, *rsp_data, *cqid),
            Msg::H2dData { cqid, go_err, data } => self.data(lines, device, *cqid, *go_err, data),
            Msg::H2dReq { opcode, line, uqid } => self.snoop(lines, device, *opcode, *line, *uqid),
            Msg::D2hRsp { opcode, uqid } => self.snoop_answer(lines, device.link, *uqid, *opcode),
            Msg::D2hData { uqid, bogus, data, enables } => {
                if let Some(pull) = self.pulls.remove(&(device.link, *uqid)) {
                    self.pulled.remove(&(pull.holder, pull.line));
                    pulled(lines, &pull, *bogus, data, *enables);
                } else {
                    self.forwarded(lines, device.link, *uqid, *bogus, data);
                }
            }
            _ => {}
        }
    }

    /// The message with its whole line, unless the other half has not passed.
    fn whole(&mut self, device: PassiveHolder, msg: &Msg<CacheLine>, enables: u64) -> Option<Msg<CacheLine>> {
        let half = match msg {
            Msg::H2dData { cqid, go_err: false, .. } => self.open.get_mut(&(device, *cqid)).map(|open| &mut open.half),
            Msg::D2hData { uqid, .. } => {
                let key = (device.link, *uqid);
                match self.pulls.get_mut(&key) {
                    // A write that need not be whole says by its enables what it writes.
                    Some(pull) if [Op::WrInv, Op::WOWrInv].contains(&pull.op) => None,
                    Some(pull) => Some(&mut pull.half),
                    None => self.snoops.get_mut(&key).map(|of| &mut of.half),
                }
            }
            _ => None,
        };
        let (Some(half), Some(data)) = (half, msg.data()) else { return Some(*msg) };
        let line = half.join(enables, data)?;
        let mut whole = *msg;
        *whole.data_mut()? = line;
        if let Msg::D2hData { enables: of_whole, .. } = &mut whole {
            *of_whole = if LineHalf::is_half(enables) { WHOLE_LINE } else { enables };
        }
        Some(whole)
    }

    /// The device as its requests name it. A switch fills in the CacheID on the way up, so a device below one may not know its
    /// own: alone behind its link, all that comes down is for it.
    fn known(&mut self, device: PassiveHolder, msg: &Msg<CacheLine>) -> PassiveHolder {
        let peers = self.peers.entry(device.link).or_default();
        if let Msg::D2hReq { .. } = msg {
            peers.insert(device.peer);
        }
        match (peers.len(), peers.first()) {
            (1, Some(&peer)) => PassiveHolder { peer, ..device },
            _ => device,
        }
    }

    fn request(&mut self, lines: &mut PassiveLines, device: PassiveHolder, op: Op, line: LineAddr, cqid: u16) {
        let Some(row) = requests::request(op) else { return };
        let name = op.name().unwrap_or("?");
        // Under an identifier that is in use the older request will have no answer that can be told from others.
        self.close(lines, device, cqid);
        if op == Op::CacheFlushed {
            self.flushed(lines, device);
            return;
        }
        let held = lines.held(line, device);
        // Where a snoop is open its answer may be behind this request, on a channel of its own.
        let possible = held.possible_at_request();
        let is_snooped = self.snooped.contains_key(&(device, line));
        if !is_snooped && !row.starts.iter().any(|(start, _)| possible.iter().any(|copy| state(*copy) == *start)) {
            let rule = if held.dirty && row.kind != CacheRequestKind::Evict { "COH-STA-02" } else { row.rule };
            let starts: Vec<&str> = row.starts.iter().map(|(start, _)| start.name()).collect();
            let found = format!("{name} of a device that {}", held.in_words());
            lines.say(rule, line, device, found, format!("{name} in {}", starts.join(" or ")));
        }
        let clean = lines.line(line).values.last().copied();
        let leaving = row.kind == CacheRequestKind::Evict && held.most > Copy4::I;
        // It says what it holds: a read in I comes of a device whose clean copy has gone silently.
        let copies = [Copy4::M, Copy4::E, Copy4::S];
        let most = copies.into_iter().find(|copy| row.starts.iter().any(|(start, _)| *start == state(*copy)));
        let left = if row.kind == CacheRequestKind::Evict { held } else { held.lowered(most.unwrap_or_default()) };
        lines.hold(line, device, PossibleCopy { before: held.most, leaving, ..left });
        let mark = lines.read_begins(line);
        let (data, granted, has_data, pulled, ended, half) = (None, false, false, false, false, LineHalf::default());
        let open = Open { row, line, mark, clean, granted, data, has_data, half, pulled, ended };
        self.open.insert((device, cqid), open);
    }

    /// A device says that it holds nothing any more.
    fn flushed(&mut self, lines: &mut PassiveLines, device: PassiveHolder) {
        let held: Vec<(LineAddr, PossibleCopy)> =
            lines.lines.iter().filter_map(|(line, known)| Some((*line, *known.holders.get(&device)?))).collect();
        for (line, held) in held {
            if held.dirty && !self.snooped.contains_key(&(device, line)) {
                let found = format!("CacheFlushed of a device that {}", held.in_words());
                lines.say("COH-REQ-27", line, device, found, "CacheFlushed behind the last DirtyEvict");
            }
            lines.hold(line, device, PossibleCopy::default());
        }
    }

    fn answer(
        &mut self,
        lines: &mut PassiveLines,
        device: PassiveHolder,
        opcode: H2dRspOpcode,
        rsp_data: u16,
        cqid: u16,
    ) {
        let Some(answer) = HostAnswer::of(opcode, rsp_data) else { return };
        let Some(open) = self.open.get_mut(&(device, cqid)) else { return };
        let (line, row) = (open.line, open.row);
        let granted = match answer {
            HostAnswer::GoS => Some(Copy4::S),
            HostAnswer::GoE => Some(Copy4::E),
            HostAnswer::GoM => Some(Copy4::M),
            _ => None,
        };
        if let Some(copy) = granted.filter(|_| matches!(row.kind, CacheRequestKind::Read | CacheRequestKind::NoData)) {
            open.granted = true;
            let (mark, early) = (open.mark, open.data.take());
            lines.check_alone(line, device, copy, &format!("GO-{}", copy.letter()));
            lines.hold(line, device, PossibleCopy::granted(copy));
            if let Some(data) = early {
                lines.check_read(line, device, mark, true, &data);
            }
        }
        let open = self.open.get_mut(&(device, cqid));
        let Some(open) = open else { return };
        let pulls =
            matches!(answer, HostAnswer::Pull | HostAnswer::GoPull | HostAnswer::FastGoPull | HostAnswer::GoErrPull);
        open.pulled |= pulls;
        // These have a pull and an end; the others have both in one answer.
        let ends_apart = matches!(row.op, Op::WrInv | Op::WOWrInv | Op::WOWrInvF);
        open.ended |= !(ends_apart && pulls);
        let is_over = match row.kind {
            CacheRequestKind::Current => false,
            // Behind an error the data that may follow means nothing.
            CacheRequestKind::Read => open.has_data || granted.is_none(),
            CacheRequestKind::NoData | CacheRequestKind::Evict => true,
            CacheRequestKind::Write => open.ended && (open.pulled || !ends_apart),
        };
        let held = lines.held(line, device);
        if row.kind == CacheRequestKind::Write && pulls && answer != HostAnswer::GoErrPull {
            lines.check_alone(line, device, Copy4::E, row.op.name().unwrap_or("?"));
        }
        if pulls {
            let (clean, refused) = (open.clean, answer == HostAnswer::GoErrPull);
            self.pulled.insert((device, line), rsp_data);
            let half = LineHalf::default();
            let pull = Pull { holder: device, line, op: row.op, held, clean, refused, half };
            self.pulls.insert((device.link, rsp_data), pull);
        }
        if row.kind == CacheRequestKind::Write && answer == HostAnswer::GoErr {
            // The data of a refused write has no effect, or some.
            lines.changed(line, None);
        }
        if row.kind == CacheRequestKind::Evict {
            lines.hold(line, device, PossibleCopy::default());
        }
        if is_over {
            self.close(lines, device, cqid);
        }
    }

    fn data(&mut self, lines: &mut PassiveLines, device: PassiveHolder, cqid: u16, go_err: bool, data: &CacheLine) {
        let Some(open) = self.open.get_mut(&(device, cqid)) else { return };
        let (line, mark, granted) = (open.line, open.mark, open.granted);
        open.has_data = true;
        let waits_for_go = open.row.kind == CacheRequestKind::Read && !granted;
        if go_err {
            self.close(lines, device, cqid);
        } else if waits_for_go {
            open.data = Some(*data);
        } else {
            // A copy that was taken away before its data came leaves one use of them.
            let kept = granted && lines.held(line, device).most > Copy4::I;
            lines.check_read(line, device, mark, kept, data);
            self.close(lines, device, cqid);
        }
    }

    /// The last answer of a request, or nothing more is to be learned of it.
    fn close(&mut self, lines: &mut PassiveLines, device: PassiveHolder, cqid: u16) {
        let Some(open) = self.open.remove(&(device, cqid)) else { return };
        lines.read_ends(open.line);
    }

    /// A request for memory of the device was answered through CXL.mem (`coherence` §3.3).
    pub fn answered_by_forward(&mut self, lines: &mut PassiveLines, link: usize, msg: &Msg<CacheLine>) {
        let device = self.known(PassiveHolder { link, peer: 0, is_host: false }, msg);
        self.issued.entry(device).or_default().ends(msg);
        self.close(lines, device, msg.identifier().1);
    }

    fn snoop(
        &mut self,
        lines: &mut PassiveLines,
        device: PassiveHolder,
        opcode: H2dReqOpcode,
        line: LineAddr,
        uqid: u16,
    ) {
        let Some(snoop) = Snoop::of(opcode) else { return };
        let name = format!("Snp{}", snoop.name());
        if let Some(other) = self.snooped.insert((device, line), uqid) {
            let found = format!("{name} under UQID {uqid} while UQID {other} is not answered in full");
            lines.say("COH-ORD-04", line, device, found, "one open snoop of a device and line");
            self.snoops.remove(&(device.link, other));
        }
        if let Some(pull) = self.pulled.get(&(device, line)) {
            let found = format!("{name} while the data of the pull under UQID {pull} has not come");
            lines.say("COH-ORD-03", line, device, found, "a snoop behind the data of the pull");
        }
        let mut open = self.open.range((device, 0)..=(device, u16::MAX)).map(|(_, open)| open);
        if let Some(open) = open.find(|open| open.line == line && open.data.is_some()) {
            let found = format!("{name} between the data of {} and its GO", open.row.op.name().unwrap_or("?"));
            lines.say("COH-ORD-06", line, device, found, "a snoop behind the GO");
        }
        let most = lines.held(line, device).most;
        let of =
            Snooped { holder: device, line, snoop, most, answer: None, has_data: false, half: LineHalf::default() };
        self.snoops.insert((device.link, uqid), of);
    }

    fn snoop_answer(&mut self, lines: &mut PassiveLines, link: usize, uqid: u16, rsp: D2hRspOpcode) {
        let Some(of) = self.snoops.get_mut(&(link, uqid)) else { return };
        let Some(reading) = snoops::reading(rsp) else { return };
        let Snooped { holder, line, snoop, most, .. } = *of;
        of.answer = Some(rsp);
        let held = lines.held(line, holder);
        // A request that was made behind the answer may have passed it.
        let then = PossibleCopy { most: held.most.max(most), ..held };
        let answers = |copy: &Copy4| snoops::row_of(state(*copy), snoop).replies.iter().any(|reply| reply.rsp == rsp);
        if !then.possible().iter().any(answers) {
            let row = snoops::row_of(state(if then.dirty { Copy4::M } else { then.most }), snoop);
            let legal = then.possible().iter().flat_map(|copy| snoops::row_of(state(*copy), snoop).replies);
            let mut legal: Vec<&str> = legal.filter_map(|reply| reply.rsp.name()).collect();
            scalepool_ordered::sort(&mut legal);
            legal.dedup();
            let name = rsp.name().unwrap_or("?");
            let found = format!("{name} to Snp{} of a device that {}", snoop.name(), then.in_words());
            lines.say(row.rule, line, holder, found, legal.join(" or "));
        }
        match reading.left {
            Left::Nothing => lines.hold(line, holder, held.lowered(Copy4::I)),
            Left::Shared => lines.hold(line, holder, held.lowered(Copy4::S)),
            Left::Same => {}
        }
        self.snoop_ends(link, uqid);
    }

    fn forwarded(&mut self, lines: &mut PassiveLines, link: usize, uqid: u16, bogus: bool, data: &CacheLine) {
        let Some(of) = self.snoops.get_mut(&(link, uqid)) else { return };
        of.has_data = true;
        let (holder, line) = (of.holder, of.line);
        if bogus {
            lines.say("COH-BOG-02", line, holder, "Bogus on data of a snoop".into(), "Bogus on data of evicts only");
        } else {
            lines.changed(line, Some(*data));
        }
        self.snoop_ends(link, uqid);
    }

    /// Forgets a snoop that is answered in full.
    fn snoop_ends(&mut self, link: usize, uqid: u16) {
        let Some(of) = self.snoops.get(&(link, uqid)) else { return };
        let Some(reading) = of.answer.and_then(snoops::reading) else { return };
        if of.has_data || !reading.data {
            self.snooped.remove(&(of.holder, of.line));
            self.snoops.remove(&(link, uqid));
        }
    }
}

/// The data of a pull.
fn pulled(lines: &mut PassiveLines, pull: &Pull, bogus: bool, data: &CacheLine, enables: u64) {
    let Pull { holder, line, op, held, clean, refused, half: _ } = pull;
    let (line, holder, op, name) = (*line, *holder, *op, op.name().unwrap_or("?"));
    let is_evict = matches!(op, Op::DirtyEvict | Op::CleanEvict);
    let was_hit = is_evict && held.most < Copy4::E;
    match (was_hit, bogus) {
        (true, false) => {
            let found = format!("Bogus = 0 on data of {name} that a snoop has hit");
            lines.say("COH-BOG-01", line, holder, found, "Bogus = 1");
        }
        (false, true) => {
            let found = format!("Bogus = 1 on data of {name} that no snoop has hit");
            lines.say("COH-BOG-02", line, holder, found, "Bogus = 0");
        }
        (true, true) => {}
        _ if *refused => {}
        (false, false) if op == Op::CleanEvict => {
            if let Some(clean) = clean.filter(|clean| clean != data && !data.poison) {
                lines.differs(line, holder, data, &clean);
            }
        }
        (false, false) if op == Op::DirtyEvict || enables == WHOLE_LINE => lines.changed(line, Some(*data)),
        (false, false) => {
            let merged = lines.line(line).values.last().copied().map(|mut value| {
                value.merge(data, enables);
                value
            });
            lines.changed(line, merged);
        }
    }
}
