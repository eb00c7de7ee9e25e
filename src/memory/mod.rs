//! Memory: backing store and cache arrays.
