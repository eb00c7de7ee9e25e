//! The block of registers of a bridge between accelerators and CXL: the 4 KiB of its control window (`bridge` §2, §9.1, §9.9).
//!
//! Modelled: the byte maps of [`crate::bridge`]; windows and groups are shadow tables, which a commit makes valid. After reset they are those
//! of the description, so they have no fixed value. Left out: what a commit checks, which is state of the bridge.

use super::RegisterAccess::{Constant, ReadWrite, Starts};
use super::{FieldUse, RegisterAccess, RegisterBlock, RegisterFile, WHOLE};
use crate::bridge::{
    BRIDGE_GROUP_REGISTERS, BRIDGE_GROUPS_AT, BRIDGE_REGISTER_BYTES, BRIDGE_TABLES_AT, BRIDGE_WINDOW_STRIDE,
    BRIDGE_WINDOWS, BRIDGE_WINDOWS_AT, bridge_group, bridge_management, bridge_tables, bridge_window,
};
use crate::wire::FrameDef;

const fn used(segment: &'static str, field: &'static str, access: RegisterAccess, reset: Option<u64>) -> FieldUse {
    FieldUse { segment, field, access, reset }
}

/// A field of the shadow tables, which begins as the description says.
const fn shadow(segment: &'static str, field: &'static str) -> FieldUse {
    used(segment, field, ReadWrite, None)
}

const fn file(
    name: &'static str,
    frame: &'static FrameDef,
    (at_byte, count, stride_bytes): (usize, usize, usize),
    uses: &'static [FieldUse],
) -> RegisterFile {
    RegisterFile { name, frame, at_byte, count, stride_bytes, register_bytes: BRIDGE_REGISTER_BYTES, uses }
}

/// Control window of a bridge between accelerators and CXL.
pub static BRIDGE: RegisterBlock = RegisterBlock {
    name: "bridge",
    doc: "Control window of a bridge between accelerators and CXL. Registers are read and written whole.",
    files: &[
        file(
            "",
            &bridge_management::FRAME,
            (0, 1, 0),
            &[
                used("OP", "flush", ReadWrite, Some(0)),
                used("OP", "invalidate", ReadWrite, Some(0)),
                used("BASE", WHOLE, ReadWrite, Some(0)),
                used("LENGTH", WHOLE, ReadWrite, Some(0)),
                used("START", "start", Starts, Some(0)),
                used("DONE", "done", RegisterAccess::ReadOnly, Some(1)),
                used("ERRORS", WHOLE, RegisterAccess::ReadOnly, Some(0)),
                used("LOST", WHOLE, RegisterAccess::ReadOnly, Some(0)),
            ],
        ),
        file(
            "",
            &bridge_tables::FRAME,
            (BRIDGE_TABLES_AT, 1, 0),
            &[
                used("CAPABILITY", "window_count", Constant, Some(BRIDGE_WINDOWS as u64)),
                used("CAPABILITY", "group_count", Constant, Some(16)),
                used("CAPABILITY", "port_count", Constant, None),
                used("CAPABILITY", "source_count", Constant, None),
                used("CAPABILITY", "flips", Constant, None),
                used("COMMIT", "commit", Starts, Some(0)),
                used("STATUS", "committing", RegisterAccess::ReadOnly, Some(0)),
                used("STATUS", "viral", RegisterAccess::ReadOnly, Some(0)),
                used("STATUS", "fault", RegisterAccess::ReadOnly, Some(0)),
                used("STATUS", "fault_at", RegisterAccess::ReadOnly, Some(0)),
                used("EPOCH", WHOLE, RegisterAccess::ReadOnly, Some(0)),
                used("REFUSED", WHOLE, RegisterAccess::ReadOnly, Some(0)),
                used("FLIP_ADDRESS", WHOLE, ReadWrite, Some(0)),
                used("FLIP", "bit_number", ReadWrite, Some(0)),
                used("FLIP", "flip", Starts, Some(0)),
                used("FLIPS", "flipped", RegisterAccess::ReadOnly, Some(0)),
                used("FLIPS", "refused", RegisterAccess::ReadOnly, Some(0)),
            ],
        ),
        file(
            "group",
            &bridge_group::FRAME,
            (BRIDGE_GROUPS_AT, BRIDGE_GROUP_REGISTERS, BRIDGE_REGISTER_BYTES),
            &[
                shadow("GROUPS", "group_0"),
                shadow("GROUPS", "group_1"),
                shadow("GROUPS", "group_2"),
                shadow("GROUPS", "group_3"),
                shadow("GROUPS", "group_4"),
                shadow("GROUPS", "group_5"),
                shadow("GROUPS", "group_6"),
                shadow("GROUPS", "group_7"),
                shadow("GROUPS", "group_8"),
                shadow("GROUPS", "group_9"),
                shadow("GROUPS", "group_10"),
                shadow("GROUPS", "group_11"),
                shadow("GROUPS", "group_12"),
                shadow("GROUPS", "group_13"),
                shadow("GROUPS", "group_14"),
                shadow("GROUPS", "group_15"),
            ],
        ),
        file(
            "window",
            &bridge_window::FRAME,
            (BRIDGE_WINDOWS_AT, BRIDGE_WINDOWS, BRIDGE_WINDOW_STRIDE),
            &[
                shadow("BASE", WHOLE),
                shadow("SIZE", WHOLE),
                shadow("OUT_BASE", WHOLE),
                shadow("CONTROL", "valid"),
                shadow("CONTROL", "line_class"),
                shadow("CONTROL", "granule"),
                shadow("CONTROL", "ways"),
                shadow("RIGHTS", "may_read"),
                shadow("RIGHTS", "may_write"),
                shadow("RIGHTS", "may_atomic"),
                shadow("TARGETS_0", "way_0"),
                shadow("TARGETS_0", "way_1"),
                shadow("TARGETS_0", "way_2"),
                shadow("TARGETS_0", "way_3"),
                shadow("TARGETS_1", "way_0"),
                shadow("TARGETS_1", "way_1"),
                shadow("TARGETS_1", "way_2"),
                shadow("TARGETS_1", "way_3"),
                shadow("TARGETS_2", "way_0"),
                shadow("TARGETS_2", "way_1"),
                shadow("TARGETS_2", "way_2"),
                shadow("TARGETS_2", "way_3"),
                shadow("TARGETS_3", "way_0"),
                shadow("TARGETS_3", "way_1"),
                shadow("TARGETS_3", "way_2"),
                shadow("TARGETS_3", "way_3"),
            ],
        ),
    ],
};
