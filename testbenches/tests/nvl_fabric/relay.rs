//! A relay between a component and its links that gets messages wrong: GPUs and switches with mistakes.
//!
//! Modelled: one [`RelayFault`]; everything else goes on in the order in which it came, one cycle later each way. Left out:
//! limits of its store, so links see room that the component has not.
//!
//! A walk through one cycle: what has come on either side is taken, changed by the fault, and put into the queue of the other
//! side; what is late by now follows; the queues are emptied as far as the fault lets them and there is room.

use scalepool::kernel::{BuildError, Cx, In, Module, Next, Out, PartitionBuilder};
use scalepool::link::nvlink::NvlMessage;
use scalepool::link::nvlink::wiring::NvlPlug;
use scalepool::nodes::nvlink::link_group::{BLOCK_BYTES, local};
use scalepool::system::kind::{ComponentPlug, PlaceNode};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Channels of a link, in the order of [`CHANNELS`](scalepool::link::nvlink::port::CHANNELS).
const REQUESTS: usize = 0;
const POSTED: usize = 1;
const ANSWERS: usize = 2;

/// Cycles by which posted writes are late.
const LATE_CYCLES: u64 = 4000;
/// Cycles for which an answer waits for another one that overtakes it.
const OVERTAKEN_CYCLES: u64 = 200;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayFault {
    /// A GPU answers posted writes.
    AnswersPosted,
    /// A GPU does not answer writes with answer.
    KeepsAnswers,
    /// A GPU answers FLUSH at once, and posted writes to every other block take effect late.
    FlushPasses,
    /// Messages of a GPU go over its links in turn, whatever their block.
    LinksInTurn,
    /// Answers wait behind requests, which a GPU does not serve while own requests are open.
    BlocksAnswers,
    /// A switch loses the copy of a multicast write at this port.
    LosesCopy(usize),
    /// A switch sends it twice.
    DoublesCopy(usize),
    /// Answers of a GPU overtake each other at a switch.
    SwapsAnswers,
}

use RelayFault::*;

/// Channels to one side and from it.
struct Side {
    tx: [Out<NvlMessage>; 3],
    rx: [In<NvlMessage>; 3],
    /// What is to go there.
    queues: [VecDeque<NvlMessage>; 3],
}

/// The module.
struct Relay {
    fault: RelayFault,
    /// The component, by link.
    inner: Vec<Side>,
    /// The links.
    outer: Vec<Side>,
    /// Posted writes and answers that wait, with the cycle until which they do.
    late: VecDeque<(u64, usize, usize, NvlMessage)>,
    /// Requesters and tags of writes with answer.
    owed: BTreeSet<(u16, u16)>,
    /// Requests of the component without answer.
    open: u64,
    /// Messages of the component so far.
    turn: usize,
}

impl Relay {
    /// A message of the links.
    fn arrives(&mut self, cycle: u64, link: usize, channel: usize, message: NvlMessage) {
        match (self.fault, channel) {
            (AnswersPosted, POSTED) => self.answer(link, &message),
            (KeepsAnswers, REQUESTS) if message.op == Op::WRITE_NONPOSTED => {
                self.owed.insert((message.rid, message.tag));
            }
            (FlushPasses, REQUESTS) if message.op == Op::FLUSH => {
                self.answer(link, &message);
                return;
            }
            (FlushPasses, POSTED) if (local(message.address) / BLOCK_BYTES).is_multiple_of(2) => {
                self.late.push_back((cycle + LATE_CYCLES, link, channel, message));
                return;
            }
            (SwapsAnswers, ANSWERS) => {
                let of_same = |held: &(u64, usize, usize, NvlMessage)| held.1 == link && held.3.rid == message.rid;
                let held = self.late.iter().position(of_same).and_then(|at| self.late.remove(at));
                let queue = &mut self.inner[link].queues[ANSWERS];
                match held {
                    Some((.., held)) => queue.extend([message, held]),
                    None => self.late.push_back((cycle + OVERTAKEN_CYCLES, link, channel, message)),
                }
                return;
            }
            _ => (),
        }
        self.inner[link].queues[channel].push_back(message);
    }

    /// An answer to a request or a posted write, as if the component had given it.
    fn answer(&mut self, link: usize, to: &NvlMessage) {
        let done = NvlMessage::new(Op::RSP_DONE, &NvlConfig::default());
        self.outer[link].queues[ANSWERS].push_back(NvlMessage { tag: to.tag, rid: to.rid, ..done });
    }

