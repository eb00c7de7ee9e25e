/* Made by `scalepool export c` from the layout tables; do not edit. */
#ifndef SCALEPOOL_BITS_H
#define SCALEPOOL_BITS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bit i of a message of len bytes: byte i / 8 from the front, or from the back when big is not 0. */
static inline size_t sp_bits_byte(size_t len, int big, unsigned bit) {
    return big ? len - 1u - bit / 8u : bit / 8u;
}

/* The field of width bits (1 to 64) from bit lsb up; bits beyond 64 are not read. */
static inline uint64_t sp_bits_get(const uint8_t *bytes, size_t len, int big, unsigned lsb, unsigned width) {
    uint64_t value = 0;
    unsigned i;
    for (i = 0; i < width && i < 64u; i++) {
        unsigned bit = lsb + i;
        value |= (uint64_t)((bytes[sp_bits_byte(len, big, bit)] >> (bit % 8u)) & 1u) << i;
    }
    return value;
}

/* Puts the low width bits (1 to 64) of value into the field. */
static inline void sp_bits_set(uint8_t *bytes, size_t len, int big, unsigned lsb, unsigned width, uint64_t value) {
    unsigned i;
    for (i = 0; i < width && i < 64u; i++) {
        unsigned bit = lsb + i;
        size_t at = sp_bits_byte(len, big, bit);
        uint8_t mask = (uint8_t)(1u << (bit % 8u));
        bytes[at] = (uint8_t)((value >> i) & 1u ? bytes[at] | mask : bytes[at] & ~mask);
    }
}

/* SP_GET(bytes, SP_CXL68_M2S_REQ, TAG) and SP_SET(bytes, SP_CXL68_M2S_REQ, TAG, 7). */
#define SP_GET(bytes, layout, field) \
    sp_bits_get((bytes), layout##_BYTES, layout##_BIG_ENDIAN, layout##_##field##_LSB, layout##_##field##_WIDTH)
#define SP_SET(bytes, layout, field, value) \
    sp_bits_set((bytes), layout##_BYTES, layout##_BIG_ENDIAN, layout##_##field##_LSB, layout##_##field##_WIDTH, (value))

#ifdef __cplusplus
}
#endif

#endif /* SCALEPOOL_BITS_H */
