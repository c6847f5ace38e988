/* PE program of role waiting: PE 0 receives more than comes, PE 1 blocks what comes, PE 2 knows
 * no task for it, PE 3 waits for nothing that is on its way. */
#include "pe.h"

enum { X, Z };

struct memory {
    int32_t x_local[8];
    struct vector receive;
};

static void on_x(struct pe *pe, wavelet w)
{
    (void)w;
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(8), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    if (pe->x == 0)
        stream_receive(pe, &my->receive, X, &my->x_local[0], NULL);
    if (pe->x == 1) {
        on_data(pe, X, on_x);
        block(pe, X);
    }
    if (pe->x == 3)
        on_data(pe, Z, on_x);
}

const struct program program_waiting = {
    .name = "waiting", .memory = sizeof(struct memory), .main = pe_main
};
