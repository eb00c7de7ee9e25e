//! NOPs of an idle link that are left out change no other flit.

use super::rig::*;
use std::collections::VecDeque;

/// Two ends that are given messages now and then; payload as it was sent, with its flit clock. `sparing`: an end sends only
/// when it says that it has to.
fn payload(link: LinkConfig, sparing: bool) -> (Vec<(u64, Cxl256Flit)>, u64) {
    let end = |dir| Cxl256End::cachemem(link, CachememConfig::cachemem(dir, link.mode, 20));
    let mut ends = [end(Dir::Down), end(Dir::Up)];
    let mut wires: [VecDeque<(u64, Cxl256Flit)>; 2] = Default::default();
    let mut rng = scalepool::kernel::Rng::from_seed(7);
    let (mut log, mut sent) = (Vec::new(), 0);
    for now in 1..6000 {
        for (n, dir) in Dir::ALL.into_iter().enumerate() {
            while let Some(&(due, flit)) = wires[1 - n].front().filter(|(due, _)| *due <= now) {
                ends[n].receive(&flit, due);
                wires[1 - n].pop_front();
            }
            if now < 5000 && rng.ratio(1, 200) {
                let of_dir: Vec<Class> = classes(dir).collect();
                for _ in 0..1 + rng.below(30) {
                    let class = of_dir[rng.below(of_dir.len() as u64) as usize];
                    let message = random_message(&mut rng, link.mode.routing(), class);
                    ends[n].client.send(message).expect("legal");
                }
            }
            while ends[n].client.take().is_some() {}
        }
        for (n, end) in ends.iter_mut().enumerate() {
            if sparing && end.wakes_at(now - 1).is_none_or(|at| at > now) {
                continue;
            }
            let flit = end.transmit(now);
            sent += 1;
            wires[n].push_back((now + LATENCY_FLITS, flit));
            if flit.header().flit_type != FlitType::Nop {
                log.push((now, flit));
            }
        }
    }
    for end in &mut ends {
        assert_eq!(end.take_events(), []);
        assert!(end.is_quiet());
    }
    (log, sent)
}

#[test]
fn nops_that_are_left_out_change_no_other_flit() {
    for mode in Mode::ALL {
        let link = LinkConfig { mode, ..LinkConfig::default() };
        let ((all, every), (spared, sent)) = (payload(link, false), payload(link, true));
        assert!(all == spared, "the same payload at the same time");
        println!("{}: {sent} of {every} flits sent", mode.protocol());
        assert!(2 * sent < every && all.len() > 100);
    }
}
