//! Transaction layers without a link between them, and a peer that does what it is told.

use scalepool::kernel::Rng;
use scalepool::link::event::LinkEvent;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::tl::{Tl, TlClass, TlConfig, TlCreditCounts, TlHeldBuffers};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::field::{TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::half::{MessageHalf, TlFlit};
use scalepool_protocols::ualink::pack::{TlPacker, with_data};
use scalepool_protocols::ualink::unpack::{TlUnpacker, Transfer};

/// Bytes of a beat that name it.
pub fn beat(n: u64) -> [u8; 64] {
    std::array::from_fn(|k| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (8 * (k % 8))) as u8 ^ k as u8)
}

/// A read of whole beats.
pub fn read(address: u64, beats: u8, tag: u16) -> Transfer {
    Transfer::new(ControlField::Request(TlReq {
        cmd: ReqCmd::Read,
        src: 3,
        dst: 5,
        address,
        len: 16 * beats - 1,
        attr: 0xff,
        tag,
        ..TlReq::default()
    }))
}

/// A write of whole beats; `Write` enables all bytes.
pub fn write(cmd: ReqCmd, address: u64, beats: u8, tag: u16) -> Transfer {
    let ControlField::Request(req) = read(address, beats, tag).field else { unreachable!("a read is a request") };
    let data: Vec<[u8; 64]> = (0..beats).map(|n| beat(u64::from(tag) * 4 + u64::from(n))).collect();
    let req = TlReq { cmd, attr: 0, numbeats: beats - 1, ..req };
    with_data(ControlField::Request(req), &data, (cmd == ReqCmd::Write).then_some([0xff; 32]))
}

/// A response; 0 beats answer a write.
pub fn response(beats: u8, tag: u16) -> Transfer {
    let rsp = TlRsp { src: 3, dst: 5, tag, ..TlRsp::default() };
    if beats == 0 {
        return Transfer::new(ControlField::Response(TlRsp { rdwr: RdWr::Write, ..rsp }));
    }
    let data: Vec<[u8; 64]> = (0..beats).map(|n| beat(u64::from(tag) * 4 + u64::from(n))).collect();
    let rsp = TlRsp { rdwr: RdWr::Read, len: beats - 1, last: true, ..rsp };
    with_data(ControlField::Response(rsp), &data, None)
}

/// The same on another virtual channel.
pub fn on_vc(mut transfer: Transfer, vchan: u8) -> Transfer {
    match &mut transfer.field {
        ControlField::Request(req) => req.vchan = vchan,
        ControlField::Response(rsp) => rsp.vchan = vchan,
        _ => (),
    }
    transfer
}

/// Tag of a request or response as it comes out of a transaction layer.
pub fn tag(transfer: &Transfer) -> u16 {
    match &transfer.field {
        ControlField::Request(req) => req.tag,
        ControlField::Response(rsp) => rsp.tag,
        _ => unreachable!("a transaction layer hands out the uncompressed form"),
    }
}

/// Rules of events, in order.
pub fn rules(events: &[LinkEvent]) -> Vec<&'static str> {
    events.iter().map(|e| e.violation.rule).collect()
}

/// Two transaction layers, each TL flit there at once.
pub struct Both {
    /// The ends.
    pub ends: [Tl; 2],
    /// TL flits so far, by end.
    pub sent: [u64; 2],
}

impl Both {
    /// Both of a kind, credits not exchanged yet.
    pub fn new(config: TlConfig) -> Both {
        Both::of([config, TlConfig { role: CompressionRole::FromSwitch, ..config }])
    }

    /// Credits not exchanged yet.
    pub fn of(configs: [TlConfig; 2]) -> Both {
        Both { ends: configs.map(Tl::new), sent: [0; 2] }
    }

    /// As [`Both::new`], with credits exchanged.
    pub fn opened(config: TlConfig) -> Both {
        let mut both = Both::new(config);
        (0..400).for_each(|now| both.step(now));
        assert!(both.ends.iter().all(Tl::is_open));
        both
    }

    /// One TL flit each way.
    pub fn step(&mut self, now: u64) {
        for from in 0..2 {
            if let Some(flit) = self.ends[from].transmit(now) {
                self.sent[from] += 1;
                self.ends[1 - from].receive(&flit, now);
            }
        }
    }

    /// Everything of a class that end `n` has received; its buffers are free.
    pub fn take(&mut self, n: usize, class: TlClass) -> Vec<Transfer> {
        let mut taken = Vec::new();
        while let Some((transfer, held)) = self.ends[n].take(class) {
            self.ends[n].release(&held.expect("it came over the link"));
            taken.push(*transfer);
        }
        taken
    }

    /// Events of both.
    pub fn events(&mut self) -> Vec<LinkEvent> {
        self.ends.iter_mut().flat_map(Client::take_events).collect()
    }

