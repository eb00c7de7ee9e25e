//! HDM-DB under stress: hosts, the device with its snoop filter and its own cache, single and block snoops.

use super::rig::{Dice, Need, Rig, StressRequestOutcome, StressRig, Who};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::{IdSet, MOST_PORTS};
use scalepool_coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool_coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool_coherence::mem::host_rows::Phase;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{CopyView, View};

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemRig {
    hosts: Vec<MemHost<CacheLine>>,
    dcoh: Dcoh<CacheLine>,
    lines: u64,
}

/// What a host asks for when it wants a copy or ownership of a line.
pub(crate) fn ask_host(
    host: &mut MemHost<CacheLine>,
    line: LineAddr,
    need: Need,
    out: &mut AgentOutput<CacheLine>,
) -> StressRequestOutcome {
    let whole = matches!(need, Need::Ownership(b) if b.enables == WHOLE_LINE);
    if host.copy(line).state == Copy4::E && host.copy(line).data.is_none() && !whole {
        // Ownership without bytes is of no use to this access.
        host.drop_clean(line);
    }
    let state = host.copy(line).state;
    let (request, want) = match need {
        Need::Copy if state == Copy4::I => (HostReq::RD_SHARED, HostAccess::Load),
        Need::Value if state == Copy4::I => (HostReq::RD_ONCE, HostAccess::Nothing),
        // The store can be made without bytes only if it writes all of them.
        Need::Ownership(b) if b.enables == WHOLE_LINE && state < Copy4::E => (HostReq::INV, HostAccess::Store),
        Need::Ownership(_) | Need::Update if state == Copy4::S => (HostReq::INV, HostAccess::Nothing),
        Need::Update if state == Copy4::I => (HostReq::RD_ANY, HostAccess::StorePart),
        Need::Ownership(b) if state == Copy4::I => (HostReq::RD_ANY, HostAccess::store(b.enables)),
        _ => return StressRequestOutcome::No,
    };
    if !host.can_issue(line, request) {
        return StressRequestOutcome::No;
    }
    host.issue(line, request, want, out);
    StressRequestOutcome::Yes
}

/// Gives a copy up with a message.
pub(crate) fn evict_of_host(host: &mut MemHost<CacheLine>, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
    if host.can_write_back(line) {
        host.write_back(line, Copy4::I, out);
    } else if host.can_issue(line, HostReq::CLN_EVCT) {
        host.issue(line, HostReq::CLN_EVCT, HostAccess::Nothing, out);
    } else {
        return false;
    }
    true
}

/// Another request, an eviction or a drop.
pub(super) fn other_of_host(
    host: &mut MemHost<CacheLine>,
    line: LineAddr,
    requests: &[HostReq],
    dice: &mut Dice,
    out: &mut AgentOutput<CacheLine>,
) {
    let held = host.held();
    let line = if held >= dice.cache_lines && host.phase(line) == Phase::Idle {
        host.lines().nth(dice.below(held)).unwrap_or(line)
    } else {
        line
    };
    if dice.evicts_only && !requests.contains(&HostReq::CLN_EVCT) && !host.can_write_back(line) {
        return host.drop_clean(line);
    }
    if host.can_write_back(line) {
        let kept = [Copy4::I, Copy4::S, Copy4::E][dice.below(3)];
        host.write_back(line, kept, out);
    } else if dice.once_in(4) {
        host.drop_clean(line);
    } else {
        let request = if dice.evicts_only { HostReq::CLN_EVCT } else { requests[dice.below(requests.len())] };
        // Nothing answers a hint: a few are enough.
        if request == HostReq::SPEC_RD && !dice.once_in(16) {
            return;
        }
        if host.can_issue(line, request) {
            host.issue(line, request, HostAccess::Nothing, out);
        }
    }
}

/// A host's copy as the monitors see it.
pub(crate) fn view_of_host(host: &MemHost<CacheLine>, agent: usize, line: LineAddr) -> Option<CopyView<CacheLine>> {
    let copy = host.copy(line);
    (copy.state != Copy4::I).then(|| CopyView {
        agent,
        usable: copy.usable,
        writable: copy.writable,
        dirty: copy.dirty,
        value: copy.data.unwrap_or_else(CacheLine::ones),
    })
}

impl MemRig {
    /// Empty caches; `lines` from line 0 on.
    pub fn new(config: &CoherenceConfig, hosts: usize, lines: u64) -> Self {
        let hosts = hosts.clamp(1, MOST_PORTS) as AgentPort;
        Self { hosts: (0..hosts).map(MemHost::new).collect(), dcoh: Dcoh::new(config, hosts), lines }
    }
}

impl Rig for MemRig {
    const TO_LEAF: Dir = Dir::Up;

    fn leaves(&self) -> usize {
        self.hosts.len()
    }

    fn name(&self, who: Who) -> String {
        match who {
            Who::Leaf(n) => format!("host {n}"),
            Who::Hub => "DCOH".into(),
        }
    }

