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

int sp_dpi_set_last_error(const char *text)
{
    int status;
    status = sp_set_last_error(text, strlen(text));
    return status;
}

int sp_dpi_last_error(const char **text)
{
    int status;
    static sp_dpi_text text_text;
    do {
        status = sp_last_error(text_text.text, text_text.capacity, &text_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&text_text));
    *text = sp_dpi_end(&text_text, status);
    return status;
}

int sp_dpi_layout_find(const char *name, unsigned int *layout)
{
    int status;
    uint32_t layout_out = 0;
    status = sp_layout_find(name, strlen(name), &layout_out);
    *layout = layout_out;
    return status;
}

int sp_dpi_layout_size(unsigned int layout, unsigned int *bits, unsigned int *bytes, unsigned int *fields)
{
    int status;
    sp_layout size_out;
    memset(&size_out, 0, sizeof size_out);
    status = sp_layout_size(layout, &size_out);
    *bits = size_out.bits;
    *bytes = size_out.bytes;
    *fields = size_out.fields;
    return status;
}

int sp_dpi_layout_name(unsigned int layout, const char **name)
{
    int status;
    static sp_dpi_text name_text;
    do {
        status = sp_layout_name(layout, name_text.text, name_text.capacity, &name_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&name_text));
    *name = sp_dpi_end(&name_text, status);
    return status;
}

