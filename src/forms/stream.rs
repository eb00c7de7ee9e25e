//! What the objects of every flit stream share: `dir` and `index`.

use super::{FormError, number, shown, text};
use scalepool_protocols::cxl::Dir;
use serde_json::Value;

/// The direction of a name, `down` (host to device) or `up`.
///
/// # Errors
/// Another name.
pub fn dir_of(name: &str) -> Result<Dir, FormError> {
    Dir::ALL
        .into_iter()
        .find(|d| d.name() == name)
        .ok_or_else(|| FormError::new("dir", shown(&name.into()), "`down` or `up`"))
}

/// The direction of an object; `asked` is the one of objects without `dir`.
///
/// # Errors
/// None is given, or another one than is asked.
pub fn dir(form: &Value, asked: Option<Dir>) -> Result<Dir, FormError> {
    let given = match form.get("dir") {
        Some(name) => Some(dir_of(text(name, "dir", "`down` or `up`")?)?),
        None => None,
    };
    match (given, asked) {
        (Some(given), Some(asked)) if given != asked => Err(FormError::new("dir", given.name(), asked.name())),
        (Some(dir), _) | (None, Some(dir)) => Ok(dir),
        (None, None) => Err(FormError::new("dir", "no key `dir`", "`down` or `up`")),
    }
}

/// The index of an object, `counted` without one.
///
/// # Errors
/// No number, or 2^64 and above.
pub fn index(form: &Value, counted: u64) -> Result<u64, FormError> {
    match form.get("index") {
        Some(index) => u64::try_from(number::from_json(index, "index")?)
            .map_err(|_| FormError::new("index", shown(index), "a number below 2^64")),
        None => Ok(counted),
    }
}
