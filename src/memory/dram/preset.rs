//! Presets: organisation and timing of typical devices, one column of the tables in `memory §2` each.
//!
//! The rows below are in the order of the sheet, with ten columns each, so that they can be compared with the sheet cell
//! by cell. Sources and contradictions of each row are in `memory §2.3` and `§8`; a cell of a preset takes precedence
//! over the general formula (`MEM-PRE-08`). A preset describes a typical device, not a part of any vendor.
//!
//! A time that is quoted in nanoseconds is converted to clocks by [`clocks`], rounded up in exact arithmetic. Times are
//! converted to femtoseconds once, from a whole number of clocks ([`DramPreset::fs`]), so no rounding error accumulates.

/// The standard that a device follows, where rules differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DramStandard {
    /// DDR4: no per-bank refresh.
    Ddr4,
    /// DDR5: a per-bank refresh covers one bank number in all groups; masked writes read their code word first.
    Ddr5,
    /// LPDDR5 and LPDDR5X in bank-group mode: a per-bank refresh covers the banks b and b + 8.
    Lpddr5,
    /// HBM2E, HBM3, HBM3E: row and column bus, pseudo-channels, stacks.
    Hbm,
}

/// Organisation of a device and of the unit that ships (`memory §2.1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramOrganisation {
    /// Channels of the shipped unit, each with its own command bus.
    pub channels: u32,
    /// Pseudo-channels of a channel, each with its own data bus and banks; 1 where there are none.
    pub pseudo_channels: u32,
    /// Ranks of a channel.
    pub ranks: u32,
    /// Stack ids, that is, groups of dies of a tall HBM stack; 1 where there are none.
    pub stacks: u32,
    /// Bank groups of a rank, or of a stack of a pseudo-channel.
    pub bank_groups: u32,
    /// Banks of a group.
    pub banks: u32,
    /// Rows of a bank.
    pub rows: u32,
    /// Bytes of a row over the whole channel or pseudo-channel.
    pub row_bytes: u32,
    /// Bytes of one burst.
    pub burst_bytes: u32,
    /// Width of a data bus \[bits\].
    pub bus_bits: u32,
}

impl DramOrganisation {
    /// Ranks or pseudo-channels of a channel: what a refresh of all banks covers.
    pub const fn scopes(&self) -> u32 {
        self.pseudo_channels * self.ranks
    }

    /// Bank groups of a scope, over all its stacks.
    pub const fn groups(&self) -> u32 {
        self.stacks * self.bank_groups
    }

    /// Banks of a scope.
    pub const fn banks_of_scope(&self) -> u32 {
        self.groups() * self.banks
    }

    /// Bytes of all channels.
    pub const fn capacity_bytes(&self) -> u64 {
        self.channels as u64
            * self.scopes() as u64
            * self.banks_of_scope() as u64
            * self.rows as u64
            * self.row_bytes as u64
    }
}

/// Timing in clocks of the command clock (`memory §2.2`); 0 where the sheet has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramTiming {
    /// Period of the command clock \[fs\].
    pub tck_fs: u64,
    /// Data-bus clocks of a burst.
    pub bl: u32,
    /// Clocks of a burst in the array of one bank group, from which tWTR_L counts.
    pub bl_array: u32,
    /// Read to first data.
    pub cl: u32,
    /// Write to first data.
    pub cwl: u32,
    /// Activate to read.
    pub rcd_read: u32,
    /// Activate to write.
    pub rcd_write: u32,
    /// Precharge of a bank to activate.
    pub rp: u32,
    /// Precharge of all banks to activate.
    pub rp_all: u32,
    /// Activate to precharge.
    pub ras: u32,
    /// Activate to activate, same bank.
    pub rc: u32,
    /// Activate to activate, other bank group.
    pub rrd_s: u32,
    /// Activate to activate, same bank group.
    pub rrd_l: u32,
    /// Window of four activates.
    pub faw: u32,
    /// Read to read, other bank group.
    pub ccd_s: u32,
    /// Read to read, same bank group.
    pub ccd_l: u32,
    /// Write to write, other bank group.
    pub ccd_s_wr: u32,
    /// Write to write, same bank group.
    pub ccd_l_wr: u32,
    /// Write to masked write, same bank group (`memory §2.3`: DDR5 reads its code word first).
    pub ccd_l_wr_masked: u32,
    /// Read to read, other stack.
    pub ccd_stack: u32,
    /// End of write data to precharge.
    pub wr: u32,
    /// End of write data to read, other bank group.
    pub wtr_s: u32,
    /// End of write data to read, same bank group.
    pub wtr_l: u32,
    /// Read to precharge.
    pub rtp: u32,
    /// Read to write.
    pub rtw: u32,
    /// Precharge to precharge.
    pub ppd: u32,
    /// Gap of the data bus when the rank changes.
    pub cs: u32,
    /// Refresh of all banks.
    pub rfc_all: u32,
    /// Refresh of one bank.
    pub rfc_bank: u32,
    /// Refresh of one bank to activate of another one.
    pub refresh_to_act: u32,
    /// Refresh of one bank to refresh of another one.
    pub refresh_to_refresh: u32,
    /// Average interval of refreshes of all banks.
    pub refi: u32,
    /// Command-bus clocks of an activate.
    pub act_clocks: u32,
    /// Command-bus clocks of a read or a write.
    pub column_clocks: u32,
}

