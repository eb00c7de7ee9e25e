//! Channels between agents in an exploration: every order of delivery that the ordering rules leave open.
//!
//! Each direction of each link is one list of messages under way. Any of them may be delivered next, unless an earlier
//! one must not be passed ([`must_stay_behind`], the "must not pass" column of `coherence` §3.6). A list says of each pair
//! with an order which was sent first, and nothing else: messages without one are kept sorted, so that lists which differ in
//! nothing that matters are equal (they are the lexicographic normal forms of what was sent).

use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::LineContent;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::order::{must_stay_behind, order_of};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// All messages under way, link by link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net<D> {
    /// Those of each lane, a direction of a link, one lane behind the other: one piece of memory to copy with each state.
    messages: Vec<Msg<D>>,
    /// Where each lane ends.
    ends: SmallVec<[u16; 12]>,
}

impl<D: LineContent> Net<D> {
    /// `links` links without messages.
    pub fn new(links: usize) -> Self {
        Self { messages: Vec::new(), ends: smallvec![0; links * 2] }
    }

    fn lane(link: usize, dir: Dir) -> usize {
        link * 2 + usize::from(dir == Dir::Up)
    }

    /// Where the messages of a lane stand.
    fn range(&self, lane: usize) -> Range<usize> {
        let begin = if lane == 0 { 0 } else { self.ends[lane - 1] };
        begin.into()..self.ends[lane].into()
    }

    /// Messages of a direction; earlier ones first where order matters.
    pub fn of(&self, link: usize, dir: Dir) -> &[Msg<D>] {
        &self.messages[self.range(Self::lane(link, dir))]
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.ends.len() / 2
    }

    /// Puts a message on its way, in the direction of its class.
    pub fn send(&mut self, link: usize, msg: Msg<D>) {
        self.send_on(link, msg.class().dir(), msg);
    }

    /// Puts a message on its way in the direction of the end that sends it: an agent may be requester and target at one port.
    ///
    /// It comes behind the last one with which it has an order, whichever of the two must stay behind the other, and before the
    /// first one there that is larger.
    pub fn send_on(&mut self, link: usize, dir: Dir, msg: Msg<D>) {
        let lane = self.of(link, dir);
        let ordered = |earlier: &Msg<D>| order_of(&msg, earlier).or(order_of(earlier, &msg)).is_some();
        let free = lane.iter().rposition(ordered).map_or(0, |at| at + 1);
        let at = lane[free..].iter().position(|m| *m > msg).map_or(lane.len(), |at| free + at);
        let lane = Self::lane(link, dir);
        self.messages.insert(self.range(lane).start + at, msg);
        self.ends[lane..].iter_mut().for_each(|end| *end += 1);
    }

    /// Whether message `index` may be delivered now.
    pub fn is_free(&self, config: &CoherenceConfig, link: usize, dir: Dir, index: usize) -> bool {
        let lane = self.of(link, dir);
        lane[..index].iter().all(|earlier| must_stay_behind(config, &lane[index], earlier).is_none())
            // Of equal messages one is enough.
            && (index == 0 || lane[index - 1] != lane[index])
    }