    /// A message of the component.
    fn leaves(&mut self, link: usize, channel: usize, message: NvlMessage) {
        let mut to = link;
        match (self.fault, channel) {
            (KeepsAnswers, ANSWERS) if self.owed.remove(&(message.rid, message.tag)) => return,
            (LinksInTurn, REQUESTS | POSTED) if message.op != Op::FLUSH => {
                to = self.turn % self.outer.len();
                self.turn += 1;
            }
            (BlocksAnswers, REQUESTS) => self.open += 1,
            (LosesCopy(port), POSTED) if link == port && message.op == Op::MULTICAST_WRITE => return,
            (DoublesCopy(port), POSTED) if link == port && message.op == Op::MULTICAST_WRITE => {
                self.outer[to].queues[channel].push_back(message.clone());
            }
            _ => (),
        }
        self.outer[to].queues[channel].push_back(message);
    }

    /// Whether the component gets what waits for it.
    fn hands_over(&self, link: usize, channel: usize) -> bool {
        match (self.fault, channel) {
            (BlocksAnswers, REQUESTS) => self.open == 0,
            (BlocksAnswers, ANSWERS) => self.inner[link].queues[REQUESTS].is_empty(),
            _ => true,
        }
    }
}

impl Module for Relay {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let cycle = cx.cycle();
        for link in 0..self.outer.len() {
            for channel in 0..3 {
                while let Some(message) = self.outer[link].rx[channel].pop(cx) {
                    self.arrives(cycle, link, channel, message);
                }
                while let Some(message) = self.inner[link].rx[channel].pop(cx) {
                    self.leaves(link, channel, message);
                }
            }
        }
        while self.late.front().is_some_and(|(due, ..)| *due <= cycle)
            && let Some((_, link, channel, message)) = self.late.pop_front()
        {
            self.inner[link].queues[channel].push_back(message);
        }
        for link in 0..self.outer.len() {
            // Answers first: they may open the way for requests.
            for channel in [ANSWERS, POSTED, REQUESTS] {
                while self.hands_over(link, channel)
                    && !self.inner[link].queues[channel].is_empty()
                    && self.inner[link].tx[channel].has_room(cx, 1)
                    && let Some(message) = self.inner[link].queues[channel].pop_front()
                {
                    self.open -= u64::from(self.fault == BlocksAnswers && channel == ANSWERS);
                    // There was room.
                    let _ = self.inner[link].tx[channel].push(cx, message);
                }
                while !self.outer[link].queues[channel].is_empty()
                    && self.outer[link].tx[channel].has_room(cx, 1)
                    && let Some(message) = self.outer[link].queues[channel].pop_front()
                {
                    let _ = self.outer[link].tx[channel].push(cx, message);
                }
            }
        }
        match self.late.iter().map(|(due, ..)| *due).min() {
            Some(due) => Next::In(due.saturating_sub(cycle).max(1)),
            None => Next::Idle,
        }
    }
}

/// The same component behind a relay with a fault.
pub fn behind(place: PlaceNode, path: &str, fault: RelayFault) -> PlaceNode {
    let name = format!("{path}.relay");
    Box::new(move |p, clock, plugs| {
        let mut flit = clock;
        let (mut sides, mut own) = (Vec::new(), Vec::new());
        for (link, plug) in plugs.into_iter().enumerate() {
            let (outer, of_link) = plug.nvlink();
            flit = of_link;
            let (inner, of_component) = plugs_between(p, &format!("{name}.link[{link}]"))?;
            sides.push((inner, outer));
            own.push(ComponentPlug::Nvlink(of_component, of_link));
        }
        p.module(&name, flit, |bind| {
            let mut side = |plug: NvlPlug| Side {
                tx: plug.tx.map(|end| bind.attach(end)),
                rx: plug.rx.map(|end| bind.attach(end)),
                queues: Default::default(),
            };
            let (inner, outer) = sides.into_iter().map(|(inner, outer)| (side(inner), side(outer))).unzip();
            Relay { fault, inner, outer, late: VecDeque::new(), owed: BTreeSet::new(), open: 0, turn: 0 }
        })?;
        place(p, clock, own)
    })
}

/// Both ends of the channels between a relay and its component.
fn plugs_between(p: &mut PartitionBuilder, name: &str) -> Result<(NvlPlug, NvlPlug), BuildError> {
    let mut ends = BTreeMap::new();
    for channel in 0..3 {
        for way in ["to", "from"] {
            ends.insert((way, channel), p.channel::<NvlMessage>(&format!("{name}.{way}[{channel}]"), 4, 1)?);
        }
    }
    let mut take = |way: &'static str| [0, 1, 2].map(|channel| ends.remove(&(way, channel)).expect("made above"));
    let [(to0, in0), (to1, in1), (to2, in2)] = take("to");
    let [(out0, from0), (out1, from1), (out2, from2)] = take("from");
    let of_relay = NvlPlug { tx: [to0, to1, to2], rx: [from0, from1, from2] };
    Ok((of_relay, NvlPlug { tx: [out0, out1, out2], rx: [in0, in1, in2] }))
}
