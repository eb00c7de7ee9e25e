/* Between scalepool_dpi_pkg.sv and the library: texts and open arrays become pointers with lengths. Written from
 * testbenches/c/scalepool.h by testbenches/tests/ffi/dpi.rs. Needs svdpi.h, which every simulator brings along. */

#include "../c/scalepool.h"
#include "svdpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that goes out; its memory stays until the next call of the same function. */
typedef struct {
    char *text;
    size_t capacity;
    size_t length;
} sp_dpi_text;

/* Whether there is more room now, so that it makes sense to ask again. */
static int sp_dpi_grow(sp_dpi_text *text)
{
    size_t wanted = text->length + 1;
    char *more;
    if (wanted <= text->capacity) return 0;
    wanted = wanted < 4096 ? 4096 : 2 * wanted;
    more = (char *)realloc(text->text, wanted);
    if (!more) return 0;
    text->text = more;
    text->capacity = wanted;
    return 1;
}

/* The text, or an empty one after a refusal. */
static const char *sp_dpi_end(const sp_dpi_text *text, int status)
{
    return text->text && status >= 0 && status != SP_EMPTY && text->length < text->capacity ? text->text : "";
}

/* Items of an open array. */
typedef struct {
    int status;
    void *items;
    size_t count;
    /* Items that it has to have, as a product. */
    unsigned long long each, times;
} sp_dpi_array;

/* Says what is wrong with an array, as sp_last_error gives it, and returns its status. */
static int sp_dpi_refused(const char *name, const sp_dpi_array *array)
{
    char text[160];
    if (array->status == SP_ERR_SHORT)
        snprintf(text, sizeof text, "%s: found an array of %llu, expected at least %llu times %llu", name,
                 (unsigned long long)array->count, array->each, array->times);
    else if (array->status == SP_ERR_ALIGN)
        snprintf(text, sizeof text, "%s: found an array whose elements do not stand one behind the other, expected one of C", name);
    else
        snprintf(text, sizeof text, "%s: found no memory for a copy of %llu numbers", name, (unsigned long long)array->count);
    sp_set_last_error(text, strlen(text));
    return array->status;
}

/* An array that has to have `each` times `times` items; an empty one is null where that is allowed. */
static sp_dpi_array sp_dpi_array_of(svOpenArrayHandle handle, unsigned long long each, unsigned long long times,
                                    int may_be_empty)
{
    sp_dpi_array array = {SP_OK, NULL, 0, each, times};
    int size = svSize(handle, 1);
    array.count = size > 0 ? (size_t)size : 0;
    if (array.count == 0 && may_be_empty) return array;
    if (times && each > array.count / times) array.status = SP_ERR_SHORT;
    return array;
}

static sp_dpi_array sp_dpi_items(svOpenArrayHandle handle, unsigned long long each, unsigned long long times,
                                  int may_be_empty)
{
    sp_dpi_array array = sp_dpi_array_of(handle, each, times, may_be_empty);
    if (array.status || array.count == 0) return array;
    array.items = svGetArrayPtr(handle);
    if (!array.items) array.status = SP_ERR_ALIGN;
    return array;
}

/* The words of a number, bits 31:0 first. */
static void sp_dpi_words(svBitVecVal *words, const sp_number *number)
{
    words[0] = (svBitVecVal)number->lo;
    words[1] = (svBitVecVal)(number->lo >> 32);
    words[2] = (svBitVecVal)number->hi;
    words[3] = (svBitVecVal)(number->hi >> 32);
}

/* A copy of an array of numbers, which stand there word by word. */
static sp_dpi_array sp_dpi_numbers(svOpenArrayHandle handle, unsigned long long each, unsigned long long times,
                                   int may_be_empty)
{
    sp_dpi_array array = sp_dpi_array_of(handle, each, times, may_be_empty);
    svBitVecVal words[4];
    sp_number *numbers;
    size_t i;
    if (array.status || array.count == 0) return array;
    numbers = (sp_number *)malloc(array.count * sizeof *numbers);
    if (!numbers) {
        array.status = SP_ERR_INTERNAL;
        return array;
    }
    for (i = 0; i < array.count; i++) {
        svGetBitArrElem1VecVal(words, handle, svLow(handle, 1) + (int)i);
        numbers[i].lo = words[0] | (uint64_t)words[1] << 32;
        numbers[i].hi = words[2] | (uint64_t)words[3] << 32;
    }
    array.items = numbers;
    return array;
}

/* Numbers that were filled go back into their array. */
static void sp_dpi_put(svOpenArrayHandle handle, sp_dpi_array *array, int status, size_t length)
{
    const sp_number *numbers = (const sp_number *)array->items;
    svBitVecVal words[4];
    size_t i;
    for (i = 0; status >= 0 && i < length && i < array->count; i++) {
        sp_dpi_words(words, &numbers[i]);
        svPutBitArrElem1VecVal(handle, words, svLow(handle, 1) + (int)i);
    }
    free(array->items);
}
