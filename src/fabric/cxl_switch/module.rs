//! The switch as a module of the kernel.
//!
//! Modelled: see [the module text](super). Detail: a port takes as many messages of its link as its width allows in a cycle; a
//! message of 16 bytes, or of 80 with its line, is busy for that; the crossbar moves `speedup` times as much. What the switch
//! answers by itself enters the crossbar at an input of its own. Left out: see there.
//!
//! A walk through one cycle: the crossbar grants what is ready; what has passed the stages behind the grant leaves as far as the
//! channels of the link ends have room; each port takes messages, looks up where they go, and queues them to be ready behind
//! the stages in front. Latencies are rounded up to cycles, and the last of them is that of the channel to the link end.

use super::crossbar::{Pace, VoqConfig, VoqCrossbar};
use super::manager::{Due, Manager, ManagerEvent, TimedCommand, Vppb};
use super::route::{HbrRoute, HbrRoutes, Undelivered};
use scalepool_arbiter::{AllocatorKind, ArbiterError, ArbiterKind};
use scalepool_coherence::clocked::linked::NodeLink;
use scalepool_coherence::clocked::tree;
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Classes that the switch passes on, in the order of counts.
pub const HBR_CLASSES: [Class; 4] = [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs];
const CLASSES: usize = HBR_CLASSES.len();

/// Signals of a port in waves: messages in the queues of each class, and those that wait for room.
pub const HBR_SIGNALS: &[(&str, u32)] =
    &[("m2s_req_queued", 16), ("m2s_rwd_queued", 16), ("s2m_ndr_queued", 16), ("s2m_drs_queued", 16)];

/// Bytes of a message without data, and of one with a line \[bytes\]: slots have 16 bytes (`cxl-68b` §2, `cxl-256b` §5).
const HEADER_BYTES: u64 = 16;
const DATA_BYTES: u64 = 80;

/// How a switch is built.
pub struct HbrSwitchConfig {
    /// Its hierarchies.
    pub routes: HbrRoutes,
    /// What the fabric manager does while it runs.
    pub commands: Vec<TimedCommand>,
    /// Time that an unbind waits for open requests \[cycles\].
    pub drain_cycles: u64,
    /// Latency of the stages in front of a grant, and from it on \[cycles\].
    pub stages_cycles: [u64; 2],
    /// Messages that a queue of an input, output and class takes.
    pub queue: usize,
    /// Messages that a queue of an output and class takes.
    pub output_queue: usize,
    /// Bytes that a port moves in a cycle.
    pub width_bytes: u64,
    /// Bytes that the crossbar moves for each of them.
    pub speedup: u64,
    /// Which inputs send to which outputs.
    pub allocator: &'static AllocatorKind,
    /// Which class an output takes.
    pub arbiter: &'static ArbiterKind,
}

/// Messages of a port by class, in the order of [`HBR_CLASSES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// That came in.
    pub received: [u64; CLASSES],
    /// That went out.
    pub sent: [u64; CLASSES],
    /// That came in and end here.
    pub ended: [u64; CLASSES],
    /// Of what went out, answers of the switch.
    pub own: [u64; CLASSES],
}

/// What a switch leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct HbrSwitchResult {
    /// By port, upstream ones first.
    pub ports: Vec<PortCounts>,
    /// What reached nothing, by reason.
    pub undelivered: BTreeMap<Undelivered, u64>,
    /// Cycles in which a message at a port found its queue full.
    pub full_cycles: u64,
    /// What the manager's commands came to, with the time \[fs\].
    pub events: Vec<(u64, ManagerEvent)>,
    /// Broken rules.
    pub broken: Vec<Violation>,
}

/// A message in the switch.
struct Passing {
    message: Message,
    /// How its transaction is known where it leaves.
    handle: TransactionHandle,
    /// The vPPB that it passes; `None`: the switch made it.
    of: Option<Vppb>,
}

/// A port of the switch.
struct Port {
    link: NodeLink,
    /// Place of each class among the channels to the link.
    tx: [Option<usize>; CLASSES],
    taking: Pace,
    sending: Pace,
    /// Messages sent, which number them.
    posted: u64,
    /// The first message of a class waits, as the trace says: at the input, and at the output.
    is_held: [[bool; CLASSES]; 2],
    /// What the signals show.
    shown: [usize; CLASSES],
    signals: Tap,
}

