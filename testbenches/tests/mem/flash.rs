//! Flash behind its buffer, nvm-2400 and fixed (`memory §9`), by the arithmetic of the sheet.

use super::rig::line;
use scalepool::memory::backend::{
    BufferedMedia, LineBuffer, LineBufferConfig, LineBufferCounts, Media, MemoryAccess, MemoryBackend, MemoryRequest,
    MemoryTiming, ServerConfig,
};
use scalepool::memory::flash::preset::{BUFFER_BYTES, BUFFER_WAYS, KEYS, LOOKUP_FS, PRESETS};
use scalepool::memory::flash::{FlashArray, FlashCounts, FlashPreset};
use scalepool::memory::owner_clock::OwnerClock;

const NS: u64 = 1_000_000;
const US: u64 = 1000 * NS;
/// The owner counts femtoseconds, so nothing is rounded.
const FS: (u64, u64) = (1, 1);
/// Time of the memory of the buffer.
const BUFFER_FS: u64 = 30 * NS;

fn ull() -> &'static FlashPreset {
    &PRESETS[0]
}

fn config(preset: &FlashPreset, bytes: u64) -> LineBufferConfig {
    let server = ServerConfig { latency_fs: BUFFER_FS, byte_time: (0, 1), clock: OwnerClock::new(FS) };
    LineBufferConfig {
        bytes,
        page_bytes: preset.page_bytes,
        ways: BUFFER_WAYS,
        lookup_fs: LOOKUP_FS,
        memory: Media::Server(server),
        behind: BufferedMedia::Flash(*preset),
        clock: OwnerClock::new(FS),
    }
}

type Ended = Vec<(usize, u64)>;

/// Hands requests over at their times or as soon as there is room; ends in their order, and what was counted at rest.
fn run(config: LineBufferConfig, requests: &[(u64, MemoryRequest)]) -> (Ended, LineBufferCounts, FlashCounts) {
    let mut memory: LineBuffer<usize> = LineBuffer::new(&MemoryTiming::fixed(0), config);
    let (mut now, mut next, mut ended) = (0, 0, Vec::new());
    loop {
        memory.advance(now);
        while let Some(n) = memory.pop(now) {
            ended.push((n, now));
        }
        while let Some((from, request)) = requests.get(next)
            && *from <= now
            && memory.push(now, request, next).is_ok()
        {
            next += 1;
        }
        let wanted = requests.get(next).and_then(|(from, request)| match *from > now {
            true => Some(*from),
            false => memory.room_at(now, request),
        });
        match memory.wake_at(now).into_iter().chain(wanted).min() {
            Some(at) => now = at.max(now + 1),
            None => break,
        }
    }
    assert_eq!((next, ended.len(), memory.in_flight()), (requests.len(), requests.len(), 0), "each is answered once");
    assert!(memory.is_idle());
    let (buffer, flash) = memory.buffer().expect("it has a buffer");
    (ended, buffer, flash)
}

fn at(page: u64, access: MemoryAccess) -> MemoryRequest {
    line(page * ull().page_bytes / 64, access)
}

/// Time of a page on its channel: 4096 B at 1.2 GB/s.
fn channel(preset: &FlashPreset) -> u64 {
    (preset.page_bytes * 10 * NS).div_ceil(12)
}

/// A miss of a memory at rest, without the time of the buffer.
fn miss(preset: &FlashPreset) -> u64 {
    50 * NS + preset.read_fs + channel(preset)
}

#[test]
fn mem_fls_01_p() {
    let cells = PRESETS.iter().map(|p| (p.key, p.read_fs / US, p.program_fs / US, p.erase_fs / US, p.page_bytes));
    let sheet =
        [("flash_ull", 3, 100, 1000, 4096), ("flash_mlc", 75, 750, 3800, 8192), ("flash_slc", 25, 200, 1500, 4096)];
    assert_eq!(cells.collect::<Vec<_>>(), sheet);
    assert!(PRESETS.iter().all(|p| (p.channels, p.dies_per_channel) == (8, 8)));
    assert_eq!(PRESETS.iter().map(|p| p.key).collect::<Vec<_>>(), KEYS);
    assert_eq!((BUFFER_BYTES, BUFFER_WAYS, LOOKUP_FS), (64 << 20, 16, 50 * NS));
}

