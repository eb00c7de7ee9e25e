//! Lines that a device sends in two transfers of 32 B, at an end of the model.

use super::bench::link;
use scalepool::link::classes::ByClass;
use scalepool::link::cxl68::EndConfig;
use scalepool::link::cxl68::end::Cxl68End;
use scalepool::link::port::Carries;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::message::S2mDrs;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Size};
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Wire;

/// What a host hears of a device that sends these halves of lines: tag, size, value.
fn heard(halves: &[(u16, Size, u8)], mut take: impl FnMut(&mut Cxl68End) -> Option<Message>) -> Vec<(u16, [u8; 64])> {
    let end = |dir| Cxl68End::new(EndConfig::mem(dir, link(), 16)).expect("a sound configuration");
    let (mut host, mut device) = (end(Dir::Down), end(Dir::Up));
    for (tag, size, value) in halves {
        let header = S2mDrs { tag: *tag, ..S2mDrs::default() };
        let bits = header.to_bits().expect("its fields fit");
        let data = Data { bytes: [*value; 64], size: *size, byte_enables: None };
        device
            .send(Cxl68Message::with_data(scalepool_protocols::cxl::cxl68::message::Class::S2mDrs, bits, data))
            .expect("it is legal");
    }
    let mut came = Vec::new();
    for now in 0..400 {
        let (down, up) = (host.transmit(now), device.transmit(now));
        down.iter().for_each(|unit| device.receive(unit, now));
        up.iter().for_each(|unit| host.receive(unit, now));
        while let Some(message) = take(&mut host) {
            let (Message::S2mDrs(header, _), Some(data)) = (&message, message.data()) else { panic!("{message:?}") };
            assert_eq!(data.byte_enables, None);
            came.push((header.tag, data.line));
        }
    }
    came
}

/// Agents and switches get whole lines, in the order in which they became whole.
#[test]
fn two_halves_are_one_line_for_agents() {
    let line = |low, high| std::array::from_fn(|n| if n < 32 { low } else { high });
    let [half, whole] = [Size::LowerHalf, Size::Line];
    let sent = [(1, half, 1), (2, half, 2), (3, whole, 3), (2, half, 4), (1, half, 5), (1, half, 6), (1, half, 7)];
    let expected = vec![(3, line(3, 3)), (2, line(2, 4)), (1, line(1, 5)), (1, line(6, 7))];
    assert_eq!(heard(&sent, Carries::<Message>::take_whole), expected);
    assert_eq!(heard(&sent, |end| ByClass::take_class(end, Class::S2mDrs)), expected);
}
