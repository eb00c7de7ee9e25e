//! Two transaction layers over a link; the rules one by one stand in the conformance suite.

use super::transfer::destination;
use super::{Tl, TlClass, TlConfig, TlCreditCounts};
use crate::event::LinkEvent;
use crate::ualink::line::{LaneRate, UalLine, UalWidth};
use crate::ualink::{EndConfig, Pair, UalEnd};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::pack::with_data;

fn pair(configs: [TlConfig; 2]) -> Pair<Tl> {
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 1 };
    let ends = [EndConfig::accelerator(line, 0), EndConfig::switch_port(line, 1)];
    Pair::new(ends, configs.map(Tl::new), 10)
}

/// Both ends write and answer as fast as they can; gives bytes written from end 0 and TL flits of end 0 in the middle.
fn writes(config: TlConfig, bytes: u64) -> (u64, u64) {
    let mut pair = pair([config; 2]);
    let (mut written, mut at_start) = (0, (0, 0));
    for now in 0..4000u64 {
        pair.step();
        for n in 0..2u16 {
            let end = &mut pair.ends_mut()[usize::from(n)].client;
            while end.waiting(TlClass::Request) < 16 {
                let beats = bytes as usize / 64;
                let req = TlReq {
                    cmd: ReqCmd::WriteFull,
                    src: n,
                    dst: 1 - n,
                    address: 0x1000,
                    len: (bytes / 4 - 1) as u8,
                    numbeats: (beats - 1) as u8,
                    ..TlReq::default()
                };
                end.send(with_data(ControlField::Request(req), &vec![[7; 64]; beats], None)).expect("legal");
            }
            while let Some((request, held)) = end.take(TlClass::Request) {
                assert_eq!(destination(&request.field), n);
                end.release(&held.expect("it came over the link"));
                let rsp = TlRsp { dst: 1 - n, rdwr: RdWr::Write, ..TlRsp::default() };
                end.send(with_data(ControlField::Response(rsp), &[], None)).expect("legal");
            }
            while let Some((_, held)) = end.take(TlClass::Response) {
                end.release(&held.expect("it came over the link"));
                written += if n == 0 { bytes } else { 0 };
            }
        }
        if now == 1000 {
            at_start = (written, pair.host.client.stats().flits);
        }
    }
    let events: Vec<LinkEvent> = pair.ends_mut().into_iter().flat_map(UalEnd::take_events).collect();
    assert_eq!(events, []);
    (written - at_start.0, pair.host.client.stats().flits - at_start.1)
}

#[test]
fn efficiency_of_steady_writes() {
    // The packings of `ualink` §15 are examples; with everything compressed, its maximum is the limit, and is reached.
    for (requests, responses, of) in [(false, false, (512, 576)), (false, true, (768, 832)), (true, true, (1280, 1344))]
    {
        let buffers = TlCreditCounts::even([256, 1024], [0, 0]);
        let (compress_requests, compress_responses) = (requests, responses);
        let config = TlConfig { buffers, compress_requests, compress_responses, ..TlConfig::accelerator() };
        let (bytes, flits) = writes(config, 256);
        let (is, want) = (bytes as f64 / (64 * flits) as f64, f64::from(of.0) / f64::from(of.1));
        assert!(is > 0.999 * want && is < 1.001 * 1280.0 / 1344.0, "{requests} {responses}: {is}, expected {want}");
    }
}

#[test]
fn one_credit_of_each_is_enough() {
    let config = TlConfig { buffers: TlCreditCounts::even([1, 4], [0, 0]), ..TlConfig::accelerator() };
    let (bytes, _) = writes(config, 256);
    assert!(bytes > 0);
}
