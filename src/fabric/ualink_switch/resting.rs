//! Transactions inside a switch, by value: those in the pipeline and those that wait lie side by side.
//!
//! Modelled: nothing of the hardware. With the latency of a switch there are a hundred of them for each port, and each would
//! take memory of its own. Left out: what few have, byte enables, tags and poison; those keep their form.

use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::halves::Halves;
use scalepool_protocols::ualink::unpack::{MaybeAddress, Transfer};

/// A transaction at rest.
#[derive(Debug, Clone)]
pub(super) enum Resting {
    /// One that is a field and its data; a request has its address in the field.
    Plain(ControlField, Halves),
    /// Any other.
    Whole(Box<Transfer>),
}

fn address_of(field: &ControlField) -> MaybeAddress {
    match field {
        ControlField::Request(req) => req.address.into(),
        _ => MaybeAddress::NONE,
    }
}

impl Resting {
    /// Takes a transaction apart.
    pub fn of(transfer: Box<Transfer>) -> Resting {
        let Transfer { field, address, poisoned, enables, auth_tag, .. } = &*transfer;
        if *poisoned == 0 && enables.is_none() && *auth_tag == 0 && *address == address_of(field) {
            Resting::Plain(*field, transfer.data)
        } else {
            Resting::Whole(transfer)
        }
    }

    /// Puts it together.
    pub fn transfer(self) -> Box<Transfer> {
        match self {
            Resting::Plain(field, data) => {
                Box::new(Transfer { address: address_of(&field), data, ..Transfer::new(field) })
            }
            Resting::Whole(transfer) => transfer,
        }
    }
}
