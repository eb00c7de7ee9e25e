//! States of a line in a device cache, stable and transient, and what can happen to it.

use scalepool_protocols::cxl::cxl256::code::{GoState, H2dReqOpcode, H2dRspOpcode};

/// Declares an enum whose variants have names for tables and charts.
macro_rules! named {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $vdoc])* $variant,)* }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// Name in tables.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant),)* }
            }

            /// What it means.
            pub fn doc(self) -> &'static str {
                match self { $($name::$variant => concat!($($vdoc),*).trim_ascii(),)* }
            }
        }
    };
}

named! {
    /// Where a line stands in a device cache (`coherence` §2.1, §2.4).
    CacheLineState {
        /// Nothing held, nothing asked.
        I,
        /// Shared: may be loaded.
        S,
        /// Exclusive: may be loaded and stored to.
        E,
        /// Modified: as E, and the only place of the newest value.
        M,
        /// RdCurr asked.
        Cur,
        /// RdShared, RdAny or RdOwn asked; neither GO nor data.
        RdWait,
        /// The data is here, the GO is not.
        RdData,
        /// GO-S is here, the data is not.
        RdGoS,
        /// GO-E is here, the data is not; no store waits.
        RdGoE,
        /// GO-E is here, the data is not; a store waits.
        RdGoESt,
        /// GO-M is here, the data is not.
        RdGoM,
        /// The copy was lost before its data came, or the GO was an error: the data is used at most once.
        RdOnce,
        /// As RdGoESt or RdGoM, answered RspIFwdM: the data is owed to the home.
        OweI,
        /// As RdGoESt or RdGoM, answered RspSFwdM: the data is owed to the home, S stays.
        OweS,
        /// As RdGoM, answered RspVFwdV: the data is owed to the home, M stays.
        OweM,
        /// RdOwnNoData asked, the S copy is still here.
        UpS,
        /// RdOwnNoData asked, no bytes.
        UpI,
        /// CLFlush asked.
        Fl,
        /// DirtyEvict asked, the copy is M.
        EvM,
        /// CleanEvict asked, the copy is E.
        EvE,
        /// An evict was hit by a snoop, the copy is S.
        EvS,
        /// An evict was hit by a snoop, nothing is left.
        EvI,
        /// CleanEvictNoData asked, the copy is E.
        NdE,
        /// CleanEvictNoData asked, the copy is S.
        NdS,
        /// CleanEvictNoData asked, nothing is left.
        NdI,
        /// A write asked.
        Wr,
        /// The write's data was pulled; its GO or ExtCmp is still to come.
        WrSent,
        /// The write's ExtCmp came before its pull.
        WrExt,
    }
}

impl CacheLineState {
    /// No request open.
    pub fn is_stable(self) -> bool {
        matches!(self, CacheLineState::I | CacheLineState::S | CacheLineState::E | CacheLineState::M)
    }

    /// The copy may be loaded: the right ends when an evict is issued, and stays while an upgrade is asked.
    pub fn may_load(self) -> bool {
        matches!(self, CacheLineState::S | CacheLineState::E | CacheLineState::M | CacheLineState::UpS)
    }

    /// The copy may be stored to.
    pub fn may_store(self) -> bool {
        matches!(self, CacheLineState::E | CacheLineState::M)
    }

    /// An evict is open and the copy is still here, for snoops only.
    pub fn is_evicting(self) -> bool {
        matches!(
            self,
            CacheLineState::EvM | CacheLineState::EvE | CacheLineState::EvS | CacheLineState::NdE | CacheLineState::NdS
        )
    }

    /// Bytes of a copy are here, whoever may use them.
    pub fn has_copy(self) -> bool {
        self.may_load() || self.is_evicting()
    }

    /// The copy is dirty.
    pub fn is_dirty(self) -> bool {
        matches!(self, CacheLineState::M | CacheLineState::EvM)
    }

    /// The home has granted a state and the data is not here.
    pub fn is_granted(self) -> bool {
        matches!(self, CacheLineState::RdGoS | CacheLineState::RdGoE | CacheLineState::RdGoESt | CacheLineState::RdGoM)
    }

