/* What the recorder keeps while a run goes on. */
#ifndef RECORDING_H
#define RECORDING_H

#include "engine.h"

#ifdef RECORDED

struct moment {
    int32_t before, node, end;
    int16_t deed, colour;
    int32_t name, computing, memory, scalars, datapath;
    bool marked;
};

struct noted {                                 /* of a PE */
    int32_t begun, path, released;             /* moments: the running task began, the last one ended, */
                                               /* and so did the last stream */
    int32_t begin, name, computing, memory, scalars, datapath, flow;
    int64_t event;                             /* that of its last task; -1: none */
};

struct named {
    const void *key;
    int32_t name;
};

struct recorder {
    struct moment *moment;
    int32_t moments, moment_space, free;       /* free: the first of those to be used again */
    int32_t alive, enough;                     /* how many are known, and when to forget some */
    struct noted *noted;
    int32_t *port;                             /* the moment from which each inlet sends */
    int32_t cause;                             /* after which that happens which happens now */
    struct trail last;                         /* of the wavelet that left last, beside a PE */
    int32_t last_node, last_colour, done;
    struct named *named;                       /* a table by address, twice as large as full */
    int32_t named_size, names, text_space;
    const char **text;
    int32_t vector_name, flows;
};

/* A task, or a function that reacts, as an address. */
static inline const void *pointer_of(wavelet_task *task)
{
    const void *pointer;

    memcpy(&pointer, &task, sizeof pointer);
    return pointer;
}

/* Of a phase something lasts from one cycle to before another one. */
static inline void extend(struct phase *phase, int64_t begin, int64_t end)
{
    if (phase->count == 0)
        phase->begin = (int32_t)begin;
    if (end > phase->end)
        phase->end = (int32_t)(end < LAST_CYCLE ? end : LAST_CYCLE);
    phase->count += 1;
}

int32_t name_of(struct engine *engine, const void *key);
void release_names(struct recorder *recorder);
void record_arrow(struct node *node, int colour, struct trail trail);
void record_task(struct node *node);
void record_longer(struct node *node);
void record_stream(struct node *node, int32_t i);
void record_left(struct node *node, int64_t until);

#endif
#endif
