//! What messages need before they are taken: the declarations of kinds, from which the graph of channels is made.

use scalepool_ordered::OrderedSet;

/// At which ports of a component the room is that a message needs, from the port where it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Where it came.
    SamePort,
    /// Everywhere else.
    OtherPorts,
    /// Everywhere else but for these ways, from one port of the component to another, by their places.
    OtherPortsBut(OrderedSet<(usize, usize)>),
    /// On these ways alone, from one port of the component to another, by their places.
    Ways(OrderedSet<(usize, usize)>),
    /// On the ways that the routes of its fabric take through it.
    Routes(RoutedWays),
    /// As that one, but from one bridge to no other: what a bridge asks for, it asks of nodes with memory of their own (`bridge` §5.4, XO of
    /// §10), which its windows make sure of.
    Asked(Box<Reach>),
    /// Everywhere.
    AnyPort,
}

/// Messages whose ways through a switch follow from the routes of its fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutedWays {
    /// Requests of hosts.
    Requests,
    /// Answers of devices.
    Answers,
    /// Answers of the switch itself, from the port of the request to that of the answer.
    OwnAnswers,
}

impl Reach {
    /// Whether it leads from one port to another.
    pub(super) fn leads(&self, from: usize, to: usize) -> bool {
        match self {
            Reach::SamePort => from == to,
            Reach::OtherPorts => from != to,
            Reach::OtherPortsBut(denied) => from != to && !denied.contains(&(from, to)),
            Reach::Ways(ways) => ways.contains(&(from, to)),
            Reach::AnyPort => true,
            // The graph asks the system for these ways.
            Reach::Routes(_) | Reach::Asked(_) => false,
        }
    }
}

/// A component may leave a message where it came until there is room for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelWait {
    /// Class of the message that came, as its link names it.
    pub incoming: &'static str,
    /// Class of the message that needs room, as its link names it.
    pub outgoing: &'static str,
    /// Ports at which it needs it.
    pub reach: Reach,
    /// Queue of the outgoing port and class through which it goes there, if there is one with a length of its own.
    pub queue: Option<&'static str>,
    /// What the component does, to be read behind its name: `answers requests`.
    pub why: &'static str,
}

impl ChannelWait {
    /// Requests that are taken when there is room for their answers, which go where the request came from.
    pub fn answered(request: &'static str, answer: &'static str) -> ChannelWait {
        ChannelWait {
            incoming: request,
            outgoing: answer,
            reach: Reach::SamePort,
            queue: None,
            why: "answers requests",
        }
    }

    /// Messages that are passed on as what they are.
    pub fn routed(class: &'static str, reach: Reach) -> ChannelWait {
        ChannelWait { incoming: class, outgoing: class, reach, queue: None, why: "passes messages on" }
    }
}

/// A link may hold a class of messages behind another one of the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassOrder {
    /// Class that waits.
    pub held: &'static str,
    /// Class that it waits for.
    pub behind: &'static str,
    /// The rule, to be read behind the name of the link: `keeps posted requests in front`.
    pub why: &'static str,
}
