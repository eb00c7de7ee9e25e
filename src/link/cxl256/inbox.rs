//! Received messages that nobody has taken, in the order in which they came.
//!
//! Modelled: one queue a class, so that one class is taken without a look at the others, and the number of each message among
//! all that came, so that all of them are taken in order too. Left out: how many there may be, which credits say.
//!
//! A walk through one message: it goes behind the others of its class with the next number. Whoever takes all classes gets the
//! lowest number; whoever takes one class gets the first of its queue, a snoop not before responses with a lower number
//! (`coherence` §2.6 O1). With one queue for all classes, of which a message was taken out wherever it stood, a message of
//! `pbr-rack` at 1,024 requests a host took 3,200 instructions more.

use scalepool_protocols::cxl::cxl256::Class;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::fifo::Fifo;

/// A message with its number.
type NumberedMessage = (u64, Cxl256Message);

/// The messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Inbox {
    /// By [`Class::index`].
    queues: [Fifo<NumberedMessage>; Class::COUNT],
    /// Classes of which one waits, bit n for [`Class::index`] n.
    waiting: u16,
    /// Messages in all queues, and messages that came.
    len: usize,
    came: u64,
}

impl Inbox {
    /// Messages of all classes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether there is one of a class.
    #[inline]
    pub fn holds(&self, class: Class) -> bool {
        self.waiting >> class.index() & 1 == 1
    }

    /// Puts a message behind the others.
    #[inline]
    pub fn push(&mut self, message: &Cxl256Message) {
        let class = message.class.index();
        self.queues[class].push((self.came, *message));
        self.waiting |= 1 << class;
        self.came += 1;
        self.len += 1;
    }

    /// The queue of the message that came first.
    fn first_queue(&self) -> Option<usize> {
        let mut left = self.waiting;
        let mut first: Option<(u64, usize)> = None;
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            left &= left - 1;
            // With one class, which is most often, its number is not asked for.
            if left == 0 && first.is_none() {
                return Some(class);
            }
            let number = self.queues[class].first().map_or(u64::MAX, |message| message.0);
            if first.is_none_or(|(lowest, _)| number < lowest) {
                first = Some((number, class));
            }
        }
        first.map(|(_, class)| class)
    }

    /// The message that came first.
    pub fn first(&self) -> Option<&Cxl256Message> {
        self.queues[self.first_queue()?].first().map(|message| &message.1)
    }

    /// Takes the message that came first, as `read` makes it of what lies there.
    #[inline]
    pub fn take<T>(&mut self, read: impl FnOnce(&Cxl256Message) -> T) -> Option<T> {
        self.take_from(self.first_queue()?, read)
    }

    /// Takes the first message of a class, if it may be taken.
    #[inline]
    pub fn take_class<T>(&mut self, class: Class, read: impl FnOnce(&Cxl256Message) -> T) -> Option<T> {
        if !self.holds(class) || class == Class::H2dReq && self.is_behind_responses() {
            return None;
        }
        self.take_from(class.index(), read)
    }

    /// Whether the first snoop stays behind a response that came before it.
    #[cold]
    fn is_behind_responses(&self) -> bool {
        let first = |class: Class| self.queues[class.index()].first().map(|message| message.0);
        first(Class::H2dRsp).is_some_and(|earlier| first(Class::H2dReq).is_some_and(|own| earlier < own))
    }

    #[inline]
    fn take_from<T>(&mut self, class: usize, read: impl FnOnce(&Cxl256Message) -> T) -> Option<T> {
        let queue = &mut self.queues[class];
        let item = read(&queue.first()?.1);
        queue.drop_first();
        self.waiting &= !(u16::from(queue.is_empty()) << class);
        self.len -= 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(class: Class, bits: u128) -> Cxl256Message {
        Cxl256Message { class, bits, data: None }
    }

    /// Against a plain list that is searched, with classes taken at random: both ways of taking, in any mixture.
    #[test]
    fn messages_are_taken_in_order_and_by_class() {
        let classes = [Class::H2dRsp, Class::H2dReq, Class::S2mNdr];
        let (mut inbox, mut list, mut number) = (Inbox::default(), Vec::new(), 1u64);
        let mut next = |below: u64| {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (number >> 33) % below
        };
        let mut refused = 0;
        for bits in 0..20_000 {
            if next(3) > 0 && list.len() < 40 {
                let message = message(classes[next(3) as usize], bits);
                inbox.push(&message);
                list.push(message);
            }
            let found = match next(4) {
                0 => (inbox.take(|m| *m), (!list.is_empty()).then(|| list.remove(0))),
                n => {
                    let class = classes[n as usize - 1];
                    let at = list
                        .iter()
                        .position(|m| m.class == class || (class, m.class) == (Class::H2dReq, Class::H2dRsp));
                    let at = at.filter(|&at| list[at].class == class);
                    refused += u64::from(at.is_none() && list.iter().any(|m| m.class == class));
                    (inbox.take_class(class, |m| *m), at.map(|at| list.remove(at)))
                }
            };
            assert_eq!(found.0, found.1);
            assert_eq!((inbox.len(), inbox.is_empty(), inbox.first()), (list.len(), list.is_empty(), list.first()));
        }
        assert!(refused > 100, "a snoop stayed behind responses {refused} times");
    }
}
