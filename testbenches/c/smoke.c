/* Uses every group of the C ABI once. Compiled as C11 and as C++17, run as it is, under valgrind and with AddressSanitizer.
 * Build: cc -std=c11 testbenches/c/smoke.c -L target/release -lscalepool -Wl,-rpath,target/release
 */
#include "scalepool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 16];
static size_t length;

/* Ends the program if a call returns another status than expected. */
static void expect(int line, int32_t found, int32_t expected)
{
    if (found == expected)
        return;
    sp_last_error(text, sizeof text, &length);
    fprintf(stderr, "smoke.c:%d: found status %d, expected %d: %s\n", line, (int)found, (int)expected, text);
    exit(1);
}
#define EXPECT(call, status) expect(__LINE__, (call), (status))
#define OK(call) EXPECT(call, SP_OK)

static void require(int line, int yes)
{
    if (!yes) {
        fprintf(stderr, "smoke.c:%d: found false, expected true\n", line);
        exit(1);
    }
}
#define REQUIRE(yes) require(__LINE__, (yes))

static void versions(void)
{
    uint32_t count = 0;
    EXPECT(sp_layout_count(&count), SP_ERR_VERSION);
    EXPECT(sp_open(SP_ABI_VERSION + (1u << 16)), SP_ERR_VERSION);
    OK(sp_open(SP_ABI_VERSION));
    REQUIRE(sp_version() >> 16 == SP_ABI_MAJOR);
    OK(sp_layout_count(&count));
    REQUIRE(count > 0);
}

static void messages(void)
{
    uint32_t layout, field;
    sp_layout size;
    sp_number values[64];
    uint8_t bytes[16];
    size_t n;

    OK(sp_layout_find(SP_TEXT("cxl68.m2s_req"), &layout));
    OK(sp_layout_size(layout, &size));
    REQUIRE(size.bits == 87 && size.bytes == 11);
    OK(sp_encode_json(SP_TEXT("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"opcode\":\"MemRd\",\"tag\":7}}"), bytes,
                      sizeof bytes, &n));
    OK(sp_decode(layout, bytes, n, 1, values, 64, &n));
    REQUIRE(n == size.fields);
    OK(sp_field_find(layout, SP_TEXT("tag"), &field));
    REQUIRE(values[field].lo == 7);
    values[field].lo = 1u << 16;
    EXPECT(sp_encode(layout, values, size.fields, 1, bytes, sizeof bytes, &n), SP_ERR_INPUT);
    OK(sp_last_error(text, sizeof text, &length));
    REQUIRE(strstr(text, "`tag`") != NULL && strlen(text) == length);
}

static void checksums(void)
{
    static uint8_t flits[2 * 256];
    uint64_t crcs[2];
    int32_t corrected[2];

    OK(sp_crc(SP_CRC_CXL68, flits, 64, 2, crcs));
    REQUIRE(crcs[0] == crcs[1]);
    OK(sp_fec_encode(SP_FEC_STANDARD, flits, 2));
    flits[300] ^= 0x10;
    OK(sp_fec_correct(SP_FEC_STANDARD, flits, 2, corrected));
    REQUIRE(corrected[0] == 0 && corrected[1] == 1 && flits[300] == 0);
}

static void arbiters(void)
{
    const uint32_t weights[2] = {3, 1};
    uint64_t arbiter, granted, first = 0;
    int i;

    OK(sp_arbiter_new(SP_ARBITER_ROUND_ROBIN, 4, NULL, 0, &arbiter));
    OK(sp_arbiter_grant(arbiter, 0xa, 0, &granted));
    REQUIRE(granted == 0x2);
    OK(sp_arbiter_grant(arbiter, 0xa, 1, &granted));
    REQUIRE(granted == 0x2);
    OK(sp_arbiter_grant(arbiter, 0xa, 1, &granted));
    REQUIRE(granted == 0x8);
    OK(sp_arbiter_grant(arbiter, 0xf0, 1, &granted));
    REQUIRE(granted == 0);
    OK(sp_arbiter_destroy(arbiter));
    EXPECT(sp_arbiter_grant(arbiter, 1, 1, &granted), SP_ERR_HANDLE);
    EXPECT(sp_arbiter_new(SP_ARBITER_WEIGHTED, 2, weights, 1, &arbiter), SP_ERR_RANGE);
    OK(sp_arbiter_new(SP_ARBITER_WEIGHTED, 2, weights, 2, &arbiter));
    for (i = 0; i < 8; i++) {
        OK(sp_arbiter_grant(arbiter, 0x3, 1, &granted));
        first += granted == 0x1;
    }
    REQUIRE(first == 6);
    OK(sp_arbiter_destroy(arbiter));
}