    fn accepts(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> Accept {
        match who {
            Who::Leaf(n) => self.hosts[n].accepts(config, 0, msg),
            Who::Hub => self.dcoh.accepts(config, port, msg),
        }
    }

    fn take(
        &mut self,
        config: &CoherenceConfig,
        who: Who,
        port: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    ) {
        match who {
            Who::Leaf(n) => self.hosts[n].take(config, 0, msg, way, out),
            Who::Hub => self.dcoh.take(config, port, msg, way, out),
        }
    }

    fn holds(&self, actor: usize, line: LineAddr) -> bool {
        self.hosts.get(actor).is_some_and(|h| h.holds(line))
    }

    fn load(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        match self.hosts.get_mut(actor) {
            Some(host) => host.load(config, line, out),
            None => self.dcoh.own(line).map(|(_, value)| value),
        }
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &WriteBytes<CacheLine>,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        match self.hosts.get_mut(actor) {
            Some(host) => host.store(config, line, bytes.data, bytes.enables, out),
            None => self.dcoh.store(line, &bytes.data, bytes.enables, out),
        }
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome {
        if let Some(host) = self.hosts.get_mut(actor) {
            return ask_host(host, line, need, out);
        }
        let op = match need {
            Need::Copy => DeviceOp::ReadShared,
            Need::Value => DeviceOp::ReadOnce,
            Need::Ownership(_) | Need::Update => DeviceOp::ReadOwn,
            // The device has a cache, and does them itself.
            Need::Atomic(..) => return StressRequestOutcome::No,
        };
        if !self.dcoh.can_issue(config, line, op) {
            return StressRequestOutcome::No;
        }
        self.dcoh.issue(config, line, op, out);
        StressRequestOutcome::Yes
    }

    fn due(&self, actor: usize, line: LineAddr) -> HostAccess {
        self.hosts.get(actor).map_or(HostAccess::Nothing, |h| h.due(line))
    }

    fn evict(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        if let Some(host) = self.hosts.get_mut(actor) {
            return evict_of_host(host, line, out);
        }
        let can = self.dcoh.can_issue(config, line, DeviceOp::Evict);
        if can {
            self.dcoh.issue(config, line, DeviceOp::Evict, out);
        }
        can
    }

    fn drop_dirty(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr) -> bool {
        self.hosts.get_mut(actor).is_some_and(|h| h.drop_dirty(config, line))
    }

    fn view(&self, _: &CoherenceConfig, line: LineAddr, view: &mut View<CacheLine>) {
        let device = self.hosts.len();
        view.home = self.dcoh.memory(line);
        view.tracked = self.dcoh.holders(line).map_or(IdSet::EMPTY, |h| h.all()).with(device as AgentPort);
        view.copies.extend(self.hosts.iter().enumerate().filter_map(|(n, h)| view_of_host(h, n, line)));
        if let Some((state, value)) = self.dcoh.own(line) {
            let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
            view.copies.push(CopyView { agent: device, usable: true, writable, dirty, value });
        }
    }

    fn awaits(&self, actor: usize, line: LineAddr) -> bool {
        match self.hosts.get(actor) {
            Some(host) => host.awaits(line),
            None => self.dcoh.own_operations().any(|l| l == line),
        }
    }

    fn is_idle(&self) -> bool {
        self.dcoh.is_idle() && self.hosts.iter().all(Agent::is_idle)
    }
}

impl StressRig for MemRig {
    fn ways(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> u8 {
        match who {
            Who::Leaf(n) => self.hosts[n].ways(config, 0, msg),
            Who::Hub => self.dcoh.ways(config, port, msg),
        }
    }

    fn held(&self, actor: usize) -> usize {
        self.hosts.get(actor).map_or(0, MemHost::held)
    }

    fn other(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        dice: &mut Dice,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<WriteBytes<CacheLine>> {
        if let Some(host) = self.hosts.get_mut(actor) {
            other_of_host(host, line, &HostReq::ALL, dice, out);
            return None;
        }
        use DeviceOp::*;
        let op = if dice.evicts_only {
            Evict
        } else {
            [ReadOnce, ReadShared, ReadOwn, Evict, Evict, Reclaim][dice.below(6)]
        };
        let block = LineAddr(line.0 & !3 | (1 + dice.below(3) as u64));
        let last = block.0 & !3 | 3;
        if dice.once_in(4) && last < self.lines && op != Evict {
            self.dcoh.issue_block(config, block, op, out);
        } else if self.dcoh.can_issue(config, line, op) {
            self.dcoh.issue(config, line, op, out);
        }
        None
    }

    /// No host writes a line that it does not own (§3.2, two-phase write), so no write comes by message.
    fn writer(
        &self,
        _: Option<AgentPort>,
        _: Option<&Msg<CacheLine>>,
        _: &dyn Fn(usize, &Msg<CacheLine>) -> bool,
    ) -> usize {
        self.hosts.len()
    }

    fn kept(&self, line: LineAddr, values: &mut Vec<CacheLine>) {
        values.extend(self.hosts.iter().filter_map(|h| h.arrived(line).copied()));
    }

    /// V12: the filter never holds more than its places.
    fn check(&self, config: &CoherenceConfig, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let places = config.mem.filter_sets * config.mem.filter_ways;
        if places != 0 && self.dcoh.filter().len() > places {
            let found = format!("{} entries", self.dcoh.filter().len());
            events.push(CoherenceEvent::new("COH-INV-12", line, "DCOH", found, format!("at most {places}")));
        }
    }
}
