/* PE program of role join: PE 0 sends on two colours, PE 1 receives; a task follows both streams. */
#include "pe.h"

enum { A, B };

struct memory {
    int32_t count[3];                          /* elements on A and B; how often they are joined */
    int32_t found[2];                          /* runs of the task, and the cycle of the last one */
    int32_t element[2][8];
    struct vector stream[2];
};

static void both(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->found[0] += 1;
    my->found[1] = (int32_t)read_clock(pe);
    (void)invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    for (int i = 0; i < my->count[2]; i += 1)
        join(pe, both);
    for (int colour = A; colour <= B; colour += 1) {
        const struct sizes sizes = SIZES(my->count[colour]);

        if (pe->x == 0) {
            configure(pe, &my->stream[colour], NO_COUNTER, COPY, sizes, INT32_FABRIC,
                      INT32_OPERAND(1), NO_OPERAND);
            stream_send(pe, &my->stream[colour], colour, my->element[colour], both);
        } else {
            configure(pe, &my->stream[colour], NO_COUNTER, COPY, sizes, INT32_OPERAND(1),
                      INT32_FABRIC, NO_OPERAND);
            stream_receive(pe, &my->stream[colour], colour, my->element[colour], both);
        }
    }
}

const struct program program_join = {
    .name = "join", .memory = sizeof(struct memory), .main = pe_main
};