static void streams(void)
{
    static uint8_t flit[68];
    uint64_t stream;
    size_t n;

    OK(sp_decoder_new(SP_TEXT("cxl-68b"), SP_DOWN, &stream));
    OK(sp_stream_decode(stream, flit, sizeof flit, 1));
    EXPECT(sp_stream_take(stream, NULL, 0, &length, NULL, 0, NULL), SP_ERR_SHORT);
    REQUIRE(length > 0 && length < sizeof text);
    EXPECT(sp_stream_take(stream, text, sizeof text, &length, flit, sizeof flit, &n), SP_FINDING);
    REQUIRE(n == 68 && strstr(text, "\"hex\"") != NULL);
    EXPECT(sp_stream_take(stream, text, sizeof text, &length, NULL, 0, NULL), SP_EMPTY);
    OK(sp_stream_destroy(stream));
    EXPECT(sp_stream_destroy(stream), SP_ERR_HANDLE);
}

static void simulation(void)
{
    uint64_t sim;

    OK(sp_sim_new(SP_TEXT("scenario = \"cxl68-expander\"\nhost.accesses = 50\n"), &sim));
    OK(sp_sim_run(sim, 0));
    OK(sp_sim_metrics(sim, text, sizeof text, &length));
    REQUIRE(strstr(text, "\"violations\":[]") != NULL);
    OK(sp_sim_destroy(sim));
}

/* Units at a port. */
static uint32_t see(void *user, uint32_t point, uint32_t way, uint64_t flit_clock, uint64_t number, const char *name,
                    const uint8_t *bytes, uint8_t *other, size_t length)
{
    uint64_t *seen = (uint64_t *)user;

    (void)point, (void)way, (void)flit_clock, (void)bytes, (void)other;
    REQUIRE(strcmp(name, "cxl-68b") == 0 && length == 68 && number == *seen);
    ++*seen;
    return SP_HOOK_KEEP;
}

/* A run in steps, and one whose device is driven with what that of the first one sent. */
static void steps(void)
{
    uint64_t model, external, hook, fault, seen = 0, time_fs = 0, cycle = 0;
    uint8_t unit[256], first[256];
    size_t n;
    int units = 0;

    OK(sp_sim_new(SP_TEXT("scenario = \"cxl68-expander\"\nhost.accesses = 20\n"), &model));
    EXPECT(sp_sim_metrics(model, text, sizeof text, &length), SP_EMPTY);
    OK(sp_sim_state(model, text, sizeof text, &length));
    REQUIRE(strstr(text, "\"name\":\"device.cxl\"") != NULL);
    OK(sp_sim_watch(model, SP_TEXT("device.cxl"), SP_TX, 1));
    EXPECT(sp_sim_watch(model, SP_TEXT("nowhere"), SP_TX, 1), SP_ERR_INPUT);
    OK(sp_sim_hook_attach(model, SP_TEXT("device.cxl"), SP_TEXT("wire"), SP_TX, see, &seen, &hook));
    OK(sp_sim_hook_fault(model, SP_TEXT("host.cxl"), SP_TEXT("wire"), SP_TX, SP_TEXT("drop:2000"), &fault));
    OK(sp_sim_new(SP_TEXT("scenario = \"cxl68-expander\"\nhost.accesses = 20\nexternal = \"device.cxl\"\n"), &external));
    OK(sp_sim_watch(external, SP_TEXT("device.cxl"), SP_TX, 1));
    OK(sp_sim_step(model, 1000));
    while (sp_sim_sample(model, SP_TEXT("device.cxl"), SP_TX, &time_fs, unit, sizeof unit, &n) == SP_OK) {
        if (units++ == 0)
            memcpy(first, unit, n);
        /* A cycle of the reference clock is 500,000 fs. */
        OK(sp_sim_step(external, time_fs / 500000 - cycle));
        cycle = time_fs / 500000;
        OK(sp_sim_drive(external, SP_TEXT("device.cxl"), unit, n));
    }
    REQUIRE(units > 0 && seen == (uint64_t)units);
    OK(sp_sim_run(external, 1000));
    OK(sp_sim_expect(external, SP_TEXT("device.cxl"), SP_TX, first, NULL, 68));
    EXPECT(sp_sim_expect(external, SP_TEXT("device.cxl"), SP_RX, first, NULL, 68), SP_ERR_KIND);
    EXPECT(sp_sim_drive(model, SP_TEXT("device.cxl"), unit, 68), SP_ERR_KIND);
    OK(sp_sim_metrics(external, text, sizeof text, &length));
    REQUIRE(strstr(text, "\"violations\":[]") != NULL && strstr(text, "\"reads\":20") != NULL);
    OK(sp_sim_hook_detach(model, SP_TEXT("device.cxl"), hook));
    EXPECT(sp_sim_hook_detach(model, SP_TEXT("device.cxl"), hook), SP_ERR_RANGE);
    EXPECT(sp_sim_step(model, 1), SP_EMPTY);
    OK(sp_sim_destroy(external));
    OK(sp_sim_destroy(model));
}

