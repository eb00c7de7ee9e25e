//! The table of registers against the configuration spaces of the model: what a write changes in each register is what the table says of
//! its fields, before and behind the lock, and what they hold behind a reset.

use scalepool::endpoint::config_space::ConfigSpace;
use scalepool::endpoint::config_space::port::port;
use scalepool::endpoint::config_space::type3::{Type3Config, type3};
use scalepool_protocols::cxl::cxlio::dvsec::{DvsecId, FlexBus, LinkError};
use scalepool_protocols::registers::cxl as blocks;
use scalepool_protocols::registers::{RegisterAccess, RegisterBlock, RegisterDef, RegisterField};
use scalepool_protocols::wire::Wire;

/// What a register holds.
fn read(space: &ConfigSpace, at: usize, register: &RegisterDef) -> u64 {
    space.number(at, register.at_byte..register.at_byte + register.bits as usize / 8) as u64
}

/// Writes a register, with the byte enables of its width.
fn write(space: &mut ConfigSpace, at: usize, register: &RegisterDef, value: u64) {
    let (byte, shift) = (at + register.at_byte, (at + register.at_byte) % 4);
    let enables = (if register.bits == 16 { 0b11 } else { 0b1111 }) << shift;
    space.write(byte as u16, (value << (8 * shift)) as u32, enables);
}

/// Bits of the fields that fit.
fn bits(register: &RegisterDef, fits: impl Fn(&RegisterField) -> bool) -> u64 {
    let mask = |field: &RegisterField| ((1_u64 << field.width) - 1) << field.lsb;
    register.fields.iter().filter(|field| fits(field)).map(mask).fold(0, |all, mask| all | mask)
}

fn has(register: &RegisterDef, access: &[RegisterAccess]) -> u64 {
    bits(register, |field| access.contains(&field.access))
}

/// Holds one block of a space against its table.
fn compare(space: &ConfigSpace, id: DvsecId, block: &RegisterBlock, lock: Option<(DvsecId, usize)>) {
    use RegisterAccess::{Lockable, ReadWrite, WriteOneClears};
    let at = space.dvsec(id).unwrap_or_else(|| panic!("{}: not in this space", block.name));
    for register in block.files[0].registers() {
        let name = format!("{}.{}", block.name, register.name);
        let before = read(space, at, &register);
        for field in &register.fields {
            if let Some(reset) = field.reset {
                assert_eq!(
                    before >> field.lsb & ((1 << field.width) - 1),
                    reset,
                    "{name}.{} behind a reset",
                    field.name
                );
            }
        }
        let taken = |space: &ConfigSpace| {
            let (mut ones, mut zeros) = (space.clone(), space.clone());
            write(&mut ones, at, &register, u64::MAX >> (64 - register.bits));
            write(&mut zeros, at, &register, 0);
            read(&ones, at, &register) ^ read(&zeros, at, &register)
        };
        // Both kinds of fields that a write changes; those that ones clear are 0 here.
        assert_eq!(taken(space), has(&register, &[ReadWrite, Lockable]), "{name}: bits that take what is written");
        if let Some((of, byte)) = lock {
            let mut locked = space.clone();
            let lock_at = locked.dvsec(of).expect("the DVSEC with the lock") + byte;
            locked.write(lock_at as u16, 1, 0b11);
            assert!(locked.is_locked());
            assert_eq!(taken(&locked), has(&register, &[ReadWrite]), "{name}: bits that the lock leaves");
        }
        assert_eq!(before & has(&register, &[WriteOneClears]), 0, "{name}: errors behind a reset");
    }
}

/// All that a port can do; `io` cannot be switched off.
fn everything() -> FlexBus {
    FlexBus { rsvd: false, ..FlexBus::from_bits(u128::MAX) }
}

#[test]
fn a_device_takes_what_the_table_says() {
    let config = Type3Config {
        flex_bus: everything(),
        range_bytes: [1 << 32, 1 << 28],
        logical_devices: 4,
        ..Type3Config::default()
    };
    let space = type3(&config).expect("a device");
    let lock = Some((DvsecId::Device, 0x14));
    for (id, block) in [
        (DvsecId::Device, &blocks::DEVICE),
        (DvsecId::FunctionMap, &blocks::FUNCTION_MAP),
        (DvsecId::GpfDevice, &blocks::GPF_DEVICE),
        (DvsecId::FlexBusPort, &blocks::FLEX_BUS_PORT),
        (DvsecId::RegisterLocator, &blocks::REGISTER_LOCATOR),
        (DvsecId::Mld, &blocks::MLD),
    ] {
        compare(&space, id, block, lock);
    }
}

#[test]
fn a_port_takes_what_the_table_says() {
    let space = port(everything());
    for (id, block) in [
        (DvsecId::PortExtensions, &blocks::PORT_EXTENSIONS),
        (DvsecId::GpfPort, &blocks::GPF_PORT),
        (DvsecId::FlexBusPort, &blocks::FLEX_BUS_PORT),
        (DvsecId::RegisterLocator, &blocks::REGISTER_LOCATOR),
    ] {
        compare(&space, id, block, None);
    }
}

#[test]
fn a_written_one_clears_the_errors_of_the_table_alone() {
    let mut space = port(everything());
    for error in
        [LinkError::EvenHalfFailed, LinkError::PidCorrected, LinkError::PidUncorrectable, LinkError::PidUnexpected]
    {
        space.note(error);
    }
    let at = space.dvsec(DvsecId::FlexBusPort).expect("a Flex Bus port");
    let registers = blocks::FLEX_BUS_PORT.files[0].registers();
    let status = registers.iter().find(|register| register.name == "status").expect("a status");
    let errors = has(status, &[RegisterAccess::WriteOneClears]);
    assert_eq!((errors, read(&space, at, status) & errors), (0x780, 0x780));
    write(&mut space, at, status, 0x100);
    assert_eq!(read(&space, at, status) & errors, 0x680);
    write(&mut space, at, status, 0xffff);
    assert_eq!(read(&space, at, status) & errors, 0);
}
