//! The kernel's ring: 64 modules on one clock, joined by 16-deep channels of 256-bit items. Every module takes one item an
//! edge, adds its number to the four words, and passes the item on. `systemc/ring.cpp` is the same design in SystemC, and both
//! give the same hash of what lies in the channels at the end and of what every module passed on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};

/// Modules in the ring.
pub const MODULES: usize = 64;
/// Items that fit into a channel.
const DEPTH: u32 = 16;
/// 1 GHz; any period gives the same hash.
const PERIOD_FS: u64 = 1_000_000;

type Item = [u64; 4];

/// What a stage leaves behind: the items it passed on, and those in front of it.
type Left = Arc<Mutex<Vec<(u64, Vec<Item>)>>>;

struct Stage {
    rx: In<Item>,
    tx: Out<Item>,
    number: u64,
    passed: u64,
    /// The item that is there at the first edge.
    first: Option<Item>,
    /// The edge at which the ring stands still and the items are counted.
    end_cycle: u64,
    rest: Vec<Item>,
    left: Left,
}

impl Module for Stage {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        if cx.cycle() == self.end_cycle {
            while let Some(item) = self.rx.pop(cx) {
                self.rest.push(item);
            }
            return Next::Idle;
        }
        if self.tx.free(cx) == 0 {
            return Next::Idle;
        }
        let taken = if cx.cycle() == 0 { self.first.take() } else { self.rx.pop(cx) };
        let Some(mut item) = taken else { return Next::Idle };
        for word in &mut item {
            *word = word.wrapping_add(self.number);
        }
        self.passed += u64::from(self.tx.push(cx, item).is_ok());
        Next::busy_if(self.rx.is_due(cx))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left[self.number as usize - 1] = (self.passed, std::mem::take(&mut self.rest));
    }
}

/// Runs the ring with `items` items (at most 64, one before each module) for `cycles` cycles; returns the seconds that took
/// and the hash of the outcome.
pub fn run(items: usize, cycles: u64) -> (f64, u64) {
    assert!(items <= MODULES, "found {items} items, expected at most {MODULES}");
    let left: Left = Arc::new(Mutex::new(vec![(0, Vec::new()); MODULES]));
    let outcome = left.clone();
    let mut sim = Simulation::new(0);
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(PERIOD_FS)?)?;
        let (mut writers, mut readers) = (Vec::new(), Vec::new());
        for i in 0..MODULES {
            let (writer, reader) = p.channel(&format!("fifo[{i}]"), DEPTH, 1)?;
            writers.push(writer);
            readers.push(reader);
        }
        writers.rotate_left(1);
        for (i, (writer, reader)) in writers.into_iter().zip(readers).enumerate() {
            p.module(&format!("stage[{i}]"), clock, |bind| Stage {
                rx: bind.attach(reader),
                tx: bind.attach(writer),
                number: i as u64 + 1,
                passed: 0,
                first: (i < items).then_some([(i as u64) << 32; 4]),
                end_cycle: cycles,
                rest: Vec::new(),
                left: left.clone(),
            })?;
        }
        Ok(())
    });
    let options = RunOptions { stall_limit_fs: None, ..RunOptions::default() };
    let mut running = sim.start(&options).expect("the ring is well formed");
    let start = Instant::now();
    running.run_until(Time::from_fs(cycles * PERIOD_FS), |_| ()).expect("nothing stalls without a limit");
    let seconds = start.elapsed().as_secs_f64();
    running.run_until(Time::from_fs((cycles + 1) * PERIOD_FS), |_| ()).expect("nothing stalls without a limit");
    running.report().expect("the last edge took every item");
    // Its modules leave what they hold when they go.
    drop(running);

    let mut hash = 0xcbf2_9ce4_8422_2325;
    for (passed, items) in outcome.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        hash = mix(hash, *passed);
        hash = items.iter().flatten().fold(hash, |hash, word| mix(hash, *word));
    }
    (seconds, hash)
}

fn mix(hash: u64, value: u64) -> u64 {
    let hash = (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
    hash ^ (hash >> 29)
}
