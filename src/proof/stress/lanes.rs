//! Links of a stress run: messages under way, any of which may arrive next if its class and the ordering rules allow.

use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::ids::{AgentPort, IdSet};
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::order::must_stay_behind;
use scalepool_protocols::cxl::message::MessageIdentifier;

/// A message with the line that it is about, which answers do not carry.
#[derive(Debug, Clone, Copy)]
pub struct Letter {
    /// The message.
    pub msg: Msg<CacheLine>,
    /// Its line, where the identifiers say so.
    pub line: Option<LineAddr>,
}

/// Lines by identifier, of one link.
#[derive(Debug, Default)]
struct LineIdentifiers([Vec<Option<LineAddr>>; 4]);

impl LineIdentifiers {
    fn set(&mut self, kind: MessageIdentifier, id: u16, line: Option<LineAddr>) {
        let names = &mut self.0[kind as usize];
        if names.len() <= usize::from(id) {
            names.resize(usize::from(id) + 1, None);
        }
        names[usize::from(id)] = line;
    }

    fn get(&self, kind: MessageIdentifier, id: u16) -> Option<LineAddr> {
        self.0[kind as usize].get(usize::from(id)).copied().flatten()
    }

    /// The line of a message that is sent; requests give their identifier a line.
    fn line_of(&mut self, msg: &Msg<CacheLine>) -> Option<LineAddr> {
        let (kind, id) = msg.identifier();
        match *msg {
            Msg::H2dRsp { rsp_data, .. } => {
                let line = self.get(kind, id);
                // Of a pull it is the UQID under which the data comes.
                self.set(MessageIdentifier::Uqid, rsp_data, line.or(self.get(MessageIdentifier::Uqid, rsp_data)));
                line
            }
            Msg::M2sBirsp { low_addr, .. } => self.get(kind, id).map(|l| LineAddr(l.0 & !3 | u64::from(low_addr))),
            _ if msg.line().is_some() => {
                self.set(kind, id, msg.line());
                msg.line()
            }
            _ => self.get(kind, id),
        }
    }
}

/// All links.
#[derive(Debug)]
pub struct Lanes {
    lanes: Vec<Vec<Letter>>,
    names: Vec<LineIdentifiers>,
    /// Lanes that hold something.
    busy: IdSet,
    /// Messages of a class that a direction of a link holds at once, its credits; later ones wait at the sender.
    credits: usize,
}

impl Lanes {
    /// Of `links` links (1 to 4,096).
    pub fn new(links: usize, credits: usize) -> Self {
        let lanes = (0..links * 2).map(|_| Vec::new()).collect();
        let names = (0..links).map(|_| LineIdentifiers::default()).collect();
        Self { lanes, names, busy: IdSet::EMPTY, credits: credits.max(1) }
    }

    /// Number of a lane.
    pub fn of(link: usize, dir: Dir) -> usize {
        link * 2 + usize::from(dir == Dir::Up)
    }

    /// Link and direction of a lane.
    pub fn end(lane: usize) -> (usize, Dir) {
        (lane / 2, if lane % 2 == 1 { Dir::Up } else { Dir::Down })
    }

    /// Lanes that hold something.
    pub fn busy(&self) -> &IdSet {
        &self.busy
    }

    /// Puts a message on its way.
    pub fn send(&mut self, link: usize, msg: Msg<CacheLine>) -> Letter {
        let line = self.names[link].line_of(&msg);
        let lane = Self::of(link, msg.class().dir());
        let letter = Letter { msg, line };
        self.lanes[lane].push(letter);
        self.busy.insert(lane as AgentPort);
        letter
    }

    /// Messages of a lane in the order of sending.
    pub fn lane(&self, lane: usize) -> &[Letter] {
        &self.lanes[lane]
    }

    /// Whether message `index` may arrive next: nothing that it must not pass is before it, and it has its credit.
    pub fn is_free(&self, config: &CoherenceConfig, lane: usize, index: usize) -> bool {
        let (earlier, rest) = self.lanes[lane].split_at(index);
        let Some(Letter { msg, .. }) = rest.first() else { return false };
        let class = msg.class();
        earlier.iter().filter(|e| e.msg.class() == class).count() < self.credits
            && earlier.iter().all(|e| must_stay_behind(config, msg, &e.msg).is_none())
    }

    /// Takes a message out.
    pub fn remove(&mut self, lane: usize, index: usize) -> Letter {
        let letter = self.lanes[lane].remove(index);
        if self.lanes[lane].is_empty() {
            self.busy.remove(lane as AgentPort);
        }
        letter
    }

    /// Every value under way that will count: what is not bogus.
    pub fn values(&self) -> impl Iterator<Item = CacheLine> {
        self.lanes.iter().flatten().filter_map(|l| match l.msg {
            Msg::D2hData { bogus: true, .. } => None,
            msg => msg.data().copied(),
        })
    }
}