/// A preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramPreset {
    /// Name in descriptions and on the command line: the sheet's name in lower case.
    pub key: &'static str,
    /// Standard that decides where rules differ.
    pub standard: DramStandard,
    /// Organisation.
    pub organisation: DramOrganisation,
    /// Timing.
    pub timing: DramTiming,
    /// Source of the figures.
    pub source: &'static str,
}

/// Columns of the tables.
const COLUMNS: usize = 10;
type PresetRow = [u32; COLUMNS];

// Order of the columns: DDR4-3200AA, DDR5-4800B, 5600B, 6400B, LPDDR5-6400, LPDDR5X-8533, HBM2E-3200, HBM3-6400,
// HBM3E-8000, HBM3E-9600. Source of every row: memory §2.2; "-" of the sheet is 0 here.
const TCK_FS: PresetRow = [625_000, 416_667, 357_143, 312_500, 1_250_000, 937_500, 625_000, 625_000, 500_000, 416_667];
const BL: PresetRow = [4, 8, 8, 8, 2, 2, 2, 2, 2, 2];
/// The second figure of LPDDR5 in row BL: a burst takes four clocks in one bank group (memory §3, T07).
const BL_ARRAY: PresetRow = [4, 8, 8, 8, 4, 4, 2, 2, 2, 2];
const CL: PresetRow = [22, 40, 46, 52, 17, 23, 28, 20, 25, 30];
const CWL: PresetRow = [16, 38, 44, 50, 9, 12, 12, 10, 13, 15];
const RCD_READ: PresetRow = [22, 39, 45, 52, 15, 20, 20, 31, 39, 47];
const RCD_WRITE: PresetRow = [22, 39, 45, 52, 15, 20, 10, 15, 19, 23];
const RP: PresetRow = [22, 39, 45, 52, 15, 20, 23, 26, 33, 39];
const RP_ALL: PresetRow = [22, 39, 45, 52, 17, 23, 23, 26, 33, 39];
const RAS: PresetRow = [52, 77, 90, 103, 34, 45, 45, 45, 57, 68];
const RC: PresetRow = [74, 116, 135, 155, 49, 65, 68, 71, 90, 107];
const RRD_S: PresetRow = [4, 8, 8, 8, 4, 6, 7, 4, 5, 6];
const RRD_L: PresetRow = [8, 12, 14, 16, 4, 6, 10, 5, 7, 8];
const FAW: PresetRow = [34, 32, 32, 32, 16, 22, 26, 24, 30, 36];
const CCD_S: PresetRow = [4, 8, 8, 8, 2, 2, 2, 2, 2, 2];
const CCD_L: PresetRow = [8, 12, 14, 16, 4, 4, 4, 4, 5, 6];
const CCD_S_WR: PresetRow = [4, 8, 8, 8, 2, 2, 2, 2, 2, 2];
const CCD_L_WR: PresetRow = [8, 24, 28, 32, 4, 4, 4, 4, 5, 6];
/// memory §2.3: 48, 56, 64 where a die has to read its code word first.
const CCD_L_WR_MASKED: PresetRow = [8, 48, 56, 64, 4, 4, 4, 4, 5, 6];
const CCD_STACK: PresetRow = [0, 0, 0, 0, 0, 0, 3, 3, 3, 3];
const WR: PresetRow = [24, 72, 84, 96, 28, 37, 23, 33, 42, 50];
const WTR_S: PresetRow = [4, 6, 7, 8, 5, 7, 7, 7, 9, 11];
const WTR_L: PresetRow = [12, 24, 28, 32, 10, 13, 15, 10, 13, 15];
const RTP: PresetRow = [12, 18, 21, 24, 8, 11, 8, 9, 12, 14];
const RTW: PresetRow = [12, 14, 16, 16, 12, 15, 20, 17, 20, 24];
const PPD: PresetRow = [1, 2, 2, 2, 2, 2, 1, 2, 2, 2];
const CS: PresetRow = [2, 2, 2, 2, 2, 2, 0, 0, 0, 0];
const RFC_ALL: PresetRow = [560, 708, 826, 944, 224, 299, 720, 560, 800, 960];
const RFC_BANK: PresetRow = [0, 312, 364, 416, 112, 150, 320, 320, 400, 480];
const REFRESH_TO_ACT: PresetRow = [0, 72, 84, 96, 6, 8, 13, 13, 16, 20];
const REFRESH_TO_REFRESH: PresetRow = [0, 312, 364, 416, 72, 96, 13, 13, 16, 20];
const REFI: PresetRow = [12_480, 9360, 10_920, 12_480, 3125, 4166, 6240, 6240, 7800, 9360];
const ACT_CLOCKS: PresetRow = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2];
const COLUMN_CLOCKS: PresetRow = [1, 2, 2, 2, 1, 1, 1, 1, 1, 1];

