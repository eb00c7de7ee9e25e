//! Credits of one kind of TLP: what the peer may send, and what this end may send (`cxl-io` §2.2).
//!
//! Modelled: headers and data counted apart, scales, infinite credits, what an UpdateFC may say. Counts run on from the
//! start; only the field of a DLLP wraps. A header credit is one TLP, a data credit 4 DW.

use std::fmt;

/// What one count of a credit field stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Scaling not supported: one credit.
    #[default]
    Unscaled,
    /// One credit.
    X1,
    /// Four credits.
    X4,
    /// Sixteen credits.
    X16,
}

impl Scale {
    /// All, in order of their code.
    pub const ALL: [Scale; 4] = [Scale::Unscaled, Scale::X1, Scale::X4, Scale::X16];

    /// The two bits of the field.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Reads the two bits; higher ones are not looked at.
    pub const fn of(code: u8) -> Scale {
        Scale::ALL[(code & 3) as usize]
    }

    const fn shift(self) -> u32 {
        match self {
            Scale::Unscaled | Scale::X1 => 0,
            Scale::X4 => 2,
            Scale::X16 => 4,
        }
    }

    /// Credits of one count.
    pub const fn credits(self) -> u32 {
        1 << self.shift()
    }
}

/// Which field of a DLLP counts: its width tells how far counts may be apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoCreditField {
    /// Headers, 8 bits.
    Header,
    /// Data, 12 bits.
    Data,
}

impl IoCreditField {
    const fn modulus(self) -> u64 {
        match self {
            IoCreditField::Header => 1 << 8,
            IoCreditField::Data => 1 << 12,
        }
    }

    /// Counts that may be open at most: less than half of what the field can tell apart \[C\].
    const fn open(self) -> u64 {
        self.modulus() / 2 - 1
    }
}

/// Credits that an end advertises in one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertised {
    /// Counts of the scale, at most 127 headers or 2047 data \[C\]; 0: infinite.
    pub field: u16,
    /// Credits of one count.
    pub scale: Scale,
}

impl Advertised {
    /// Without end.
    pub const INFINITE: Advertised = Advertised { field: 0, scale: Scale::X1 };

    /// So many single credits.
    pub const fn x1(field: u16) -> Advertised {
        Advertised { field, scale: Scale::X1 }
    }

    /// Credits, `None`: infinite.
    pub const fn credits(self) -> Option<u32> {
        match self.field {
            0 => None,
            n => Some(n as u32 * self.scale.credits()),
        }
    }

    /// Whether a field can say so.
    pub const fn is_legal(self, field: IoCreditField) -> bool {
        self.field as u64 <= field.open()
    }
}

/// An UpdateFC that cannot be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It grants more than may be open; not taken.
    TooMuch {
        /// Credits that would be open.
        open: u64,
        /// Credits that may be.
        limit: u64,
    },
    /// It takes credits back; taken, the peer knows its buffers.
    TakesBack {
        /// How many.
        credits: u64,
    },
    /// It counts credits that were said to be infinite; not taken.
    Counted {
        /// The field.
        field: u16,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::TooMuch { open, limit } => write!(f, "{open} open credits, at most {limit}"),
            Wrong::TakesBack { credits } => write!(f, "{credits} credits taken back"),
            Wrong::Counted { field } => write!(f, "{field} of infinite credits"),
        }
    }
}

/// Sender's side of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCreditCounter {
    field: IoCreditField,
    scale: Scale,
    granted: Advertised,
    /// Credits granted from the start; `None`: infinite.
    limit: Option<u64>,
    used: u64,
}

impl IoCreditCounter {
    /// As an InitFC says.
    pub fn new(field: IoCreditField, granted: Advertised) -> IoCreditCounter {
        IoCreditCounter { field, scale: granted.scale, granted, limit: granted.credits().map(u64::from), used: 0 }
    }

    /// What the InitFC said.
    pub const fn granted(&self) -> Advertised {
        self.granted
    }

