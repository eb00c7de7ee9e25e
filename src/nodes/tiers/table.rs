//! The page table at a source: where it finds each page, and which of its accesses to a page are open.
//!
//! Modelled: pages whose place is not known are asked for at their manager; pages that move are blocked: no access begins until the new
//! place is known, and the manager is told when none is open any more. Left out: a limit of known pages. A walk: an access to page 3 is
//! open when its manager blocks it; the next access waits; the first one ends, which the manager is told; the manager says the new place,
//! and the access that waited begins there.

use super::frames::TierFrame;

/// What a source may do with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translation {
    /// Access it here.
    At(TierFrame),
    /// Ask its manager where it is.
    Ask,
    /// Wait: the manager was asked, or moves it.
    Wait,
}

/// What is known of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PageKnowledge {
    #[default]
    Nothing,
    Asked,
    At(TierFrame),
    Blocked,
}

#[derive(Debug, Clone, Copy, Default)]
struct SourcePage {
    known: PageKnowledge,
    /// Accesses that have begun and not ended.
    open: u32,
    /// The manager waits for the last of them.
    is_draining: bool,
    /// An answer of the manager is on its way that was overtaken by a block.
    is_stale: bool,
}

/// What a source knows of all pages.
#[derive(Debug, Clone)]
pub struct PageTable {
    pages: Vec<SourcePage>,
}

impl PageTable {
    /// Of so many pages, of which nothing is known.
    pub fn new(pages: u32) -> PageTable {
        PageTable { pages: vec![SourcePage::default(); pages as usize] }
    }

    /// What to do with a page.
    pub fn look_up(&self, page: u32) -> Translation {
        match self.pages[page as usize].known {
            PageKnowledge::At(place) => Translation::At(place),
            PageKnowledge::Nothing => Translation::Ask,
            PageKnowledge::Asked | PageKnowledge::Blocked => Translation::Wait,
        }
    }

    /// The manager is asked for a page.
    pub fn asked(&mut self, page: u32) {
        self.pages[page as usize].known = PageKnowledge::Asked;
    }

    /// The manager has answered.
    pub fn answered(&mut self, page: u32, place: TierFrame) {
        let page = &mut self.pages[page as usize];
        // An answer that a block has overtaken tells the old place.
        if !std::mem::take(&mut page.is_stale) {
            page.known = PageKnowledge::At(place);
        }
    }

    /// An access or a copy begins.
    pub fn begins(&mut self, page: u32) {
        self.pages[page as usize].open += 1;
    }

    /// One ends; whether the manager, who waits for that, is to be told.
    pub fn ends(&mut self, page: u32) -> bool {
        let page = &mut self.pages[page as usize];
        page.open = page.open.saturating_sub(1);
        page.open == 0 && std::mem::take(&mut page.is_draining)
    }

    /// The manager blocks a page; whether no access is open, so that it is to be told at once.
    pub fn block(&mut self, page: u32) -> bool {
        let page = &mut self.pages[page as usize];
        page.is_stale |= page.known == PageKnowledge::Asked;
        page.known = PageKnowledge::Blocked;
        page.is_draining = page.open > 0;
        page.open == 0
    }

    /// The manager says the new place of a page that it had blocked.
    pub fn switch(&mut self, page: u32, place: TierFrame) {
        self.pages[page as usize].known = PageKnowledge::At(place);
    }
}
