//! A program of packets: which node sends which packet, when at the earliest, and after which other packets.
//!
//! Modelled: dependencies that the sender can see by itself. A packet waits for packets that have come to its node, and for
//! packets that its node has sent. Left out: time that a node computes between packets; a packet's earliest time may stand for
//! it.
//!
//! A walk: the program is checked as a whole ([`PacketProgram::new`]), then each node gets its packets
//! ([`PacketProgram::of_node`]). A packet is due once all packets that it waits for are there and its earliest time has come;
//! packets that are due in the same cycle leave in the order of the program.

use scalepool_ordered::OrderedMap;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thiserror::Error;

/// Numbers of packets are below this, so that they differ from the numbers that traces give to other transactions.
pub const PACKET_ID_END: u64 = 1 << 36;

/// Most packets of a program (basis: model).
pub const MOST_PACKETS: usize = 1 << 24;

/// What a packet is for, as traces name it.
pub const PACKET_KINDS: &[&str] = &["packet", "read", "write", "answer", "message", "reduce", "broadcast"];

/// A packet of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPacket {
    /// Its number, 1 to [`PACKET_ID_END`] - 1.
    pub id: u64,
    /// Its earliest time \[fs\].
    pub time_fs: u64,
    /// The node that sends it.
    pub source: u16,
    /// The node that takes it.
    pub target: u16,
    /// Its length.
    pub flits: u32,
    /// One of [`PACKET_KINDS`].
    pub kind: &'static str,
    /// Packets that have to be there first: at the source, or sent by it.
    pub after: Vec<u64>,
}

/// Why packets are no program. `id` names the packet.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacketProgramError {
    /// Too many packets.
    #[error("found more than {MOST_PACKETS} packets, expected no more")]
    Length,
    /// A number that no packet has.
    #[error("found the id {id}, expected 1 to {}", PACKET_ID_END - 1)]
    Id {
        /// The number.
        id: u64,
    },
    /// A number twice.
    #[error("packet {id}: found its id twice, expected another id for each packet")]
    Twice {
        /// The number.
        id: u64,
    },
    /// A node that there is not.
    #[error("packet {id}: found node {node}, expected a node from 0 to {}", nodes - 1)]
    Node {
        /// The packet.
        id: u64,
        /// The node.
        node: u16,
        /// Nodes of the fabric.
        nodes: u16,
    },
    /// A packet to wait for that is not in the program.
    #[error("packet {id}: found packet {after} in `after`, expected packets of the same program")]
    Unknown {
        /// The packet.
        id: u64,
        /// What it waits for.
        after: u64,
    },
    /// A packet to wait for that passes the waiting node by.
    #[error(
        "packet {id}: found packet {after} in `after`, which node {sender} neither sends nor takes, expected packets that the \
         sender can see"
    )]
    Unseen {
        /// The packet.
        id: u64,
        /// What it waits for.
        after: u64,
        /// The node that waits.
        sender: u16,
    },
    /// Packets that wait for one another.
    #[error("found packets that wait for one another: {}, expected an order in which all can leave", shown(ids))]
    Cycle {
        /// Each waits for the next one, and the last for the first.
        ids: Vec<u64>,
    },
}

/// At most so many packets of a circle are named.
const SHOWN: usize = 8;

fn shown(ids: &[u64]) -> String {
    let named: Vec<String> = ids.iter().take(SHOWN).map(u64::to_string).collect();
    let more = if ids.len() > SHOWN { format!(", and {} more", ids.len() - SHOWN) } else { String::new() };
    format!("{}{more}", named.join(" after "))
}

/// Packets whose dependencies can be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketProgram {
    packets: Vec<ProgramPacket>,
    /// For each node the positions of its packets.
    of_node: Vec<Vec<u32>>,
}

impl PacketProgram {
    /// The program of these packets among so many nodes.
    ///
    /// # Errors
    /// [`PacketProgramError`].
    pub fn new(packets: Vec<ProgramPacket>, nodes: u16) -> Result<PacketProgram, PacketProgramError> {
        if packets.len() > MOST_PACKETS {
            return Err(PacketProgramError::Length);
        }
        let mut places = OrderedMap::new();
        let mut of_node = vec![Vec::new(); nodes.into()];
        for (n, &ProgramPacket { id, source, target, .. }) in packets.iter().enumerate() {
            if !(1..PACKET_ID_END).contains(&id) {
                return Err(PacketProgramError::Id { id });
            }
            if places.insert(id, n).is_some() {
                return Err(PacketProgramError::Twice { id });
            }
            if let Some(node) = [source, target].into_iter().find(|&node| node >= nodes) {
                return Err(PacketProgramError::Node { id, node, nodes });
            }
            // At most 2^24 packets, see above.
            of_node[usize::from(source)].push(n as u32);
        }
        let program = PacketProgram { packets, of_node };
        program.check_order(&places)?;
        Ok(program)
    }

