/* The circle of waiting in a fabric that stops or, where there is none, the chain that says most.
 *
 * A walk goes from who misses something, depth first, to what it waits for; it comes to each place
 * once. First it follows only what must come; then, in a fabric that can no longer move, also where
 * any one of several would do.
 */
#include <stdlib.h>

#include "waiting.h"

enum rank {                                    /* how much the end of a chain explains */
    NO_CHAIN, MAYBE, GOES_ON, COMPLETED, EXHAUSTED, LOOSE_CIRCLE, IS_IDLE, FAULT, CIRCLE
};

struct visit {
    int64_t place;
    int32_t next, count;                       /* of what it waits for */
};

struct walk {
    struct engine *engine;
    uint64_t *seen, *under_way;                /* a bit for each place */
    struct visit *visit;                       /* from the root to where it is */
    int32_t length, space, outlet;
    bool any, open;                            /* open: whether not all ways were followed */
    struct chain best;
};

static bool has_bit(const uint64_t *bits, int64_t place)
{
    return bits[place / 64] >> place % 64 & 1;
}

static void flip_bit(uint64_t *bits, int64_t place)
{
    bits[place / 64] ^= (uint64_t)1 << place % 64;
}

static enum rank rank_of(const struct wait *wait)
{
    switch (wait->kind) {
    case MOVES: return GOES_ON;
    case IS_DONE: return COMPLETED;
    case SENT_ALL: return EXHAUSTED;
    case NOT_ACTIVATED: return IS_IDLE;
    case HEADED: case TORN_DOWN: return FAULT;
    case IS_BLOCKED: case NOT_TAKEN: case CROWDED: case TURNED:
        return wait->count == 0 ? FAULT : MAYBE;
    default: return MAYBE;
    }
}

/* Whether something is there that cannot go on for lack of space, or of a thread. */
static bool holds(struct engine *engine, int64_t place)
{
    struct wait wait;

    find_waits(engine, place, &wait);
    return wait.kind == FULL || wait.kind == CROWDED;
}

/* A circle over what may come is one only if what has come holds it up. */
static enum rank rank_of_circle(const struct walk *walk, int32_t from)
{
    bool held = !walk->any;

    for (int32_t i = from; i < walk->length && !held; i += 1)
        held = holds(walk->engine, walk->visit[i].place);
    return held ? CIRCLE : LOOSE_CIRCLE;
}

/* Keep the way from the root if it says more than the best one. */
static void keep(struct walk *walk, enum rank rank, int32_t circle)
{
    int64_t *place;

    if ((int32_t)rank <= walk->best.rank)
        return;
    place = realloc(walk->best.place, (size_t)walk->length * sizeof *place);
    if (place == NULL)
        return;
    for (int32_t i = 0; i < walk->length; i += 1)
        place[i] = walk->visit[i].place;
    walk->best = (struct chain){ place, walk->length, circle, walk->outlet, (int32_t)rank };
}

static void enter_place(struct walk *walk, int64_t place)
{
    if (walk->length == walk->space)
        walk->visit = grow(walk->engine, walk->visit, &walk->space, sizeof *walk->visit);
    if (walk->length == walk->space)
        return;
    walk->visit[walk->length++] = (struct visit){ place, 0, -1 };
    flip_bit(walk->seen, place);
    flip_bit(walk->under_way, place);
}

static void close_circle(struct walk *walk, int64_t place)
{
    int32_t from = walk->length - 1;

    while (walk->visit[from].place != place)
        from -= 1;
    keep(walk, rank_of_circle(walk, from), from);
}

/* What the last place waits for, as far as it is followed; a chain may end there. */
static void look(struct walk *walk, struct visit *last, struct wait *wait)
{
    find_waits(walk->engine, last->place, wait);
    last->count = wait->any && !walk->any ? 0 : wait->count;
    walk->open |= last->count < wait->count;
    if (last->count == 0)
        keep(walk, rank_of(wait), -1);
}

/* One step: to the next place that the last one waits for, or back from it. */
static void step(struct walk *walk)
{
    struct visit *last = &walk->visit[walk->length - 1];
    struct wait wait;

    if (last->next != last->count)
        look(walk, last, &wait);
    if (last->next == last->count) {
        flip_bit(walk->under_way, last->place);
        walk->length -= 1;
    } else {
        const int64_t next = wait.on[last->next++];

        if (has_bit(walk->under_way, next))
            close_circle(walk, next);
        else if (!has_bit(walk->seen, next))
            enter_place(walk, next);
    }
}