/// The module.
pub struct HbrSwitch {
    config: HbrSwitchConfig,
    ports: Vec<Port>,
    crossbar: VoqCrossbar<Passing>,
    manager: Manager,
    tap: Tap,
    busy_since: Option<Time>,
    mine: HbrSwitchResult,
    shared: Arc<Mutex<HbrSwitchResult>>,
}

fn class_place(class: Class) -> Option<usize> {
    HBR_CLASSES.iter().position(|one| *one == class)
}

fn bytes(message: &Message) -> u64 {
    if message.class().has_data() { DATA_BYTES } else { HEADER_BYTES }
}

impl HbrSwitch {
    /// A switch with the links and the signals of its ports, upstream ones first; what it has counted is in `shared` when the
    /// run is looked at.
    ///
    /// # Errors
    /// More ports than an allocator can have.
    pub fn new(
        config: HbrSwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<HbrSwitchResult>>,
    ) -> Result<HbrSwitch, ArbiterError> {
        let count = links.len();
        let crossbar = VoqCrossbar::new(VoqConfig {
            // The last one is that of the answers of the switch.
            inputs: count + 1,
            outputs: count,
            classes: CLASSES,
            queue: config.queue,
            output_queue: config.output_queue,
            bytes_per_cycle: config.width_bytes * config.speedup,
            // The channel to the link end takes one more.
            behind_cycles: config.stages_cycles[1].saturating_sub(1),
            allocator: config.allocator,
            arbiter: config.arbiter,
        })?;
        let port = |(link, signals): (NodeLink, Tap)| Port {
            tx: HBR_CLASSES.map(|class| link.tx.iter().position(|(of, _)| *of == class)),
            link,
            taking: Pace::default(),
            sending: Pace::default(),
            posted: 0,
            is_held: [[false; CLASSES]; 2],
            shown: [0; CLASSES],
            signals,
        };
        let mine = HbrSwitchResult { ports: vec![PortCounts::default(); count], ..HbrSwitchResult::default() };
        let ports = links.into_iter().map(port).collect();
        let manager = Manager::new(config.commands.clone(), config.drain_cycles);
        Ok(HbrSwitch { config, ports, crossbar, manager, tap, busy_since: None, mine, shared })
    }

    /// How a message is known on the link of a port.
    fn handle(&self, port: usize, message: &Message) -> TransactionHandle {
        let link = &self.ports[port].link;
        tree::part(link.link, link.form, message).1
    }

    /// Says of the first message of a class at an input or an output that it waits, and when it does no more.
    fn hold(
        &mut self,
        (port, side, class): (usize, usize, usize),
        wait: Option<Wait>,
        of: TransactionHandle,
        at: Stamp,
    ) {
        let held = &mut self.ports[port].is_held[side][class];
        if *held == wait.is_some() {
            return;
        }
        *held = wait.is_some();
        let body = || wait.map_or(Body::Mark(WAIT_OVER), |wait| Body::Wait { wait, holder: 0 });
        self.tap.named(TransactionNaming::By(of), at, RecordKind::Mark, 0, 0, body);
    }

    /// Gives the link ends what has passed; whether a port could send more in this cycle had it the width.
    fn send(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let (width, mut is_slow) = (self.config.width_bytes, false);
        for port in 0..self.ports.len() {
            for class in 0..CLASSES {
                while let Some(first) = self.crossbar.leaving(port, class, at.cycle) {
                    let (handle, message) = (first.handle, first.message);
                    if !self.ports[port].sending.is_free(at.cycle, width) {
                        is_slow = true;
                        break;
                    }
                    let own = &mut self.ports[port];
                    let numbered = (own.posted, message);
                    // A port of a form without the class is refused when the switch is made.
                    let is_sent = own.tx[class].is_some_and(|place| own.link.tx[place].1.push(cx, numbered).is_ok());
                    if !is_sent {
                        self.hold((port, 1, class), Some(Wait::Link), handle, at);
                        break;
                    }
                    own.posted += 1;
                    own.sending.take(at.cycle, width, bytes(&message));
                    self.hold((port, 1, class), None, handle, at);
                    let of = self.crossbar.leave(port, class).and_then(|passing| passing.of);
                    let counts = &mut self.mine.ports[port];
                    counts.sent[class] += 1;
                    counts.own[class] += u64::from(of.is_none());
                    if let Some(vppb) = of.filter(|_| port < self.config.routes.hosts()) {
                        self.manager.answered(vppb);
                    }
                    cx.progress();
                }
            }
        }
        is_slow
    }

