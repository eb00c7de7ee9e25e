//! Identifiers of the exported languages, made from the names of the tables.

/// `M2sReqOpcode`, `MemRdTEE` or `go-err` in upper case with underlines: `M2S_REQ_OPCODE`, `MEM_RD_TEE`, `GO_ERR`.
pub fn upper_snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (n, &c) in letters.iter().enumerate() {
        let starts_word = c.is_ascii_uppercase()
            && n > 0
            && (letters[n - 1].is_ascii_lowercase()
                || letters[n - 1].is_ascii_digit()
                || letters[n - 1].is_ascii_uppercase() && letters.get(n + 1).is_some_and(char::is_ascii_lowercase));
        if starts_word && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    snake
}

/// The part of a layout's name behind its family: `cxl68.m2s_req` gives `m2s_req`.
pub fn short(layout: &str) -> &str {
    layout.split_once('.').map_or(layout, |(_, short)| short)
}

/// A text as the inside of a one-line comment, in ASCII.
pub fn comment(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /").replace('§', "section ");
    text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        let cases =
            [("M2sReqOpcode", "M2S_REQ_OPCODE"), ("MemRdTEE", "MEM_RD_TEE"), ("GO-ErrWritePull", "GO_ERR_WRITE_PULL")];
        for (from, to) in cases {
            assert_eq!(upper_snake(from), to);
        }
        assert_eq!(comment("a\n  b */ c"), "a b * / c");
    }
}
