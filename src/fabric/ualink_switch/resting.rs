//! Transactions inside a switch, by value: those in the pipeline and those that wait lie side by side.
//!
//! Modelled: nothing of the hardware. With the latency of a switch there are a hundred of them for each port, and each would
//! take memory of its own. Left out: what few have, byte enables and tags; those keep their form.

use scalepool_protocols::ualink::control::Field;
use scalepool_protocols::ualink::halves::Halves;
use scalepool_protocols::ualink::unpack::Transfer;

/// A transaction at rest.
#[derive(Debug, Clone)]
pub(super) enum Resting {
    /// One without byte enables and tag.
    Plain {
        field: Field,
        /// Its address stands beside the field too.
        is_addressed: bool,
        poisoned: u8,
        data: Halves,
    },
    /// Any other.
    Whole(Box<Transfer>),
}

impl Resting {
    /// Takes a transaction apart.
    pub fn of(transfer: Box<Transfer>) -> Resting {
        let in_field = match &transfer.field {
            Field::Request(req) => Some(req.address),
            _ => None,
        };
        let is_known = transfer.address.is_none() || transfer.address == in_field;
        if transfer.enables.is_some() || transfer.auth_tag != 0 || !is_known {
            return Resting::Whole(transfer);
        }
        let Transfer { field, address, data, poisoned, .. } = *transfer;
        Resting::Plain { field, is_addressed: address.is_some(), poisoned, data }
    }

    /// Puts it together.
    pub fn transfer(self) -> Box<Transfer> {
        let (field, is_addressed, poisoned, data) = match self {
            Resting::Plain { field, is_addressed, poisoned, data } => (field, is_addressed, poisoned, data),
            Resting::Whole(transfer) => return transfer,
        };
        let address = match &field {
            Field::Request(req) if is_addressed => Some(req.address),
            _ => None,
        };
        Box::new(Transfer { address, poisoned, data, ..Transfer::new(field) })
    }
}
