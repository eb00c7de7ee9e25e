//! UAL-T22: noise. Nothing lost, nothing twice, nothing out of order, all rules silent. Where replays take longer than 1 us,
//! answers to DL messages are late, which is no fault of the peer then and is told as repaired.
//!
//! Modelled: both ends saturated, bit errors at 1e-6, 1e-5 and 1e-4 with three seeds each, of the Acks one in a hundred
//! spoilt beyond that, a UART stream and questions about identities beside the TL flits. `SCALEPOOL_SOAK` sets the payload
//! flits of each run at the two lower rates, a tenth of it at the highest; one million is the full size.

use super::rig::*;
use scalepool_testbenches::soak::number_in;
use std::sync::Arc;

/// Payload flits of one run, unless the environment says otherwise.
const SOAK_FLITS: u64 = 10_000;
/// Bits of a DL flit.
const FLIT_BITS: u32 = 5120;

fn soak_flits() -> u64 {
    number_in("SCALEPOOL_SOAK", SOAK_FLITS)
}

/// Bit errors of a direction: the flits until the next one are drawn, not every bit.
struct Noise {
    rng: Rng,
    ber: f64,
    bits_until: u64,
    spoilt: u64,
}

impl Noise {
    fn new(ber: f64, seed: u64, name: &str) -> Noise {
        let mut noise = Noise { rng: Rng::for_name(seed, name), ber, bits_until: 0, spoilt: 0 };
        noise.draw();
        noise
    }

    fn draw(&mut self) {
        // Geometric distribution of the distance between errors.
        let uniform = (self.rng.below(1 << 53) + 1) as f64 / (1u64 << 53) as f64;
        self.bits_until += (uniform.ln() / (1.0 - self.ber).ln()) as u64 + 1;
    }

    fn pass(&mut self, sent: OnLine) -> OnLine {
        let OnLine::Flit(mut flit) = sent else { return sent };
        let before = self.bits_until;
        while self.bits_until <= FLIT_BITS.into() {
            let bit = self.bits_until as usize - 1;
            Arc::make_mut(&mut flit).0[bit / 8] ^= 1 << (bit % 8);
            self.draw();
        }
        if before > FLIT_BITS.into() && self.is_lost_ack(&flit) {
            Arc::make_mut(&mut flit).0[self.rng.below(640) as usize] ^= 0x80;
            self.spoilt += 1;
        }
        self.spoilt += u64::from(before <= FLIT_BITS.into());
        self.bits_until -= u64::from(FLIT_BITS);
        OnLine::Flit(flit)
    }

    fn is_lost_ack(&mut self, flit: &DlFlit) -> bool {
        flit.header().op() == FlitOp::Ack && self.rng.ratio(1, 100)
    }
}

fn soak(ber: f64, payload_flits: u64, seed: u64) {
    // 9.8125 TL flits a payload flit.
    let each = payload_flits * 157 / 16;
    let mut pair = pair_of(configs(), [each; 2]);
    let mut noise = [Noise::new(ber, seed, "up"), Noise::new(ber, seed, "down")];
    let (mut sent, mut got) = ([0u32; 2], [0u32; 2]);
    let limit = payload_flits * 200 + 20_000;
    loop {
        assert!(pair.wires.now() < limit, "it hangs: {:?}", pair.host.replay().stats());
        pair.step_with(&mut |from, _, flit| Some(noise[from].pass(flit)));
        let now = pair.wires.now();
        let busy = pair.ends().into_iter().any(|end| end.client.next < each);
        for n in 0..2 {
            let messages = &mut pair.ends_mut()[n].messages;
            if busy && now.is_multiple_of(11) && messages.uart().waiting() < 64 {
                messages.uart().send(sent[n]);
                sent[n] += 1;
            }
            while let Some(dword) = messages.uart().take() {
                assert_eq!(dword, got[n]);
                got[n] += 1;
            }
            if busy && now.is_multiple_of(1009) {
                messages.ask_device_id();
            }
        }
        if !busy && pair.is_quiet() && got == [sent[1], sent[0]] {
            break;
        }
    }
    assert_all_came(&pair);
    let wrong: Vec<LinkEvent> = events(&mut pair).into_iter().filter(|e| e.severity != Severity::Corrected).collect();
    assert_eq!(wrong, [], "every rule is silent");
    let stats: Vec<_> = pair.ends().into_iter().map(|end| *end.replay().stats()).collect();
    assert!(stats.iter().all(|s| s.sent >= payload_flits && s.replays > 0), "{stats:?}");
    assert!(pair.ends().into_iter().all(|end| end.stats().downs == 0));
    println!(
        "bit error rate {ber:e}, seed {seed}: {} payload flits, {each} TL flits and {} UART DWords each way in {} flit \
         times; {} flits spoilt, {} replays, {} flits again, {} requests",
        stats[0].sent,
        got[0],
        pair.wires.now(),
        noise[0].spoilt + noise[1].spoilt,
        stats[0].replays + stats[1].replays,
        stats[0].replayed + stats[1].replayed,
        stats[0].requests + stats[1].requests,
    );
}

#[test]
fn t22_one_bit_in_a_million() {
    (1..=3).for_each(|seed| soak(1e-6, soak_flits(), seed));
}

#[test]
fn t22_one_bit_in_a_hundred_thousand() {
    (1..=3).for_each(|seed| soak(1e-5, soak_flits(), seed));
}

#[test]
fn t22_one_bit_in_ten_thousand() {
    (1..=3).for_each(|seed| soak(1e-4, soak_flits() / 10, seed));
}
