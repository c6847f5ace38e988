/* What waits for what in a fabric that stops: places, why they wait, and a walk over them. */
#ifndef WAITING_H
#define WAITING_H

#include "engine.h"

/* Places of a PE and its router, by number: what lies in a channel, what comes to the PE on a
 * colour, what it sends on one, and the PE as a whole. */
enum place {
    CHANNEL_PLACES = 0, INTAKE_PLACES = MAX_CHANNELS, SEND_PLACES = INTAKE_PLACES + MAX_COLOURS,
    WHOLE_PE = SEND_PLACES + MAX_COLOURS, PLACES = 256
};

enum { MAX_WAITS = 3 * MAX_COLOURS };

/* Why a place waits, and for which others; where `any` one of them would do, the others may never
 * come. */
struct wait {
    enum wait_kind kind;
    bool any;
    int32_t count;
    int64_t on[MAX_WAITS];                     /* node * PLACES + place */
};

/* Each place waits for the next one, the last one for that at `circle`, or, if that is -1, for
 * none. Before the first an external PE, `outlet`, waits, or none does, -1. */
struct chain {
    int64_t *place;
    int32_t length, circle, outlet, rank;
};

static inline int32_t node_at(int64_t place)
{
    return (int32_t)(place / PLACES);
}

static inline int number_at(int64_t place)
{
    return (int)(place % PLACES);
}

static inline bool is_channel(int64_t place)
{
    return number_at(place) < INTAKE_PLACES;
}

int colour_at(const struct engine *engine, int64_t place);
const struct channel *channel_at(const struct engine *engine, int64_t place);
const struct source *source_at(const struct engine *engine, int64_t place);
const struct instruction *first_on(const struct node *node, int colour, bool in);
bool is_crowded(const struct node *node);
void find_waits(struct engine *engine, int64_t place, struct wait *wait);
void feed(const struct engine *engine, int32_t node, int side, int colour, struct wait *wait);
struct chain find_chain(struct engine *engine);

/* In report.c: the text that the outcome has, and the words of it. Each thing is told once: `thing`
 * has what lines are of, an instruction, an intake, a queue of a router, a node or an outlet. Of all
 * that was `found` to wait after the chain, `lines` were not told there, and `left_out` are not told
 * at all; `counts` are told of what is left. */
enum { MAX_THINGS = 64 };

struct report {
    struct engine *engine;
    size_t length;
    int found, lines, left_out, things, counts;
    const void *thing[MAX_THINGS];
};

void note_told(struct report *report, const void *thing);
void say(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *colour_name(const struct report *report, int colour);
void say_pe(struct report *report, int32_t node);
void say_instruction(struct report *report, const struct node *node, int32_t i);
void say_intake(struct report *report, const struct node *node, int colour);
void say_channel(struct report *report, int32_t node, const struct channel *channel);
void say_switch(struct report *report, int32_t node, int colour);
void say_missing(struct report *report, int32_t outlet);
int64_t count_missing(const struct engine *engine, int32_t outlet);
void explain(struct report *report);
void say_runs(struct report *report, const struct node *node);
void tell_last(struct report *report);
void say_remains(struct report *report);

#endif