const fn timing(column: usize) -> DramTiming {
    DramTiming {
        tck_fs: TCK_FS[column] as u64,
        bl: BL[column],
        bl_array: BL_ARRAY[column],
        cl: CL[column],
        cwl: CWL[column],
        rcd_read: RCD_READ[column],
        rcd_write: RCD_WRITE[column],
        rp: RP[column],
        rp_all: RP_ALL[column],
        ras: RAS[column],
        rc: RC[column],
        rrd_s: RRD_S[column],
        rrd_l: RRD_L[column],
        faw: FAW[column],
        ccd_s: CCD_S[column],
        ccd_l: CCD_L[column],
        ccd_s_wr: CCD_S_WR[column],
        ccd_l_wr: CCD_L_WR[column],
        ccd_l_wr_masked: CCD_L_WR_MASKED[column],
        ccd_stack: CCD_STACK[column],
        wr: WR[column],
        wtr_s: WTR_S[column],
        wtr_l: WTR_L[column],
        rtp: RTP[column],
        rtw: RTW[column],
        ppd: PPD[column],
        cs: CS[column],
        rfc_all: RFC_ALL[column],
        rfc_bank: RFC_BANK[column],
        refresh_to_act: REFRESH_TO_ACT[column],
        refresh_to_refresh: REFRESH_TO_REFRESH[column],
        refi: REFI[column],
        act_clocks: ACT_CLOCKS[column],
        column_clocks: COLUMN_CLOCKS[column],
    }
}

/// memory §2.1.
const DDR4: DramOrganisation = DramOrganisation {
    channels: 1,
    pseudo_channels: 1,
    ranks: 1,
    stacks: 1,
    bank_groups: 4,
    banks: 4,
    rows: 65_536,
    row_bytes: 8192,
    burst_bytes: 64,
    bus_bits: 64,
};

/// memory §2.1: two sub-channels a DIMM.
const DDR5: DramOrganisation = DramOrganisation { channels: 2, bank_groups: 8, row_bytes: 4096, bus_bits: 32, ..DDR4 };

/// memory §2.1: four channels make a package of 64 bits.
const LPDDR5: DramOrganisation =
    DramOrganisation { channels: 4, row_bytes: 2048, burst_bytes: 32, bus_bits: 16, ..DDR4 };

/// memory §2.1.
const HBM2E: DramOrganisation = DramOrganisation {
    channels: 8,
    pseudo_channels: 2,
    ranks: 1,
    stacks: 2,
    bank_groups: 4,
    banks: 4,
    rows: 32_768,
    row_bytes: 1024,
    burst_bytes: 32,
    bus_bits: 64,
};

/// memory §2.1.
const HBM3: DramOrganisation = DramOrganisation { channels: 16, rows: 16_384, bus_bits: 32, ..HBM2E };

/// memory §2.1: 24 Gb dies, 8 of them.
const HBM3E: DramOrganisation = DramOrganisation { rows: 24_576, ..HBM3 };

