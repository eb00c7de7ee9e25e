//! The JSON forms of messages and flits.
