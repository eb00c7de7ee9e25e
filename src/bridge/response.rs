//! The answer of the bridge to a UALink request (`bridge` §3.3, §4.2).
//!
//! Modelled: one response with all beats in ascending order, the lines that the request touches inside its block; one that is not OKAY
//! has as many beats, of ones. Left out: which beats leave by themselves. A walk: two lines of a read are in, one of them poisoned; the response has
//! two beats, the second is marked.

use super::commands::AnswerChannel;
use scalepool_coherence::content::CacheLine;
use scalepool_protocols::ualink::code::{RdWr, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;

/// The answer of accelerator number `own` to a request that touches so many lines; `beats` are those that it has read, used if all is
/// well.
pub fn answer(
    own: u16,
    req: &TlReq,
    channel: AnswerChannel,
    status: Status,
    beats: &[CacheLine],
    count: usize,
) -> Transfer {
    let rsp = TlRsp { dst: req.src, src: own, tag: req.tag, vchan: req.vchan, status, ..TlRsp::default() };
    if channel == AnswerChannel::Write {
        return Transfer::new(ControlField::Response(TlRsp { rdwr: RdWr::Write, ..rsp }));
    }
    let ones = vec![CacheLine::of([0xff; 64]); count];
    let beats = if status == Status::OKAY { beats } else { &ones };
    let len = beats.len().saturating_sub(1) as u8;
    let field = ControlField::Response(TlRsp { rdwr: RdWr::Read, last: true, offset: 0, len, ..rsp });
    let mut answer = Transfer::new(field);
    for (n, beat) in beats.iter().enumerate() {
        for half in beat.bytes.as_chunks().0 {
            answer.data.push(*half, 2 * beats.len());
        }
        answer.poisoned |= u8::from(beat.poison) << n;
    }
    answer
}
