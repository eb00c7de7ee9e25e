//! A requester and a completer that exchange the bytes of TLPs over two queues; every TLP is encoded and decoded on its way.

use scalepool::endpoint::completer::{Completer, CompleterConfig};
use scalepool::endpoint::config_space::registers::{COMMAND, COMMAND_MEMORY, bar_at};
use scalepool::endpoint::config_space::type3::{Type3Config, type3};
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::requester::{Done, RequestFailure, Requester, RequesterConfig};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool::memory::store::{Background, Store};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;

/// Non-flit mode, flit mode, and flit mode with PBR headers.
pub const FORMS: [TlpForm; 3] = [TlpForm::NonFlit, TlpForm::Flit, TlpForm::Pbr { spid: 0x123, dpid: 0x456 }];
/// Host.
pub const ROOT: u16 = 0x0000;
/// Device: bus 1.
pub const DEVICE: u16 = 0x0100;
/// Where [`Rig::enable`] puts the BARs: below and above 4 GiB.
pub const BARS: [u64; 2] = [0x9000_0000, 0x12_0000_0000];
/// Time-out of the requester.
pub const TIMEOUT: u64 = 100;

pub struct Rig {
    pub form: TlpForm,
    pub requester: Requester,
    pub completer: Completer,
    /// TLPs that the device sent, in order.
    pub up: Vec<Tlp>,
    pub now: u64,
    /// Completions that vanish, counted from the next one.
    pub swallow: Option<usize>,
}

impl Rig {
    pub fn new(form: TlpForm) -> Rig {
        Rig::with(form, &Type3Config::default(), CompleterConfig::default(), 32)
    }

    pub fn with(form: TlpForm, device: &Type3Config, completer: CompleterConfig, outstanding: usize) -> Rig {
        let space = type3(device).expect("a device that registers can describe");
        Rig {
            form,
            requester: Requester::new(RequesterConfig { id: ROOT, outstanding, timeout: TIMEOUT }),
            completer: Completer::new(completer, space, Store::new(Background::Zero)),
            up: Vec::new(),
            now: 0,
            swallow: None,
        }
    }

    /// A device whose BARs are programmed and answer.
    pub fn enabled(form: TlpForm) -> Rig {
        let mut rig = Rig::new(form);
        rig.enable();
        rig
    }

    pub fn enable(&mut self) {
        for (n, base) in BARS.into_iter().enumerate() {
            for half in 0..2 {
                let value = (base >> (32 * half)) as u32;
                self.write_config((bar_at(n) + 4 * half) as u16, value, 0xf);
            }
        }
        self.write_config(COMMAND.start as u16, COMMAND_MEMORY.into(), 0x3);
    }

    /// The same TLP after it has travelled.
    pub fn travel(&self, tlp: &Tlp) -> Tlp {
        let bytes = tlp.encode(self.form).expect("every field fits");
        let there = Tlp::decode(&bytes, self.form).expect("our own bytes");
        assert_eq!(&there, tlp);
        there
    }

    /// Sends without a look at the answers.
    pub fn send(&mut self, kind: TlpKind, data: Vec<u8>) -> Tlp {
        let tlp = self.requester.send(Tlp::new(kind, 0, data), self.now).expect("room");
        let there = self.travel(&tlp);
        for answer in self.completer.receive(&there) {
            if let Some(left) = &mut self.swallow {
                if *left == 0 {
                    self.swallow = None;
                    continue;
                }
                *left -= 1;
            }
            self.up.push(self.travel(&answer));
        }
        tlp
    }

    /// Hands everything the device sent to the requester.
    pub fn settle(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.up).iter().filter_map(|tlp| self.requester.receive(tlp)).collect()
    }

    /// Sends one request and answers how it ended.
    pub fn ask(&mut self, kind: TlpKind, data: Vec<u8>) -> Done {
        self.send(kind, data);
        let mut done = self.settle();
        assert_eq!(done.len(), 1, "{done:?}");
        done.remove(0)
    }

    /// The DW that holds a register.
    pub fn read_config(&mut self, register: u16) -> u32 {
        let read = TlpKind::ConfigRead { level: 0, target: DEVICE, register: register & !3, enables: 0xf };
        let data = self.ask(read, Vec::new()).outcome.expect("answered");
        u32::from_le_bytes(data.try_into().expect("a DW"))
    }

    pub fn write_config(&mut self, register: u16, value: u32, enables: u8) {
        let write = TlpKind::ConfigWrite { level: 0, target: DEVICE, register, enables };
        let done = self.ask(write, value.to_le_bytes().to_vec());
        assert_eq!(done.outcome, Ok(Vec::new()));
    }

    /// Writes bytes at any address.
    pub fn write(&mut self, address: u64, bytes: &[u8], poison: bool) {
        let (kind, data) = write_of(address, bytes);
        let tlp = Tlp { poison, ..Tlp::new(kind, ROOT, data) };
        let there = self.travel(&tlp);
        assert!(self.completer.receive(&there).is_empty(), "a write is posted");
    }

    /// Reads bytes at any address; bytes and poison mark.
    pub fn read(&mut self, address: u64, bytes: usize) -> (Vec<u8>, bool) {
        let done = self.ask(read_of(address, bytes), Vec::new());
        (done.outcome.expect("answered"), done.poison)
    }

    pub fn status(&mut self, kind: TlpKind, data: Vec<u8>) -> CplStatus {
        match self.ask(kind, data).outcome {
            Ok(_) => CplStatus::SC,
            Err(RequestFailure::Status(status)) => status,
            Err(RequestFailure::Timeout) => panic!("no answer"),
        }
    }

    pub fn events(&mut self) -> Vec<EndpointEvent> {
        let mut events = self.requester.take_events();
        events.extend(self.completer.take_events());
        events
    }
}

pub fn read_of(address: u64, bytes: usize) -> TlpKind {
    let (enables, dw) = Enables::span(address, bytes);
    TlpKind::MemRead { address: address & !3, dw, enables }
}

pub fn write_of(address: u64, bytes: &[u8]) -> (TlpKind, Vec<u8>) {
    let (enables, dw) = Enables::span(address, bytes.len());
    let mut data = vec![0; dw * DW_BYTES];
    let skip = (address % 4) as usize;
    data[skip..skip + bytes.len()].copy_from_slice(bytes);
    (TlpKind::MemWrite { address: address & !3, enables }, data)
}
