/* PE program of role pass: four PEs keep eight elements that they forward; PE 1 takes none. */
#include "pe.h"

enum { X_EVEN, X_ODD };
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

    if (pe->x == 1)
        activate(pe, done);
    else
        stream_receive(pe, &my->receive, pe->x % 2, &my->x_local[0], done);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int in = pe->x % 2 == 0 ? X_EVEN : X_ODD, out = pe->x % 2 == 0 ? X_ODD : X_EVEN;

    configure(pe, &my->receive, RECEIVE_X, COPY, SIZES(8), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    if (pe->x == 1)
        pass_by(pe, in, out);
    else if (pe->x < 3)
        forward(pe, in, out);
    restart(pe);
}

const struct program program_pass = {
    .name = "pass", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
