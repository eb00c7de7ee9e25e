//! Byte maps of units larger than a message.

use super::LayoutDef;

/// A run of bytes inside a frame.
#[derive(Debug)]
pub struct Segment {
    /// Name, snake_case.
    pub name: &'static str,
    /// First byte.
    pub at_byte: usize,
    /// Length in bytes.
    pub len_bytes: usize,
    /// The layout of the bytes, or `None` for opaque ones.
    pub layout: Option<&'static LayoutDef>,
    /// What it holds.
    pub doc: &'static str,
}

/// A byte map: segments in ascending order, without gap or overlap.
#[derive(Debug)]
pub struct FrameDef {
    /// Name, `<family>.<frame>`.
    pub name: &'static str,
    /// Length in bytes.
    pub len_bytes: usize,
    /// Fact sheet and section.
    pub source: &'static str,
    /// The map.
    pub segments: &'static [Segment],
}

/// Stops the build when a frame has a gap, an overlap or a wrong sum.
#[doc(hidden)]
pub const fn assert_frame(def: &FrameDef) {
    let mut next = 0;
    let mut i = 0;
    while i < def.segments.len() {
        let s = &def.segments[i];
        assert!(s.at_byte >= next, "frame!: a segment overlaps the one before it");
        assert!(s.at_byte <= next, "frame!: a gap before a segment");
        if let Some(layout) = s.layout {
            assert!(layout.bits as usize <= 8 * s.len_bytes, "frame!: a layout is larger than its segment");
        }
        next = s.at_byte + s.len_bytes;
        i += 1;
    }
    assert!(next == def.len_bytes, "frame!: the segments do not sum to the declared length");
}

/// Declares the byte map of a unit and a constant `Range<usize>` for every segment.
///
/// ```
/// scalepool_protocols::frame! {
///     /// Two bytes and a checksum.
///     pub mod tiny: 3 bytes = "model.tiny" {
///         source: "none";
///         /// Payload.
///         PAYLOAD = [0 +: 2];
///         /// Checksum.
///         SUM = [2 +: 1];
///     }
/// }
/// assert_eq!(tiny::SUM, 2..3);
/// ```
///
/// A gap does not compile:
///
/// ```compile_fail
/// scalepool_protocols::frame! {
///     /// A byte is missing.
///     pub mod tiny: 3 bytes = "model.tiny" {
///         source: "none";
///         /// Payload.
///         PAYLOAD = [0 +: 1];
///         /// Checksum.
///         SUM = [2 +: 1];
///     }
/// }
/// ```
#[macro_export]
macro_rules! frame {
    ($(#[doc = $doc:literal])* pub mod $name:ident: $len:literal bytes = $path:literal {
        source: $source:literal;
        $($(#[doc = $sdoc:literal])* $seg:ident = [$at:literal +: $n:literal] $(as $layout:ty)?;)*
    }) => {
        $(#[doc = $doc])*
        #[doc = concat!("\n\nSource: ", $source, ".")]
        pub mod $name {
            #[allow(unused_imports)]
            use super::*;
            $($(#[doc = $sdoc])* pub const $seg: core::ops::Range<usize> = $at..$at + $n;)*
            /// Length in bytes.
            pub const LEN: usize = $len;
            /// The byte map.
            pub static FRAME: $crate::wire::FrameDef = MAP;
            const MAP: $crate::wire::FrameDef = $crate::wire::FrameDef {
                name: $path,
                len_bytes: $len,
                source: $source,
                segments: &[$($crate::wire::Segment {
                    name: stringify!($seg),
                    at_byte: $at,
                    len_bytes: $n,
                    layout: $crate::frame!(@layout $($layout)?),
                    doc: concat!($($sdoc),*).trim_ascii(),
                }),*],
            };
            const _: () = $crate::wire::assert_frame(&MAP);
        }
    };
    (@layout) => { None };
    (@layout $layout:ty) => { Some(<$layout as $crate::wire::Wire>::DEF) };
}
