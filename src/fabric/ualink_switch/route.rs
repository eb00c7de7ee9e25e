//! The route tables of a switch (`ualink` §14).
//!
//! Modelled: one table a station, an entry for each destination with a deny bit for each port of the station and with
//! station and port to leave by. Those two are the same in all tables, since port n leads to accelerator n, so they are not
//! kept. The sheet's station number has 6 bits for 64 stations; ours has as many as 1024 accelerators need.

/// Lanes of a station.
const STATION_LANES: u16 = 4;

/// Why a transaction is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UalRouteRefused {
    /// The deny bit of the port it came in by is set.
    #[error("destination {dst} is denied for port {port}")]
    Denied {
        /// Port it came in by.
        port: u16,
        /// Its destination.
        dst: u16,
    },
    /// The table has no such entry.
    #[error("destination {dst} is beyond the table of {entries} entries")]
    OutOfRange {
        /// Its destination.
        dst: u16,
        /// Entries.
        entries: u16,
    },
}

/// The tables of all stations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UalRoutes {
    ports: u16,
    ports_per_station: u16,
    /// Deny bits of the entries of each table. Bit p: what comes in by port p of its station is dropped.
    tables: Vec<Vec<u8>>,
}

impl UalRoutes {
    /// Tables of a switch with `ports` ports of `lanes` lanes (1, 2, 4), of which port n leads to accelerator n. At reset
    /// everything is denied.
    pub fn new(ports: u16, lanes: u16) -> UalRoutes {
        let ports_per_station = STATION_LANES / lanes.clamp(1, STATION_LANES);
        let stations = ports.div_ceil(ports_per_station);
        let table = vec![0xf; usize::from(ports)];
        UalRoutes { ports, ports_per_station, tables: vec![table; usize::from(stations)] }
    }

    /// Ports of the switch.
    pub fn ports(&self) -> u16 {
        self.ports
    }

    /// Sets or clears the deny bit of an input port and a destination. What does not exist is left alone.
    pub fn set_denied(&mut self, port: u16, dst: u16, denied: bool) {
        let bit = 1 << (port % self.ports_per_station);
        let table = self.tables.get_mut(usize::from(port / self.ports_per_station));
        if let Some(deny) = table.and_then(|t| t.get_mut(usize::from(dst))) {
            *deny = *deny & !bit | if denied { bit } else { 0 };
        }
    }

    /// Clears all deny bits.
    pub fn allow_all(&mut self) {
        self.tables.iter_mut().flatten().for_each(|deny| *deny = 0);
    }

    /// The port by which a transaction leaves; U-turns are allowed.
    ///
    /// # Errors
    /// It is to be dropped.
    pub fn route(&self, port: u16, dst: u16) -> Result<u16, UalRouteRefused> {
        let beyond = UalRouteRefused::OutOfRange { dst, entries: self.ports };
        let table = self.tables.get(usize::from(port / self.ports_per_station)).ok_or(beyond)?;
        let deny = table.get(usize::from(dst)).ok_or(beyond)?;
        if deny >> (port % self.ports_per_station) & 1 == 1 {
            return Err(UalRouteRefused::Denied { port, dst });
        }
        Ok(dst)
    }
}
