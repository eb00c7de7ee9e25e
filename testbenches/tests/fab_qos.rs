//! The load that memories tell and what hosts do about it (scenario FAB-T15): arithmetic, and two experiments in numbers.

mod experiments;
mod telemetry;
mod weights;
