//! Register blocks of CXL: the DVSECs of configuration space (`cxl-io` section 7), the HDM decoders of component registers
//! (`fabric` section 2.1), and time-out and isolation at a root port (`fabric` section 1.9).
//!
//! Modelled: what the configuration spaces of the model do with each field, and the decoders. The sheets give places; what software may do
//! is general knowledge of the field (basis: inferred) where they say nothing, so is that CXL.io is
//! always there. Fields that the model does not take part in are read-only; only in the
//! control of a Flex Bus port software writes them too, where the port can do it, and nothing follows.

use super::RegisterAccess::{Constant, Lockable, ReadOnly, ReadWrite, WriteOneClears};
use super::{FieldUse, RegisterAccess, RegisterBlock, RegisterFile, WHOLE};
use crate::cxl::cxlio::dvsec::{self, DvsecId};
use crate::cxl::cxlio::vdm::VENDOR_ID;
use crate::cxl::hdm_decoder::{
    DECODER_STRIDE, DECODERS_AT, MAX_DECODERS, MAX_DEVICE_DECODERS, hdm_bridge_decoder, hdm_device_decoder, hdm_head,
};
use crate::cxl::isolation::isolation_registers;
use crate::wire::FrameDef;

/// Those of CXL.
pub static BLOCKS: &[&RegisterBlock] = &[
    &DEVICE,
    &FUNCTION_MAP,
    &PORT_EXTENSIONS,
    &GPF_PORT,
    &GPF_DEVICE,
    &FLEX_BUS_PORT,
    &REGISTER_LOCATOR,
    &MLD,
    &DEVICE_DECODERS,
    &BRIDGE_DECODERS,
    &ISOLATION,
];

const fn used(segment: &'static str, field: &'static str, access: RegisterAccess, reset: Option<u64>) -> FieldUse {
    FieldUse { segment, field, access, reset }
}

/// A field that is 0 after reset.
const fn zero(segment: &'static str, field: &'static str, access: RegisterAccess) -> FieldUse {
    used(segment, field, access, Some(0))
}

/// What the header of a DVSEC says, followed by uses of its own registers. `N` is their number and 6.
const fn with_header<const N: usize>(id: DvsecId, len_bytes: usize, own: &[FieldUse]) -> [FieldUse; N] {
    let mut all = [used("HEADER", "capability_id", Constant, Some(dvsec::CAPABILITY_ID as u64)); N];
    all[1] = used("HEADER", "version", Constant, Some(1));
    all[2] = used("HEADER", "vendor", Constant, Some(VENDOR_ID as u64));
    all[3] = used("HEADER", "revision", Constant, Some(id.revision() as u64));
    all[4] = used("HEADER", "length_bytes", Constant, Some(len_bytes as u64));
    all[5] = used("HEADER", "dvsec_id", Constant, Some(id.number() as u64));
    let mut n = 0;
    while n < own.len() {
        all[6 + n] = own[n];
        n += 1;
    }
    all
}

/// A byte map that stands alone.
const fn only(frame: &'static FrameDef, uses: &'static [FieldUse]) -> RegisterFile {
    RegisterFile { name: "", frame, at_byte: 0, count: 1, stride_bytes: 0, register_bytes: 4, uses }
}