    /// Letter of a stable state.
    pub fn letter(self) -> char {
        match self {
            CacheLineState::S => 'S',
            CacheLineState::E => 'E',
            CacheLineState::M => 'M',
            _ => 'I',
        }
    }
}

named! {
    /// An H2D Rsp as its receiver reads it (`coherence` §1).
    HostAnswer {
        /// GO, state S.
        GoS,
        /// GO, state E.
        GoE,
        /// GO, state M.
        GoM,
        /// GO, state I.
        GoI,
        /// GO, error.
        GoErr,
        /// WritePull.
        Pull,
        /// GO_WritePull.
        GoPull,
        /// GO_WritePull_Drop.
        GoDrop,
        /// Fast_GO_WritePull.
        FastGoPull,
        /// GO_ERR_WritePull.
        GoErrPull,
        /// ExtCmp.
        ExtCmp,
    }
}

impl HostAnswer {
    /// Reads an H2D Rsp; `None` for a reserved opcode or GO state.
    pub fn of(opcode: H2dRspOpcode, rsp_data: u16) -> Option<Self> {
        Some(match opcode {
            H2dRspOpcode::GO => match GoState((rsp_data & 15) as u8) {
                GoState::Shared => HostAnswer::GoS,
                GoState::Exclusive => HostAnswer::GoE,
                GoState::Modified => HostAnswer::GoM,
                GoState::Invalid => HostAnswer::GoI,
                GoState::Error => HostAnswer::GoErr,
                _ => return None,
            },
            H2dRspOpcode::WritePull => HostAnswer::Pull,
            H2dRspOpcode::GO_WritePull => HostAnswer::GoPull,
            H2dRspOpcode::GO_WritePull_Drop => HostAnswer::GoDrop,
            H2dRspOpcode::Fast_GO_WritePull => HostAnswer::FastGoPull,
            H2dRspOpcode::GO_ERR_WritePull => HostAnswer::GoErrPull,
            H2dRspOpcode::ExtCmp => HostAnswer::ExtCmp,
            _ => return None,
        })
    }

    /// The opcode and, of a GO, the state.
    pub fn code(self) -> (H2dRspOpcode, Option<GoState>) {
        match self {
            HostAnswer::GoS => (H2dRspOpcode::GO, Some(GoState::Shared)),
            HostAnswer::GoE => (H2dRspOpcode::GO, Some(GoState::Exclusive)),
            HostAnswer::GoM => (H2dRspOpcode::GO, Some(GoState::Modified)),
            HostAnswer::GoI => (H2dRspOpcode::GO, Some(GoState::Invalid)),
            HostAnswer::GoErr => (H2dRspOpcode::GO, Some(GoState::Error)),
            HostAnswer::Pull => (H2dRspOpcode::WritePull, None),
            HostAnswer::GoPull => (H2dRspOpcode::GO_WritePull, None),
            HostAnswer::GoDrop => (H2dRspOpcode::GO_WritePull_Drop, None),
            HostAnswer::FastGoPull => (H2dRspOpcode::Fast_GO_WritePull, None),
            HostAnswer::GoErrPull => (H2dRspOpcode::GO_ERR_WritePull, None),
            HostAnswer::ExtCmp => (H2dRspOpcode::ExtCmp, None),
        }
    }
}

named! {
    /// A snoop (H2D Req).
    Snoop {
        /// SnpData: leave at most S.
        Data,
        /// SnpInv: leave nothing.
        Inv,
        /// SnpCur: give the value.
        Cur,
    }
}

impl Snoop {
    /// Reads an H2D Req; `None` for a reserved opcode.
    pub fn of(opcode: H2dReqOpcode) -> Option<Self> {
        match opcode {
            H2dReqOpcode::SnpData => Some(Snoop::Data),
            H2dReqOpcode::SnpInv => Some(Snoop::Inv),
            H2dReqOpcode::SnpCur => Some(Snoop::Cur),
            _ => None,
        }
    }

    /// The opcode.
    pub fn code(self) -> H2dReqOpcode {
        match self {
            Snoop::Data => H2dReqOpcode::SnpData,
            Snoop::Inv => H2dReqOpcode::SnpInv,
            Snoop::Cur => H2dReqOpcode::SnpCur,
        }
    }
}