    /// Takes messages of a port; whether it could take more in this cycle had it the width.
    fn take(&mut self, port: usize, cx: &mut Cx, at: Stamp) -> bool {
        let (width, mut is_slow) = (self.config.width_bytes, false);
        for place in 0..self.ports[port].link.rx.len() {
            let class = self.ports[port].link.rx[place].0;
            while let Some(message) = self.ports[port].link.rx[place].1.peek(cx).copied() {
                if !self.ports[port].taking.is_free(at.cycle, width) {
                    is_slow = true;
                    break;
                }
                let route = self.config.routes.route(port, &message);
                let target = match &route {
                    HbrRoute::Port(to, message, vppb) => Some((port, *to, *message, Some(*vppb))),
                    HbrRoute::Answered(_, Some(answer)) => Some((self.ports.len(), port, *answer, None)),
                    _ => None,
                };
                let handle = self.handle(port, &message);
                if let Some((input, to, sent, _)) = &target
                    && let Some(queue) = class_place(sent.class())
                    && !self.crossbar.has_room(*input, *to, queue)
                {
                    self.mine.full_cycles += 1;
                    if let Some(held) = class_place(class) {
                        self.hold((port, 0, held), Some(Wait::Room), handle, at);
                    }
                    break;
                }
                self.ports[port].link.rx[place].1.pop(cx);
                self.ports[port].taking.take(at.cycle, width, bytes(&message));
                if let Some(counted) = class_place(class) {
                    self.hold((port, 0, counted), None, handle, at);
                    let counts = &mut self.mine.ports[port];
                    counts.received[counted] += 1;
                    counts.ended[counted] += u64::from(!matches!(route, HbrRoute::Port(..)));
                }
                self.judge(port, &message, &route, at);
                self.queue((port, &message, handle), target, at);
                cx.progress();
            }
        }
        is_slow
    }

    /// Shows a message that was taken, and queues what leaves for it: input, output, message, vPPB.
    fn queue(
        &mut self,
        (port, message, handle): (usize, &Message, TransactionHandle),
        target: Option<(usize, usize, Message, Option<Vppb>)>,
        at: Stamp,
    ) {
        let is_request = port < self.config.routes.hosts();
        let leaves = target.map(|(input, to, sent, of)| (input, to, sent, self.handle(to, &sent), of));
        let named = match leaves {
            Some((_, _, _, leaving, Some(_))) if is_request => TransactionNaming::Through(handle, leaving),
            _ => TransactionNaming::By(handle),
        };
        let form = self.ports[port].link.form;
        self.tap.named(named, at, RecordKind::Mark, 0, 0, || shown(message, form));
        if let Some((input, to, sent, leaving, of)) = leaves
            && let Some(class) = class_place(sent.class())
        {
            let ready = at.cycle + self.config.stages_cycles[0];
            if let Some(vppb) = of.filter(|_| is_request && self.config.routes.has_answer(&sent)) {
                self.manager.asked(vppb);
            }
            let passing = Passing { message: sent, handle: leaving, of };
            self.crossbar.push((input, to, class), ready, bytes(&sent), passing);
        }
    }

