//! Version of the ABI, the first call, and the text of the last failure.

use super::call::{self, Caller, call_before_open};
use super::status::{Failure, SP_ERR_VERSION, SP_OK};
use std::ffi::c_char;

/// Major version: it changes when a caller has to change, because a function, an argument or a meaning is gone.
pub const SP_ABI_MAJOR: u32 = 1;
/// Minor version: it changes when something is added.
pub const SP_ABI_MINOR: u32 = 9;
/// Patch version: it changes when a release only corrects errors.
pub const SP_ABI_PATCH: u32 = 0;
/// Version of this header: major in bits 31:16, minor in 15:8, patch in 7:0.
pub const SP_ABI_VERSION: u32 = SP_ABI_MAJOR << 16 | SP_ABI_MINOR << 8 | SP_ABI_PATCH;

/// Returns the version of the library, coded as SP_ABI_VERSION. It may be called before sp_open.
#[unsafe(no_mangle)]
pub extern "C" fn sp_version() -> u32 {
    SP_ABI_VERSION
}

/// Tells the library which header the caller was compiled with; this has to be the first call. Returns SP_ERR_VERSION
/// if the library has another major version than the header, or an older minor one.
#[unsafe(no_mangle)]
pub extern "C" fn sp_open(header_version: u32) -> i32 {
    call_before_open(|| {
        let (major, minor) = (header_version >> 16, header_version >> 8 & 0xff);
        if major != SP_ABI_MAJOR || minor > SP_ABI_MINOR {
            let text = format!(
                "header: found version {major}.{minor}, expected {SP_ABI_MAJOR}.0 to {SP_ABI_MAJOR}.{SP_ABI_MINOR}"
            );
            return Err(Failure::new(SP_ERR_VERSION, text));
        }
        call::open();
        Ok(SP_OK)
    })
}

/// Sets the text that sp_last_error gives in this thread, for a binding of another language that refuses a call itself. It may be called before
/// sp_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_set_last_error(text: *const c_char, text_length: usize) -> i32 {
    let mut said = None;
    let answer = call_before_open(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        said = Some(caller.text("text", text, text_length)?);
        Ok(SP_OK)
    });
    if let Some(said) = said {
        call::set_last_error(said);
    }
    answer
}

/// Gives the text of the last call of this thread that did not return SP_OK: where, what was found and what was
/// expected. It may be called before sp_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_last_error(text: *mut c_char, text_capacity: usize, text_length: *mut usize) -> i32 {
    let last = call::last_error();
    let answer = call_before_open(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        caller.buffer("text", text, text_capacity, text_length)?.fill_text(&last)
    });
    if answer != SP_OK {
        // The text to be read is still that of the call before.
        call::set_last_error(last);
    }
    answer
}
