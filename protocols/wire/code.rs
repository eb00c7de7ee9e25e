//! Field values and code tables.

/// A named code of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Name as the specification writes it, without hyphens.
    pub name: &'static str,
    /// Number on the wire.
    pub value: u128,
    /// What it means.
    pub doc: &'static str,
}

/// All codes of an enumerated field; numbers without a row are reserved.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeTable {
    /// Type name, e.g. `M2sReqOpcode`.
    pub name: &'static str,
    /// Field width in bits.
    pub width: u32,
    /// Rule that a reserved code breaks.
    pub rule: &'static str,
    /// Fact sheet and section.
    pub source: &'static str,
    /// Rows in ascending order of the sheet.
    pub codes: &'static [Code],
}

impl CodeTable {
    /// Name of a code, or `None` for a reserved one.
    pub fn name_of(&self, value: u128) -> Option<&'static str> {
        self.codes.iter().find(|c| c.value == value).map(|c| c.name)
    }

    /// Bit n: number n has a name. Of a table with wider numbers than six bits, the first 64.
    pub const fn named(&self) -> u64 {
        let (mut named, mut n) = (0, 0);
        while n < self.codes.len() {
            named |= if self.codes[n].value < 64 { 1 << self.codes[n].value } else { 0 };
            n += 1;
        }
        named
    }

    /// Number of a name (exact spelling), or `None`.
    pub fn value_of(&self, name: &str) -> Option<u128> {
        self.codes.iter().find(|c| c.name == name).map(|c| c.value)
    }
}

/// A Rust type that can stand in a layout field.
pub trait FieldValue: Copy {
    /// Code table of the type, if it has one.
    const CODES: Option<&'static CodeTable> = None;
    /// The number that travels.
    fn to_raw(self) -> u128;
    /// From a number that fits the field; higher bits are lost.
    fn from_raw(raw: u128) -> Self;

    /// Whether a number has a name, where the type has a code table: a shift of the table's [`CodeTable::named`], or a search
    /// through it.
    #[inline(always)]
    fn is_named(raw: u128) -> bool {
        let named = const {
            match Self::CODES {
                Some(table) => table.named(),
                None => u64::MAX,
            }
        };
        match Self::CODES {
            None => true,
            Some(_) if raw < 64 => named >> raw & 1 == 1,
            Some(table) => table.name_of(raw).is_some(),
        }
    }
}

impl FieldValue for bool {
    #[inline(always)]
    fn to_raw(self) -> u128 {
        self as u128
    }
    #[inline(always)]
    fn from_raw(raw: u128) -> Self {
        raw & 1 != 0
    }
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl FieldValue for $t {
            #[inline(always)]
            fn to_raw(self) -> u128 {
                self as u128
            }
            #[inline(always)]
            fn from_raw(raw: u128) -> Self {
                raw as $t
            }
        }
    )*};
}
plain!(u8 u16 u32 u64 u128);

/// Declares an open enumeration: a number with names for the codes that the sheet lists.
///
/// Every number of the field's width is a value, so decoding is total; a number without a name is a reserved code and
/// [`LayoutDef::check`](crate::wire::LayoutDef::check) names the rule.
///
/// ```
/// scalepool_protocols::wire_enum! {
///     /// Traffic light.
///     pub Light: 2 bits, rule "CXL68-ENC-01", source "none" {
///         /// Stop.
///         Red = 0,
///         /// Go.
///         Green = 2,
///     }
/// }
/// assert_eq!(Light::Green.name(), Some("Green"));
/// assert_eq!(Light(3).name(), None);
/// ```
#[macro_export]
macro_rules! wire_enum {
    ($(#[doc = $doc:literal])* pub $name:ident: $width:literal bits, rule $rule:literal, source $source:literal {
        $($(#[doc = $cdoc:literal])* $code:ident = $value:literal),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[doc = concat!("\n\nSource: ", $source, ". A reserved code breaks ", $rule, ".")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u8);

        #[allow(non_upper_case_globals)]
        impl $name {
            $($(#[doc = $cdoc])* pub const $code: Self = Self($value);)*

            /// The code table.
            pub const TABLE: &'static $crate::wire::CodeTable = &$crate::wire::CodeTable {
                name: stringify!($name),
                width: $width,
                rule: $rule,
                source: $source,
                codes: &[$($crate::wire::Code {
                    name: stringify!($code),
                    value: $value,
                    doc: concat!($($cdoc),*).trim_ascii(),
                }),*],
            };

            /// Name of the code, `None` for a reserved one.
            pub fn name(self) -> Option<&'static str> {
                Self::TABLE.name_of(self.0 as u128)
            }
        }

        const _: () = {
            let mut i = 0;
            while i < $name::TABLE.codes.len() {
                assert!($name::TABLE.codes[i].value < 1 << $width, "a code is wider than its field");
                let mut j = 0;
                while j < i {
                    assert!($name::TABLE.codes[i].value != $name::TABLE.codes[j].value, "a code stands twice");
                    j += 1;
                }
                i += 1;
            }
        };

        impl $crate::wire::FieldValue for $name {
            const CODES: Option<&'static $crate::wire::CodeTable> = Some(Self::TABLE);
            #[inline(always)]
            fn to_raw(self) -> u128 {
                self.0 as u128
            }
            #[inline(always)]
            fn from_raw(raw: u128) -> Self {
                Self(raw as u8)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "reserved({})", self.0),
                }
            }
        }
    };
}