    /// Takes away packets that wait for nothing, again and again; what is left at the end waits for itself.
    fn check_order(&self, places: &OrderedMap<u64, usize>) -> Result<(), PacketProgramError> {
        let mut waits: Vec<usize> = vec![0; self.packets.len()];
        let mut followers: Vec<Vec<u32>> = vec![Vec::new(); self.packets.len()];
        for (n, packet) in self.packets.iter().enumerate() {
            let (id, source) = (packet.id, packet.source);
            for &after in &packet.after {
                let Some(&place) = places.get(&after) else { return Err(PacketProgramError::Unknown { id, after }) };
                let before = &self.packets[place];
                if before.source != source && before.target != source {
                    return Err(PacketProgramError::Unseen { id, after, sender: source });
                }
                followers[place].push(n as u32);
            }
            waits[n] = packet.after.len();
        }
        let mut free: Vec<usize> = (0..waits.len()).filter(|&n| waits[n] == 0).collect();
        while let Some(n) = free.pop() {
            for &follower in &followers[n] {
                waits[follower as usize] -= 1;
                if waits[follower as usize] == 0 {
                    free.push(follower as usize);
                }
            }
        }
        let Some(first) = (0..waits.len()).find(|&n| waits[n] > 0) else { return Ok(()) };
        // From any packet that is left a step to one that it waits for, which is left too, until one comes again.
        let (mut at, mut way, mut seen) = (first, Vec::new(), OrderedMap::new());
        while !seen.contains_key(&at) {
            seen.insert(at, way.len());
            way.push(self.packets[at].id);
            let left = self.packets[at].after.iter().map(|after| places[after]).find(|&n| waits[n] > 0);
            let Some(next) = left else { unreachable!("a packet that is left waits for one that is left") };
            at = next;
        }
        Err(PacketProgramError::Cycle { ids: way.split_off(seen[&at]) })
    }

    /// All packets.
    pub fn packets(&self) -> &[ProgramPacket] {
        &self.packets
    }

    /// SHA-256 of all packets, by which runs of different programs differ.
    pub fn digest(&self) -> [u8; 32] {
        let mut sha = Sha256::new();
        for ProgramPacket { id, time_fs, source, target, flits, kind, after } in &self.packets {
            let numbers =
                [*id, *time_fs, u64::from(*source), u64::from(*target), u64::from(*flits), after.len() as u64];
            numbers.iter().chain(after).for_each(|number| sha.update(number.to_le_bytes()));
            sha.update(kind);
        }
        sha.finalize().into()
    }

    /// What one node has to send; a cycle of its clock takes so long \[fs\].
    pub fn of_node(&self, node: u16, cycle_fs: u64) -> NodeProgram {
        let mut of_node = NodeProgram { packets: Vec::new(), waiting: OrderedMap::new(), due: BinaryHeap::new() };
        for &n in self.of_node.get(usize::from(node)).into_iter().flatten() {
            let packet = &self.packets[n as usize];
            let own = of_node.packets.len() as u32;
            for &after in &packet.after {
                of_node.waiting.entry(after).or_default().push(own);
            }
            let earliest_cycle = packet.time_fs.div_ceil(cycle_fs.max(1));
            if packet.after.is_empty() {
                of_node.due.push(Reverse((earliest_cycle, own)));
            }
            let ProgramPacket { id, target, flits, kind, .. } = *packet;
            let waits_for = packet.after.len() as u32;
            of_node.packets.push(OwnPacket { id, target, flits, kind, earliest_cycle, waits_for });
        }
        of_node
    }
}

/// A packet that a node has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnPacket {
    /// Its number.
    pub id: u64,
    /// Where it goes.
    pub target: u16,
    /// Its length.
    pub flits: u32,
    /// One of [`PACKET_KINDS`].
    pub kind: &'static str,
    earliest_cycle: u64,
    /// Packets that are not there yet.
    waits_for: u32,
}

