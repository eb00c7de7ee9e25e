//! Derived artefacts; input is the layout table alone.