int sp_dpi_layout_describe(unsigned int layout, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_layout_describe(layout, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_field_find(unsigned int layout, const char *name, unsigned int *field)
{
    int status;
    uint32_t field_out = 0;
    status = sp_field_find(layout, name, strlen(name), &field_out);
    *field = field_out;
    return status;
}

int sp_dpi_field_name(unsigned int layout, unsigned int field, const char **name)
{
    int status;
    static sp_dpi_text name_text;
    do {
        status = sp_field_name(layout, field, name_text.text, name_text.capacity, &name_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&name_text));
    *name = sp_dpi_end(&name_text, status);
    return status;
}

int sp_dpi_field_place(unsigned int layout, unsigned int field, svBitVecVal *default_value, unsigned int *lsb, unsigned int *width, unsigned int *address_lsb, unsigned int *reserved)
{
    int status;
    sp_field place_out;
    memset(&place_out, 0, sizeof place_out);
    status = sp_field_place(layout, field, &place_out);
    sp_dpi_words(default_value, &place_out.default_value);
    *lsb = place_out.lsb;
    *width = place_out.width;
    *address_lsb = place_out.address_lsb;
    *reserved = place_out.reserved;
    return status;
}

int sp_dpi_encode(unsigned int layout, const svOpenArrayHandle values, unsigned long long values_length, unsigned long long count, const svOpenArrayHandle bytes, unsigned long long *bytes_length)
{
    int status;
    sp_dpi_array bytes_array = sp_dpi_items(bytes, 0, 1, 1);
    if (bytes_array.status) return sp_dpi_refused("bytes", &bytes_array);
    sp_dpi_array values_array = sp_dpi_numbers(values, values_length, 1, 0);
    if (values_array.status) return sp_dpi_refused("values", &values_array);
    size_t bytes_out = 0;
    status = sp_encode(layout, (const sp_number *)values_array.items, values_length, count, (uint8_t *)bytes_array.items, bytes_array.count, &bytes_out);
    free(values_array.items);
    *bytes_length = bytes_out;
    return status;
}

int sp_dpi_decode(unsigned int layout, const svOpenArrayHandle bytes, unsigned long long bytes_length, unsigned long long count, const svOpenArrayHandle values, unsigned long long *values_length)
{
    int status;
    sp_dpi_array bytes_array = sp_dpi_items(bytes, bytes_length, 1, 0);
    if (bytes_array.status) return sp_dpi_refused("bytes", &bytes_array);
    sp_dpi_array values_array = sp_dpi_numbers(values, 0, 1, 1);
    if (values_array.status) return sp_dpi_refused("values", &values_array);
    size_t values_out = 0;
    status = sp_decode(layout, (const uint8_t *)bytes_array.items, bytes_length, count, (sp_number *)values_array.items, values_array.count, &values_out);
    sp_dpi_put(values, &values_array, status, values_out);
    *values_length = values_out;
    return status;
}

int sp_dpi_encode_json(const char *json, const svOpenArrayHandle bytes, unsigned long long *bytes_length)
{
    int status;
    sp_dpi_array bytes_array = sp_dpi_items(bytes, 0, 1, 1);
    if (bytes_array.status) return sp_dpi_refused("bytes", &bytes_array);
    size_t bytes_out = 0;
    status = sp_encode_json(json, strlen(json), (uint8_t *)bytes_array.items, bytes_array.count, &bytes_out);
    *bytes_length = bytes_out;
    return status;
}

int sp_dpi_decode_json(unsigned int layout, const svOpenArrayHandle bytes, unsigned long long bytes_length, const char **json)
{
    int status;
    sp_dpi_array bytes_array = sp_dpi_items(bytes, bytes_length, 1, 0);
    if (bytes_array.status) return sp_dpi_refused("bytes", &bytes_array);
    static sp_dpi_text json_text;
    do {
        status = sp_decode_json(layout, (const uint8_t *)bytes_array.items, bytes_length, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_crc(unsigned int kind, const svOpenArrayHandle data, unsigned long long item_bytes, unsigned long long count, const svOpenArrayHandle crcs)
{
    int status;
    sp_dpi_array data_array = sp_dpi_items(data, item_bytes, count, 0);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array crcs_array = sp_dpi_items(crcs, count, 1, 0);
    if (crcs_array.status) return sp_dpi_refused("crcs", &crcs_array);
    status = sp_crc(kind, (const uint8_t *)data_array.items, item_bytes, count, (uint64_t *)crcs_array.items);
    return status;
}

int sp_dpi_fec_encode(unsigned int kind, const svOpenArrayHandle flits, unsigned long long count)
{
    int status;
    sp_dpi_array flits_array = sp_dpi_items(flits, 256, count, 0);
    if (flits_array.status) return sp_dpi_refused("flits", &flits_array);
    status = sp_fec_encode(kind, (uint8_t *)flits_array.items, count);
    return status;
}

int sp_dpi_fec_correct(unsigned int kind, const svOpenArrayHandle flits, unsigned long long count, const svOpenArrayHandle corrected)
{
    int status;
    sp_dpi_array flits_array = sp_dpi_items(flits, 256, count, 0);
    if (flits_array.status) return sp_dpi_refused("flits", &flits_array);
    sp_dpi_array corrected_array = sp_dpi_items(corrected, count, 1, 0);
    if (corrected_array.status) return sp_dpi_refused("corrected", &corrected_array);
    status = sp_fec_correct(kind, (uint8_t *)flits_array.items, count, (int32_t *)corrected_array.items);
    return status;
}

int sp_dpi_rule_known(const char *rule)
{
    int status;
    status = sp_rule_known(rule, strlen(rule));
    return status;
}

int sp_dpi_waiver_holds(const char *last_day, const char *today, unsigned int *holds)
{
    int status;
    uint32_t holds_out = 0;
    status = sp_waiver_holds(last_day, strlen(last_day), today, strlen(today), &holds_out);
    *holds = holds_out;
    return status;
}

int sp_dpi_interfaces(const char **text)
{
    int status;
    static sp_dpi_text text_text;
    do {
        status = sp_interfaces(text_text.text, text_text.capacity, &text_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&text_text));
    *text = sp_dpi_end(&text_text, status);
    return status;
}

int sp_dpi_decoder_new(const char *protocol, unsigned int dir, unsigned long long *stream)
{
    int status;
    uint64_t stream_out = 0;
    status = sp_decoder_new(protocol, strlen(protocol), dir, &stream_out);
    *stream = stream_out;
    return status;
}

int sp_dpi_encoder_new(const char *protocol, unsigned int dir, unsigned long long *stream)
{
    int status;
    uint64_t stream_out = 0;
    status = sp_encoder_new(protocol, strlen(protocol), dir, &stream_out);
    *stream = stream_out;
    return status;
}

int sp_dpi_stream_decode(unsigned long long stream, const svOpenArrayHandle flits, unsigned long long flit_bytes, unsigned long long count)
{
    int status;
    sp_dpi_array flits_array = sp_dpi_items(flits, flit_bytes, count, 0);
    if (flits_array.status) return sp_dpi_refused("flits", &flits_array);
    status = sp_stream_decode(stream, (const uint8_t *)flits_array.items, flit_bytes, count);
    return status;
}

int sp_dpi_stream_encode(unsigned long long stream, const char *json)
{
    int status;
    status = sp_stream_encode(stream, json, strlen(json));
    return status;
}

int sp_dpi_stream_take(unsigned long long stream, const char **json, const svOpenArrayHandle flit, unsigned long long *flit_length)
{
    int status;
    sp_dpi_array flit_array = sp_dpi_items(flit, 0, 1, 1);
    if (flit_array.status) return sp_dpi_refused("flit", &flit_array);
    static sp_dpi_text json_text;
    size_t flit_out = 0;
    do {
        status = sp_stream_take(stream, json_text.text, json_text.capacity, &json_text.length, (uint8_t *)flit_array.items, flit_array.count, &flit_out);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    *flit_length = flit_out;
    return status;
}

int sp_dpi_stream_take_parts(unsigned long long stream, const svOpenArrayHandle flit, unsigned long long *flit_length, unsigned long long *parts)
{
    int status;
    sp_dpi_array flit_array = sp_dpi_items(flit, 0, 1, 1);
    if (flit_array.status) return sp_dpi_refused("flit", &flit_array);
    size_t flit_out = 0;
    size_t parts_out = 0;
    status = sp_stream_take_parts(stream, (uint8_t *)flit_array.items, flit_array.count, &flit_out, &parts_out);
    *flit_length = flit_out;
    *parts = parts_out;
    return status;
}

int sp_dpi_stream_part(unsigned long long stream, unsigned int *layout, unsigned int *place, const char **kind, const svOpenArrayHandle bytes, unsigned long long *bytes_length)
{
    int status;
    sp_dpi_array bytes_array = sp_dpi_items(bytes, 0, 1, 1);
    if (bytes_array.status) return sp_dpi_refused("bytes", &bytes_array);
    uint32_t layout_out = 0;
    uint32_t place_out = 0;
    static sp_dpi_text kind_text;
    size_t bytes_out = 0;
    do {
        status = sp_stream_part(stream, &layout_out, &place_out, kind_text.text, kind_text.capacity, &kind_text.length, (uint8_t *)bytes_array.items, bytes_array.count, &bytes_out);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&kind_text));
    *layout = layout_out;
    *place = place_out;
    *kind = sp_dpi_end(&kind_text, status);
    *bytes_length = bytes_out;
    return status;
}

int sp_dpi_sim_new(const char *text, unsigned long long *sim)
{
    int status;
    uint64_t sim_out = 0;
    status = sp_sim_new(text, strlen(text), &sim_out);
    *sim = sim_out;
    return status;
}

int sp_dpi_sim_set(unsigned long long sim, const char *setting)
{
    int status;
    status = sp_sim_set(sim, setting, strlen(setting));
    return status;
}

int sp_dpi_sim_wave(unsigned long long sim, const char *path)
{
    int status;
    status = sp_sim_wave(sim, path, strlen(path));
    return status;
}

int sp_dpi_sim_trace(unsigned long long sim, const char *path)
{
    int status;
    status = sp_sim_trace(sim, path, strlen(path));
    return status;
}

int sp_dpi_sim_metrics(unsigned long long sim, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_sim_metrics(sim, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_sim_state(unsigned long long sim, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_sim_state(sim, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_sim_hook_fault(unsigned long long sim, const char *port, const char *point, unsigned int way, const char *fault, unsigned long long *hook)
{
    int status;
    uint64_t hook_out = 0;
    status = sp_sim_hook_fault(sim, port, strlen(port), point, strlen(point), way, fault, strlen(fault), &hook_out);
    *hook = hook_out;
    return status;
}

int sp_dpi_sim_hook_detach(unsigned long long sim, const char *port, unsigned long long hook)
{
    int status;
    status = sp_sim_hook_detach(sim, port, strlen(port), hook);
    return status;
}

int sp_dpi_sim_watch(unsigned long long sim, const char *port, unsigned int way, unsigned int on)
{
    int status;
    status = sp_sim_watch(sim, port, strlen(port), way, on);
    return status;
}

int sp_dpi_sim_sample(unsigned long long sim, const char *port, unsigned int way, unsigned long long *time_fs, const svOpenArrayHandle unit, unsigned long long *unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, 0, 1, 1);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    uint64_t time_fs_out = 0;
    size_t unit_out = 0;
    status = sp_sim_sample(sim, port, strlen(port), way, &time_fs_out, (uint8_t *)unit_array.items, unit_array.count, &unit_out);
    *time_fs = time_fs_out;
    *unit_length = unit_out;
    return status;
}

int sp_dpi_sim_expect(unsigned long long sim, const char *port, unsigned int way, const svOpenArrayHandle unit, const svOpenArrayHandle mask, unsigned long long unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, unit_length, 1, 0);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    sp_dpi_array mask_array = sp_dpi_items(mask, unit_length, 1, 1);
    if (mask_array.status) return sp_dpi_refused("mask", &mask_array);
    status = sp_sim_expect(sim, port, strlen(port), way, (const uint8_t *)unit_array.items, (const uint8_t *)mask_array.items, unit_length);
    return status;
}

int sp_dpi_sim_drive(unsigned long long sim, const char *port, const svOpenArrayHandle unit, unsigned long long unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, unit_length, 1, 0);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    status = sp_sim_drive(sim, port, strlen(port), (const uint8_t *)unit_array.items, unit_length);
    return status;
}

int sp_dpi_link_new(const char *protocol, unsigned int dir, const char *config, unsigned int mode, unsigned long long *link)
{
    int status;
    uint64_t link_out = 0;
    status = sp_link_new(protocol, strlen(protocol), dir, config, strlen(config), mode, &link_out);
    *link = link_out;
    return status;
}

int sp_dpi_link_drive(unsigned long long link, unsigned int port, const svOpenArrayHandle unit, unsigned long long unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, unit_length, 1, 0);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    status = sp_link_drive(link, port, (const uint8_t *)unit_array.items, unit_length);
    return status;
}

int sp_dpi_link_sample(unsigned long long link, const svOpenArrayHandle unit, unsigned long long *unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, 0, 1, 1);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    size_t unit_out = 0;
    status = sp_link_sample(link, (uint8_t *)unit_array.items, unit_array.count, &unit_out);
    *unit_length = unit_out;
    return status;
}

int sp_dpi_link_expect(unsigned long long link, const svOpenArrayHandle unit, const svOpenArrayHandle mask, unsigned long long unit_length)
{
    int status;
    sp_dpi_array unit_array = sp_dpi_items(unit, unit_length, 1, 0);
    if (unit_array.status) return sp_dpi_refused("unit", &unit_array);
    sp_dpi_array mask_array = sp_dpi_items(mask, unit_length, 1, 1);
    if (mask_array.status) return sp_dpi_refused("mask", &mask_array);
    status = sp_link_expect(link, (const uint8_t *)unit_array.items, (const uint8_t *)mask_array.items, unit_length);
    return status;
}

int sp_dpi_link_send(unsigned long long link, const char *message)
{
    int status;
    status = sp_link_send(link, message, strlen(message));
    return status;
}

int sp_dpi_link_take(unsigned long long link, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_link_take(link, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_link_event(unsigned long long link, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_link_event(link, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_link_state(unsigned long long link, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_link_state(link, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_hook_fault(unsigned long long link, const char *point, unsigned int way, const char *fault, unsigned long long *hook)
{
    int status;
    uint64_t hook_out = 0;
    status = sp_hook_fault(link, point, strlen(point), way, fault, strlen(fault), &hook_out);
    *hook = hook_out;
    return status;
}

int sp_dpi_link_send_bits(unsigned long long link, unsigned int layout, const svOpenArrayHandle bits, unsigned long long bits_length, const svOpenArrayHandle data, unsigned long long data_length, const svOpenArrayHandle enables, unsigned long long enables_length, unsigned long long extra)
{
    int status;
    sp_dpi_array bits_array = sp_dpi_items(bits, bits_length, 1, 0);
    if (bits_array.status) return sp_dpi_refused("bits", &bits_array);
    sp_dpi_array data_array = sp_dpi_items(data, data_length, 1, 0);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array enables_array = sp_dpi_items(enables, enables_length, 1, 0);
    if (enables_array.status) return sp_dpi_refused("enables", &enables_array);
    status = sp_link_send_bits(link, layout, (const uint8_t *)bits_array.items, bits_length, (const uint8_t *)data_array.items, data_length, (const uint8_t *)enables_array.items, enables_length, extra);
    return status;
}

int sp_dpi_link_take_bits(unsigned long long link, unsigned int *layout, const svOpenArrayHandle bits, unsigned long long *bits_length, const svOpenArrayHandle data, unsigned long long *data_length, const svOpenArrayHandle enables, unsigned long long *enables_length, unsigned long long *extra)
{
    int status;
    sp_dpi_array bits_array = sp_dpi_items(bits, 0, 1, 1);
    if (bits_array.status) return sp_dpi_refused("bits", &bits_array);
    sp_dpi_array data_array = sp_dpi_items(data, 0, 1, 1);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array enables_array = sp_dpi_items(enables, 0, 1, 1);
    if (enables_array.status) return sp_dpi_refused("enables", &enables_array);
    uint32_t layout_out = 0;
    size_t bits_out = 0;
    size_t data_out = 0;
    size_t enables_out = 0;
    uint64_t extra_out = 0;
    status = sp_link_take_bits(link, &layout_out, (uint8_t *)bits_array.items, bits_array.count, &bits_out, (uint8_t *)data_array.items, data_array.count, &data_out, (uint8_t *)enables_array.items, enables_array.count, &enables_out, &extra_out);
    *layout = layout_out;
    *bits_length = bits_out;
    *data_length = data_out;
    *enables_length = enables_out;
    *extra = extra_out;
    return status;
}

int sp_dpi_link_seen_bits(unsigned long long link, unsigned int *port, unsigned long long *unit, unsigned int *layout, const svOpenArrayHandle bits, unsigned long long *bits_length, const svOpenArrayHandle data, unsigned long long *data_length, const svOpenArrayHandle enables, unsigned long long *enables_length, unsigned long long *extra)
{
    int status;
    sp_dpi_array bits_array = sp_dpi_items(bits, 0, 1, 1);
    if (bits_array.status) return sp_dpi_refused("bits", &bits_array);
    sp_dpi_array data_array = sp_dpi_items(data, 0, 1, 1);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array enables_array = sp_dpi_items(enables, 0, 1, 1);
    if (enables_array.status) return sp_dpi_refused("enables", &enables_array);
    uint32_t port_out = 0;
    uint64_t unit_out = 0;
    uint32_t layout_out = 0;
    size_t bits_out = 0;
    size_t data_out = 0;
    size_t enables_out = 0;
    uint64_t extra_out = 0;
    status = sp_link_seen_bits(link, &port_out, &unit_out, &layout_out, (uint8_t *)bits_array.items, bits_array.count, &bits_out, (uint8_t *)data_array.items, data_array.count, &data_out, (uint8_t *)enables_array.items, enables_array.count, &enables_out, &extra_out);
    *port = port_out;
    *unit = unit_out;
    *layout = layout_out;
    *bits_length = bits_out;
    *data_length = data_out;
    *enables_length = enables_out;
    *extra = extra_out;
    return status;
}

int sp_dpi_link_event_fields(unsigned long long link, unsigned long long *unit, unsigned int *port, unsigned int *by, unsigned int *severity, int *tag, const char **rule, const char **place, const char **found, const char **expected, const char **text)
{
    int status;
    sp_event event_out;
    memset(&event_out, 0, sizeof event_out);
    static sp_dpi_text rule_text;
    static sp_dpi_text place_text;
    static sp_dpi_text found_text;
    static sp_dpi_text expected_text;
    static sp_dpi_text text_text;
    do {
        status = sp_link_event_fields(link, &event_out, rule_text.text, rule_text.capacity, &rule_text.length, place_text.text, place_text.capacity, &place_text.length, found_text.text, found_text.capacity, &found_text.length, expected_text.text, expected_text.capacity, &expected_text.length, text_text.text, text_text.capacity, &text_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&rule_text) | sp_dpi_grow(&place_text) | sp_dpi_grow(&found_text) | sp_dpi_grow(&expected_text) | sp_dpi_grow(&text_text));
    *unit = event_out.unit;
    *port = event_out.port;
    *by = event_out.by;
    *severity = event_out.severity;
    *tag = event_out.tag;
    *rule = sp_dpi_end(&rule_text, status);
    *place = sp_dpi_end(&place_text, status);
    *found = sp_dpi_end(&found_text, status);
    *expected = sp_dpi_end(&expected_text, status);
    *text = sp_dpi_end(&text_text, status);
    return status;
}

int sp_dpi_link_state_fields(unsigned long long link, unsigned long long *flit_clocks, unsigned long long *driven, unsigned long long *sent, unsigned long long *events, unsigned long long *events_lost, unsigned long long *seen, unsigned long long *seen_lost, unsigned long long *compared, unsigned long long *mismatches, unsigned int *up, unsigned int *quiet, unsigned int *wants_training, unsigned int *halted, const char **rule)
{
    int status;
    sp_link_status state_out;
    memset(&state_out, 0, sizeof state_out);
    static sp_dpi_text rule_text;
    do {
        status = sp_link_state_fields(link, &state_out, rule_text.text, rule_text.capacity, &rule_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&rule_text));
    *flit_clocks = state_out.flit_clocks;
    *driven = state_out.driven;
    *sent = state_out.sent;
    *events = state_out.events;
    *events_lost = state_out.events_lost;
    *seen = state_out.seen;
    *seen_lost = state_out.seen_lost;
    *compared = state_out.compared;
    *mismatches = state_out.mismatches;
    *up = state_out.up;
    *quiet = state_out.quiet;
    *wants_training = state_out.wants_training;
    *halted = state_out.halted;
    *rule = sp_dpi_end(&rule_text, status);
    return status;
}

int sp_dpi_link_health(unsigned long long link, const char *figure, const char *part, unsigned long long *value, const char **name)
{
    int status;
    uint64_t value_out = 0;
    static sp_dpi_text name_text;
    do {
        status = sp_link_health(link, figure, strlen(figure), part, strlen(part), &value_out, name_text.text, name_text.capacity, &name_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&name_text));
    *value = value_out;
    *name = sp_dpi_end(&name_text, status);
    return status;
}

int sp_dpi_arbiter_new(unsigned int kind, unsigned int requesters, const svOpenArrayHandle weights, unsigned long long weights_length, unsigned long long *arbiter)
{
    int status;
    sp_dpi_array weights_array = sp_dpi_items(weights, weights_length, 1, 0);
    if (weights_array.status) return sp_dpi_refused("weights", &weights_array);
    uint64_t arbiter_out = 0;
    status = sp_arbiter_new(kind, requesters, (const uint32_t *)weights_array.items, weights_length, &arbiter_out);
    *arbiter = arbiter_out;
    return status;
}

int sp_dpi_bridge_new(const char *config, unsigned int watches, unsigned long long *bridge)
{
    int status;
    uint64_t bridge_out = 0;
    status = sp_bridge_new(config, strlen(config), watches, &bridge_out);
    *bridge = bridge_out;
    return status;
}

int sp_dpi_bridge_pass(unsigned long long bridge, unsigned int point, unsigned int port, const char *json)
{
    int status;
    status = sp_bridge_pass(bridge, point, port, json, strlen(json));
    return status;
}

int sp_dpi_bridge_commit(unsigned long long bridge, const char *json)
{
    int status;
    status = sp_bridge_commit(bridge, json, strlen(json));
    return status;
}

int sp_dpi_bridge_credit(unsigned long long bridge, const char *json)
{
    int status;
    status = sp_bridge_credit(bridge, json, strlen(json));
    return status;
}

int sp_dpi_bridge_next(unsigned long long bridge, unsigned int *point, unsigned int *port, const char **json)
{
    int status;
    uint32_t point_out = 0;
    uint32_t port_out = 0;
    static sp_dpi_text json_text;
    do {
        status = sp_bridge_next(bridge, &point_out, &port_out, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *point = point_out;
    *port = port_out;
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_bridge_finding(unsigned long long bridge, const char **json)
{
    int status;
    static sp_dpi_text json_text;
    do {
        status = sp_bridge_finding(bridge, json_text.text, json_text.capacity, &json_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&json_text));
    *json = sp_dpi_end(&json_text, status);
    return status;
}

int sp_dpi_bridge_pass_bits(unsigned long long bridge, unsigned int point, unsigned int port, unsigned int layout, const svOpenArrayHandle bits, unsigned long long bits_length, const svOpenArrayHandle data, unsigned long long data_length, const svOpenArrayHandle enables, unsigned long long enables_length, unsigned long long extra)
{
    int status;
    sp_dpi_array bits_array = sp_dpi_items(bits, bits_length, 1, 0);
    if (bits_array.status) return sp_dpi_refused("bits", &bits_array);
    sp_dpi_array data_array = sp_dpi_items(data, data_length, 1, 0);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array enables_array = sp_dpi_items(enables, enables_length, 1, 0);
    if (enables_array.status) return sp_dpi_refused("enables", &enables_array);
    status = sp_bridge_pass_bits(bridge, point, port, layout, (const uint8_t *)bits_array.items, bits_length, (const uint8_t *)data_array.items, data_length, (const uint8_t *)enables_array.items, enables_length, extra);
    return status;
}

int sp_dpi_bridge_next_bits(unsigned long long bridge, unsigned int *point, unsigned int *port, unsigned int *layout, const svOpenArrayHandle bits, unsigned long long *bits_length, const svOpenArrayHandle data, unsigned long long *data_length, const svOpenArrayHandle enables, unsigned long long *enables_length, unsigned long long *extra)
{
    int status;
    sp_dpi_array bits_array = sp_dpi_items(bits, 0, 1, 1);
    if (bits_array.status) return sp_dpi_refused("bits", &bits_array);
    sp_dpi_array data_array = sp_dpi_items(data, 0, 1, 1);
    if (data_array.status) return sp_dpi_refused("data", &data_array);
    sp_dpi_array enables_array = sp_dpi_items(enables, 0, 1, 1);
    if (enables_array.status) return sp_dpi_refused("enables", &enables_array);
    uint32_t point_out = 0;
    uint32_t port_out = 0;
    uint32_t layout_out = 0;
    size_t bits_out = 0;
    size_t data_out = 0;
    size_t enables_out = 0;
    uint64_t extra_out = 0;
    status = sp_bridge_next_bits(bridge, &point_out, &port_out, &layout_out, (uint8_t *)bits_array.items, bits_array.count, &bits_out, (uint8_t *)data_array.items, data_array.count, &data_out, (uint8_t *)enables_array.items, enables_array.count, &enables_out, &extra_out);
    *point = point_out;
    *port = port_out;
    *layout = layout_out;
    *bits_length = bits_out;
    *data_length = data_out;
    *enables_length = enables_out;
    *extra = extra_out;
    return status;
}

int sp_dpi_bridge_finding_fields(unsigned long long bridge, unsigned long long *message, const char **rule, const char **found, const char **expected)
{
    int status;
    uint64_t message_out = 0;
    static sp_dpi_text rule_text;
    static sp_dpi_text found_text;
    static sp_dpi_text expected_text;
    do {
        status = sp_bridge_finding_fields(bridge, &message_out, rule_text.text, rule_text.capacity, &rule_text.length, found_text.text, found_text.capacity, &found_text.length, expected_text.text, expected_text.capacity, &expected_text.length);
    } while (status == SP_ERR_SHORT && sp_dpi_grow(&rule_text) | sp_dpi_grow(&found_text) | sp_dpi_grow(&expected_text));
    *message = message_out;
    *rule = sp_dpi_end(&rule_text, status);
    *found = sp_dpi_end(&found_text, status);
    *expected = sp_dpi_end(&expected_text, status);
    return status;
}
