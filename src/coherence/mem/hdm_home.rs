//! A host whose caching devices hold lines of a device's HDM-DB: a home of CXL.cache below, a holder of HDM-DB above
//! (`coherence` §2.8, §3.4).
//!
//! Modelled: two levels of one line. The host owns a line above before a device below gets any copy of it, and gives it up
//! only when no device has one, so that what the devices hold is within what the host holds. Detail: the home agent and the
//! HDM-DB host of this engine, as they are; what the home keeps as memory is the host's copy. Left out: shared copies for
//! reads (every line is asked for with ownership), a core of the host, blocks that are only partly held.
//!
//! A walk: RdOwn of a device comes for a line that the host does not own. It is set aside, MemRd with ownership goes up, and
//! what comes back becomes the home's memory; then the home takes the request. A BISnp for the line is set aside until the
//! home has taken the line back from its devices; their data makes the host's copy M, and the host answers with it. A BISnp
//! that was there before the fill waits in the host for the access that is due, which is made when the devices are done. Where
//! MemDataNXM comes, there is no such line, and the device is answered as in a range of errors.

use super::host::{HostAccess, HostReq, MemHost, block_lines};
use super::host_rows::Phase;
use super::tables::Copy4;
use crate::agent::{Accept, Agent, AgentOutput, AgentPort};
use crate::cache::backing::{Backing, Flat};
use crate::cache::home::{Holders, HomeAgent};
use crate::config::{CoherenceConfig, ErrorAnswer, ErrorRange};
use crate::content::{LINE_BYTES, LineAddr, LineContent, WHOLE_LINE};
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, DrsOpcode};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A request of a device that waits for its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct BlockedRequest {
    port: AgentPort,
    opcode: D2hReqOpcode,
    line: LineAddr,
    cqid: u16,
}

/// The agent. Ports 0 to n-1 lead to its devices, port n to the device with the memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HdmHome<D> {
    home: HomeAgent<D, Flat<D>>,
    host: MemHost<D>,
    devices: AgentPort,
    /// Requests that wait for their line, at most one for each line, in the order in which they came.
    waiting: Vec<BlockedRequest>,
    /// Back-invalidate snoops that wait until the devices have given their lines back.
    snoops: Vec<(Msg<D>, u8)>,
    /// Lines that the device does not have, while a request for them ends.
    absent: Vec<LineAddr>,
}

impl<D: LineContent> HdmHome<D> {
    /// A host of so many devices that holds nothing; `id` names it in events.
    pub fn new(devices: AgentPort, id: AgentPort) -> Self {
        let (home, host) = (HomeAgent::new(Flat::default()), MemHost::new(id));
        Self { home, host, devices, waiting: Vec::new(), snoops: Vec::new(), absent: Vec::new() }
    }

    /// Its home of CXL.cache.
    pub fn home(&self) -> &HomeAgent<D, Flat<D>> {
        &self.home
    }

    /// Its copies of the device's lines.
    pub fn host(&self) -> &MemHost<D> {
        &self.host
    }

    /// The same host with its devices renamed: port p becomes `to[p]`. For the symmetry reduction of a search.
    pub fn rename(&mut self, to: &[AgentPort]) {
        self.home.rename(to);
        for waiting in &mut self.waiting {
            waiting.port = to.get(usize::from(waiting.port)).copied().unwrap_or(waiting.port);
        }
    }

    /// What the host knows of one device, without its port: two ports with equal answers are the same to it. Flags of the home,
    /// then of each request that waits for its line, and the data that came early.
    pub fn signature(&self, port: AgentPort) -> (Vec<u64>, Vec<Option<&D>>) {
        let (mut flags, early) = self.home.signature(port);
        flags.extend(self.waiting.iter().map(|waiting| u64::from(waiting.port == port)));
        (flags, early)
    }

    /// How many devices it has.
    pub fn devices(&self) -> AgentPort {
        self.devices
    }

    /// Whether the host owns a line and nothing is open above but a snoop that waits for the access that is due.
    fn owns(&self, line: LineAddr) -> bool {
        let is_quiet = self.host.phase(line) == Phase::Idle || self.host.due(line) != HostAccess::Nothing;
        self.host.copy(line).state >= Copy4::E && is_quiet
    }

    /// Whether a device has a copy of a line, or gets or loses one.
    pub fn is_in_use(&self, line: LineAddr) -> bool {
        self.home.holders(line) != Holders::default() || self.home.open().iter().any(|t| t.line == line)
    }

