//! Message sequence charts.
