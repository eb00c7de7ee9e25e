//! Collective operations as programs of packets.
//!
//! Modelled: which node sends to which one, and what it must have heard before; each message is one packet. Left out: what is
//! in the messages, and the time to add them up.
//!
//! | name | messages of a round |
//! | --- | --- |
//! | `all-to-all` | each node to every other one, to the next neighbour first; without waits |
//! | `ring` | all-reduce: 2 (n - 1) times each node to the next one, after what came from the one before |
//! | `tree` | all-reduce: up a binary tree to node 0, each node after its children, and down again |
//!
//! The first messages of a node in a round wait for all that it sent and took in the round before.

use super::packet_program::{MOST_PACKETS, PacketProgram, PacketProgramError, ProgramPacket};

/// Names of the collectives, as descriptions choose them.
pub const COLLECTIVE_NAMES: &[&str] = &["all-to-all", "ring", "tree"];

/// Packets that are made one by one.
struct Messages {
    packets: Vec<ProgramPacket>,
    flits: u32,
    /// For each node what it sent and took in the round before, and in this one.
    before: Vec<Vec<u64>>,
    now: Vec<Vec<u64>>,
}

impl Messages {
    /// One more packet; it waits for `after`, or, where that is empty, for what its node did in the round before.
    fn send(&mut self, source: u16, target: u16, kind: &'static str, after: Vec<u64>) -> u64 {
        let id = self.packets.len() as u64 + 1;
        let after = if after.is_empty() { self.before[usize::from(source)].clone() } else { after };
        self.packets.push(ProgramPacket { id, time_fs: 0, source, target, flits: self.flits, kind, after });
        self.now[usize::from(source)].push(id);
        self.now[usize::from(target)].push(id);
        id
    }

    fn next_round(&mut self) {
        self.before = std::mem::replace(&mut self.now, vec![Vec::new(); self.before.len()]);
    }

    fn all_to_all(&mut self, nodes: u16) {
        // In later rounds the first message of a node waits for the round before, and the others for the first one.
        let is_later = self.before.iter().any(|before| !before.is_empty());
        let mut first: Vec<Vec<u64>> = vec![Vec::new(); nodes.into()];
        for step in 1..nodes {
            for node in 0..nodes {
                // Below twice the largest number of nodes.
                let target = ((u32::from(node) + u32::from(step)) % u32::from(nodes)) as u16;
                let id = self.send(node, target, "message", first[usize::from(node)].clone());
                if is_later && step == 1 {
                    first[usize::from(node)] = vec![id];
                }
            }
        }
    }

    fn ring(&mut self, nodes: u16) {
        let last = nodes - 1;
        let mut came: Vec<Vec<u64>> = vec![Vec::new(); nodes.into()];
        for step in 0..2 * u32::from(last) {
            let kind = if step < u32::from(last) { "reduce" } else { "broadcast" };
            let sent: Vec<u64> = (0..nodes)
                .map(|node| {
                    self.send(node, if node == last { 0 } else { node + 1 }, kind, came[usize::from(node)].clone())
                })
                .collect();
            for (node, id) in sent.into_iter().enumerate() {
                came[(node + 1) % usize::from(nodes)] = vec![id];
            }
        }
    }

    fn tree(&mut self, nodes: u16) {
        let parent = |node: u16| (node - 1) / 2;
        let mut came: Vec<Vec<u64>> = vec![Vec::new(); nodes.into()];
        for node in (1..nodes).rev() {
            let id = self.send(node, parent(node), "reduce", came[usize::from(node)].clone());
            came[usize::from(parent(node))].push(id);
        }
        // What a node has from its parent; node 0 has all from its children.
        for node in 1..nodes {
            let id = self.send(parent(node), node, "broadcast", came[usize::from(parent(node))].clone());
            came[usize::from(node)] = vec![id];
        }
    }
}

/// The collective of a name among so many nodes, so many times, with messages of so many flits; `None` if none has the name.
///
/// # Errors
/// [`PacketProgramError::Length`].
pub fn collective(
    name: &str,
    nodes: u16,
    rounds: u32,
    flits: u32,
) -> Option<Result<PacketProgram, PacketProgramError>> {
    let n = u64::from(nodes);
    let (round, a_round): (fn(&mut Messages, u16), u64) = match name {
        "all-to-all" => (Messages::all_to_all, n * (n - 1)),
        "ring" => (Messages::ring, 2 * n * (n - 1)),
        "tree" => (Messages::tree, 2 * (n - 1)),
        _ => return None,
    };
    if a_round.saturating_mul(rounds.into()) > MOST_PACKETS as u64 {
        return Some(Err(PacketProgramError::Length));
    }
    let none = vec![Vec::new(); nodes.into()];
    let mut messages = Messages { packets: Vec::new(), flits, before: none.clone(), now: none };
    for _ in 0..rounds {
        round(&mut messages, nodes);
        messages.next_round();
    }
    Some(PacketProgram::new(messages.packets, nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program in steps without a fabric: in each step all packets come whose own are there. What each node knows, as a
    /// set of nodes whose values it has heard of; and the steps.
    fn heard(program: &PacketProgram, nodes: u16) -> (Vec<u32>, usize) {
        let mut known: Vec<u32> = (0..nodes).map(|node| 1 << node).collect();
        let mut there = vec![false; program.packets().len()];
        let mut steps = 0;
        while there.contains(&false) {
            let ready = |there: &[bool], n: &usize| {
                !there[*n] && program.packets()[*n].after.iter().all(|after| there[*after as usize - 1])
            };
            let now: Vec<usize> = (0..there.len()).filter(|n| ready(&there, n)).collect();
            assert!(!now.is_empty(), "it ends");
            let before = known.clone();
            for n in now {
                let ProgramPacket { source, target, .. } = program.packets()[n];
                known[usize::from(target)] |= before[usize::from(source)];
                there[n] = true;
            }
            steps += 1;
        }
        (known, steps)
    }

    #[test]
    fn at_the_end_everybody_has_heard_of_everybody() {
        for name in COLLECTIVE_NAMES {
            for nodes in [1, 2, 3, 4, 7, 16] {
                let program = collective(name, nodes, 1, 1).expect("a name").expect("a program");
                let (known, steps) = heard(&program, nodes);
                assert!(known.iter().all(|known| *known == (1 << nodes) - 1), "{name} of {nodes}");
                let expected = match (*name, nodes) {
                    (_, 1) => 0,
                    ("all-to-all", _) => 1,
                    ("ring", n) => 2 * usize::from(n - 1),
                    // Up and down the levels below node 0.
                    (_, n) => 2 * (usize::BITS - 1 - usize::from(n).leading_zeros()) as usize,
                };
                assert_eq!(steps, expected, "{name} of {nodes}");
            }
        }
    }

    #[test]
    fn a_round_begins_after_the_one_before() {
        let one = collective("tree", 7, 1, 1).expect("a name").expect("a program");
        let three = collective("tree", 7, 3, 1).expect("a name").expect("a program");
        assert_eq!(heard(&three, 7).1, 3 * heard(&one, 7).1);
    }

    #[test]
    fn too_many_packets_are_refused_before_they_are_made() {
        assert_eq!(collective("ring", 4096, 1 << 20, 1), Some(Err(PacketProgramError::Length)));
        assert_eq!(collective("nosuch", 4, 1, 1), None);
    }
}