    /// Whether somebody above wants a line back.
    fn is_snooped(&self, line: LineAddr) -> bool {
        self.host.snooped(line).is_some() || self.snoops.iter().any(|(msg, _)| lines_of(msg).contains(&line))
    }

    /// Whether something is open above that the host began of its own: neither what a device waits for nor what a snoop asks for,
    /// which end one after the other without a break.
    pub fn awaits(&self, line: LineAddr) -> bool {
        self.host.awaits(line) && !self.is_snooped(line) && !self.waiting.iter().any(|w| w.line == line)
    }

    /// Whether a copy that no device uses may be given up.
    pub fn can_evict(&self, line: LineAddr) -> bool {
        let waits = self.waiting.iter().any(|w| w.line == line);
        let is_quiet = self.host.copy(line).state != Copy4::I && self.host.phase(line) == Phase::Idle;
        is_quiet && !self.is_in_use(line) && !self.is_snooped(line) && !waits
    }

    /// Gives up a copy for which [`HdmHome::can_evict`] holds: MemWr of a dirty one, MemClnEvct of a clean one.
    pub fn evict(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) {
        let mut own = AgentOutput::default();
        if self.host.can_write_back(line) {
            self.host.write_back(line, Copy4::I, &mut own);
        } else {
            self.host.issue(line, HostReq::CLN_EVCT, HostAccess::Nothing, &mut own);
        }
        self.up(own, out);
        self.pump(config, out);
    }

    /// What the host sends goes up.
    fn up(&self, own: AgentOutput<D>, out: &mut AgentOutput<D>) {
        let port = self.devices;
        out.sends.extend(own.sends.into_iter().map(|(_, msg)| (port, msg)));
        out.events.extend(own.events);
    }

    /// What the home keeps and what the host holds are one copy: of an owned line the home's is the newer one.
    fn level(&mut self) {
        let lines: BTreeSet<LineAddr> = self.host.lines().chain(self.home.memory.lines()).collect();
        for line in lines {
            let copy = self.host.copy(line);
            if copy.state < Copy4::E {
                self.home.memory.forget(line);
            } else if !self.home.memory.holds(line) {
                copy.data.into_iter().for_each(|data| self.home.memory.write(line, &data, WHOLE_LINE));
            } else if copy.data.as_ref() != Some(&self.home.memory.read(line)) {
                self.host.absorb(line, self.home.memory.read(line));
            }
        }
    }

    /// The choices of the home: lines that the device above does not have are answered with an error, as those of
    /// [`CoherenceConfig::error_ranges`] are (`coherence` §2.2).
    fn below<'a>(&self, config: &'a CoherenceConfig) -> Cow<'a, CoherenceConfig> {
        if self.absent.is_empty() {
            return Cow::Borrowed(config);
        }
        let mut config = config.clone();
        let range = |line: &LineAddr| ErrorRange {
            first: line.address(),
            last: line.address() + LINE_BYTES as u64 - 1,
            answer: ErrorAnswer::GoError,
        };
        config.error_ranges.extend(self.absent.iter().map(range));
        Cow::Owned(config)
    }

    /// A line that was asked for is not there: whoever waits for it gets an error.
    fn refuse(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) {
        let Some(at) = self.waiting.iter().position(|w| w.line == line) else { return };
        let BlockedRequest { port, opcode, line, cqid } = self.waiting.remove(at);
        self.absent.push(line);
        let below = self.below(config);
        self.home.take(&below, port, Msg::D2hReq { opcode, line, cqid }, 0, out);
    }

    /// Everything that can go on.
    fn pump(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) {
        self.level();
        while self.serves(config, out) || self.recalls(config, out) || self.answers(config, out) {
            self.level();
        }
    }

    /// A request whose line is here is taken by the home; for one that is not the line is asked for.
    fn serves(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) -> bool {
        for at in 0..self.waiting.len() {
            let BlockedRequest { port, opcode, line, cqid } = self.waiting[at];
            let msg = Msg::D2hReq { opcode, line, cqid };
            if self.owns(line) && self.home.memory.holds(line) {
                if self.home.accepts(config, port, &msg) == Accept::Take {
                    self.waiting.remove(at);
                    self.home.take(config, port, msg, 0, out);
                    return true;
                }
            } else if !self.is_snooped(line) && self.host.can_issue(line, HostReq::RD_ANY) {
                let mut own = AgentOutput::default();
                self.host.issue(line, HostReq::RD_ANY, HostAccess::Load, &mut own);
                self.up(own, out);
                return true;
            }
        }
        false
    }

    /// A line that is wanted above is taken back from the devices.
    fn recalls(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) -> bool {
        let held: Vec<LineAddr> = self.home.directory().map(|(line, _)| line).collect();
        held.into_iter().any(|line| self.is_snooped(line) && self.home.take_back(config, line, out))
    }

    /// A snoop whose lines no device uses is answered by the host, and so is one that waits there for the access that is due.
    fn answers(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) -> bool {
        let mut own = AgentOutput::default();
        let free = |home: &Self, msg: &Msg<D>| !lines_of(msg).into_iter().any(|line| home.is_in_use(line));
        let done = if let Some(at) = self.snoops.iter().position(|(msg, _)| free(self, msg)) {
            let (msg, way) = self.snoops.remove(at);
            self.host.take(config, 0, msg, way, &mut own);
            true
        } else {
            let due = |line: &LineAddr| self.host.due(*line) != HostAccess::Nothing;
            let waits = |line: &LineAddr| self.waiting.iter().any(|w| w.line == *line);
            let line = self.host.lines().find(|line| due(line) && !self.is_in_use(*line) && !waits(line));
            // Without a snoop behind it the access has been made as soon as the home has taken the request.
            let line =
                line.or_else(|| self.host.lines().find(|line| due(line) && !self.is_snooped(*line) && !waits(line)));
            line.is_some_and(|line| self.host.load(config, line, &mut own).is_some())
        };
        self.up(own, out);
        done
    }
}

