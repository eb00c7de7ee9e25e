//! Channels between agents in an exploration: every order of delivery that the ordering rules leave open.
//!
//! Each direction of each link is one list of messages under way. Any of them may be delivered next, unless an earlier
//! one must not be passed ([`must_stay_behind`], the "must not pass" column of `coherence` §3.6). Messages without a
//! mutual order are kept sorted, so that lists which differ in nothing that matters are equal.

use super::config::CoherenceConfig;
use super::content::Content;
use super::message::{Dir, Msg};
use super::mutant::Mutant;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, NdrOpcode};

/// The rule by which `later` stays behind `earlier` of the same link and direction; `None` when it may pass.
pub fn order_of<D: Content>(later: &Msg<D>, earlier: &Msg<D>) -> Option<&'static str> {
    match (later, earlier) {
        // O1: snoop pushes GO. A GO carries no address, so the snoop stays behind all of them.
        (Msg::H2dReq { .. }, _) if earlier.bears_go() => Some("COH-ORD-01"),
        (Msg::S2mNdr { opcode, tag, .. }, Msg::S2mNdr { opcode: before, tag: same, .. })
            if *opcode == NdrOpcode::BIConflictAck && tag == same && *before != NdrOpcode::BIConflictAck =>
        {
            Some("COH-BIC-03")
        }
        (Msg::M2sReq { line, .. }, Msg::M2sReq { opcode, line: same, .. })
            if [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(opcode) && line == same =>
        {
            Some("COH-BIA-11")
        }
        _ => None,
    }
}

/// [`order_of`] as far as no mutant lifts it.
pub fn must_stay_behind<D: Content>(
    config: &CoherenceConfig,
    later: &Msg<D>,
    earlier: &Msg<D>,
) -> Option<&'static str> {
    order_of(later, earlier).filter(|rule| config.mutant.and_then(Mutant::lifts) != Some(*rule))
}

/// All messages under way, link by link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net<D> {
    lanes: Vec<Vec<Msg<D>>>,
}

impl<D: Content> Net<D> {
    /// `links` links without messages.
    pub fn new(links: usize) -> Self {
        Self { lanes: vec![Vec::new(); links * 2] }
    }

    fn lane(link: usize, dir: Dir) -> usize {
        link * 2 + usize::from(dir == Dir::Up)
    }

    /// Messages of a direction; earlier ones first where order matters.
    pub fn of(&self, link: usize, dir: Dir) -> &[Msg<D>] {
        &self.lanes[Self::lane(link, dir)]
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.lanes.len() / 2
    }

    /// Puts a message on its way, in the direction of its class.
    pub fn send(&mut self, link: usize, msg: Msg<D>) {
        let lane = &mut self.lanes[Self::lane(link, msg.class().dir())];
        let mut at = lane.len();
        // Backwards past all that is larger and has no order with it either way, for the earlier one must not be held by the
        // later one: equal sets of messages become equal lists.
        let is_free = |earlier: &Msg<D>| order_of(&msg, earlier).is_none() && order_of(earlier, &msg).is_none();
        while at > 0 && lane[at - 1] > msg && is_free(&lane[at - 1]) {
            at -= 1;
        }
        lane.insert(at, msg);
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

    /// Takes message `index` out.
    pub fn remove(&mut self, link: usize, dir: Dir, index: usize) -> Msg<D> {
        self.lanes[Self::lane(link, dir)].remove(index)
    }

    /// The same with links renamed: link `order[n]` becomes n, and `rename` gets each of its messages with n.
    pub fn renamed(mut self, order: &[usize], rename: impl Fn(&mut Msg<D>, usize)) -> Self {
        let mut lanes = Vec::with_capacity(self.lanes.len());
        for (new, &old) in order.iter().enumerate() {
            for dir in [Dir::Down, Dir::Up] {
                let mut lane = std::mem::take(&mut self.lanes[Self::lane(old, dir)]);
                lane.iter_mut().for_each(|m| rename(m, new));
                lanes.push(lane);
            }
        }
        Self { lanes }
    }

    /// Nothing under way.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(Vec::is_empty)
    }

    /// Every value under way.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.lanes.iter_mut().flatten().filter_map(Msg::data_mut).for_each(f);
    }

    /// Every message under way, with its link.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Msg<D>)> {
        self.lanes.iter().enumerate().flat_map(|(lane, msgs)| msgs.iter().map(move |m| (lane / 2, m)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherence::content::Token;
    use scalepool_protocols::cxl::cxl256::code::{DevLoad, MetaField, MetaValue};

    /// BIConflictAck stays behind an earlier Cmp of its Tag; a later Cmp does not hold it.
    #[test]
    fn a_later_message_does_not_hold_an_earlier_one() {
        let config = CoherenceConfig::default();
        let ndr = |opcode| {
            let (meta_field, meta, tag, devload) = (MetaField::NoOp, MetaValue::Invalid, 1, DevLoad(0));
            Msg::<Token>::S2mNdr { opcode, meta_field, meta, tag, devload }
        };
        let free = |first, second| {
            let mut net = Net::new(1);
            net.send(0, ndr(first));
            net.send(0, ndr(second));
            let lane = net.of(0, Dir::Up);
            (0..2).filter(|n| net.is_free(&config, 0, Dir::Up, *n)).map(|n| lane[n].label()).collect::<Vec<_>>()
        };
        assert_eq!(free(NdrOpcode::BIConflictAck, NdrOpcode::Cmp), ["BIConflictAck", "Cmp"]);
        assert_eq!(free(NdrOpcode::Cmp, NdrOpcode::BIConflictAck), ["Cmp"]);
    }
}
