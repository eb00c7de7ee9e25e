//! The table of handles itself: one that is no longer used names nothing, a full one refuses, and a call excludes others.

use scalepool_capi::status::{SP_ERR_BUSY, SP_ERR_HANDLE, SP_ERR_RANGE};
use scalepool_capi::table::ObjectTable;

#[test]
fn a_handle_names_one_object_for_ever() {
    let (numbers, others) = (ObjectTable::new(1, "number"), ObjectTable::new(2, "number"));
    let first = numbers.insert(1).expect("room");
    assert_eq!(numbers.with(first, |n| Ok(*n)), Ok(1));
    assert_eq!(others.insert(2).map(|handle| numbers.with(handle, |n| Ok(*n)).is_err()), Ok(true), "other kind");
    assert_eq!(numbers.remove(first), Ok(()));
    let second = numbers.insert(3).expect("room");
    assert_eq!(second & 0xffff_ffff, first & 0xffff_ffff, "the place is used again");
    for wrong in [first, 0, u64::MAX, second + 1, second ^ 1 << 63] {
        assert_eq!(numbers.with(wrong, |n| Ok(*n)).map_err(|f| f.status), Err(SP_ERR_HANDLE), "{wrong:#x}");
        assert_eq!(numbers.remove(wrong).map_err(|f| f.status), Err(SP_ERR_HANDLE), "{wrong:#x}");
    }
    assert_eq!(numbers.with(second, |n| Ok(*n)), Ok(3));
}

#[test]
fn a_full_table_refuses() {
    let numbers = ObjectTable::new(1, "number");
    assert_eq!((0..10_000).find(|n| numbers.insert(*n).is_err()), Some(4096));
    assert_eq!(numbers.insert(0).map_err(|f| f.status), Err(SP_ERR_RANGE));
}

#[test]
fn a_second_call_at_the_same_time_is_refused() {
    let numbers = ObjectTable::new(1, "number");
    let handle = numbers.insert(0).expect("room");
    let inner = numbers.with(handle, |_| Ok(numbers.with(handle, |_| Ok(())).map_err(|f| f.status)));
    assert_eq!(inner, Ok(Err(SP_ERR_BUSY)));
    let gone = numbers.with(handle, |_| Ok(numbers.remove(handle).map_err(|f| f.status)));
    assert_eq!(gone, Ok(Err(SP_ERR_BUSY)));
    assert_eq!(numbers.remove(handle), Ok(()));
}
