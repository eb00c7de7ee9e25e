//! What is made from the one declaration of the messages: their structs, the list of classes, the message itself.

/// Declares the messages: name and channel, fields, and which of the fields each form of a link carries.
///
/// Of a class: its name in the specification, direction, whether it is `cache` or `mem`, its role, most messages of it in a
/// window (`cxl-256b` §5.3), and `data` where a line of data follows. Exactly one field of a message is an identifier.
macro_rules! messages {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident ($spec:literal, $dir:ident, $protocol:ident, $role:ident, $per_window:literal $(, $data:ident)?) {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
        }
        $(cxl68 [$($of_68:ident)*])? hbr [$($of_hbr:ident)*] pbr [$($of_pbr:ident)*]
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            pub struct $name {
                $($(#[doc = $field_doc])* pub $field: $type,)*
            }

            impl $name {
                /// With the identifiers that its link has for the way to a peer.
                #[must_use]
                #[inline]
                pub fn on_route(mut self, route: PeerRoute) -> $name {
                    let message = &mut self;
                    $(declare::route!(message, route, $field);)*
                    self
                }
            }

            form::spellings!($name $(cxl68 [$($of_68)*])? hbr [$($of_hbr)*] pbr [$($of_pbr)*]);
        )*

        /// Class of a message: one of the layouts of a link, and the channel it travels on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Class {
            $($(#[doc = $doc])* $name,)*
        }

        impl Class {
            /// How many classes there are.
            pub const COUNT: usize = [$(Class::$name),*].len();

            /// All classes, in order of the sheet.
            pub const ALL: [Class; Class::COUNT] = [$(Class::$name),*];

            /// Name as the specification writes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Class::$name => $spec,)*
                }
            }

            /// Layout of the message or data header.
            pub const fn def(self, routing: Routing) -> &'static LayoutDef {
                match (self, routing) {
                    $((Class::$name, Routing::Hbr) => cxl256::message::$name::DEF,)*
                    $((Class::$name, Routing::Pbr) => cxl256::pbr::$name::DEF,)*
                }
            }

            /// Direction it travels in between a host and its device.
            pub const fn dir(self) -> Dir {
                match self {
                    $(Class::$name => Dir::$dir,)*
                }
            }

            /// Whether it is CXL.mem, which peers may also send directly to each other.
            pub const fn is_mem(self) -> bool {
                match self {
                    $(Class::$name => declare::is_mem!($protocol),)*
                }
            }

            /// What a message of the class is to its transaction, but for the exceptions that opcodes make.
            pub const fn role(self) -> TransactionRole {
                match self {
                    $(Class::$name => TransactionRole::$role,)*
                }
            }

            /// Whether a line of data follows.
            pub const fn has_data(self) -> bool {
                match self {
                    $(Class::$name => declare::is_given!($($data)?),)*
                }
            }

            /// Most messages of the class in two neighbouring groups of slots, 128 bytes (`cxl-256b` §5.3).
            pub const fn max_per_window(self) -> u8 {
                match self {
                    $(Class::$name => $per_window,)*
                }
            }

            /// The class in 68B flits, if they have it.
            #[inline]
            pub const fn on_cxl68(self) -> Option<cxl68::message::Class> {
                match self {
                    $(Class::$name => declare::on_cxl68!($name $([$($of_68)*])?),)*
                }
            }
        }

        /// A whole message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Message {
            $($(#[doc = $doc])* $name($name $(, declare::payload!($data))?),)*
        }

        impl Message {
            /// Its class, and so the channel it travels on.
            #[inline]
            pub const fn class(&self) -> Class {
                match self {
                    $(Message::$name(..) => Class::$name,)*
                }
            }

            /// Data of the classes that have some.
            pub const fn data(&self) -> Option<&Data> {
                match self {
                    $($(Message::$name(_, $data) => Some($data),)?)*
                    _ => None,
                }
            }

            /// With the identifiers that its link has for the way to a peer.
            #[must_use]
            pub fn on_route(mut self, route: PeerRoute) -> Message {
                match &mut self {
                    $(Message::$name(message, ..) => *message = message.on_route(route),)*
                }
                self
            }

            /// The identifiers of its way to a peer that it has fields for; the others are 0.
            pub fn route(&self) -> PeerRoute {
                let mut route = PeerRoute::default();
                match self {
                    $(Message::$name(message, ..) => {
                        $(declare::route!(route, message, $field);)*
                    })*
                }
                route
            }

            /// By what both ends of a link know its transaction.
            pub const fn identifier(&self) -> (MessageIdentifier, u16) {
                match self {
                    $(Message::$name(message, ..) => {
                        $(declare::identifier!(message, $field);)*
                    })*
                }
            }

            /// The number of its opcode, of the classes that have one.
            #[inline]
            pub const fn opcode(&self) -> Option<u8> {
                match self {
                    $(Message::$name(_message, ..) => {
                        $(declare::opcode!(_message, $field);)*
                    })*
                }
                None
            }

            /// Whether the sheet of 68B flits names all of its codes.
            #[inline]
            pub fn is_named_in_cxl68(&self) -> bool {
                match self {
                    $(Message::$name(message, ..) => form::Spelling::is_named_in_cxl68(message),)*
                }
            }

            /// Leaves of the header what comes out of 68B flits; `false`, and nothing has changed, where they cannot carry it.
            #[inline]
            fn header_behind_cxl68(&mut self) -> bool {
                match self {
                    $(Message::$name(message, ..) => {
                        form::Spelling::behind_cxl68(message).map(|read| *message = read).is_some()
                    })*
                }
            }

            /// Bits of the message or data header on a link.
            fn header_bits(&self, form: MessageForm) -> Result<u128, MessageFormError> {
                match self {
                    $(Message::$name(message, ..) => form::Spelling::to_bits(message, form),)*
                }
            }

            /// The message of a header; the data is that of the classes that have some.
            fn read(class: Class, form: MessageForm, bits: u128, data: Data) -> Message {
                match class {
                    $(Class::$name => {
                        Message::$name(form::Spelling::from_bits(form, bits) $(, declare::given!($data, data))?)
                    })*
                }
            }
        }
    };
}

