//! Goodput of the packer with queues that never run dry and credits without end: bytes of lines in bytes of flits.

use super::rig::random_message;
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::packer::Packer;
use scalepool_protocols::cxl::cxl256::stream::LINE_SLOTS;
use scalepool_protocols::cxl::cxl256::{Class, Mode};

/// Data slots a flit in the long run, lines without trailers.
fn data_slots(mode: Mode, classes: &[Class]) -> f64 {
    let mut packer = Packer::new(mode, classes[0].dir(), Cxl256Config::default());
    let mut rng = Rng::for_name(1, "goodput");
    let mut lines = 0;
    let flits = 2000;
    for _ in 0..flits {
        for &class in classes {
            while packer.waiting(class) < 16 {
                let message = random_message(&mut rng, mode.routing(), class);
                if message.data.is_none_or(|d| d.byte_enables.is_none() && d.metadata.is_none()) {
                    packer.push(message).expect("legal");
                }
            }
        }
        let before: usize = classes.iter().filter(|c| c.has_data()).map(|&c| packer.waiting(c)).sum();
        packer.pack(&mut [u16::MAX; 12]).expect("there is always something");
        lines += before - classes.iter().filter(|c| c.has_data()).map(|&c| packer.waiting(c)).sum::<usize>();
    }
    (LINE_SLOTS * lines) as f64 / f64::from(flits)
}

#[test]
fn saturated_reads_and_writes_fill_the_flit() {
    let cases: [(&str, &[Class], f64); 4] = [
        ("reads, answers alone", &[Class::S2mDrs], 13.0),
        ("writes, requests alone", &[Class::M2sRwd], 11.0),
        ("answers of reads and writes", &[Class::S2mDrs, Class::S2mNdr], 10.0),
        ("requests of reads and writes", &[Class::M2sRwd, Class::M2sReq], 8.0),
    ];
    for mode in Mode::ALL {
    for (name, classes, _) in cases {
        let slots = data_slots(mode, classes);
        println!("{} {name}: {slots:.3} data slots a flit of 14, {:.1} % of 256 B", mode.protocol(), 100.0 * slots * 16.0 / 256.0);
    }
    }
}