    /// Credits left, `None`: infinite.
    pub fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }

    /// Whether so many are left.
    pub fn covers(&self, credits: u32) -> bool {
        self.left().is_none_or(|left| left >= credits.into())
    }

    /// Takes credits; what is not there is owed.
    pub fn spend(&mut self, credits: u32) {
        self.used += u64::from(credits);
    }

    /// Hears the field of an UpdateFC.
    ///
    /// # Errors
    /// It cannot be right.
    pub fn update(&mut self, field: u16) -> Result<(), Wrong> {
        let Some(limit) = self.limit else {
            return if field == 0 { Ok(()) } else { Err(Wrong::Counted { field }) };
        };
        let (modulus, shift) = (self.field.modulus(), self.scale.shift());
        let forward = (u64::from(field) + modulus - (limit >> shift) % modulus) % modulus;
        if forward >= modulus / 2 {
            let credits = (modulus - forward) << shift;
            self.limit = Some(limit.saturating_sub(credits));
            return Err(Wrong::TakesBack { credits });
        }
        let next = limit + (forward << shift);
        let (open, most) = (next.saturating_sub(self.used), self.field.open() << shift);
        if open > most {
            return Err(Wrong::TooMuch { open, limit: most });
        }
        self.limit = Some(next);
        Ok(())
    }
}

/// Receiver's side of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCreditLedger {
    field: IoCreditField,
    advertised: Advertised,
    /// Credits given from the start; `None`: infinite.
    given: Option<u64>,
    arrived: u64,
}

impl IoCreditLedger {
    /// With all buffers free.
    pub fn new(field: IoCreditField, advertised: Advertised) -> IoCreditLedger {
        IoCreditLedger { field, advertised, given: advertised.credits().map(u64::from), arrived: 0 }
    }

    /// What was advertised.
    pub const fn advertised(&self) -> Advertised {
        self.advertised
    }

    /// Credits whose buffers are free, `None`: infinite.
    pub fn free_credits(&self) -> Option<u64> {
        self.given.map(|given| given - self.arrived)
    }

    /// Whether there is room for what has arrived.
    pub fn covers(&self, credits: u32) -> bool {
        self.free_credits().is_none_or(|free| free >= credits.into())
    }

    /// What has room arrives.
    pub fn arrive(&mut self, credits: u32) {
        self.arrived += u64::from(credits);
    }

    /// Its buffers are free again.
    pub fn free(&mut self, credits: u32) {
        if let Some(given) = &mut self.given {
            *given += u64::from(credits);
        }
    }

    /// What an UpdateFC says now: whole counts of what was given.
    pub fn said(&self) -> u16 {
        let counts = self.given.unwrap_or(0) >> self.advertised.scale.shift();
        (counts % self.field.modulus()) as u16
    }

    /// All buffers are free.
    pub fn is_home(&self) -> bool {
        self.free_credits() == self.advertised.credits().map(u64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_wrap_at_each_scale() {
        for scale in Scale::ALL {
            for field in [IoCreditField::Header, IoCreditField::Data] {
                let advertised = Advertised { field: 20, scale };
                let (mut counter, mut ledger) =
                    (IoCreditCounter::new(field, advertised), IoCreditLedger::new(field, advertised));
                let step = scale.credits();
                for _ in 0..3 * field.modulus() {
                    assert!(counter.covers(step) && ledger.covers(step));
                    counter.spend(step);
                    ledger.arrive(step);
                    ledger.free(step);
                    assert_eq!(counter.update(ledger.said()), Ok(()));
                    assert_eq!(counter.left(), advertised.credits().map(u64::from));
                }
            }
        }
    }

    #[test]
    fn wrong_updates_are_told_apart() {
        let mut counter = IoCreditCounter::new(IoCreditField::Header, Advertised::x1(8));
        assert_eq!(counter.update(6), Err(Wrong::TakesBack { credits: 2 }));
        assert_eq!(counter.left(), Some(6));
        assert_eq!(counter.update(8), Ok(()));
        assert_eq!(counter.update(8 + 127), Err(Wrong::TooMuch { open: 135, limit: 127 }));
        assert_eq!(counter.left(), Some(8));
        let mut endless = IoCreditCounter::new(IoCreditField::Data, Advertised::INFINITE);
        assert_eq!(endless.update(3), Err(Wrong::Counted { field: 3 }));
        assert!(endless.covers(u32::MAX));
    }
}
