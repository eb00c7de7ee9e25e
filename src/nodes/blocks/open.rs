//! Requests of a node without an answer, by tag.

use super::{BlockAddress, BlockEnd, BlockFinding, MarkedLine};

/// A request without an answer.
pub(super) struct OpenBlock {
    pub to: BlockAddress,
    /// Where its answers come; `None`: from its own HBM.
    pub port: Option<usize>,
    pub is_read: bool,
    /// What has come of a read.
    pub lines: Vec<Option<MarkedLine>>,
    /// The first answer that says otherwise than that all is well.
    pub refused: Option<String>,
    pub since_cycle: u64,
    /// The transaction in traces.
    pub id: u64,
}

impl OpenBlock {
    /// What has come and what has not, of a request that is over; a read that is not complete breaks this rule.
    pub fn end(self, tag: u16, rule: &'static str, expected: &str) -> BlockEnd {
        let asked = self.lines.len();
        let lines: Vec<MarkedLine> = self.lines.into_iter().flatten().collect();
        let incomplete = (lines.len() < asked).then(|| BlockFinding {
            rule,
            found: format!("{} of {asked} beats", lines.len()),
            expected: expected.to_owned(),
            text: "a read response is not complete",
        });
        BlockEnd { tag, to: self.to, lines, refused: self.refused, incomplete }
    }
}

/// Requests by tag, and the tags that are free.
pub(super) struct OpenBlocks {
    open: Vec<Option<OpenBlock>>,
    free: Vec<u16>,
}

impl OpenBlocks {
    /// With so many tags, all of them free.
    pub fn new(tags: u16) -> OpenBlocks {
        OpenBlocks { open: (0..tags).map(|_| None).collect(), free: (0..tags).rev().collect() }
    }

    /// Whether no tag is free.
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// A tag, if one is free, for a request that [`begin`](OpenBlocks::begin)s or for a part of one.
    pub fn take_tag(&mut self) -> Option<u16> {
        self.free.pop()
    }

    /// The tag of a part is free again.
    pub fn give_tag(&mut self, tag: u16) {
        self.free.push(tag);
    }

    /// A request of a tag that was taken is open.
    pub fn begin(&mut self, tag: u16, open: OpenBlock) {
        self.open[usize::from(tag)] = Some(open);
    }

    /// The request of a tag.
    pub fn get_mut(&mut self, tag: u16) -> Option<&mut OpenBlock> {
        self.open.get_mut(usize::from(tag))?.as_mut()
    }

    /// The request of a tag is over.
    pub fn take(&mut self, tag: u16) -> Option<OpenBlock> {
        let open = self.open.get_mut(usize::from(tag))?.take()?;
        self.free.push(tag);
        Some(open)
    }

    /// All of them are over: tags and transactions of traces. Their tags stay taken, as late answers may come.
    pub fn take_all(&mut self) -> Vec<(u16, u64)> {
        let all = (0u16..).zip(&mut self.open);
        all.filter_map(|(tag, open)| open.take().map(|open| (tag, open.id))).collect()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// The cycle of the oldest one.
    pub fn since(&self) -> Option<u64> {
        self.open.iter().flatten().map(|open| open.since_cycle).min()
    }
}