/// The program of one node.
#[derive(Debug, Clone)]
pub struct NodeProgram {
    packets: Vec<OwnPacket>,
    /// For a packet that is not there yet the own packets that wait for it.
    waiting: OrderedMap<u64, Vec<u32>>,
    /// Cycle and place of packets that wait for nothing but their time, the earliest on top.
    due: BinaryHeap<Reverse<(u64, u32)>>,
}

impl NodeProgram {
    /// Cycle in which the next packet is due; `u64::MAX` if all are made or wait for others.
    pub fn next_cycle(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |Reverse((cycle, _))| *cycle)
    }

    /// The next packet that is due in this cycle or was before, and since when.
    pub fn take_due(&mut self, cycle: u64) -> Option<(u64, OwnPacket)> {
        let &Reverse((since, place)) = self.due.peek().filter(|Reverse((due, _))| *due <= cycle)?;
        self.due.pop();
        Some((since, self.packets[place as usize]))
    }

    /// A packet is there from this cycle on: it has come, or it has left.
    pub fn is_there(&mut self, id: u64, cycle: u64) {
        for place in self.waiting.remove(&id).into_iter().flatten() {
            let packet = &mut self.packets[place as usize];
            packet.waits_for -= 1;
            if packet.waits_for == 0 {
                self.due.push(Reverse((packet.earliest_cycle.max(cycle), place)));
            }
        }
    }

    /// Packets that wait for others.
    pub fn waiting(&self) -> usize {
        self.packets.iter().filter(|packet| packet.waits_for > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64, (source, target): (u16, u16), after: &[u64]) -> ProgramPacket {
        ProgramPacket { id, time_fs: 0, source, target, flits: 1, kind: "packet", after: after.into() }
    }

    #[test]
    fn a_packet_waits_for_what_came_and_for_what_left() {
        let packets = vec![packet(1, (0, 1), &[]), packet(2, (1, 0), &[1]), packet(3, (0, 1), &[1, 2])];
        let program = PacketProgram::new(packets, 2).expect("it is one");
        let (mut a, mut b) = (program.of_node(0, 1_000), program.of_node(1, 1_000));
        assert_eq!((a.next_cycle(), b.next_cycle()), (0, u64::MAX));
        assert_eq!(a.take_due(0).map(|(_, packet)| packet.id), Some(1));
        a.is_there(1, 1);
        b.is_there(1, 4);
        assert_eq!((a.next_cycle(), b.next_cycle(), a.waiting()), (u64::MAX, 4, 1));
        assert_eq!(b.take_due(3), None);
        assert_eq!(b.take_due(4).map(|(_, packet)| packet.id), Some(2));
        a.is_there(2, 9);
        assert_eq!(a.take_due(10).map(|(since, packet)| (since, packet.id)), Some((9, 3)));
        assert_eq!((a.waiting(), b.waiting()), (0, 0));
    }

    #[test]
    fn an_earliest_time_is_rounded_up_to_cycles() {
        let late = ProgramPacket { time_fs: 2_001, ..packet(1, (0, 0), &[]) };
        let program = PacketProgram::new(vec![late], 1).expect("it is one");
        assert_eq!(program.of_node(0, 1_000).next_cycle(), 3);
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let refused =
            |packets: &[ProgramPacket]| PacketProgram::new(packets.into(), 3).expect_err("refused").to_string();
        let cases = [
            (vec![packet(0, (0, 1), &[])], "found the id 0, expected 1 to 68719476735"),
            (
                vec![packet(7, (0, 1), &[]), packet(7, (1, 0), &[])],
                "packet 7: found its id twice, expected another id for each packet",
            ),
            (vec![packet(1, (0, 3), &[])], "packet 1: found node 3, expected a node from 0 to 2"),
            (
                vec![packet(1, (0, 1), &[2])],
                "packet 1: found packet 2 in `after`, expected packets of the same program",
            ),
            (
                vec![packet(1, (0, 1), &[]), packet(2, (2, 1), &[1])],
                "packet 2: found packet 1 in `after`, which node 2 neither sends nor takes, expected packets that the sender can see",
            ),
            (
                vec![packet(1, (0, 1), &[2]), packet(2, (1, 0), &[3]), packet(3, (0, 1), &[2]), packet(4, (0, 1), &[])],
                "found packets that wait for one another: 2 after 3, expected an order in which all can leave",
            ),
        ];
        for (packets, text) in cases {
            assert_eq!(refused(&packets), text);
        }
    }
}
