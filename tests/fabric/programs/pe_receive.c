/* PE program of role receive: keep the eight elements of a dense tensor, every invocation. */
#include "pe.h"

enum { X };
enum { RECEIVE_X };

struct memory {
    int32_t x_local[8];
    struct vector receive;
};

static void restart(struct pe *pe);

static void done(struct pe *pe)
{
    if (invocation_done(pe))
        restart(pe);
}

static void restart(struct pe *pe)
{
    struct memory *my = pe->memory;

    stream_receive(pe, &my->receive, X, &my->x_local[0], done);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->receive, RECEIVE_X, COPY, SIZES(8), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    restart(pe);
}

const struct program program_receive = {
    .name = "receive", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
