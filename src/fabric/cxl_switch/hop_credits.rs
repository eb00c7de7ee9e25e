//! Credits of one message class on both sides of a switch (`fabric` ORD-7).
//!
//! Modelled: a queue whose credits belong to the link above, and the credits of the link below, which the logical devices there share; a number
//! of them can be reserved for each logical device, which is our choice and off by default. Detail: one class of one input and one output,
//! message by message. Left out: time, and reservations in any run; credits of running links are those of their link layers, whose books
//! [`credits_at_rest`] judges at the end of a run.
//!
//! A walk through one message: it takes a place of the queue, for which the link above had a credit. When it leaves it takes a credit of the
//! link below, and that of the link above goes back. What the link below returns later is a credit there and nothing above: a switch
//! uses and returns credits hop by hop and forwards none.

use super::binding::LOGICAL_DEVICES;
use super::violation;
use scalepool_protocols::wire::Violation;

/// Why a message does not come or leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HopCreditError {
    /// The link above had no credit for it.
    #[error("found a message without a place in the queue, expected at most {granted} (fabric ORD-7)")]
    NoPlace {
        /// Places of the queue.
        granted: u32,
    },
    /// The link below has none, or others have it reserved.
    #[error("found no credit below for LD {ld}, expected the message to wait (fabric ORD-7)")]
    NoCredit {
        /// The logical device.
        ld: u8,
    },
    /// There is no such message, or credit to come back.
    #[error("found nothing of LD {ld} there, expected a message that came or a credit that was used (fabric ORD-7)")]
    Nothing {
        /// The logical device.
        ld: u8,
    },
    /// More is reserved than there is.
    #[error("found {reserved} credits reserved, expected at most the {granted} of the link (fabric ORD-7)")]
    Reserved {
        /// All reservations together.
        reserved: u32,
        /// Credits of the link.
        granted: u32,
    },
}

/// What is wrong with the credits of a class of messages at a port of a switch when nothing is under way any more: all buffers of the
/// port are free or granted to the link partner then, whatever became of the messages behind the switch. `held`: buffers that are neither.
pub fn credits_at_rest(class: &str, held: u16) -> Option<Violation> {
    (held > 0).then(|| {
        let text = "a switch returns the credit of a message to the link on which it came, when the message has left the buffer";
        violation("FAB-ORD-07", format!("{held} credits for {class} that are not returned"), "none", text)
    })
}

/// A class on its way through a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HopCredits {
    /// Places of the queue, and credits of the link below.
    granted: [u32; 2],
    /// Credits below that are kept for each logical device.
    reserved: Vec<u32>,
    /// Messages in the queue, by logical device.
    queued: Vec<u32>,
    /// Credits below that are used, by logical device.
    used: Vec<u32>,
    /// Messages that left.
    left: u64,
}

impl HopCredits {
    /// A queue and the credits of the link below, which `reserved.len()` logical devices share, 1 to 16; 0 for each: nothing is reserved.
    ///
    /// # Errors
    /// More is reserved than the link has.
    pub fn new(queue: u32, below: u32, reserved: &[u32]) -> Result<HopCredits, HopCreditError> {
        let sum = reserved.iter().sum();
        if sum > below {
            return Err(HopCreditError::Reserved { reserved: sum, granted: below });
        }
        let mut reserved = reserved.to_vec();
        reserved.resize(LOGICAL_DEVICES, 0);
        let none = vec![0; reserved.len()];
        Ok(HopCredits { granted: [queue, below], reserved, queued: none.clone(), used: none, left: 0 })
    }

    /// A message for a logical device comes.
    ///
    /// # Errors
    /// The queue is full, or there is no such logical device.
    pub fn comes(&mut self, ld: u8) -> Result<(), HopCreditError> {
        let granted = self.granted[0];
        if self.queued.iter().sum::<u32>() == granted {
            return Err(HopCreditError::NoPlace { granted });
        }
        *self.queued.get_mut(usize::from(ld)).ok_or(HopCreditError::Nothing { ld })? += 1;
        Ok(())
    }

    /// A message leaves, and the link above gets a credit back.
    ///
    /// # Errors
    /// Why it does not.
    pub fn leaves(&mut self, ld: u8) -> Result<(), HopCreditError> {
        let own = usize::from(ld);
        if self.queued.get(own).is_none_or(|count| *count == 0) {
            return Err(HopCreditError::Nothing { ld });
        }
        let free = self.granted[1] - self.used.iter().sum::<u32>();
        let others = (0..self.used.len()).filter(|one| *one != own);
        let kept: u32 = others.map(|one| self.reserved[one].saturating_sub(self.used[one])).sum();
        if free <= kept {
            return Err(HopCreditError::NoCredit { ld });
        }
        self.queued[own] -= 1;
        self.used[own] += 1;
        self.left += 1;
        Ok(())
    }

    /// The link below returns a credit; nothing goes back above.
    ///
    /// # Errors
    /// None of it is used.
    pub fn returned(&mut self, ld: u8) -> Result<(), HopCreditError> {
        let used = self.used.get_mut(usize::from(ld)).ok_or(HopCreditError::Nothing { ld })?;
        *used = used.checked_sub(1).ok_or(HopCreditError::Nothing { ld })?;
        Ok(())
    }

    /// The rule that a switch breaks which has returned so many credits to the link above in all.
    pub fn judge(&self, returned_above: u64) -> Option<Violation> {
        (returned_above != self.left).then(|| {
            let text = "a credit goes back to the link above when its message has left the queue, whatever the link below does";
            violation("FAB-ORD-07", format!("{returned_above} credits returned"), self.left.to_string(), text)
        })
    }
}
