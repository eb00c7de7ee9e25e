// The kernel's ring in SystemC: 64 modules on one clock, joined by 16-deep FIFOs of 256-bit items. Every module takes one
// item an edge, adds its number to the four words, and passes the item on. `../ring.rs` is the same design on our kernel, and
// both print the same hash.
//
//   g++ -O3 -std=c++17 -o ring ring.cpp -lsystemc
//   ./ring struct|bv ITEMS CYCLES      prints: seconds hash
//
// Modules are SC_METHODs, the cheapest process that SystemC has, sensitive to the clock edge alone.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <systemc>
#include <vector>

constexpr unsigned MODULES = 64;
constexpr int DEPTH = 16;

struct Words {
    uint64_t w[4];
};
static std::ostream& operator<<(std::ostream& out, const Words& item) { return out << item.w[0]; }

using Vector = sc_dt::sc_bv<256>;

// What a module does to an item, and how the hash reads it, for both spellings of an item.
static void add(Words& item, uint64_t number) {
    for (uint64_t& word : item.w) word += number;
}
static uint64_t word(const Words& item, int i) { return item.w[i]; }
static void add(Vector& item, uint64_t number) {
    for (int i = 0; i < 4; ++i) item.range(64 * i + 63, 64 * i) = item.range(64 * i + 63, 64 * i).to_uint64() + number;
}
static uint64_t word(const Vector& item, int i) { return item.range(64 * i + 63, 64 * i).to_uint64(); }

template <class T>
struct Stage : sc_core::sc_module {
    sc_core::sc_in<bool> clock;
    sc_core::sc_fifo<T>& in;
    sc_core::sc_fifo<T>& out;
    uint64_t number;
    uint64_t passed = 0;

    SC_HAS_PROCESS(Stage);
    Stage(sc_core::sc_module_name name, sc_core::sc_fifo<T>& in, sc_core::sc_fifo<T>& out, uint64_t number)
        : sc_module(name), in(in), out(out), number(number) {
        SC_METHOD(edge);
        sensitive << clock.pos();
        dont_initialize();
    }
    void edge() {
        if (out.num_free() == 0) return;
        T item;
        if (!in.nb_read(item)) return;
        add(item, number);
        out.nb_write(item);
        ++passed;
    }
};

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value;
    hash *= 0x00000100000001b3;
    return hash ^ (hash >> 29);
}

template <class T>
static void run(unsigned items, uint64_t cycles) {
    sc_core::sc_clock clock("clock", 1, sc_core::SC_NS);
    std::vector<std::unique_ptr<sc_core::sc_fifo<T>>> fifos;
    for (unsigned i = 0; i < MODULES; ++i) fifos.emplace_back(new sc_core::sc_fifo<T>(DEPTH));
    std::vector<std::unique_ptr<Stage<T>>> stages;
    for (unsigned i = 0; i < MODULES; ++i) {
        stages.emplace_back(new Stage<T>(sc_core::sc_gen_unique_name("stage"), *fifos[i], *fifos[(i + 1) % MODULES], i + 1));
        stages.back()->clock(clock);
    }
    // Item n starts in FIFO n.
    for (unsigned n = 0; n < items; ++n) {
        T item{};
        add(item, uint64_t(n) << 32);
        fifos[n]->nb_write(item);
    }
    // The first rising edge is at time 0: `cycles` edges end before cycles * 1 ns.
    const auto start = std::chrono::steady_clock::now();
    sc_core::sc_start(sc_core::sc_time(double(cycles) - 0.25, sc_core::SC_NS));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned i = 0; i < MODULES; ++i) {
        hash = mix(hash, stages[i]->passed);
        T item;
        while (fifos[i]->nb_read(item))
            for (int k = 0; k < 4; ++k) hash = mix(hash, word(item, k));
    }
    std::printf("%.6f %016llx\n", seconds.count(), (unsigned long long)hash);
}

int sc_main(int argc, char** argv) {
    const bool vector = argc == 4 && !std::strcmp(argv[1], "bv");
    if (argc != 4 || (!vector && std::strcmp(argv[1], "struct"))) {
        std::fprintf(stderr, "usage: ring struct|bv ITEMS CYCLES\n");
        return 2;
    }
    const unsigned items = unsigned(std::strtoul(argv[2], nullptr, 10));
    const uint64_t cycles = std::strtoull(argv[3], nullptr, 10);
    if (items > MODULES || cycles == 0) {
        std::fprintf(stderr, "ring: found %u items and %llu cycles, expected at most %u items and at least 1 cycle\n", items,
                     (unsigned long long)cycles, MODULES);
        return 2;
    }
    vector ? run<Vector>(items, cycles) : run<Words>(items, cycles);
    return 0;
}