/* Two ends back to back: a request goes down. */
static void links(void)
{
    uint64_t host, device, other, extra;
    uint8_t unit[256], sent[16], bits[32], data[256], enables[16];
    uint32_t layout, found;
    size_t n, bytes, data_bytes, enables_bytes;
    sp_event event;
    sp_link_status status;
    uint64_t flits;
    int clock;

    OK(sp_link_new(SP_TEXT("cxl-68b"), SP_DOWN, SP_TEXT("{\"buffers\":8}"), SP_ACTIVE, &host));
    OK(sp_link_new(SP_TEXT("cxl-68b"), SP_UP, SP_TEXT(""), SP_ACTIVE, &device));
    OK(sp_link_send(host, SP_TEXT("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":9}}")));
    /* The same without JSON. */
    OK(sp_layout_find(SP_TEXT("cxl68.m2s_req"), &layout));
    OK(sp_encode_json(SP_TEXT("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":10}}"), sent, sizeof sent, &n));
    OK(sp_link_send_bits(host, layout, sent, n, NULL, 0, NULL, 0, 0));
    for (clock = 0; clock < 100; clock++) {
        OK(sp_link_step(host, 1));
        OK(sp_link_step(device, 1));
        while (sp_link_sample(host, unit, sizeof unit, &n) == SP_OK)
            OK(sp_link_drive(device, SP_RX, unit, n));
        while (sp_link_sample(device, unit, sizeof unit, &n) == SP_OK)
            OK(sp_link_drive(host, SP_RX, unit, n));
    }
    OK(sp_link_take(device, text, sizeof text, &length));
    REQUIRE(strstr(text, "\"tag\":9") != NULL);
    OK(sp_link_take_bits(device, &found, bits, sizeof bits, &bytes, data, sizeof data, &data_bytes, enables, sizeof enables,
                         &enables_bytes, &extra));
    REQUIRE(found == layout && bytes == 11 && memcmp(bits, sent, bytes) == 0 && data_bytes == 0 && extra == 0);
    EXPECT(sp_link_event(host, text, sizeof text, &length), SP_EMPTY);
    EXPECT(sp_link_event_fields(host, &event, text, sizeof text, &length, text, sizeof text, &length, text, sizeof text, &length,
                                text, sizeof text, &length, text, sizeof text, &length), SP_EMPTY);
    OK(sp_link_state_fields(host, &status, text, sizeof text, &length));
    REQUIRE(status.flit_clocks == 100 && status.up == 1 && status.halted == 0 && length == 0);
    OK(sp_link_health(host, SP_TEXT("sent_flits"), SP_TEXT(""), &flits, text, sizeof text, &length));
    REQUIRE(flits > 0);
    /* Handles of other kinds, and of nothing. */
    OK(sp_decoder_new(SP_TEXT("nvlink"), SP_UP, &other));
    EXPECT(sp_link_step(other, 1), SP_ERR_HANDLE);
    EXPECT(sp_stream_destroy(host), SP_ERR_HANDLE);
    EXPECT(sp_link_step(0, 1), SP_ERR_HANDLE);
    EXPECT(sp_link_drive(device, SP_RX, NULL, 68), SP_ERR_NULL);
    OK(sp_stream_destroy(other));
    OK(sp_link_destroy(host));
    OK(sp_link_destroy(device));
}

/* Counts what passes, and drops the message with the number that `user` holds first. */
static unsigned counts[2];

static uint32_t count(void *user, uint32_t point, uint32_t way, uint64_t flit_clock, uint64_t number, const char *name,
                      const uint8_t *bytes, uint8_t *other, size_t length)
{
    const uint64_t *dropped = (const uint64_t *)user;

    (void)point, (void)way, (void)flit_clock, (void)bytes;
    REQUIRE(strncmp(name, "cxl68.m2s_req", 14) == 0 && length == 11);
    counts[number == *dropped]++;
    /* Allowed, and without effect behind SP_HOOK_DROP. */
    memset(other, 0, length);
    return number == *dropped ? SP_HOOK_DROP : SP_HOOK_KEEP;
}

static void hooks(void)
{
    uint64_t host, hook, fault, dropped = 1;

    OK(sp_link_new(SP_TEXT("cxl-68b"), SP_DOWN, SP_TEXT(""), SP_ACTIVE, &host));
    OK(sp_hook_attach(host, SP_TEXT("packer_in"), SP_TX, count, &dropped, &hook));
    OK(sp_hook_fault(host, SP_TEXT("wire"), SP_TX, SP_TEXT("drop:3"), &fault));
    OK(sp_link_send(host, SP_TEXT("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":9}}")));
    OK(sp_link_send(host, SP_TEXT("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":10}}")));
    REQUIRE(counts[0] == 1 && counts[1] == 1);
    OK(sp_link_step(host, 8));
    OK(sp_hook_detach(host, hook));
    EXPECT(sp_hook_detach(host, hook), SP_ERR_RANGE);
    EXPECT(sp_hook_attach(host, SP_TEXT("packer_in"), SP_TX, NULL, NULL, &hook), SP_ERR_NULL);
    EXPECT(sp_hook_fault(host, SP_TEXT("credit"), SP_TX, SP_TEXT("drop:3"), &fault), SP_ERR_KIND);
    OK(sp_link_destroy(host));
}

int main(void)
{
    versions();
    messages();
    checksums();
    streams();
    arbiters();
    simulation();
    steps();
    links();
    hooks();
    puts("smoke: all calls answer as they should");
    return 0;
}
