//! What one end is and has.

use super::line::UalLine;
use super::replay::ReplayConfig;
use scalepool_protocols::ualink::code::DeviceType;
use scalepool_protocols::ualink::config::UalConfig;

/// What one end is and has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndConfig {
    /// Choices of the codec.
    pub codec: UalConfig,
    /// Choices of the replay machine.
    pub replay: ReplayConfig,
    /// Rate and width, for times.
    pub line: UalLine,
    /// Switch or accelerator.
    pub device_type: DeviceType,
    /// What the peer is: a switch never changes its rate.
    pub peer_type: DeviceType,
    /// Its device ID, 0 to 1023; `None`: not known.
    pub device_id: Option<u16>,
    /// Its port number, 0 to 1023; `None`: not known.
    pub port_number: Option<u16>,
    /// DWords that its UART can take (`ualink` §6 recommends 128).
    pub uart_buffer_dwords: u16,
    /// The end asks for its channels to go online by itself when the link comes up.
    pub opens_channels: bool,
    /// Flits have bytes; else they carry what is in them as it is, see
    /// [`content`](scalepool_protocols::ualink::content): for a link without faults at whose bytes nobody looks. Both ends of
    /// a link have the same.
    pub has_bytes: bool,
}

impl EndConfig {
    /// An accelerator with a number.
    pub fn accelerator(line: UalLine, id: u16) -> EndConfig {
        EndConfig {
            codec: UalConfig::SHEET,
            replay: ReplayConfig { fec_group_flits: line.interleave, ..ReplayConfig::default() },
            line,
            device_type: DeviceType::Accelerator,
            peer_type: DeviceType::Switch,
            device_id: Some(id),
            port_number: Some(0),
            uart_buffer_dwords: 128,
            opens_channels: true,
            has_bytes: true,
        }
    }

    /// Port of a switch.
    pub fn switch_port(line: UalLine, port: u16) -> EndConfig {
        let mut config = EndConfig::accelerator(line, 0);
        (config.device_type, config.device_id, config.port_number) = (DeviceType::Switch, None, Some(port));
        config.peer_type = DeviceType::Accelerator;
        config.opens_channels = false;
        config
    }
}