/// Lines of a message from above.
fn lines_of<D: LineContent>(msg: &Msg<D>) -> Vec<LineAddr> {
    match *msg {
        Msg::S2mBisnp { opcode, line, .. } if opcode.is_block() => {
            block_lines(line).into_iter().flat_map(|(first, count)| (first.0..first.0 + count).map(LineAddr)).collect()
        }
        _ => msg.line().into_iter().collect(),
    }
}

impl<D: LineContent> Agent<D> for HdmHome<D> {
    fn accepts(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>) -> Accept {
        match *msg {
            _ if port == self.devices => self.host.accepts(config, 0, msg),
            Msg::D2hReq { opcode: D2hReqOpcode::CacheFlushed, .. } => Accept::Take,
            Msg::D2hReq { line, .. } if self.waiting.iter().any(|w| w.line == line) => Accept::Wait,
            Msg::D2hReq { line, .. } if self.absent.contains(&line) => Accept::Wait,
            Msg::D2hReq { line, .. } if self.owns(line) && self.is_snooped(line) => Accept::Wait,
            Msg::D2hReq { line, .. } if !self.owns(line) => Accept::Take,
            _ => self.home.accepts(config, port, msg),
        }
    }

    fn ways(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>) -> u8 {
        if port == self.devices { self.host.ways(config, 0, msg) } else { 1 }
    }

    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::S2mBisnp { .. } if lines_of(&msg).into_iter().any(|line| self.is_in_use(line)) => {
                self.snoops.push((msg, way));
            }
            _ if port == self.devices => {
                let mut own = AgentOutput::default();
                let absent = match msg {
                    Msg::S2mDrs { opcode: DrsOpcode::MemDataNXM, tag, .. } => self.host.tagged(tag),
                    _ => None,
                };
                self.host.take(config, 0, msg, way, &mut own);
                self.up(own, out);
                absent.into_iter().for_each(|(line, _)| self.refuse(config, line, out));
            }
            Msg::D2hReq { opcode, line, cqid } if opcode != D2hReqOpcode::CacheFlushed && !self.owns(line) => {
                self.waiting.push(BlockedRequest { port, opcode, line, cqid });
            }
            _ => {
                let below = self.below(config);
                self.home.take(&below, port, msg, way, out);
            }
        }
        let absent = std::mem::take(&mut self.absent);
        self.absent = absent.into_iter().filter(|line| self.is_in_use(*line)).collect();
        self.pump(config, out);
    }

    fn is_idle(&self) -> bool {
        self.home.is_idle() && self.host.is_idle() && self.waiting.is_empty() && self.snoops.is_empty()
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.home.visit(f);
        self.host.visit(f);
    }
}