#[test]
fn mem_fls_01_n() {
    // Any figure that is another one shows in the time of a miss or of a program.
    type Change = fn(&mut FlashPreset);
    let changes: [Change; 2] = [|p| p.read_fs += 1, |p| p.page_bytes += 6];
    for change in changes {
        let mut other = *ull();
        change(&mut other);
        assert_ne!(miss(&other), miss(ull()));
    }
}

#[test]
fn mem_fls_02_p() {
    let read = at(5, MemoryAccess::Read);
    let (ended, counts, flash) = run(config(ull(), BUFFER_BYTES), &[(0, read), (100 * US, read), (200 * US, read)]);
    let hit = |from| from + 50 * NS + BUFFER_FS;
    assert_eq!(ended[1..], [(1, hit(100 * US)), (2, hit(200 * US))]);
    assert_eq!((counts.hits, counts.misses, flash.reads), (2, 1, 1), "no die is touched");
}

#[test]
fn mem_fls_02_n() {
    // A buffer that has lost the page reads it again, and the time shows it.
    let small = config(ull(), BUFFER_WAYS * ull().page_bytes);
    let mut requests: Vec<_> = (0..17).map(|page| (page * 100 * US, at(page, MemoryAccess::Read))).collect();
    requests.push((2000 * US, at(0, MemoryAccess::Read)));
    let (ended, _, flash) = run(small, &requests);
    assert_eq!(flash.reads, 18);
    assert_ne!(ended[17].1, 2000 * US + 50 * NS + BUFFER_FS);
}

#[test]
fn mem_fls_03_p() {
    assert_eq!(miss(ull()) / NS, 6463, "the example of the sheet");
    for preset in PRESETS {
        let (ended, ..) = run(config(preset, BUFFER_BYTES), &[(7, line(0, MemoryAccess::Read))]);
        assert_eq!(ended, [(0, 7 + miss(preset) + BUFFER_FS)], "{}", preset.key);
    }
}

#[test]
fn mem_fls_03_n() {
    let (ended, ..) = run(config(ull(), BUFFER_BYTES), &[(0, at(0, MemoryAccess::Read))]);
    assert_ne!(ended[0].1, 50 * NS + ull().read_fs + BUFFER_FS, "the channel has its time");
    assert_eq!(FlashArray::channel_fs(ull()), channel(ull()));
}

#[test]
fn mem_fls_04_p() {
    // 64 pages of one die come one after the other; a page leaves while the next one is read.
    let one_die: Vec<_> = (0..64).map(|n| (0, at(64 * n, MemoryAccess::Read))).collect();
    let (ended, ..) = run(config(ull(), BUFFER_BYTES), &one_die);
    let longer = ull().read_fs.max(channel(ull()));
    let expected: Vec<u64> = (0..64).map(|n| miss(ull()) + n * longer + BUFFER_FS).collect();
    assert_eq!(ended.iter().map(|(_, at)| *at).collect::<Vec<_>>(), expected);
    // 64 pages of as many dies: all are read at once, and each channel moves eight pages.
    let all: Vec<_> = (0..64).map(|page| (0, at(page, MemoryAccess::Read))).collect();
    let (ended, ..) = run(config(ull(), BUFFER_BYTES), &all);
    let expected: Vec<u64> = (0..64).map(|n| miss(ull()) + n / 8 * channel(ull()) + BUFFER_FS).collect();
    assert_eq!(ended.iter().map(|(_, at)| *at).collect::<Vec<_>>(), expected);
}

#[test]
fn mem_fls_04_n() {
    // Dies that overlapped would be as fast as 64 of them.
    let last = |stride: u64| {
        let requests: Vec<_> = (0..64).map(|n| (0, at(stride * n, MemoryAccess::Read))).collect();
        run(config(ull(), BUFFER_BYTES), &requests).0[63].1
    };
    assert!(last(64) > last(1));
}

/// Programs of one die, by writes to pages that push one another out of a buffer of one set; what was counted.
fn programs(count: u64) -> (LineBufferCounts, FlashCounts) {
    let small = config(ull(), BUFFER_WAYS * ull().page_bytes);
    let pages = count + BUFFER_WAYS;
    let requests: Vec<_> = (0..pages).map(|n| (n * 200 * US, at(64 * n, MemoryAccess::Write))).collect();
    let (_, counts, flash) = run(small, &requests);
    (counts, flash)
}

