/* Behind scalepool_flat_pkg.sv. A packed vector is an array of 32-bit words, bits 31:0 first; on a little-endian machine
 * that are the bytes of a flit in order, so the library reads them where they are. The bits above a vector's width in its
 * last word belong to nobody (IEEE 1800, 35.5.6): only whole bytes below the width are read, and what is given back is cut
 * to its width. */

#include "../c/scalepool.h"
#include "svdpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int32_t status)
{
    char text[512] = "";
    size_t length;
    if (status >= 0) return;
    if (sp_last_error(text, sizeof text, &length) != SP_OK) text[0] = '\0';
    fprintf(stderr, "scalepool: status %d: %s\n", (int)status, text);
    exit(1);
}

static uint64_t crc(uint32_t kind, const svBitVecVal *data, size_t bytes, int bits)
{
    uint64_t value = 0;
    check(sp_crc(kind, (const uint8_t *)data, bytes, 1, &value));
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

unsigned short sp_flat_cxl68_crc16(const svBitVecVal *slots)
{
    return (unsigned short)crc(SP_CRC_CXL68, slots, 64, 16);
}

unsigned long long sp_flat_cxl256_crc8b(const svBitVecVal *body)
{
    return crc(SP_CRC_CXL256, body, 242, 64);
}

unsigned long long sp_flat_cxl256_crc6b_even(const svBitVecVal *half)
{
    return crc(SP_CRC_LOPT_EVEN, half, 122, 48);
}

unsigned long long sp_flat_cxl256_crc6b_odd(const svBitVecVal *half)
{
    return crc(SP_CRC_LOPT_ODD, half, 116, 48);
}

void sp_flat_fec_encode(unsigned int kind, const svBitVecVal *flit, svBitVecVal *encoded)
{
    memcpy(encoded, flit, 256);
    check(sp_fec_encode(kind, (uint8_t *)encoded, 1));
}

int sp_flat_fec_correct(unsigned int kind, const svBitVecVal *flit, svBitVecVal *corrected)
{
    int32_t count = 0;
    memcpy(corrected, flit, 256);
    check(sp_fec_correct(kind, (uint8_t *)corrected, 1, &count));
    return count;
}

unsigned int sp_flat_ual_crc32(const svBitVecVal *flit)
{
    return (unsigned int)crc(SP_CRC_UALINK, flit, 640, 32);
}

unsigned int sp_flat_nvl_crc25(const svBitVecVal *flits, unsigned int count)
{
    /* More than the vector holds would be read from behind it. */
    if (count < 1 || count > 20) check(SP_ERR_RANGE);
    return (unsigned int)crc(SP_CRC_NVLINK, flits, 16 * (size_t)count, 25);
}