/// Declares the block of a DVSEC.
macro_rules! dvsec_block {
    ($(#[doc = $doc:literal])* $block:ident = $name:literal, $id:ident, $map:ident, [$($own:expr),* $(,)?]) => {
        $(#[doc = $doc])*
        pub static $block: RegisterBlock = RegisterBlock {
            name: $name,
            doc: concat!($($doc),*).trim_ascii(),
            files: {
                const OWN: &[FieldUse] = &[$($own),*];
                static USES: [FieldUse; 6 + OWN.len()] = with_header(DvsecId::$id, dvsec::$map::LEN, OWN);
                static FILES: [RegisterFile; 1] = [only(&dvsec::$map::FRAME, &USES)];
                &FILES
            },
        };
    };
}

dvsec_block! {
    /// PCIe DVSEC for CXL devices.
    DEVICE = "dvsec_device", Device, device, [
        used("CAPABILITY", "io", Constant, Some(1)),
        zero("CONTROL", "cache_enable", Lockable),
        used("CONTROL", "io_enable", Constant, Some(1)),
        zero("CONTROL", "mem_enable", Lockable),
        zero("CONTROL", "viral_enable", Lockable),
        zero("LOCK", "config_lock", Lockable),
        zero("RANGE0_BASE_HIGH", WHOLE, Lockable),
        zero("RANGE0_BASE_LOW", "base_31_28", Lockable),
        zero("RANGE1_BASE_HIGH", WHOLE, Lockable),
        zero("RANGE1_BASE_LOW", "base_31_28", Lockable),
    ]
}

dvsec_block! {
    /// DVSEC that says which functions take part in no CXL.cache and CXL.mem.
    FUNCTION_MAP = "dvsec_function_map", FunctionMap, function_map, []
}

dvsec_block! {
    /// DVSEC of a CXL port.
    PORT_EXTENSIONS = "dvsec_port_extensions", PortExtensions, port_extensions, [
        zero("ALTERNATE_BUSES", WHOLE, ReadWrite),
    ]
}

dvsec_block! {
    /// DVSEC of a port about global persistent flush.
    GPF_PORT = "dvsec_gpf_port", GpfPort, gpf_port, [
        used("PHASE1_CONTROL", "time_out", ReadWrite, None),
        used("PHASE1_CONTROL", "scale", ReadWrite, None),
        used("PHASE2_CONTROL", "time_out", ReadWrite, None),
        used("PHASE2_CONTROL", "scale", ReadWrite, None),
    ]
}

dvsec_block! {
    /// DVSEC of a device about global persistent flush.
    GPF_DEVICE = "dvsec_gpf_device", GpfDevice, gpf_device, []
}

dvsec_block! {
    /// DVSEC of a Flex Bus port. After reset its control is what the port can do.
    FLEX_BUS_PORT = "dvsec_flex_bus_port", FlexBusPort, flex_bus_port, [
        used("CAPABILITY", "io", Constant, Some(1)),
        used("CONTROL", "io", Constant, Some(1)),
        used("CONTROL", "cache", ReadWrite, None),
        used("CONTROL", "mem", ReadWrite, None),
        used("CONTROL", "other_3", ReadWrite, None),
        used("CONTROL", "vh_68b", ReadWrite, None),
        used("CONTROL", "mld", ReadWrite, None),
        used("CONTROL", "other_7", ReadWrite, None),
        used("CONTROL", "lopt_256b", ReadWrite, None),
        used("CONTROL", "pbr", ReadWrite, None),
        zero("STATUS", "even_half_failed", WriteOneClears),
        zero("STATUS", "pid_corrected", WriteOneClears),
        zero("STATUS", "pid_uncorrectable", WriteOneClears),
        zero("STATUS", "pid_unexpected", WriteOneClears),
    ]
}

dvsec_block! {
    /// DVSEC that tells where register blocks are; one block.
    REGISTER_LOCATOR = "dvsec_register_locator", RegisterLocator, register_locator, []
}

dvsec_block! {
    /// DVSEC of a device with several logical devices.
    MLD = "dvsec_mld", Mld, mld, []
}

/// Before the decoders.
const HEAD: RegisterFile = RegisterFile {
    name: "",
    frame: &hdm_head::FRAME,
    at_byte: 0,
    count: 1,
    stride_bytes: 0,
    register_bytes: 4,
    uses: &[
        zero("GLOBAL_CONTROL", "poison_on_decode_error_enable", ReadWrite),
        zero("GLOBAL_CONTROL", "decoder_enable", ReadWrite),
    ],
};

/// Registers that decoders of devices and of bridges have; a decoder that is committed with its lock holds them.
const DECODER: [FieldUse; 14] = [
    zero("BASE_LOW", "base_31_28", Lockable),
    zero("BASE_HIGH", WHOLE, Lockable),
    zero("SIZE_LOW", "size_31_28", Lockable),
    zero("SIZE_HIGH", WHOLE, Lockable),
    zero("CONTROL", "granularity", Lockable),
    zero("CONTROL", "ways", Lockable),
    zero("CONTROL", "lock_on_commit", Lockable),
    zero("CONTROL", "commit", Lockable),
    zero("CONTROL", "target_type", Lockable),
    zero("CONTROL", "bi", Lockable),
    zero("CONTROL", "uio", Lockable),
    zero("CONTROL", "uio_granularity", Lockable),
    zero("CONTROL", "uio_ways", Lockable),
    zero("CONTROL", "set_position", Lockable),
];

/// Those, the two bits that the decoder sets itself, and the registers of one kind.
const fn decoder<const N: usize>(own: &[FieldUse]) -> [FieldUse; N] {
    let mut all = [zero("CONTROL", "committed", ReadOnly); N];
    all[1] = zero("CONTROL", "commit_error", ReadOnly);
    let mut n = 0;
    while n < DECODER.len() {
        all[2 + n] = DECODER[n];
        n += 1;
    }
    n = 0;
    while n < own.len() {
        all[2 + DECODER.len() + n] = own[n];
        n += 1;
    }
    all
}

/// HDM decoders of a device.
pub static DEVICE_DECODERS: RegisterBlock = RegisterBlock {
    name: "hdm_device_decoders",
    doc: "HDM decoders of a device.",
    files: {
        static USES: [FieldUse; 18] =
            decoder(&[zero("SKIP_LOW", "skip_31_28", Lockable), zero("SKIP_HIGH", WHOLE, Lockable)]);
        static FILES: [RegisterFile; 2] = [
            HEAD,
            RegisterFile {
                name: "decoder",
                frame: &hdm_device_decoder::FRAME,
                at_byte: DECODERS_AT,
                count: MAX_DEVICE_DECODERS,
                stride_bytes: DECODER_STRIDE,
                register_bytes: 4,
                uses: &USES,
            },
        ];
        &FILES
    },
};

/// HDM decoders of a switch or host bridge.
pub static BRIDGE_DECODERS: RegisterBlock = RegisterBlock {
    name: "hdm_bridge_decoders",
    doc: "HDM decoders of a switch or host bridge.",
    files: {
        static USES: [FieldUse; 24] = decoder(&[
            zero("TARGETS_LOW", "way_0", Lockable),
            zero("TARGETS_LOW", "way_1", Lockable),
            zero("TARGETS_LOW", "way_2", Lockable),
            zero("TARGETS_LOW", "way_3", Lockable),
            zero("TARGETS_HIGH", "way_0", Lockable),
            zero("TARGETS_HIGH", "way_1", Lockable),
            zero("TARGETS_HIGH", "way_2", Lockable),
            zero("TARGETS_HIGH", "way_3", Lockable),
        ]);
        static FILES: [RegisterFile; 2] = [
            HEAD,
            RegisterFile {
                name: "decoder",
                frame: &hdm_bridge_decoder::FRAME,
                at_byte: DECODERS_AT,
                count: MAX_DECODERS,
                stride_bytes: DECODER_STRIDE,
                register_bytes: 4,
                uses: &USES,
            },
        ];
        &FILES
    },
};

/// Time-out and isolation at a root port.
pub static ISOLATION: RegisterBlock = RegisterBlock {
    name: "timeout_and_isolation",
    doc: "Time-out and isolation of CXL.mem and CXL.cache at a root port.",
    files: {
        static FILES: [RegisterFile; 1] = [only(
            &isolation_registers::FRAME,
            &[
                used("CAPABILITY", "mem_ranges", Constant, None),
                used("CAPABILITY", "cache_ranges", Constant, None),
                zero("CONTROL", "mem_timeout", ReadWrite),
                zero("CONTROL", "mem_timeout_enable", ReadWrite),
                zero("CONTROL", "cache_timeout", ReadWrite),
                zero("CONTROL", "cache_timeout_enable", ReadWrite),
                zero("CONTROL", "mem_isolation_on_timeout", ReadWrite),
                zero("CONTROL", "mem_isolation_on_link_down", ReadWrite),
                zero("CONTROL", "cache_isolation_on_timeout", ReadWrite),
                zero("CONTROL", "cache_isolation_on_link_down", ReadWrite),
                zero("CONTROL", "signal_err_cor", ReadWrite),
                zero("CONTROL", "signal_interrupt", ReadWrite),
                zero("STATUS", "mem_timeout", WriteOneClears),
                zero("STATUS", "cache_timeout", WriteOneClears),
                zero("STATUS", "mem_isolated", WriteOneClears),
                zero("STATUS", "mem_isolated_by_link_down", WriteOneClears),
                zero("STATUS", "cache_isolated", WriteOneClears),
                zero("STATUS", "cache_isolated_by_link_down", WriteOneClears),
                zero("STATUS", "busy", ReadOnly),
            ],
        )];
        &FILES
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_no_mistake() {
        for block in BLOCKS {
            assert_eq!(block.faults(), [""; 0], "{}", block.name);
        }
    }

    /// Places of the sheets, written out: `cxl-io` section 7, `fabric` section 2.1.
    #[test]
    fn places_by_hand() {
        let at = |block: &RegisterBlock, file: usize, name: &str| {
            let file = &block.files[file];
            let register = file.registers().into_iter().find(|register| register.name == name).expect("a register");
            file.at_byte + register.at_byte
        };
        for (name, expected) in [
            ("capability", 0x0a),
            ("control", 0x0c),
            ("range0_size_high", 0x18),
            ("range0_base_low", 0x24),
            ("range1_size_high", 0x28),
            ("range1_base_low", 0x34),
        ] {
            assert_eq!(at(&DEVICE, 0, name), expected, "{name}");
        }
        assert_eq!(DEVICE.len_bytes(), 0x3c);
        for (file, name, expected) in [
            (0, "capability", 0x0),
            (0, "global_control", 0x4),
            (1, "base_low", 0x10),
            (1, "base_high", 0x14),
            (1, "size_low", 0x18),
            (1, "size_high", 0x1c),
            (1, "control", 0x20),
            (1, "skip_low", 0x24),
            (1, "skip_high", 0x28),
        ] {
            assert_eq!(at(&DEVICE_DECODERS, file, name), expected, "{name}");
        }
        assert_eq!(at(&BRIDGE_DECODERS, 1, "targets_low"), 0x24);
        assert_eq!((DEVICE_DECODERS.len_bytes(), BRIDGE_DECODERS.len_bytes()), (0x10 + 10 * 0x20, 0x10 + 32 * 0x20));
    }
}
