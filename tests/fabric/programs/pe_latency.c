/* PE program of role latency: what a tensor lists, one after the other in one task; then another task. */
#include "pe.h"

enum { MOST = 24, FIELDS = 6, WORDS = 96 };
enum deed { RUN, LOAD, COMPUTE, CLOCK, SEND };

struct memory {
    int32_t deeds[MOST * FIELDS];    /* deed; operation, size, and the first words of d, a and b */
    int32_t stamp[MOST + 1];
    int16_t word[WORDS];
    struct vector run[MOST];
};

static void after(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp[MOST] = (int32_t)read_clock(pe);
    invocation_done(pe);
}

static void perform(struct pe *pe, int k)
{
    struct memory *my = pe->memory;
    const int32_t *deed = &my->deeds[FIELDS * k];

    switch ((enum deed)deed[0]) {
    case RUN:
        vector_run(pe, &my->run[k], &my->word[deed[3]], &my->word[deed[4]], &my->word[deed[5]]);
        break;
    case LOAD:
        CHARGE(pe, .scalar = deed[2], .load = 1);
        break;
    case COMPUTE:
        CHARGE(pe, .scalar = deed[2]);
        break;
    case CLOCK:
        my->stamp[k] = (int32_t)read_clock(pe);
        break;
    case SEND:
        stream_send(pe, &my->run[k], 0, &my->word[deed[4]], NULL);
        break;
    }
}

static void all(struct pe *pe)
{
    for (int k = 0; k < MOST; k += 1)
        perform(pe, k);
    activate(pe, after);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    for (int k = 0; k < MOST; k += 1) {
        const int32_t *deed = &my->deeds[FIELDS * k];

        configure(pe, &my->run[k], NO_COUNTER, (enum operation)deed[1], SIZES(deed[2]),
                  INT16_OPERAND(1), INT16_OPERAND(1), INT16_OPERAND(1));
    }
    activate(pe, all);
}

const struct program program_latency = {
    .name = "latency", .memory = sizeof(struct memory), .main = pe_main
};
