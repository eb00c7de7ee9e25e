/*
 * The workload behind hash_list_matrix.lackey.gz: three kernels, none of whose data fit a 32 KiB cache.
 *
 *   1. hash table: 64 KiB of open-addressed buckets, filled and then counted with the keys of a fixed generator:
 *      scattered loads, stores and read-modify-writes;
 *   2. linked list: 64 KiB of nodes linked in a scattered order, reversed in place and then summed: each load gives
 *      the address of the next one;
 *   3. matrix: 32 KiB filled, then transposed into another 32 KiB: one side streams, the other strides by a row.
 *
 * All data is static and no library function is called between the two marks, so what is traced between them depends
 * on the compiler alone. A store to trace_mark opens the traced region and a second one closes it.
 */
#include <stdint.h>

enum { BUCKETS = 4096, KEYS = 2200, NODES = 2048, ROWS = 64, COLUMNS = 64 };

struct bucket {
    uint64_t key; /* 0: free */
    uint64_t count;
};

struct node {
    struct node *next;
    uint64_t value;
    uint64_t unused[2]; /* two nodes a cache line */
};

/* Not static: the compiler has to keep every store. */
volatile uint8_t trace_mark;
struct bucket table[BUCKETS];
struct node nodes[NODES];
uint64_t matrix[ROWS][COLUMNS];
uint64_t transposed[COLUMNS][ROWS];
uint64_t list_sum;

/* xorshift64: never 0 when seeded with anything but 0. */
static uint64_t next_key(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static struct bucket *find(uint64_t key)
{
    uint64_t at = key % BUCKETS;
    while (table[at].key != 0 && table[at].key != key)
        at = (at + 1) % BUCKETS;
    return &table[at];
}

static void count_keys(void)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < KEYS; i++) {
        uint64_t key = next_key(&state);
        find(key)->key = key;
    }
    state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < KEYS; i++)
        find(next_key(&state))->count++;
}

static void reverse_and_sum(void)
{
    /* 757 is odd, so i * 757 mod 2048 visits every node once. */
    for (uint64_t i = 0; i < NODES; i++) {
        struct node *node = &nodes[i * 757 % NODES];
        node->value = i;
        node->next = i + 1 < NODES ? &nodes[(i + 1) * 757 % NODES] : 0;
    }
    struct node *reversed = 0;
    for (struct node *node = &nodes[0]; node != 0;) {
        struct node *rest = node->next;
        node->next = reversed;
        reversed = node;
        node = rest;
    }
    uint64_t sum = 0;
    for (struct node *node = reversed; node != 0; node = node->next)
        sum += node->value;
    list_sum = sum;
}

static void transpose(void)
{
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t column = 0; column < COLUMNS; column++)
            matrix[row][column] = row * COLUMNS + column;
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t column = 0; column < COLUMNS; column++)
            transposed[column][row] = matrix[row][column];
}

int main(void)
{
    trace_mark = 1;
    count_keys();
    reverse_and_sum();
    transpose();
    trace_mark = 2;
    return 0;
}
