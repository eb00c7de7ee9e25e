//! Tests of the CXL specification's chapter 14 over a CXL.io link.

use super::credits::fc;
use super::framing::{framed, rested};
use super::rig::*;
use scalepool_protocols::cxl::cxlio::code::FcType;
use scalepool_protocols::cxl::cxlio::dllp::DllpFc;

/// A device with memory behind its link, and a host that writes and reads it.
struct System {
    link: Box<dyn Link>,
    memory: Vec<u8>,
    /// Lines that were written with poisoned data.
    poisoned: Vec<u64>,
    tag: u16,
    /// Looked at after each flit clock.
    watch: fn(&[u8]),
}

const LINE: u64 = 64;

impl System {
    fn new(mut link: Box<dyn Link>) -> System {
        link.bring_up();
        System { link, memory: vec![0; 1 << 16], poisoned: Vec::new(), tag: 0, watch: |_| () }
    }

    fn step(&mut self) {
        self.link.step();
        let form = self.link.form();
        while let Some(tlp) = self.link.end(Dir::Up).pop() {
            let (address, tag, bytes) = request_of(&tlp);
            let place = address as usize..address as usize + bytes;
            if tlp.kind() == IoCreditClass::Posted {
                self.memory[place].copy_from_slice(tlp.payload());
                self.poisoned.extend(tlp.is_poisoned().then_some(address));
            } else {
                let answer = completion(form, tag, &self.memory[place]);
                self.link.push(Dir::Up, answer);
            }
            (self.watch)(&self.memory);
        }
    }

    fn send(&mut self, mut tlp: IoTlp) {
        while let Err(refused) = self.link.end(Dir::Down).push(tlp) {
            assert_eq!(refused.why, Why::Full);
            tlp = refused.tlp;
            self.step();
        }
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        self.tag = (self.tag + 1) % 256;
        let tlp = write(self.link.form(), self.tag, address, data);
        self.send(tlp);
    }

    /// A read never passes a write, so it sees all that was written before.
    fn read(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        self.tag = (self.tag + 1) % 256;
        let tlp = read(self.link.form(), self.tag, address, bytes);
        self.send(tlp);
        for _ in 0..10_000 {
            self.step();
            if let Some(answer) = self.link.end(Dir::Down).pop() {
                assert_eq!(tag_of_completion(&answer), self.tag);
                return answer.payload().to_vec();
            }
        }
        panic!("no completion for address {address:#x}");
    }
}

/// Partly: optional in the book; the three algorithms as MWr and MRd of one host to a memory behind the device's link.
#[test]
fn c14_3_6_1_1() {
    const SETS: u64 = 3;
    const OFFSET: u64 = 0x2000;
    const WRITES: u64 = 6;
    for link in links() {
        let mut system = System::new(link);
        // 1a and 1b: writes of P, P+1, ..; with bogus ones before each good one.
        for bogus in [0, 2] {
            for set in 0..SETS {
                for n in 0..WRITES {
                    let address = set * OFFSET + n * LINE;
                    (0..bogus).for_each(|_| system.write(address, &[0xbb; 64]));
                    (0..3).for_each(|p| system.write(address, &[(0x10 * set + p) as u8; 64]));
                }
            }
            for set in 0..SETS {
                for n in 0..WRITES {
                    let read = system.read(set * OFFSET + n * LINE, 64);
                    assert_eq!(read, [(0x10 * set + 2) as u8; 64], "set {set}, line {n}, bogus {bogus}");
                }
            }
        }
        // 2: whoever looks at any time sees data no older than the flag and no newer than the next one, falling along
        // the addresses.
        const FLAG: u64 = 0x8000;
        const DATA: u64 = 0x9000;
        system.watch = |memory| {
            let flag = memory[FLAG as usize];
            let data: Vec<u8> = (0..WRITES).map(|n| memory[(DATA + n * LINE) as usize]).collect();
            assert!(data.iter().all(|&d| d == flag || d == flag + 1), "flag {flag}, data {data:?}");
            assert!(data.is_sorted_by(|a, b| a >= b), "data {data:?}");
        };
        for p in 1..20u8 {
            (0..WRITES).for_each(|n| system.write(DATA + n * LINE, &[p; 64]));
            system.write(FLAG, &[p; 4]);
            if p % 5 == 0 {
                assert_eq!(system.read(FLAG, 4), [p; 4]);
            }
        }
        assert_eq!(system.read(FLAG, 4), [19; 4]);
        system.link.rest();
        system.link.assert_no_events();
    }
}

