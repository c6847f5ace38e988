/* PE program of role difference: y = v of the PE to the west - 2 v; the first PE only sends. */
#include "pe.h"

enum { V_A, V_B };

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    float twice[512], found[512];
    struct vector multiply, subtract, send, copy;
};

static void finish(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->copy, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), NO_OPERAND);
    vector_run(pe, &my->copy, my->y_local, my->found, NULL);
    invocation_done(pe);
}

static void send(struct pe *pe)
{
    struct memory *my = pe->memory;

    if (pe->x == my->size[1] - 1)
        return;
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_FABRIC,
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_send(pe, &my->send, pe->x % 2 == 0 ? V_A : V_B, my->v_local, NULL);
}

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    const struct operand local = FLOAT32_OPERAND(1);
    const struct sizes sizes = SIZES(my->size[0]);
    static const float factor = 2.0f;

    if (pe->x == 0) {
        send(pe);
        invocation_done(pe);
        return;
    }
    configure(pe, &my->multiply, NO_COUNTER, MUL, sizes, local, FLOAT32_OPERAND(0), local);
    vector_run(pe, &my->multiply, my->twice, &factor, my->v_local);
    configure(pe, &my->subtract, NO_COUNTER, SUB, sizes, local, FLOAT32_FABRIC, local);
    stream_accumulate(pe, &my->subtract, pe->x % 2 == 0 ? V_B : V_A, my->found, my->twice, finish);
    send(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_difference = {
    .name = "difference", .memory = sizeof(struct memory), .main = pe_main
};
