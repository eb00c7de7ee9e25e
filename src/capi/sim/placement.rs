//! Functions of the caller that decide about the pages of an accelerator with tiers.
//!
//! Modelled: what a function is shown and may decide, see [`scalepool::nodes::tiers::caller`]. Functions belong to the handle: a reset, or a
//! run that begins anew, keeps them. A walk: an interval of an accelerator is over; inside of `sp_sim_step` the function gets the tiers
//! and accesses of all pages as arrays, writes page 9 and SP_TIER_HBM, and returns 1; the page moves.

use super::SIMS;
use crate::call::{Caller, call};
use crate::status::{Failure, SP_ERR_KIND, SP_OK};
use scalepool::nodes::tiers::caller::{Decide, PageWish, PlacementQuestion};
use scalepool::nodes::tiers::frames::Tier;
use std::ffi::{c_char, c_void};

/// A page lies in HBM of its accelerator.
pub const SP_TIER_HBM: u32 = 0;
/// A page lies in HBM of the next accelerator.
pub const SP_TIER_PEER_HBM: u32 = 1;
/// A page lies in tier 2, behind a bridge.
pub const SP_TIER_2: u32 = 2;
/// A page has not been placed yet, because nobody has accessed it.
pub const SP_TIER_NONE: u32 = 3;
/// The number that means no page.
pub const SP_NO_PAGE: u32 = 0xffff_ffff;

/// Callback that decides in which tier the pages of an accelerator lie. It is called for two decisions:
///
/// * When a page is accessed for the first time, `first` is the number of that page. The callback writes its tier to `tier`.
/// * When an interval of the accelerator has ended, and again after each move, `first` is SP_NO_PAGE. The callback writes the page
///   that is to move next to `page`, and the tier that it is to move to to `tier`.
///
/// It returns 1 if it has decided and 0 if it has not. Without a decision a new page takes the fastest free frame, and no page is
/// moved. `tiers`, `accesses` and `used` have one entry for each of the `pages` of the accelerator: its tier (SP_TIER_HBM,
/// SP_TIER_PEER_HBM, SP_TIER_2 or SP_TIER_NONE), the number of accesses in the last interval, and the number of the interval of the
/// last access, from 1, or 0 for none. `free` has the number of free frames in each of the three tiers. `interval` is the number of
/// intervals that have ended. The arrays are valid during the call only. A decision that cannot be carried out changes nothing and
/// is counted in the metric `decisions refused`; a page moves at most once in an interval. The callback runs inside sp_sim_step and
/// sp_sim_run, in the thread of that call, and has to return, as sp_hook has to.
pub type SpPlacement = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        first: u32,
        pages: u32,
        tiers: *const u32,
        accesses: *const u64,
        used: *const u64,
        free: *const u32,
        interval: u64,
        page: *mut u32,
        tier: *mut u32,
    ) -> u32,
>;

/// The number of a tier.
fn number(tier: Option<Tier>) -> u32 {
    tier.map_or(SP_TIER_NONE, |tier| tier.index() as u32)
}

/// A function of the caller as the model asks it; null: there is none.
fn decides(function: SpPlacement, user: *mut c_void) -> Option<Decide> {
    let function = function?;
    // The pointer of the caller, as a number: nothing here follows it.
    let user = user as usize;
    Some(Box::new(move |question: &PlacementQuestion<'_>| {
        let PlacementQuestion { first, interval, pages, free } = question;
        let tiers: Vec<u32> = pages.iter().map(|page| number(page.tier)).collect();
        let accesses: Vec<u64> = pages.iter().map(|page| page.used.accesses).collect();
        let used: Vec<u64> = pages.iter().map(|page| page.used.interval).collect();
        let (mut page, mut tier) = (first.unwrap_or(SP_NO_PAGE), SP_TIER_NONE);
        // SAFETY: a function of the caller, who promises that it is one of this type and that it returns; the arrays have as many
        // entries as is said, and live until it does.
        let has_decided = unsafe {
            function(
                user as *mut c_void,
                first.unwrap_or(SP_NO_PAGE),
                pages.len() as u32,
                tiers.as_ptr(),
                accesses.as_ptr(),
                used.as_ptr(),
                free.as_ptr(),
                *interval,
                &raw mut page,
                &raw mut tier,
            )
        };
        (has_decided != 0).then(|| PageWish { page, tier: Tier::ALL.get(tier as usize).copied() })
    }))
}

/// Lets `function` decide where the pages of an accelerator lie whose `policy` is "caller"; null ends that, and pages are placed as with
/// "first-touch". `component` is its path, such as `accel[0]`. `user` is passed to the function unchanged. Returns SP_ERR_INPUT if there is
/// no such accelerator, and SP_ERR_KIND in a run of several threads, since callbacks run in the thread of the call. The function stays
/// for later runs of the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_sim_placement(
    sim: u64,
    component: *const c_char,
    component_length: usize,
    function: SpPlacement,
    user: *mut c_void,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let component = caller.text("component", component, component_length)?;
        let decide = decides(function, user);
        SIMS.with(sim, |sim| {
            if sim.request.threads > 1 {
                let text =
                    format!("threads: found {}, expected 1 for a callback that places pages", sim.request.threads);
                return Err(Failure::new(SP_ERR_KIND, text));
            }
            sim.placement(&component)?.set(decide);
            Ok(SP_OK)
        })
    })
}
