/* PE program of role stored: sums of v towards PE 0; each PE has all of one before it adds. */
#include "pe.h"

enum { Y_A, Y_B };

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    struct vector receive;
    struct vector compute;
    struct vector send;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void send_on(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_FABRIC,
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_send(pe, &my->send, pe->x % 2 == 0 ? Y_A : Y_B, &my->y_local[0], done);
}

static void add(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->compute, NO_COUNTER, ADD, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), FLOAT32_OPERAND(1));
    vector_run(pe, &my->compute, &my->y_local[0], &my->y_local[0], &my->v_local[0]);
    if (pe->x == 0)
        invocation_done(pe);
    else
        send_on(pe);
}

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;

    if (pe->x == my->size[1] - 1) {
        configure(pe, &my->compute, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
                  FLOAT32_OPERAND(1), NO_OPERAND);
        vector_run(pe, &my->compute, &my->y_local[0], &my->v_local[0], NULL);
        send_on(pe);
        return;
    }
    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_FABRIC, NO_OPERAND);
    stream_receive(pe, &my->receive, pe->x % 2 == 0 ? Y_B : Y_A, &my->y_local[0], add);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_stored = {
    .name = "stored", .memory = sizeof(struct memory), .main = pe_main
};
