//! Vector files: write, read, compare, manifest.
