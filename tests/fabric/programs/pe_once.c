/* PE program of role once: activate the first task of a table, whose place moves on as it is told. */
#include "pe.h"

struct memory {
    int32_t place, ran;
};

static void first(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->ran = 1;
    invocation_done(pe);
}

static void second(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->ran = 2;
    invocation_done(pe);
}

static task *const table[] = { first, second };

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    activate(pe, table[my->place++]);
}

const struct program program_once = {
    .name = "once", .memory = sizeof(struct memory), .main = pe_main, .counters = 0
};