const fn preset(
    key: &'static str,
    standard: DramStandard,
    organisation: DramOrganisation,
    column: usize,
    source: &'static str,
) -> DramPreset {
    DramPreset { key, standard, organisation, timing: timing(column), source }
}

/// A stack of 12 dies: a third group of them, and a longer refresh (memory §2.3: 460 ns).
const fn twelve_high(key: &'static str, eight: DramPreset, rfc_all: u32) -> DramPreset {
    DramPreset {
        key,
        organisation: DramOrganisation { stacks: 3, ..eight.organisation },
        timing: DramTiming { rfc_all, ..eight.timing },
        ..eight
    }
}

const HBM3E_8000: DramPreset = preset(
    "hbm3e_8000",
    DramStandard::Hbm,
    HBM3E,
    8,
    "memory §2.3: HBM3 times in ns at 0.5 ns; Ramulator 2 HBM4-8000 core entries [B]; ISSCC 2024 13.4 for the interface",
);
const HBM3E_9600: DramPreset = preset(
    "hbm3e_9600",
    DramStandard::Hbm,
    HBM3E,
    9,
    "memory §2.3: HBM3 times in ns, Ramulator 2 forks [B]; ISSCC 2024 13.4 for the interface",
);

/// All presets, in the order of the sheet.
pub static PRESETS: &[DramPreset] = &[
    preset("ddr4_3200aa", DramStandard::Ddr4, DDR4, 0, "memory §2.3: Ramulator 2 and DRAMsim3 [A]; RFC 350 ns [A]"),
    preset("ddr5_4800b", DramStandard::Ddr5, DDR5, 1, "memory §2.3: Ramulator 2, gem5, module EEPROMs [A]"),
    preset("ddr5_5600b", DramStandard::Ddr5, DDR5, 2, "memory §2.3: Ramulator 2, gem5 rules in ns [A]"),
    preset("ddr5_6400b", DramStandard::Ddr5, DDR5, 3, "memory §2.3: Ramulator 2 [B]"),
    preset("lpddr5_6400", DramStandard::Lpddr5, LPDDR5, 4, "memory §2.3: Ramulator 2, gem5 [A]; WL, RTP [B]"),
    preset("lpddr5x_8533", DramStandard::Lpddr5, LPDDR5, 5, "memory §2.3: LPDDR5-6400 times in ns at 0.9375 ns [D]"),
    preset("hbm2e_3200", DramStandard::Hbm, HBM2E, 6, "memory §2.3: DRAMSys and gem5 HBM2 times in ns at 0.625 ns [D]"),
    preset("hbm3_6400", DramStandard::Hbm, HBM3, 7, "memory §2.3: Ramulator 2 [B]"),
    HBM3E_8000,
    twelve_high("hbm3e_8000_12h", HBM3E_8000, 920),
    HBM3E_9600,
    twelve_high("hbm3e_9600_12h", HBM3E_9600, 1104),
];

/// Names of all presets, in the order of the sheet.
pub const KEYS: &[&str] = &[
    "ddr4_3200aa",
    "ddr5_4800b",
    "ddr5_5600b",
    "ddr5_6400b",
    "lpddr5_6400",
    "lpddr5x_8533",
    "hbm2e_3200",
    "hbm3_6400",
    "hbm3e_8000",
    "hbm3e_8000_12h",
    "hbm3e_9600",
    "hbm3e_9600_12h",
];

/// Finds the preset of a name.
pub fn find(key: &str) -> Option<&'static DramPreset> {
    PRESETS.iter().find(|preset| preset.key == key)
}

/// Clocks that cover a time: the larger of a minimum and the time at the given transfer rate, rounded up in exact
/// arithmetic (`memory §1.2`). One clock is two transfers.
pub fn clocks(least: u32, ps: u32, rate_mts: u32) -> u32 {
    let clocks = (u64::from(ps) * u64::from(rate_mts)).div_ceil(2_000_000);
    least.max(u32::try_from(clocks).unwrap_or(u32::MAX))
}

/// Clocks of a maximum interval, rounded down (`memory §1.2`).
pub fn interval_clocks(ps: u32, tck_fs: u64) -> u32 {
    u32::try_from(u64::from(ps) * 1000 / tck_fs).unwrap_or(u32::MAX)
}