    /// Every credit is where it was at the start.
    pub fn all_home(&self) -> bool {
        self.ends.iter().all(|end| end.credits().has() == end.credits().total() && end.is_quiet())
    }
}

/// Buffers of a config.
pub fn with_buffers(buffers: TlCreditCounts) -> TlConfig {
    TlConfig { buffers, ..TlConfig::accelerator() }
}

/// A transaction layer under test, and a peer made of a packer that keeps no rule.
pub struct Puppet {
    /// Under test.
    pub tl: Tl,
    /// What the peer sends.
    pub packer: TlPacker,
    /// What the peer understands.
    pub unpacker: TlUnpacker,
    /// Credits that the peer was given.
    pub given: Vec<TlFc>,
}

impl Puppet {
    /// Nothing has been exchanged.
    pub fn new(config: TlConfig) -> Puppet {
        Puppet {
            tl: Tl::new(config),
            packer: TlPacker::new(config.codec),
            unpacker: TlUnpacker::new(config.codec, config.role),
            given: Vec::new(),
        }
    }

    /// The peer has given plenty, and has got all.
    pub fn opened(config: TlConfig) -> Puppet {
        let mut puppet = Puppet::new(config);
        puppet.credits(TlFc { req_cmd_cnt: 7, rsp_cmd_cnt: 7, req_data_cnt: 31, rsp_data_cnt: 31, ..TlFc::default() });
        puppet.done(false);
        puppet.listen(400);
        assert!(puppet.tl.is_open());
        puppet
    }

    /// Everything in the packer goes.
    pub fn flush(&mut self) {
        while let Some(flit) = self.packer.pack() {
            self.tl.receive(&flit, 0);
        }
    }

    /// A TL flit goes.
    pub fn flit(&mut self, flit: &TlFlit) {
        self.tl.receive(flit, 0);
    }

    /// TL flits without content: the catch buffer drains.
    pub fn pause(&mut self, flits: usize) {
        (0..flits).for_each(|_| self.tl.receive(&TlFlit::default(), 0));
    }

    /// A transaction as it is, whatever it was paid with.
    pub fn send(&mut self, transfer: Transfer) {
        self.packer.push(transfer).expect("legal but for credits");
        self.flush();
    }

    /// Credits come to the layer under test.
    pub fn credits(&mut self, fc: TlFc) {
        self.flit(&control(&[ControlField::FlowControl(fc)]));
    }

    /// Message 0x01.
    pub fn done(&mut self, shared: bool) {
        self.packer.push_message(MessageHalf::initial_credits_done(shared));
        self.flush();
    }

    /// Takes what the layer under test sends.
    pub fn listen(&mut self, flits: u64) -> Vec<Transfer> {
        let mut got = Vec::new();
        for now in 0..flits {
            let Some(flit) = self.tl.transmit(now) else { continue };
            let read = self.unpacker.read(&flit);
            for placed in read.control.iter().flat_map(|c| &c.fields) {
                if let ControlField::FlowControl(fc) = placed.field {
                    self.given.push(fc);
                }
            }
            got.extend(read.delivered.into_iter().map(|transfer| *transfer));
        }
        got
    }

    /// Rules that the peer has broken, as the layer under test sees it.
    pub fn broken(&mut self) -> Vec<&'static str> {
        rules(&self.tl.take_events())
    }

    /// The next received transaction of a class, still in its buffers.
    pub fn take(&mut self, class: TlClass) -> Option<(Transfer, TlHeldBuffers)> {
        self.tl.take(class).map(|(transfer, held)| (*transfer, held.expect("it came over the link")))
    }
}

/// A TL flit whose lower half is a Control half of these fields.
pub fn control(fields: &[ControlField]) -> TlFlit {
    let mut writer = Writer::default();
    for field in fields {
        assert!(writer.put(field).expect("it fits"), "no room");
    }
    TlFlit { halves: [writer.half(), [0; 32]], ..TlFlit::default() }
}

/// A transaction of any kind, with its class and tag.
pub fn any(rng: &mut Rng, tag: u16) -> (TlClass, Transfer) {
    let beats = 1 + rng.below(4) as u8;
    let address = (rng.below(8) << 20) + 256 * rng.below(16);
    let (class, transfer) = match rng.below(6) {
        0 | 1 => (TlClass::Request, read(address, beats, tag)),
        2 => (TlClass::Request, write(ReqCmd::WriteFull, address, beats, tag)),
        3 => (TlClass::Request, write(ReqCmd::Write, address, beats, tag)),
        4 => (TlClass::Response, response(beats, tag)),
        _ => (TlClass::Response, response(0, tag)),
    };
    (class, on_vc(transfer, rng.below(4) as u8))
}

/// A config with authentication on or off.
pub fn with_tags(on: bool) -> TlConfig {
    let codec = UalConfig { authentication: on, ..UalConfig::SHEET };
    TlConfig { codec, ..TlConfig::accelerator() }
}
