/* PE program of role accumulate: streams that compute with memory, described by a tensor. */
#include "pe.h"

enum { X, Y };
enum { RUN };
enum { ACCUMULATE, IN_PLACE, RECEIVE, COMBINE, NUMBER };

struct memory {
    int32_t recipe[14];      /* call, times, operation, types, rows, columns, strides, firsts */
    int32_t d_local[64];
    int32_t b_local[64];
    struct vector run;
    int done;
};

static void done(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->done += 1;
    if (my->done == my->recipe[1])
        invocation_done(pe);
}

static char *first_of(int32_t type, int32_t first, int32_t *local)
{
    return (char *)local + (type == FLOAT16 || type == INT16 ? 2 : 4) * first;
}

static void start(struct pe *pe)
{
    struct memory *my = pe->memory;
    char *const d = first_of(my->recipe[3], my->recipe[12], my->d_local);
    char *const b = first_of(my->recipe[5], my->recipe[13], my->b_local);
    const int32_t number = 2;

    switch (my->recipe[0]) {
    case ACCUMULATE: stream_accumulate(pe, &my->run, X, d, b, done); break;
    case IN_PLACE: stream_accumulate(pe, &my->run, X, d, d, done); break;
    case RECEIVE: stream_receive(pe, &my->run, X, d, done); break;
    case COMBINE: stream_combine(pe, &my->run, Y, X, b, done); break;
    case NUMBER: stream_accumulate(pe, &my->run, X, d, &number, done); break;
    }
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int32_t *r = my->recipe;
    const enum element d = (enum element)r[3], a = (enum element)r[4], b = (enum element)r[5];

    configure(pe, &my->run, RUN, (enum operation)r[2], SIZES(r[6], r[7]),
              (struct operand){ d, { r[8], r[9] } }, (struct operand){ a, { 0 } },
              (struct operand){ b, { r[10], r[11] } });
    for (int i = 0; i < r[1]; i += 1)
        start(pe);
}

const struct program program_accumulate = {
    .name = "accumulate", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