/// What the far end has taken after each unit of a TLP that ends with its unit, and what follows.
fn taken(follows: impl Fn(&mut Units)) -> (Vec<usize>, u64) {
    let mut link = rested(config(), ReplayConfig::default());
    let mut far = link.io(Dir::Up).clone();
    follows(&mut link);
    link.steps(8);
    let now = link.wires.now();
    let after = link.sent_down().into_iter().map(|unit| {
        far.receive(&unit, now);
        far.stats().received[0] as usize
    });
    (after.collect(), far.stats().nullified)
}

#[test]
fn c14_6_10_1() {
    // The next flit has IDL alone.
    let idle = taken(|link| link.push(Dir::Down, framed(64)));
    assert_eq!(idle, (vec![0, 1], 0));
    // It has data.
    let data = taken(|link| {
        link.push(Dir::Down, framed(64));
        link.push(Dir::Down, framed(24));
    });
    assert_eq!(data, (vec![0, 2], 0));
    // It has EDB: the TLP is nullified, and comes again behind it.
    let edb = taken(|link| {
        link.io(Dir::Down).nullify(1);
        link.push(Dir::Down, framed(64));
    });
    assert_eq!(edb, (vec![0, 0, 1], 1));
}

#[test]
fn c14_12_1_2() {
    for mut link in links() {
        let form = link.form();
        link.bring_up();
        let good = write(form, 1, 0x40, &pattern(1, 64));
        let at = if form == IoTlpForm::NonFlit { (2, 0x40) } else { (good.front().len() + 6, 0x80) };
        let mut bytes = good.bytes().to_vec();
        bytes[at.0] |= at.1;
        let bad = IoTlp::new(form, bytes).expect("EP changes no length");
        assert_eq!((good.is_poisoned(), bad.is_poisoned()), (false, true));
        link.push(Dir::Up, good.clone());
        link.push(Dir::Up, bad.clone());
        // The host gets the data with their mark, and has counted it.
        assert_eq!(link.collect(Dir::Up, 100), [good, bad]);
        assert_eq!(link.end(Dir::Down).stats().poisoned, 1);
        link.rest();
        link.assert_no_events();
    }
}

/// Wrong UpdateFC to the end that sends in a direction: each is an event, and traffic goes on.
fn wrong_update_fc(dir: Dir) {
    let update = |hdr_fc, data_fc| {
        let fc_type = FcType::UpdateFcP;
        fc(DllpFc { fc_type, hdr_fc, data_fc, hdr_scale: 1, data_scale: 1, ..DllpFc::default() })
    };
    for mut link in links() {
        let form = link.form();
        link.bring_up();
        link.rest();
        let all_come = |link: &mut Box<dyn Link>| {
            let sent: Vec<IoTlp> = (0..20).map(|n| write(form, n, 0, &pattern(n as u8, 8))).collect();
            sent.iter().for_each(|tlp| link.push(dir, tlp.clone()));
            assert_eq!(link.collect(dir, 12_000), sent);
        };
        let full = IoCreditRoom { headers: Some(16), data: Some(256) };
        // More than may be open at once: not taken.
        link.inject_dllp(dir.opposite(), update(16 + 120, 256));
        assert_eq!(rules(&link.events(dir)), ["CXLIO-FCC-01"]);
        assert_eq!(link.end(dir).room(IoCreditClass::Posted), full);
        all_come(&mut link);
        link.rest();
        link.assert_no_events();
        // Credits taken back: less goes until the next right one, at most 10 us later.
        let said = 16 + 20;
        link.inject_dllp(dir.opposite(), update(said - 16, 256 + 20));
        assert_eq!(rules(&link.events(dir)), ["CXLIO-FCC-01"]);
        assert_eq!(link.end(dir).room(IoCreditClass::Posted).headers, Some(0));
        all_come(&mut link);
        link.rest();
        link.assert_no_events();
        assert_eq!(link.end(dir).room(IoCreditClass::Posted), full);
        // A few more than there are: the receiver sees TLPs without credit and drops them; then traffic goes on with
        // as many credits fewer, until the link is initialised again.
        link.end(dir.opposite()).hold_credits(true);
        link.inject_dllp(dir.opposite(), update(said + 20 + 2, 256 + 40));
        (0..18).for_each(|n| link.push(dir, write(form, n, 0, &[0; 4])));
        link.steps(200);
        assert_eq!(rules(&link.events(dir.opposite())), ["CXLIO-FCC-01"; 2]);
        link.end(dir.opposite()).hold_credits(false);
        assert_eq!(link.collect(dir, 12_000).len(), 16);
        link.events(dir);
        all_come(&mut link);
        link.assert_no_events();
        assert_eq!(link.end(dir).room(IoCreditClass::Posted).headers, Some(14));
    }
}

#[test]
fn c14_12_1_7_1() {
    wrong_update_fc(Dir::Up);
}

#[test]
fn c14_12_1_7_2() {
    wrong_update_fc(Dir::Down);
}