macro_rules! is_mem {
    (mem) => {
        true
    };
    (cache) => {
        false
    };
}

macro_rules! is_given {
    () => {
        false
    };
    (data) => {
        true
    };
}

macro_rules! payload {
    (data) => {
        Data
    };
}

macro_rules! given {
    (data, $data:ident) => {
        $data
    };
}

macro_rules! on_cxl68 {
    ($name:ident [$($field:ident)*]) => {
        Some(cxl68::message::Class::$name)
    };
    ($name:ident) => {
        None
    };
}

/// Copies a field that is part of a route.
macro_rules! route {
    ($to:ident, $from:ident, cache_id) => {
        $to.cache_id = $from.cache_id
    };
    ($to:ident, $from:ident, ld_id) => {
        $to.ld_id = $from.ld_id
    };
    ($to:ident, $from:ident, bi_id) => {
        $to.bi_id = $from.bi_id
    };
    ($to:ident, $from:ident, spid) => {
        $to.spid = $from.spid
    };
    ($to:ident, $from:ident, dpid) => {
        $to.dpid = $from.dpid
    };
    ($to:ident, $from:ident, $other:ident) => {};
}

/// Returns the number of the field if it is the opcode.
macro_rules! opcode {
    ($message:ident, opcode) => {
        return Some($message.opcode.0)
    };
    ($message:ident, $other:ident) => {};
}

/// Returns the field if it is the identifier.
macro_rules! identifier {
    ($message:ident, cqid) => {
        return (MessageIdentifier::Cqid, $message.cqid)
    };
    ($message:ident, uqid) => {
        return (MessageIdentifier::Uqid, $message.uqid)
    };
    ($message:ident, tag) => {
        return (MessageIdentifier::Tag, $message.tag)
    };
    ($message:ident, bi_tag) => {
        return (MessageIdentifier::BiTag, $message.bi_tag)
    };
    ($message:ident, $other:ident) => {};
}

pub(super) use {given, identifier, is_given, is_mem, messages, on_cxl68, opcode, payload, route};