#[test]
fn mem_fls_05_p() {
    for (count, erases) in [(255, 0), (256, 1), (257, 1)] {
        let (counts, flash) = programs(count);
        assert_eq!((flash.programs, flash.erases, counts.written), (count, erases, count));
        assert_eq!(counts.dirty, BUFFER_WAYS, "what was not written behind is still there");
    }
}

#[test]
fn mem_fls_05_n() {
    // Pages that were only read are no reason for a program; counting them as dirty would show.
    let small = config(ull(), BUFFER_WAYS * ull().page_bytes);
    let requests: Vec<_> = (0..40).map(|n| (n * 200 * US, at(64 * n, MemoryAccess::Read))).collect();
    let (_, counts, flash) = run(small, &requests);
    assert_eq!((flash.programs, counts.written, counts.dirty), (0, 0, 0));
}

#[test]
fn mem_fls_06_p() {
    let lines: Vec<_> = (0..64).map(|n| (n, line(n, MemoryAccess::Read))).collect();
    let (ended, counts, flash) = run(config(ull(), BUFFER_BYTES), &lines);
    assert_eq!((counts.misses, counts.joined, flash.reads), (1, 63, 1));
    assert!(ended.iter().all(|(_, at)| *at == miss(ull()) + BUFFER_FS), "all have waited for the page");
    assert_eq!(ended.iter().map(|(n, _)| *n).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>(), "in order");
}

#[test]
fn mem_fls_06_n() {
    // Lines of two pages do not join: a second read is seen.
    let (_, counts, flash) =
        run(config(ull(), BUFFER_BYTES), &[(0, line(63, MemoryAccess::Read)), (1, line(64, MemoryAccess::Read))]);
    assert_eq!((counts.misses, counts.joined, flash.reads), (2, 0, 2));
}

#[test]
fn mem_fls_07_p() {
    // The page is the line of the buffer: 8 KiB of flash_mlc are one miss.
    let mlc = &PRESETS[1];
    let both = [(0, line(0, MemoryAccess::Read)), (0, line(127, MemoryAccess::Read))];
    let (_, counts, flash) = run(config(mlc, BUFFER_BYTES), &both);
    assert_eq!((counts.misses, counts.joined, flash.reads), (1, 1, 1));
    // 16 ways hold 16 pages of a set.
    let small = config(ull(), BUFFER_WAYS * ull().page_bytes);
    let twice: Vec<_> = (0..32).map(|n| (n * 100 * US, at(n % 16, MemoryAccess::Read))).collect();
    assert_eq!(run(small, &twice).1.hits, 16);
    // fixed(60, 64): the latency, then 64 bytes a nanosecond, however they come.
    let server = ServerConfig { latency_fs: 60 * NS, byte_time: (NS, 64), clock: OwnerClock::new(FS) };
    let mut fixed = MemoryTiming { media: Media::Server(server), ..MemoryTiming::fixed(0) }.build();
    (0..100_u64).for_each(|n| assert_eq!(fixed.push(0, &line(n, MemoryAccess::Read), n), Ok(())));
    let ends: Vec<u64> = std::iter::from_fn(|| {
        let at = fixed.ready_at()?;
        fixed.pop(at).map(|_| at)
    })
    .collect();
    assert_eq!(ends, (1..=100).map(|n| (60 + n) * NS).collect::<Vec<_>>());
}

#[test]
fn mem_fls_07_n() {
    // Half a page would be two misses, and a buffer that is no whole number of sets is refused.
    let half = LineBufferConfig { page_bytes: 4096, ..config(&PRESETS[1], BUFFER_BYTES) };
    let both = [(0, line(0, MemoryAccess::Read)), (0, line(127, MemoryAccess::Read))];
    assert_eq!(run(half, &both).1.misses, 2);
    let odd = config(ull(), BUFFER_BYTES + 4096).check().expect("it is refused");
    assert!(odd.contains("expected a multiple of 65536 bytes"), "{odd}");
}
