//! A message that leaves a switch before all of it has come (`fabric` ORD-8).
//!
//! Modelled: the parts of a message at the input and at the output of a switch that cuts through, and what makes a message bad: poison, byte
//! enables or a trailer that come with a later part. Detail: part by part, without time. Switches of the model take whole messages, so each
//! of these has one part, and a run judges that ([`judge_whole`]). Left out: a switch of the model that cuts through.
//!
//! A walk through one message: its first parts have left when one comes that is bad. All that leaves from then on is bad, and its last part in any
//! case, by which the receiver of the message takes none of it as good.

use super::violation;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::wire::Violation;

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePart {
    /// Nothing of the message comes behind it.
    pub is_last: bool,
    /// It says that the message is bad.
    pub is_bad: bool,
}

/// The message that passes from an input to an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CutThrough {
    came: u32,
    left: u32,
    is_bad: bool,
    has_end: bool,
}

impl CutThrough {
    /// A part comes at the input.
    pub fn comes(&mut self, part: MessagePart) {
        self.came += 1;
        self.is_bad |= part.is_bad;
        self.has_end |= part.is_last;
    }

    /// The next part as it leaves; `None`: it has not come.
    pub fn next(&self) -> Option<MessagePart> {
        let is_last = self.has_end && self.left + 1 == self.came;
        (self.left < self.came).then_some(MessagePart { is_last, is_bad: self.is_bad })
    }

    /// A part has left: the rule that it breaks. Behind the last one the next message begins.
    pub fn leaves(&mut self, part: MessagePart) -> Option<Violation> {
        let text = "a message of which a part was bad ends as bad, and one that has not come whole has no end";
        let broken = |found: &str, expected: &str| Some(violation("FAB-ORD-08", found, expected, text));
        let next = self.next();
        let found = match next {
            None => broken("a part that has not come", "none"),
            Some(expected) if expected.is_last != part.is_last => {
                broken("another end of the message", "the one that came")
            }
            Some(MessagePart { is_bad: true, .. }) if part.is_last && !part.is_bad => broken("a good end", "a bad one"),
            Some(MessagePart { is_bad: false, .. }) if part.is_bad => broken("a bad part", "a good one"),
            Some(_) => None,
        };
        self.left += 1;
        if part.is_last {
            *self = CutThrough::default();
        }
        found
    }
}

/// Whether a message says that its data are bad.
#[inline]
pub const fn is_bad(message: &Message) -> bool {
    match message {
        Message::M2sRwd(header, _) => header.poison,
        Message::S2mDrs(header, _) => header.poison,
        Message::D2hData(header, _) => header.poison,
        Message::H2dData(header, _) => header.poison,
        _ => false,
    }
}

/// The rule that a switch breaks which has taken a whole message, bad or not, and has sent it on as `left`.
#[inline]
pub fn judge_whole(was_bad: bool, left: &Message) -> Option<Violation> {
    if was_bad == is_bad(left) { None } else { judge_changed(was_bad, left) }
}

/// [`judge_whole`] of a message that leaves otherwise than it came.
#[cold]
fn judge_changed(was_bad: bool, left: &Message) -> Option<Violation> {
    let mut way = CutThrough::default();
    way.comes(MessagePart { is_last: true, is_bad: was_bad });
    way.leaves(MessagePart { is_last: true, is_bad: is_bad(left) })
}
