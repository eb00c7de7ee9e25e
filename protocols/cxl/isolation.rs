//! Registers of time-out and isolation at a root port (`fabric` §1.9): capability, control, status.
//!
//! Modelled: places and the codes of the ranges of time. Left out: the times (the root port's), where the capability lies. Like the
//! registers of HDM decoders these never travel on a link as they stand; the register blocks take them from the byte map here.

use crate::{frame, layout, wire_enum};

wire_enum! {
    /// How long a request may take.
    pub TimeoutCode: 4 bits, rule "FAB-ISO-07", source "fabric §1.9" {
        /// 50 us to 10 ms.
        Default = 0,
        /// Range A: 50 us to 100 us.
        A1 = 1,
        /// Range A: 1 ms to 10 ms.
        A2 = 2,
        /// Range B: 16 ms to 55 ms.
        B5 = 5,
        /// Range B: 65 ms to 210 ms.
        B6 = 6,
        /// Range C: 260 ms to 900 ms.
        C9 = 9,
        /// Range C: 1 s to 3.5 s.
        CA = 10,
        /// Range D: 4 s to 13 s.
        DD = 13,
        /// Range D: 17 s to 64 s.
        DE = 14,
    }
}

layout! {
    /// What the root port can do; bit 0 of a set of ranges is range A.
    pub struct TimeoutIsolationCapability: 32 bits = "isolation.capability" {
        source: "fabric §1.9", basis: Spec, rule: "FAB-ISO-07";
        /// Ranges of time-outs of CXL.mem, bit 0 range A to bit 3 range D; sets 0, 1, 2, 3, 6, 7, E, F.
        mem_ranges: u8 = [0 +: 4];
        /// Reserved.
        rsvd_4: u8 = [4 +: 4], reserved;
        /// Ranges of time-outs of CXL.cache, in the same way.
        cache_ranges: u8 = [8 +: 4];
        /// Reserved.
        rsvd_12: u32 = [12 +: 20], reserved;
    }
}

layout! {
    /// What software wants.
    pub struct TimeoutIsolationControl: 32 bits = "isolation.control" {
        source: "fabric §1.9", basis: Spec, rule: "FAB-ISO-07";
        /// Time-out of CXL.mem.
        mem_timeout: TimeoutCode = [0 +: 4];
        /// Requests of CXL.mem time out.
        mem_timeout_enable: bool = [4 +: 1];
        /// Reserved.
        rsvd_5: u8 = [5 +: 3], reserved;
        /// Time-out of CXL.cache.
        cache_timeout: TimeoutCode = [8 +: 4];
        /// Requests of CXL.cache time out.
        cache_timeout_enable: bool = [12 +: 1];
        /// Reserved.
        rsvd_13: u8 = [13 +: 3], reserved;
        /// A time-out of CXL.mem isolates it.
        mem_isolation_on_timeout: bool = [16 +: 1];
        /// A link that goes down isolates CXL.mem.
        mem_isolation_on_link_down: bool = [17 +: 1];
        /// A time-out of CXL.cache isolates it.
        cache_isolation_on_timeout: bool = [18 +: 1];
        /// A link that goes down isolates CXL.cache.
        cache_isolation_on_link_down: bool = [19 +: 1];
        /// Reserved.
        rsvd_20: u8 = [20 +: 5], reserved;
        /// ERR_COR is signalled.
        signal_err_cor: bool = [25 +: 1];
        /// An interrupt is signalled.
        signal_interrupt: bool = [26 +: 1];
        /// Reserved.
        rsvd_27: u8 = [27 +: 5], reserved;
    }
}

layout! {
    /// What has happened.
    pub struct TimeoutIsolationStatus: 32 bits = "isolation.status" {
        source: "fabric §1.9", basis: Spec, rule: "FAB-ISO-07";
        /// A request of CXL.mem has timed out.
        mem_timeout: bool = [0 +: 1];
        /// Reserved.
        rsvd_1: u8 = [1 +: 3], reserved;
        /// A request of CXL.cache has timed out.
        cache_timeout: bool = [4 +: 1];
        /// Reserved.
        rsvd_5: u8 = [5 +: 3], reserved;
        /// CXL.mem is isolated.
        mem_isolated: bool = [8 +: 1];
        /// CXL.mem is isolated because the link went down.
        mem_isolated_by_link_down: bool = [9 +: 1];
        /// Reserved.
        rsvd_10: u8 = [10 +: 2], reserved;
        /// CXL.cache is isolated.
        cache_isolated: bool = [12 +: 1];
        /// CXL.cache is isolated because the link went down.
        cache_isolated_by_link_down: bool = [13 +: 1];
        /// Requests from before the isolation are still open.
        busy: bool = [14 +: 1];
        /// Reserved.
        rsvd_15: u32 = [15 +: 17], reserved;
    }
}

frame! {
    /// The registers in their order.
    pub mod isolation_registers: 16 bytes = "isolation.registers" {
        source: "fabric §1.9";
        /// What the port can do.
        CAPABILITY = [0x0 +: 4] as TimeoutIsolationCapability;
        /// Reserved.
        RSVD = [0x4 +: 4];
        /// What software wants.
        CONTROL = [0x8 +: 4] as TimeoutIsolationControl;
        /// What has happened.
        STATUS = [0xc +: 4] as TimeoutIsolationStatus;
    }
}