    /// The rule that is broken when message `index` is delivered now: it overtakes one that it must not pass.
    pub fn overtakes(&self, link: usize, dir: Dir, index: usize) -> Option<&'static str> {
        let lane = self.of(link, dir);
        lane[..index].iter().find_map(|earlier| order_of(&lane[index], earlier))
    }

    /// Messages of one direction of a link that are new in the net behind a step.
    pub fn new_in<'a>(&self, after: &'a Self, link: usize, dir: Dir) -> Vec<&'a Msg<D>> {
        let mut before: Vec<&Msg<D>> = self.of(link, dir).iter().collect();
        let is_new = |msg: &&Msg<D>| match before.iter().position(|known| known == msg) {
            Some(at) => {
                before.remove(at);
                false
            }
            None => true,
        };
        after.of(link, dir).iter().filter(is_new).collect()
    }

    /// Takes message `index` out.
    pub fn remove(&mut self, link: usize, dir: Dir, index: usize) -> Msg<D> {
        let msg = self.of(link, dir)[index].clone();
        self.replace(link, dir, index, []);
        msg
    }

    /// Others take the place of message `index`.
    pub fn replace(&mut self, link: usize, dir: Dir, index: usize, new: impl IntoIterator<Item = Msg<D>>) {
        let lane = Self::lane(link, dir);
        let Range { start, end } = self.range(lane);
        let behind: SmallVec<[Msg<D>; 4]> = self.messages.drain(start + index..end).skip(1).collect();
        self.ends[lane..].iter_mut().for_each(|end| *end -= 1 + behind.len() as u16);
        // What stood behind it may stand before others now.
        new.into_iter().chain(behind).for_each(|msg| self.send_on(link, dir, msg));
    }

    /// The same with links renamed: link `order[n]` becomes n, and `rename` gets each of its messages with n.
    pub fn renamed(&self, order: &[usize], rename: impl Fn(&mut Msg<D>, usize)) -> Self {
        let mut new = Self { messages: Vec::with_capacity(self.messages.len()), ends: SmallVec::new() };
        for (link, &old) in order.iter().enumerate() {
            for dir in [Dir::Down, Dir::Up] {
                let begin = new.messages.len();
                new.messages.extend_from_slice(self.of(old, dir));
                new.messages[begin..].iter_mut().for_each(|m| rename(m, link));
                new.ends.push(new.messages.len() as u16);
            }
        }
        new
    }

    /// Nothing under way.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Every value under way.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.messages.iter_mut().filter_map(Msg::data_mut).for_each(f);
    }

    /// Every message under way, with its link.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Msg<D>)> {
        (0..self.ends.len()).flat_map(|lane| self.messages[self.range(lane)].iter().map(move |m| (lane / 2, m)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_coherence::content::{LineAddr, LineToken};
    use scalepool_kernel::Rng;
    use scalepool_protocols::cxl::cxl256::code::{DevLoad, H2dReqOpcode, H2dRspOpcode};
    use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, MetaField, MetaValue, NdrOpcode, SnpType};

    fn ndr(opcode: NdrOpcode) -> Msg<LineToken> {
        Msg::S2mNdr { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag: 5, devload: DevLoad(0) }
    }

    fn req(opcode: M2sReqOpcode) -> Msg<LineToken> {
        let (snp, meta_field, meta) = (SnpType::NoOp, MetaField::NoOp, MetaValue::Invalid);
        Msg::M2sReq { opcode, snp, meta_field, meta, line: LineAddr(0), tag: 5 }
    }

    /// Messages that were sent first are free, and one that was sent behind a message which may pass it is free too.
    #[test]
    fn what_was_sent_later_holds_nothing_back() {
        let config = CoherenceConfig::default();
        let pairs = [
            (ndr(NdrOpcode::BIConflictAck), ndr(NdrOpcode::Cmp), Dir::Up),
            (req(M2sReqOpcode::MemClnEvct), req(M2sReqOpcode::MemRdFwd), Dir::Down),
        ];
        for (first, second, dir) in pairs {
            assert!(order_of(&first, &second).is_some() && order_of(&second, &first).is_none());
            let mut net = Net::new(1);
            net.send(0, first);
            net.send(0, second);
            assert_eq!(net.of(0, dir), [first, second]);
            assert!((0..2).all(|index| net.is_free(&config, 0, dir, index)));
            // The other way round the second one waits.
            let mut net = Net::new(1);
            net.send(0, second);
            net.send(0, first);
            assert!(net.is_free(&config, 0, dir, 0) && !net.is_free(&config, 0, dir, 1));
        }
    }

    fn go(opcode: H2dRspOpcode, cqid: u16) -> Msg<LineToken> {
        Msg::H2dRsp { opcode, rsp_data: 0, cqid }
    }

    /// However messages are sent that have no order, and whatever was between them, the list is the same.
    #[test]
    fn a_list_says_nothing_but_the_order_of_ordered_messages() {
        let snoop = |n: u64| Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LineAddr(n), uqid: n as u16 };
        let all: [Msg<LineToken>; 6] = [
            snoop(0),
            snoop(1),
            go(H2dRspOpcode::WritePull, 0),
            go(H2dRspOpcode::GO, 1),
            go(H2dRspOpcode::GO, 2),
            go(H2dRspOpcode::ExtCmp, 3),
        ];
        let mut rng = Rng::from_seed(1);
        for _ in 0..2_000 {
            let sent: Vec<Msg<LineToken>> = (0..5).map(|_| all[rng.below(6) as usize]).collect();
            let mut other = sent.clone();
            for _ in 0..8 {
                let at = rng.below(4) as usize;
                if order_of(&other[at + 1], &other[at]).or(order_of(&other[at], &other[at + 1])).is_none() {
                    other.swap(at, at + 1);
                }
            }
            let nets = [&sent, &other].map(|sent| {
                let mut net = Net::new(1);
                sent.iter().for_each(|msg| net.send(0, *msg));
                net
            });
            assert_eq!(nets[0], nets[1], "{sent:?}");
            // One of them is delivered: as if it had never been sent.
            let [mut less, _] = nets;
            let gone = less.remove(0, Dir::Down, rng.below(5) as usize);
            let mut never = Net::new(1);
            let at = sent.iter().rposition(|msg| *msg == gone).expect("it was sent");
            let same = sent.iter().filter(|msg| **msg == gone).count();
            sent.iter().enumerate().filter(|(n, _)| *n != at).for_each(|(_, msg)| never.send(0, *msg));
            assert!(same > 1 || less == never, "{sent:?} without {gone:?}");
        }
    }
}
