//! The backing store: the bytes and the poison marks of an address space, kept page by page as they are first written.
//!
//! Modelled: 64-bit addresses, 64 B lines, byte enables, one poison mark a line. Left out: time, banks, error codes.
//!
//! Poison follows `memory §6.3`: a poisoned write marks the line; a later write of all 64 bytes clears the mark; a
//! partial write merges its bytes and keeps it.

use super::spread::SpreadMap;
use super::{ALL_BYTES, LINE_BYTES, LineBytes, line_address, merge_bytes};

/// Lines of a page, the unit of allocation: 256 bytes, the largest write of UALink and NVLink, so that writes that are spread
/// over a memory take no more than they hold. Nothing outside this file sees it.
const PAGE_LINES: usize = 4;
/// Bytes of a page.
const PAGE_BYTES: u64 = LINE_BYTES * PAGE_LINES as u64;

/// Most pages for which room is made at once. Each allocated by itself, pages took 80 instructions a flit of
/// `cxl68-expander` more. Room for one comes first, then twice as much each time, so that a small memory stays small.
const BLOCK_PAGES: usize = 16;

/// What a byte reads as that was never written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Background {
    /// Zero.
    #[default]
    Zero,
    /// Every aligned 8-byte word holds its own address, little-endian: a read that went astray shows where it landed.
    OwnAddress,
}

impl Background {
    /// The line at its address, a multiple of 64.
    pub fn line(self, address: u64) -> LineBytes {
        let mut line = [0; LINE_BYTES as usize];
        if self == Background::OwnAddress {
            // A line does not wrap around, so nothing overflows: 25 instructions instead of 180 with the checks.
            for (word, bytes) in line.as_chunks_mut().0.iter_mut().enumerate() {
                *bytes = address.wrapping_add(8 * word as u64).to_le_bytes();
            }
        }
        line
    }
}

/// A line as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredLine {
    /// The bytes, given even when poisoned.
    pub data: LineBytes,
    /// The bytes are known to be wrong.
    pub poison: bool,
}

#[derive(Debug, Clone)]
struct Page {
    lines: [LineBytes; PAGE_LINES],
    /// A bit for each line.
    poison: u8,
}

/// A page among those of its store.
#[derive(Debug, Clone, Copy)]
struct PagePlace {
    block: u32,
    page: u8,
}

/// A sparse memory of 2^64 bytes.
pub struct Store {
    /// Where each page lies, by number.
    places: SpreadMap<PagePlace>,
    /// All but the last one are full. None is ever moved.
    blocks: Vec<Vec<Page>>,
    background: Background,
}

impl Store {
    /// An empty store: every byte reads as `background`.
    pub fn new(background: Background) -> Store {
        Store { places: SpreadMap::default(), blocks: Vec::new(), background }
    }

    /// Reads the line that holds the byte at `address`.
    pub fn read_line(&self, address: u64) -> StoredLine {
        let page = self.places.get(&page_number(address)).map(|place| self.page(*place));
        line_of(page, self.background, address)
    }

    /// Whether anything was written near the lines from the one around `address` on, so many of them: to a page of theirs. What
    /// was not reads as the background.
    pub fn is_written(&self, address: u64, lines: u64) -> bool {
        let last = line_address(address).saturating_add(LINE_BYTES * lines.saturating_sub(1));
        (page_number(address)..=page_number(last)).any(|page| self.places.contains_key(&page))
    }

    /// Writes those bytes of the line around `address` whose bit in `byte_enables` is 1. `poison` is the mark that the
    /// write carries; see the module text for what it does to the mark of the line.
    pub fn write_line(&mut self, address: u64, data: &LineBytes, byte_enables: u64, poison: bool) {
        self.page_mut(address).write(line_in_page(address), data, byte_enables, poison);
    }

    /// Writes lines that follow each other from the one around `address` on, each with its byte enables and its poison, as
    /// [`Store::write_line`] does; a page is looked up once.
    pub fn write_lines(&mut self, address: u64, lines: impl IntoIterator<Item = (LineBytes, u64, bool)>) {
        let mut lines = lines.into_iter().zip(line_address(address) / LINE_BYTES..).peekable();
        while let Some((_, first)) = lines.peek() {
            let number = page_number(first * LINE_BYTES);
            let page = self.page_mut(first * LINE_BYTES);
            while let Some(((data, enables, poison), n)) = lines.next_if(|(_, n)| page_number(n * LINE_BYTES) == number)
            {
                page.write(line_in_page(n * LINE_BYTES), &data, enables, poison);
            }
        }
    }

    /// Sets or clears the poison mark of the line around `address` and leaves its bytes: the media fault input.
    pub fn set_poison(&mut self, address: u64, poison: bool) {
        self.page_mut(address).mark(line_in_page(address), poison);
    }

    /// The addresses of all poisoned lines, ascending.
    pub fn poisoned_lines(&self) -> impl Iterator<Item = u64> + '_ {
        let all = self.places.iter().map(|(number, place)| (*number, self.page(*place)));
        let mut pages: Vec<_> = all.filter(|(_, page)| page.poison != 0).collect();
        scalepool_ordered::sort_by_key(&mut pages, |(number, _)| *number);
        pages.into_iter().flat_map(|(number, page)| {
            let poisoned = (0..PAGE_LINES as u64).filter(|line| page.poison >> line & 1 == 1);
            poisoned.map(move |line| number * PAGE_BYTES + line * LINE_BYTES)
        })
    }

    fn page(&self, place: PagePlace) -> &Page {
        &self.blocks[place.block as usize][usize::from(place.page)]
    }

    fn page_mut(&mut self, address: u64) -> &mut Page {
        let Store { places, blocks, background } = self;
        let number = page_number(address);
        let PagePlace { block, page } = *places.entry(number).or_insert_with(|| {
            let room = blocks.last().map_or(0, |last| last.capacity().min(BLOCK_PAGES));
            if blocks.last().is_none_or(|last| last.len() == room) {
                blocks.push(Vec::with_capacity((2 * room).clamp(1, BLOCK_PAGES)));
            }
            let block = blocks.len() - 1;
            let line = |n: usize| background.line(number * PAGE_BYTES + n as u64 * LINE_BYTES);
            blocks[block].push(Page { lines: std::array::from_fn(line), poison: 0 });
            // 2^32 blocks are more than any machine has room for, and a block has 16 pages.
            PagePlace { block: block as u32, page: (blocks[block].len() - 1) as u8 }
        });
        &mut blocks[block as usize][usize::from(page)]
    }
}

/// The line around an address in its page, if that was ever written.
fn line_of(page: Option<&Page>, background: Background, address: u64) -> StoredLine {
    match page {
        Some(page) => {
            let line = line_in_page(address);
            StoredLine { data: page.lines[line], poison: page.poison >> line & 1 == 1 }
        }
        None => StoredLine { data: background.line(line_address(address)), poison: false },
    }
}

impl Page {
    fn write(&mut self, line: usize, data: &LineBytes, byte_enables: u64, poison: bool) {
        merge_bytes(&mut self.lines[line], data, byte_enables);
        let kept = byte_enables != ALL_BYTES && self.poison >> line & 1 == 1;
        self.mark(line, poison || kept);
    }

    fn mark(&mut self, line: usize, poison: bool) {
        self.poison = self.poison & !(1 << line) | u8::from(poison) << line;
    }
}

fn page_number(address: u64) -> u64 {
    address / PAGE_BYTES
}

fn line_in_page(address: u64) -> usize {
    (address % PAGE_BYTES / LINE_BYTES) as usize
}
