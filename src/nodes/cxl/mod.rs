//! Hosts and memory devices of CXL.mem.
//!
//! Modelled: a core with a cache that asks for the memory of a device, and the device that answers. What coherent agents need
//! to be nodes is in [`coherent`]. Left out: the agents themselves (see [`scalepool_coherence`]), CXL.io. A walk through one
//! read: the host misses and sends MemRd with a tag; the device answers with DRS and data after its latency; the host checks
//! the bytes and frees the tag.

pub mod coherent;
pub mod host;
pub mod isolation;
pub mod isolation_registers;
pub mod memory;
pub mod pool;

use scalepool_memory::store::Background;
use scalepool_protocols::cxl::cxl68::message::M2sReq;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm};
use scalepool_protocols::wire::{LayoutDef, Wire};
use scalepool_trace::{Body, RequestIdentifier, TransactionHandle};

/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
pub const BACKGROUND: Background = Background::OwnAddress;

/// A message as traces show it.
pub fn shown(message: &Message, form: MessageForm) -> Body {
    let data = message.data().map(|d| d.line.to_vec());
    // What the link cannot carry is refused by its end and reported there.
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}

/// A request of CXL.mem on a link of this number, as both of its ends know it in traces; ports are 0 where the link does not
/// route by them.
pub fn cxl_tag(link: u32, host: u16, device: u16, tag: u16) -> TransactionHandle {
    let owner = u32::from(host) << 16 | u32::from(device);
    TransactionHandle { identifier: RequestIdentifier::CxlTag, link, owner, value: tag, address: 0 }
}

/// Messages of a CXL.mem transaction, for waves.
pub fn transaction_layouts(form: MessageForm) -> &'static [&'static LayoutDef] {
    match form {
        MessageForm::Cxl68 => const { &mem_layouts(MessageForm::Cxl68) },
        MessageForm::Hbr => const { &mem_layouts(MessageForm::Hbr) },
        MessageForm::Pbr => const { &mem_layouts(MessageForm::Pbr) },
    }
}

/// Classes of CXL.mem without back-invalidation, which every form has.
pub const MEM_CLASSES: [Class; 4] = [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs];

const fn mem_layouts(form: MessageForm) -> [&'static LayoutDef; 4] {
    let mut layouts = [M2sReq::DEF; 4];
    let mut n = 0;
    while n < MEM_CLASSES.len() {
        layouts[n] = form.layout(MEM_CLASSES[n]).expect("every form has CXL.mem");
        n += 1;
    }
    layouts
}
