// What the benches of this folder have in common: a memory, and traffic that is compared with a data image.

#ifndef SCALEPOOL_TLM_BENCH_H
#define SCALEPOOL_TLM_BENCH_H

#include <array>
#include <cstdio>
#include <random>

#include "scalepool_tlm.h"

using namespace sc_core;
using scalepool::LINE_BYTES;

constexpr unsigned LINES = 256;
constexpr uint64_t MEMORY_BYTES = uint64_t{LINES} * LINE_BYTES;
using Line = std::array<uint8_t, LINE_BYTES>;

// A memory of 16 KiB, all 0 at the start, which takes 0 to 7 ns for a line.
struct Memory : sc_module {
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::array<Line, LINES> lines{};
    // It answers the read of this line with a wrong bit.
    unsigned wrong_line = LINES;
    std::mt19937 random{7};

    explicit Memory(sc_module_name name) : sc_module(name) { socket.register_b_transport(this, &Memory::b_transport); }

    void b_transport(tlm::tlm_generic_payload& transaction, sc_time& delay) {
        delay += sc_time(random() % 8, SC_NS);
        if (transaction.get_address() >= MEMORY_BYTES) {
            transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        const unsigned number = static_cast<unsigned>(transaction.get_address() / LINE_BYTES);
        Line& line = lines[number];
        uint8_t* const data = transaction.get_data_ptr();
        const uint8_t* const enabled = transaction.get_byte_enable_ptr();
        for (unsigned n = 0; n < LINE_BYTES; ++n) {
            if (transaction.is_read()) data[n] = line[n];
            else if (!enabled || enabled[n] == TLM_BYTE_ENABLED) line[n] = data[n];
        }
        if (transaction.is_read() && number == wrong_line) data[5] ^= 1;
        transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

// Initiators of their own kind each, which read and write lines.
struct Traffic : sc_module {
    tlm_utils::simple_initiator_socket<Traffic> socket{"socket"};
    // What is in memory, by what was written here alone.
    std::array<Line, LINES> image{};
    unsigned accesses;
    uint32_t seed;
    unsigned done = 0;
    unsigned running = 0;
    std::string wrong;

    Traffic(sc_module_name name, unsigned accesses, uint32_t seed) : sc_module(name), accesses(accesses), seed(seed) {}

    // Four threads in parallel, each with lines of its own, at random.
    void random_threads() {
        for (unsigned me = 0; me < 4; ++me) {
            ++running;
            sc_spawn([this, me] { run(me); });
        }
    }

    tlm::tlm_response_status access(tlm::tlm_command command, uint64_t address, uint8_t* data, unsigned length = LINE_BYTES,
                                    uint8_t* enabled = nullptr, unsigned enabled_length = 0, unsigned streaming = LINE_BYTES) {
        tlm::tlm_generic_payload transaction;
        transaction.set_command(command);
        transaction.set_address(address);
        transaction.set_data_ptr(data);
        transaction.set_data_length(length);
        transaction.set_streaming_width(streaming);
        transaction.set_byte_enable_ptr(enabled);
        transaction.set_byte_enable_length(enabled_length);
        sc_time delay = sc_time(1, SC_NS);
        socket->b_transport(transaction, delay);
        return transaction.get_response_status();
    }

    // Notes what is wrong and ends the run.
    void expect(bool holds, const std::string& what) {
        if (holds || !wrong.empty()) return;
        wrong = what;
        if (sc_is_running()) sc_stop();
    }

    void run(unsigned me) {
        std::mt19937 random(seed * 4 + me);
        for (unsigned n = 0; n < accesses / 4 && wrong.empty(); ++n) {
            const unsigned number = random() % (LINES / 4) * 4 + me;
            const uint64_t address = uint64_t{number} * LINE_BYTES;
            Line& kept = image[number];
            Line data;
            for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
            // All bytes, or some of them, with byte enables that may repeat.
            Line enabled;
            enabled.fill(TLM_BYTE_ENABLED);
            const unsigned kind = random() % 4;
            const unsigned period = kind < 2 ? 0 : kind == 2 ? 64 : 1 + random() % 64;
            for (unsigned byte = 0; byte < period; ++byte) enabled[byte] = random() % 2 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
            const auto is_on = [&](unsigned byte) { return period == 0 || enabled[byte % period] == TLM_BYTE_ENABLED; };
            const bool writes = random() % 2;
            const Line before = data;
            const auto status = access(writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data.data(), LINE_BYTES,
                                       period ? enabled.data() : nullptr, period);
            expect(status == tlm::TLM_OK_RESPONSE, "access " + std::to_string(n) + ": response " + std::to_string(status));
            for (unsigned byte = 0; byte < LINE_BYTES; ++byte) {
                if (writes && is_on(byte)) kept[byte] = data[byte];
                if (!writes)
                    expect(data[byte] == (is_on(byte) ? kept[byte] : before[byte]),
                           "access " + std::to_string(n) + ": byte " + std::to_string(byte) + " of line " + std::to_string(number) +
                               " differs from the image");
            }
            ++done;
        }
        if (--running == 0) sc_stop();
    }
};

// Says what came of a run; returns the exit status.
inline int verdict(Traffic& traffic, const std::string& what) {
    if (traffic.wrong.empty() && traffic.running != 0) traffic.wrong = "not done at " + sc_core::sc_time_stamp().to_string();
    if (traffic.wrong.empty()) std::printf("PASS %s\n", what.c_str());
    else std::printf("FAIL %s\n", traffic.wrong.c_str());
    return traffic.wrong.empty() ? 0 : 1;
}

#endif  // SCALEPOOL_TLM_BENCH_H