    /// Counts what reaches nothing and reports what breaks a rule.
    fn judge(&mut self, port: usize, message: &Message, route: &HbrRoute, at: Stamp) {
        if let HbrRoute::Answered(why, _) | HbrRoute::Dropped(why) = route {
            *self.mine.undelivered.entry(*why).or_default() += 1;
        }
        let ld_id = message.route().ld_id;
        if let (HbrRoute::Dropped(Undelivered::UnknownLd), Some(dsp)) =
            (route, port.checked_sub(self.config.routes.hosts()))
        {
            self.manager.late(dsp, ld_id);
        }
        let found = match route {
            HbrRoute::Dropped(Undelivered::Class) => {
                let expected = if port < self.config.routes.hosts() { "M2S Req or RwD" } else { "S2M NDR or DRS" };
                (
                    "FAB-ERR-04",
                    message.class().name().to_owned(),
                    expected,
                    "a class that the port has not negotiated is dropped",
                )
            }
            _ if port < self.config.routes.hosts() && ld_id != 0 => {
                ("FAB-MLD-02", format!("LD-ID {ld_id}"), "LD-ID 0", "there are no logical devices above the switch")
            }
            _ => return,
        };
        let (rule, found, expected, text) = found;
        let (expected, text) = (expected.to_owned(), text.to_owned());
        let violation = Violation { rule, at: At::Byte(0), found, expected, text };
        self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
        self.mine.broken.push(violation);
    }

    /// Does what is due of the fabric manager.
    fn manage(&mut self, at: Stamp) {
        while self.manager.is_active() {
            let HbrRoutes { bindings, stopped, .. } = &mut self.config.routes;
            let Some(due) = self.manager.due(at.cycle, bindings, stopped) else { return };
            let event = match due {
                Due::Event(event) => event,
                Due::Flush(binding) => {
                    let gone = self.crossbar.remove(|passing| passing.of == Some((binding.vcs, binding.vppb)));
                    for Passing { message, handle, .. } in &gone {
                        // What is flushed came in at a port and ends here.
                        if let Some(class) = class_place(message.class()) {
                            let from = if HBR_CLASSES[class].dir() == Dir::Down {
                                binding.vcs
                            } else {
                                self.config.routes.hosts() + binding.port
                            };
                            self.mine.ports[from].ended[class] += 1;
                        }
                        self.manager.late(binding.port, binding.ld.unwrap_or(0));
                        let named = TransactionNaming::By(*handle);
                        self.tap.named(named, at, RecordKind::Mark, 0, 0, || Body::Mark("port_gone"));
                    }
                    ManagerEvent::Unbound(binding, gone.len() as u64)
                }
            };
            let name = match event {
                ManagerEvent::Bound(_) => "bound",
                ManagerEvent::Unbound(..) => "unbound",
                ManagerEvent::Refused(..) => "command_refused",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            self.mine.events.push((at.t_fs, event));
        }
    }

    /// Shows how many messages wait.
    fn show(&mut self, at: Stamp) {
        for port in 0..self.ports.len() {
            if !self.ports[port].signals.is_on() {
                return;
            }
            for class in 0..CLASSES {
                let queued = self.crossbar.queued_at(port, class);
                if std::mem::replace(&mut self.ports[port].shown[class], queued) != queued {
                    let (signal, _) = HBR_SIGNALS[class];
                    let body = || Body::Value { signal, value: queued as u64 };
                    self.ports[port].signals.record(at, RecordKind::Mark, 0, 0, body);
                }
            }
        }
    }
}

/// A message as traces show it.
fn shown(message: &Message, form: MessageForm) -> Body {
    let data = message.data().map(|data| data.line.to_vec());
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}

impl Module for HbrSwitch {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.manage(at);
        self.crossbar.step(at.cycle);
        let mut is_slow = self.send(cx, at);
        for port in 0..self.ports.len() {
            is_slow |= self.take(port, cx, at);
        }
        self.show(at);
        self.busy_since = if self.crossbar.queued() > 0 { self.busy_since.or(Some(cx.now())) } else { None };
        let time = self.crossbar.next_cycle(at.cycle).into_iter().chain(self.manager.next_cycle()).min();
        match time {
            _ if is_slow => Next::Busy,
            Some(next) if next <= at.cycle + 1 => Next::Busy,
            Some(next) => Next::At(cx.in_cycles(next - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.crossbar.queued() {
            0 => Ok(()),
            queued => Err(Pending::new(format!("{queued} messages to send"), self.busy_since.unwrap_or(Time::ZERO))),
        }
    }

    fn publish(&self) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("queued", self.crossbar.queued() as u64);
    }
}