/// Read to write of HBM by the general formula (`memory §2.3`), in clocks of `tck_ps`.
pub fn hbm_read_to_write(timing: &DramTiming, tck_ps: i64) -> i64 {
    let extra = (-2000).max(-2 * tck_ps) + 5 * tck_ps + 25_200;
    let rounded = (extra + 10 * tck_ps - 1).div_euclid(10 * tck_ps);
    i64::from(timing.cl) + i64::from(timing.bl) - i64::from(timing.cwl) + rounded
}

impl DramPreset {
    /// Duration of a number of clocks \[fs\].
    pub fn fs(&self, clocks: u64) -> u64 {
        clocks.saturating_mul(self.timing.tck_fs)
    }

    /// Read of an open row, command to last data (`memory §2.4`) \[clocks\].
    pub fn hit_clocks(&self) -> u32 {
        self.timing.cl + self.timing.bl
    }

    /// Read of a closed bank, first command to last data \[clocks\].
    pub fn closed_clocks(&self) -> u32 {
        self.timing.rcd_read + self.hit_clocks()
    }

    /// Read of a bank with another row open, first command to last data \[clocks\].
    pub fn conflict_clocks(&self) -> u32 {
        self.timing.rp + self.closed_clocks()
    }

    /// Whether the device has per-bank refresh.
    pub fn has_bank_refresh(&self) -> bool {
        self.timing.rfc_bank != 0
    }

    /// Whether row and column commands have separate buses.
    pub fn has_two_command_buses(&self) -> bool {
        self.standard == DramStandard::Hbm
    }

    /// Number of per-bank refreshes in one [`refi`](DramTiming::refi). Each bank is refreshed once; LPDDR5 refreshes
    /// banks in pairs; DDR5 refreshes its four bank numbers twice, because its per-bank refresh belongs to the fine
    /// granularity (`memory §4`).
    pub fn bank_refreshes_in_refi(&self) -> u32 {
        match self.standard {
            DramStandard::Ddr4 | DramStandard::Hbm => self.organisation.banks_of_scope(),
            DramStandard::Lpddr5 => self.organisation.banks_of_scope() / 2,
            DramStandard::Ddr5 => 2 * self.organisation.banks,
        }
    }

    /// The same device above 85 degrees Celsius: refreshes come twice as often (`memory §2.3`).
    pub fn hot(&self) -> DramPreset {
        DramPreset { timing: DramTiming { refi: self.timing.refi / 2, ..self.timing }, ..*self }
    }

    /// Checks a user-defined preset; returns the wrong fields and their problems.
    pub fn check(&self) -> Vec<(&'static str, String)> {
        let DramPreset { organisation: o, timing: t, .. } = self;
        let mut found = Vec::new();
        let positive = [
            ("channels", o.channels),
            ("pseudo_channels", o.pseudo_channels),
            ("ranks", o.ranks),
            ("stacks", o.stacks),
            ("bank_groups", o.bank_groups),
            ("banks", o.banks),
            ("rows", o.rows),
            ("bl", t.bl),
            ("cl", t.cl),
            ("cwl", t.cwl),
            ("rcd_read", t.rcd_read),
            ("rcd_write", t.rcd_write),
            ("rp", t.rp),
            ("ccd_s", t.ccd_s),
            ("ccd_l", t.ccd_l),
            ("rfc_all", t.rfc_all),
            ("act_clocks", t.act_clocks),
            ("column_clocks", t.column_clocks),
            ("tck_fs", u32::from(t.tck_fs != 0)),
        ];
        let zeros = positive.iter().filter(|(_, value)| *value == 0);
        found.extend(zeros.map(|(name, _)| (*name, "found 0, expected at least 1".to_owned())));
        let mut least = |name, value: u32, least: u32, what: &str| {
            if value < least {
                found.push((name, format!("found {value}, expected at least {least}, {what}")));
            }
        };
        least("rc", t.rc, t.ras.saturating_add(t.rp), "ras + rp");
        least("faw", t.faw, t.rrd_s, "rrd_s");
        least("refi", t.refi, t.rfc_all.saturating_add(1), "more than rfc_all");
        if !matches!(o.burst_bytes, 32 | 64) || o.row_bytes < 64 || !o.row_bytes.is_multiple_of(64) {
            let text = format!("found {} bytes in bursts of {}", o.row_bytes, o.burst_bytes);
            found.push(("row_bytes", format!("{text}, expected a multiple of 64 in bursts of 32 or 64")));
        }
        if self.has_two_command_buses() && o.ranks > 1 {
            found.push(("ranks", format!("found {}, expected 1: HBM has no gap between ranks", o.ranks)));
        }
        found
    }
}
