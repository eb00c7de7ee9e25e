//! Arbiters: who gets a resource in this slot, beside those of RTL.
//!
//! Modelled: nothing of its own; [`scalepool::arbiter`] decides. Left out: arbiters that need more than one bit a
//! requester, allocators, and more requesters than a mask of 64 bits has.
//!
//! A walk through one slot: the winner is looked up; if its grant is used, the priority moves, and only then.

use super::call::{Caller, call};
use super::status::{Failure, SP_OK};
use super::table::ObjectTable;
use scalepool::arbiter::{Arbiter, Matrix, Requests, RoundRobin, WeightedRoundRobin};

/// Round robin: the first requester at or after a pointer wins, and the pointer moves to the one after the winner. It
/// starts at requester 0.
pub const SP_ARBITER_ROUND_ROBIN: u32 = 1;
/// Matrix: the requester that was granted least recently wins. At the start the lower number wins.
pub const SP_ARBITER_MATRIX: u32 = 2;
/// Weighted round robin: in each slot every requester gains its weight, and the one with the highest balance wins and
/// pays the weights of all that requested.
pub const SP_ARBITER_WEIGHTED: u32 = 3;

/// Bits of a mask of requesters.
const MOST: u32 = 64;

static ARBITERS: ObjectTable<Box<dyn Arbiter + Send>> = ObjectTable::new(4, "arbiter");

fn weights_of(found: Vec<u32>, expected: u32) -> Result<Vec<u16>, Failure> {
    if found.len() != expected as usize {
        return Err(Failure::range("weights_length", found.len(), expected));
    }
    let weight = |w: &u32| u16::try_from(*w).map_err(|_| Failure::range("weights", w, "0 to 65535 each"));
    found.iter().map(weight).collect()
}

fn new(kind: u32, requesters: u32, weights: Vec<u32>) -> Result<Box<dyn Arbiter + Send>, Failure> {
    let wrong = || Failure::range("requesters", requesters, format!("1 to {MOST}"));
    if requesters > MOST {
        return Err(wrong());
    }
    let weights = weights_of(weights, if kind == SP_ARBITER_WEIGHTED { requesters } else { 0 })?;
    let count = requesters as usize;
    Ok(match kind {
        SP_ARBITER_ROUND_ROBIN => Box::new(RoundRobin::new(count).map_err(|_| wrong())?),
        SP_ARBITER_MATRIX => Box::new(Matrix::new(count).map_err(|_| wrong())?),
        SP_ARBITER_WEIGHTED => Box::new(WeightedRoundRobin::new(&weights).map_err(|_| wrong())?),
        _ => return Err(Failure::range("kind", kind, "one of SP_ARBITER_*, 1 to 3")),
    })
}

/// Makes an arbiter of 1 to 64 requesters that has granted nothing yet. SP_ARBITER_WEIGHTED takes one weight for each
/// requester, 0 to 65535, with that of requester 0 first. The other kinds take no weights: pass length 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_arbiter_new(
    kind: u32,
    requesters: u32,
    weights: *const u32,
    weights_length: usize,
    arbiter: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let arbiter = caller.place("arbiter", arbiter)?;
        let weights = caller.items("weights", weights, weights_length)?;
        arbiter.set(ARBITERS.insert(new(kind, requesters, weights)?)?);
        Ok(SP_OK)
    })
}

/// Arbitrates one slot. Bit i of `requests` is 1 if requester i requests; bits above the last requester are ignored.
/// `granted` has the bit of the winner, or is 0 if nobody requests. If `used` is 1, the winner uses its turn. If it
/// is 0, the arbiter stays as it is, and the same requests have the same winner in the next slot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_arbiter_grant(arbiter: u64, requests: u64, used: u32, granted: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let granted = caller.place("granted", granted)?;
        if used > 1 {
            return Err(Failure::range("used", used, "0 or 1"));
        }
        ARBITERS.with(arbiter, |arbiter| {
            let requests = Requests::from(requests);
            let winner = arbiter.arbitrate(&requests);
            granted.set(winner.map_or(0, |winner| 1 << winner));
            if let Some(winner) = winner.filter(|_| used == 1) {
                arbiter.update(&requests, winner);
            }
            Ok(SP_OK)
        })
    })
}

/// Destroys an arbiter; its handle is invalid from then on.
#[unsafe(no_mangle)]
pub extern "C" fn sp_arbiter_destroy(arbiter: u64) -> i32 {
    call(|| ARBITERS.remove(arbiter).map(|()| SP_OK))
}
