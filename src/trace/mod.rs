//! Probes, traces and waves.
