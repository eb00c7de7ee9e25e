//! Inputs that are read as a whole: never more bytes than a limit, with a message where there are more.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes of whatever stands at a path, at most `most`; a pipe may stand there too.
///
/// # Errors
/// As the system says; more bytes.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("found more than {most} bytes, expected at most that"),
        ));
    }
    Ok(bytes)
}

/// As [`read_bounded`], of a file alone: nobody may ever write to a pipe.
///
/// # Errors
/// Those of [`read_bounded`]; anything but a file.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "found a folder, a pipe or a device, expected a file"));
    }
    read_bounded(path, most)
}

/// As [`read_bounded`], for text.
///
/// # Errors
/// Those of [`read_bounded`]; bytes that are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text_of(read_bounded(path, most)?)
}

/// Bytes as text.
///
/// # Errors
/// Bytes that are not UTF-8.
pub fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        io::Error::new(
            ErrorKind::InvalidData,
            format!("found byte {:#04x} at {at}, expected text in UTF-8", e.as_bytes()[at]),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_read() {
        let endless = Path::new("/dev/zero");
        assert_eq!(read_bounded(endless, 9).unwrap_err().to_string(), "found more than 9 bytes, expected at most that");
        assert_eq!(
            read_file(endless, 9).unwrap_err().to_string(),
            "found a folder, a pipe or a device, expected a file"
        );
        assert_eq!(read_bounded(Path::new("/dev/null"), 0).unwrap(), b"");
        assert_eq!(text_of(vec![b'a', 0xff]).unwrap_err().to_string(), "found byte 0xff at 1, expected text in UTF-8");
    }
}
