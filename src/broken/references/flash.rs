//! A memory of flash behind its buffer.
//!
//! Modelled: the buffer and the dies of a memory of a run, asked by a list of requests. Left out: what is read.

use super::machine::{Figure, NamedReference, number};
use scalepool_memory::backend::{
    BufferedMedia, LineBuffer, LineBufferConfig, Media, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming,
    ServerConfig,
};
use scalepool_memory::flash::preset::{self, BUFFER_WAYS, LOOKUP_FS};
use scalepool_memory::owner_clock::OwnerClock;

/// Femtoseconds of a nanosecond.
const NS: u64 = 1_000_000;
/// Time of the memory of the buffer \[fs\].
const BUFFER_FS: u64 = 30 * NS;
/// Bytes of a line.
const LINE_BYTES: u64 = 64;
/// Most events of a case: each request has a few.
const MOST_EVENTS: usize = 100_000;

/// All of them.
pub(super) static ALL: [NamedReference; 1] =
    [NamedReference { name: "flash", words: &["preset", "sets of the buffer", "request"], answers: flash }];

/// `PRESET SETS REQUEST ..`, a request being `read:PAGE.LINE` or `write:PAGE.LINE`, `@NS` behind it, and `*TIMES+STEP` for so many with pages
/// that far apart.
fn requests(word: &str, page_bytes: u64) -> Option<Vec<(u64, MemoryRequest)>> {
    let (word, now) = word.split_once('@').unwrap_or((word, "0"));
    let (now, repeated) = now.split_once('*').unwrap_or((now, "1+0"));
    let (times, step) = repeated.split_once('+')?;
    let (access, place) = word.split_once(':')?;
    let (page, line) = place.split_once('.').unwrap_or((place, "0"));
    let access = match access {
        "read" => MemoryAccess::Read,
        "write" => MemoryAccess::Write,
        _ => return None,
    };
    let [now, times, step, page, line] = [now, times, step, page, line].map(|text| text.parse::<u64>().ok());
    let address = |n: u64| Some(((page? + n * step?) * page_bytes / LINE_BYTES + line?) * LINE_BYTES);
    let request = |n| Some((now? * NS, MemoryRequest { address: address(n)?, bytes: LINE_BYTES, access }));
    (0..times?).map(request).collect()
}

fn flash(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [preset, sets, words @ ..] = words else { return None };
    let preset = preset::find(preset)?;
    let config = LineBufferConfig {
        bytes: sets.parse::<u64>().ok()? * BUFFER_WAYS * preset.page_bytes,
        page_bytes: preset.page_bytes,
        ways: BUFFER_WAYS,
        lookup_fs: LOOKUP_FS,
        memory: Media::Server(ServerConfig {
            latency_fs: BUFFER_FS,
            byte_time: (0, 1),
            clock: OwnerClock::new((1, 1)),
        }),
        behind: BufferedMedia::Flash(*preset),
        clock: OwnerClock::new((1, 1)),
    };
    let mut all = Vec::new();
    for word in words {
        all.extend(requests(word, preset.page_bytes)?);
    }
    let mut memory: LineBuffer<usize> = LineBuffer::new(&MemoryTiming::fixed(0), config);
    let (mut now, mut next, mut ended) = (0, 0, 0);
    for _ in 0..MOST_EVENTS {
        memory.advance(now);
        while memory.pop(now).is_some() {
            ended = now;
        }
        while let Some((from, request)) = all.get(next)
            && *from <= now
            && memory.push(now, request, next).is_ok()
        {
            next += 1;
        }
        let wanted = all.get(next).and_then(|(from, request)| match *from > now {
            true => Some(*from),
            false => memory.room_at(now, request),
        });
        match memory.wake_at(now).into_iter().chain(wanted).min() {
            Some(at) => now = at.max(now + 1),
            None => break,
        }
    }
    let last = all.last()?.0;
    let (buffer, dies) = memory.buffer()?;
    Some(vec![vec![
        number("ns from the last request to its answer", ended.saturating_sub(last) / NS),
        number("hits", buffer.hits),
        number("misses", buffer.misses),
        number("joined", buffer.joined),
        number("pages read", dies.reads),
        number("pages programmed", dies.programs),
        number("erases", dies.erases),
    ]])
}
