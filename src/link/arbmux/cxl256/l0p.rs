//! L0p: the width of the link, agreed by ALMPs (`cxl-256b` §6).
//!
//! Modelled: one Request at a time and side, its answer by the width or by NAK, Requests that cross, the width that
//! follows. Left out: what lanes do. The width is one for both directions; it changes at a side when an answer other than
//! NAK leaves or comes, so the two sides differ for the time that the answer is under way.
//!
//! The sheet gives the messages; who yields is our choice and stands in the private `yields` and `agrees`.

use super::state::STATE_BYTE;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// Width of a link, narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkWidth {
    /// 1 lane.
    X1,
    /// 2 lanes.
    X2,
    /// 4 lanes.
    X4,
    /// 8 lanes.
    X8,
    /// 16 lanes.
    X16,
}

impl LinkWidth {
    /// All widths, narrowest first.
    pub const ALL: [LinkWidth; 5] = [LinkWidth::X1, LinkWidth::X2, LinkWidth::X4, LinkWidth::X8, LinkWidth::X16];

    /// Lanes, 1 to 16.
    pub const fn lanes(self) -> u64 {
        1 << self as u64
    }
}

/// What an ALMP says about the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Says {
    /// A Request.
    Request {
        /// Width that is asked for.
        width: LinkWidth,
        /// With priority.
        priority: bool,
    },
    /// A Status that agrees.
    Ack(LinkWidth),
    /// A Status that refuses.
    Nak,
}

/// Why a width cannot be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WidthRefused {
    /// The link has fewer lanes.
    #[error("a width of x{found}: expected at most x{full}, the width of the link", found = .found.lanes(), full = .full.lanes())]
    TooWide {
        /// Asked for.
        found: LinkWidth,
        /// Width of the link.
        full: LinkWidth,
    },
    /// A Request waits for its answer.
    #[error("a width while the Request for x{lanes} waits for its answer: expected one Request at a time", lanes = .0.lanes())]
    Pending(LinkWidth),
}

/// A change of the width at one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WidthMove {
    /// From this width.
    pub from: LinkWidth,
    /// To this width.
    pub to: LinkWidth,
    /// The answer that led there; `None`: the link has come up from its down state.
    pub by: Option<Says>,
}

/// Judges a change of the width: it is the one of an answer that agrees.
pub fn check_width(made: &WidthMove) -> Option<Violation> {
    let legal = made.by.is_none_or(|by| by == Says::Ack(made.to));
    let found = format!("{:?} to {:?} by {:?}", made.from, made.to, made.by);
    let text = "the width of the link has changed without an acknowledgement";
    (!legal).then(|| Violation::at_byte("CXL256-ALM-05", STATE_BYTE, found, "the width of an acknowledgement", text))
}

/// One side's view of the width.
#[derive(Debug, Clone)]
pub struct L0pSide {
    dir: Dir,
    full: LinkWidth,
    narrowest: LinkWidth,
    width: LinkWidth,
    /// Our Request whose answer has not come: width and priority.
    asked: Option<(LinkWidth, bool)>,
    outbox: VecDeque<Says>,
    moves: Vec<WidthMove>,
}

impl L0pSide {
    /// A link of full width at the port that transmits in a direction; `narrowest`: see [`L0pSide::set_narrowest`].
    pub fn new(dir: Dir, full: LinkWidth, narrowest: LinkWidth) -> L0pSide {
        let (asked, outbox, moves) = (None, VecDeque::new(), Vec::new());
        L0pSide { dir, full, narrowest, width: full, asked, outbox, moves }
    }

    /// Width in use.
    pub fn width(&self) -> LinkWidth {
        self.width
    }

    /// Flit clocks of the full width that a flit takes at the present one, 1 to 16.
    pub fn flit_clocks(&self) -> u64 {
        self.full.lanes() / self.width.lanes()
    }

    /// Our Request without an answer so far: width and priority.
    pub fn asked(&self) -> Option<(LinkWidth, bool)> {
        self.asked
    }

    /// From now on this side agrees to Requests without priority down to `width`, and to wider ones than the present.
    pub fn set_narrowest(&mut self, width: LinkWidth) {
        self.narrowest = width;
    }

    /// Asks for a width; nothing happens if it is the present one.
    ///
    /// # Errors
    /// The link has fewer lanes, or a Request waits for its answer.
    pub fn ask(&mut self, width: LinkWidth, priority: bool) -> Result<(), WidthRefused> {
        if width > self.full {
            return Err(WidthRefused::TooWide { found: width, full: self.full });
        }
        if let Some((pending, _)) = self.asked {
            return Err(WidthRefused::Pending(pending));
        }
        if width != self.width {
            self.asked = Some((width, priority));
            self.outbox.push_back(Says::Request { width, priority });
        }
        Ok(())
    }

    /// Changes since the last call.
    pub fn take_moves(&mut self) -> Vec<WidthMove> {
        std::mem::take(&mut self.moves)
    }

    /// Whether an ALMP waits.
    pub fn has_almp(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Nothing waits, and no answer is due.
    pub fn is_quiet(&self) -> bool {
        self.outbox.is_empty() && self.asked.is_none()
    }

    /// The link has come up from its down state, with all lanes.
    pub fn link_reset(&mut self) {
        self.outbox.clear();
        self.asked = None;
        self.go(self.full, None);
    }

    fn go(&mut self, to: LinkWidth, by: Option<Says>) {
        if to != self.width {
            self.moves.push(WidthMove { from: self.width, to, by });
            self.width = to;
        }
    }

    /// The next ALMP, which leaves now.
    pub fn transmit(&mut self) -> Option<Says> {
        let says = self.outbox.pop_front()?;
        if let Says::Ack(width) = says {
            self.go(width, Some(says));
        }
        Some(says)
    }

    /// Whether our Request gives way to the peer's that crosses it: to priority, then to more lanes, then the upstream
    /// port's to the downstream port's. Both sides decide alike, so of two Requests one is refused.
    fn yields(&self, theirs: (LinkWidth, bool)) -> bool {
        let Some((width, priority)) = self.asked else { return true };
        let rank = |(width, priority): (LinkWidth, bool), dir| (priority, width, dir == Dir::Down);
        rank((width, priority), self.dir) < rank(theirs, self.dir.opposite())
    }

    /// Whether this side is content with a width: any with priority, else one that is not too narrow for it.
    fn agrees(&self, (width, priority): (LinkWidth, bool)) -> bool {
        width <= self.full && (priority || width >= self.narrowest || width >= self.width)
    }

    /// Takes what the peer says.
    pub fn receive(&mut self, says: Says) -> Option<Violation> {
        let finding = |expected: String, text| {
            Some(Violation::at_byte("CXL256-ALM-05", STATE_BYTE, format!("{says:?}"), expected, text))
        };
        match (says, self.asked) {
            (Says::Request { width, priority }, _) => {
                let theirs = (width, priority);
                let agreed = self.yields(theirs) && self.agrees(theirs);
                self.outbox.push_back(if agreed { Says::Ack(width) } else { Says::Nak });
                None
            }
            (_, None) => finding("no answer".into(), "an answer about the width received although nothing was asked"),
            (Says::Ack(width), Some((asked, _))) if width != asked => {
                finding(format!("{asked:?} or NAK"), "the answer names another width than the Request")
            }
            (Says::Ack(width), Some(_)) => {
                self.asked = None;
                self.go(width, Some(says));
                None
            }
            (Says::Nak, Some(_)) => {
                self.asked = None;
                None
            }
        }
    }
}