static void walk_from(struct walk *walk, int64_t place, int32_t outlet)
{
    if (has_bit(walk->seen, place))
        return;
    walk->outlet = outlet;
    enter_place(walk, place);
    while (walk->length > 0 && walk->best.rank < CIRCLE)
        step(walk);
    walk->length = 0;
}

static void walk_from_outlet(struct walk *walk, int32_t i)
{
    const struct outlet *outlet = &walk->engine->layout->outlet[i];
    struct wait wait = { .count = 0 };

    for (int colour = 0; colour < walk->engine->layout->colours; colour += 1)
        if (outlet->colours >> colour & 1)
            feed(walk->engine, outlet->node, outlet->side, colour, &wait);
    walk->open |= wait.count > 1;
    for (int32_t k = 0; k < wait.count && (wait.count == 1 || walk->any); k += 1)
        walk_from(walk, wait.on[k], i);
}

/* In a run in which all is done: from what is left all the same. */
static void walk_from_left(struct walk *walk)
{
    struct engine *engine = walk->engine;

    for (int32_t i = 0; i < engine->size && walk->best.rank < CIRCLE; i += 1) {
        const struct node *node = &engine->node[i];

        if (node->instructions > node->endless || node->activations > 0
            || engine->now < node->busy_until)
            walk_from(walk, (int64_t)i * PLACES + WHOLE_PE, -1);
        for (int32_t k = 0; k < engine->router[i].routing->channels; k += 1)
            if (queue_of(&engine->router[i], &engine->router[i].routing->channel[k])->count > 0)
                walk_from(walk, (int64_t)i * PLACES + CHANNEL_PLACES + k, -1);
        for (int colour = 0; colour < engine->layout->colours; colour += 1)
            if (intake_of(node, colour) != NULL
                && waiting_in(intake_of(node, colour))->count > 0)
                walk_from(walk, (int64_t)i * PLACES + INTAKE_PLACES + colour, -1);
    }
}

/* From PEs that are not done: from those with instructions under way, or from the others. */
static void walk_from_nodes(struct walk *walk, bool with_instructions)
{
    for (int32_t i = 0; i < walk->engine->size && walk->best.rank < CIRCLE; i += 1) {
        const struct node *node = &walk->engine->node[i];

        if (node->role >= 0 && node->invocations < walk->engine->layout->invocations
            && (node->instructions > node->endless) == with_instructions)
            walk_from(walk, (int64_t)i * PLACES + WHOLE_PE, -1);
    }
}

static void walk_from_all(struct walk *walk)
{
    for (int32_t i = 0; i < walk->engine->layout->outlets && walk->best.rank < CIRCLE; i += 1)
        if (count_missing(walk->engine, i) > 0)
            walk_from_outlet(walk, i);
    walk_from_nodes(walk, true);
    walk_from_nodes(walk, false);
    if (is_done(walk->engine))
        walk_from_left(walk);
}

static struct chain find_best(struct engine *engine, bool any, bool *open)
{
    const int64_t words = (int64_t)engine->size * PLACES / 64;
    struct walk walk = { .engine = engine, .any = any, .best = { .circle = -1, .outlet = -1 } };

    walk.seen = zeros(engine, words, sizeof *walk.seen);
    walk.under_way = zeros(engine, words, sizeof *walk.under_way);
    if (walk.seen != NULL && walk.under_way != NULL)
        walk_from_all(&walk);
    free(walk.seen);
    free(walk.under_way);
    free(walk.visit);
    *open = walk.open;
    return walk.best;
}

/* Whoever takes the chain frees its places; it has none if it would say nothing. */
struct chain find_chain(struct engine *engine)
{
    bool open;
    struct chain must = find_best(engine, false, &open), may;

    if (engine->status == OUT_OF_CYCLES && must.rank == MAYBE)
        must.length = 0;
    if (must.rank == CIRCLE || !open || engine->status == OUT_OF_CYCLES)
        return must;
    may = find_best(engine, true, &open);
    if (may.rank == CIRCLE || must.rank <= GOES_ON) {
        free(must.place);
        return may;
    }
    free(may.place);
    return must;
}
