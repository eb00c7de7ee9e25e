// Random numbers of the DPI benches, the same in every run: $urandom costs more than the devices do. Included in a module.

longint unsigned random_state = 64'h9E37_79B9_7F4A_7C15;

// xorshift, 64 bits.
function automatic longint unsigned draw();
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
endfunction

// 0 to `most`.
function automatic int draw_up_to(input int most);
    return int'((draw() >> 16) % 64'(most + 1));
endfunction
