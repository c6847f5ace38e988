/* The clock of the simulated machine, and one run of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

float fabric_f32(uint16_t bits)
{
    return f32((float16){ bits });
}

uint16_t fabric_f16(float value)
{
    return f16(value).bits;
}

/* Only the first failure is kept; of a task that fails nothing more runs. */
void fail(struct engine *engine, const char *format, ...)
{
    va_list arguments;

    if (engine->status != COMPLETE)
        return;
    engine->status = FAILED;
    va_start(arguments, format);
    vsnprintf(engine->outcome->report, REPORT_SIZE, format, arguments);
    va_end(arguments);
    leave_task(engine);
}

/* Room for one more item than `space`; the items stay where they are if there is none. */
void *grow(struct engine *engine, void *items, int32_t *space, size_t size)
{
    const int32_t wanted = *space > 0 ? 2 * *space : 1;
    void *grown;

    hold();
    grown = realloc(items, (size_t)wanted * size);
    let_go();

    if (grown == NULL) {
        fail(engine, "out of memory after %d items of %zu bytes", *space, size);
        return items;
    }
    *space = wanted;
    return grown;
}

/* ---- The clock ------------------------------------------------------------------------------- */

/* Ask again when the cycle is near, or at least nearer. */
static void put_off(struct engine *engine, struct put_off item)
{
    const int64_t period = engine->now / HORIZON, wanted = item.cycle / HORIZON;
    struct put_off_list *list =
        &engine->clock.later[(wanted < period + PERIODS ? wanted : period + PERIODS - 1) % PERIODS];

    if (list->count == list->space)
        list->item = grow(engine, list->item, &list->space, sizeof *list->item);
    if (list->count == list->space)
        return;
    list->item[list->count] = item;
    list->count += 1;
    engine->clock.waiting += 1;
}

/* Look at the actor in that cycle. */
void wake(struct engine *engine, enum actor actor, int32_t id, int64_t cycle)
{
    const struct agenda *agenda = &engine->clock.agenda[actor];
    const int64_t slot = cycle % HORIZON, word = id / 64;
    uint64_t *due = &agenda->due[slot * agenda->words + word];
    const uint64_t bit = (uint64_t)1 << id % 64;

    if (cycle - engine->now >= HORIZON) {
        put_off(engine, (struct put_off){ (int32_t)(cycle < LAST_CYCLE ? cycle : LAST_CYCLE), id,
                                          actor });
    } else if (!(*due & bit)) {
        *due |= bit;
        agenda->some[slot * agenda->summaries + word / 64] |= (uint64_t)1 << word % 64;
        engine->clock.waiting += 1;
    }
}

/* What was put off until the period that begins. */
static void ask_again(struct engine *engine)
{
    struct put_off_list *list = &engine->clock.later[engine->now / HORIZON % PERIODS];
    const struct put_off_list items = *list;

    *list = (struct put_off_list){ NULL, 0, 0 };
    for (int32_t i = 0; i < items.count; i += 1)
        wake(engine, items.item[i].actor, items.item[i].id, items.item[i].cycle);
    engine->clock.waiting -= items.count;
    free(items.item);
}

enum { TOGETHER = 16 };                        /* actors at least whose memory is fetched at once */

typedef void visit(struct engine *engine, int32_t id);

/* How an actor is looked at. The first two let the processor fetch: what lies in tables by the number
 * of the actor, then what these point to. */
struct looks {
    visit *reach, *fetch, *step;
};

static void visit_all(struct engine *engine, visit *visited, int64_t word, uint64_t ids)
{
    for (; ids != 0; ids &= ids - 1)
        visited(engine, (int32_t)(64 * word + __builtin_ctzll(ids)));
}

static void fetch_all(struct engine *engine, visit *fetch, const uint64_t *due, int64_t first,
                      uint64_t words)
{
    for (; words != 0; words &= words - 1)
        visit_all(engine, fetch, first + __builtin_ctzll(words), due[__builtin_ctzll(words)]);
}

/* Those of the words, from the first one on, with as many actors as are fetched together. */
static uint64_t find_together(const uint64_t *due, uint64_t words)
{
    uint64_t rest = words;

    for (int actors = 0; rest != 0 && actors < TOGETHER; rest &= rest - 1)
        actors += __builtin_popcountll(due[__builtin_ctzll(rest)]);
    return words & ~rest;
}

/* Look at all that are due in an order of which `visits` is the seed, to see that it does not matter. */
static void look_in_disorder(struct engine *engine, enum actor actor, visit *step)
{
    const struct agenda *agenda = &engine->clock.agenda[actor];
    uint64_t *due = &agenda->due[engine->now % HORIZON * agenda->words];
    uint64_t random = engine->layout->visits + (uint64_t)engine->now * ACTORS + actor;
    int32_t *ids = zeros(engine, 64 * agenda->words, sizeof *ids), count = 0;

    memset(&agenda->some[engine->now % HORIZON * agenda->summaries], 0,
           (size_t)agenda->summaries * sizeof *agenda->some);
    for (int64_t word = 0; ids != NULL && word < agenda->words; word += 1)
        for (uint64_t left = due[word]; left != 0; left &= left - 1)
            ids[count++] = (int32_t)(64 * word + __builtin_ctzll(left));
    for (int32_t left = count; left > 0; left -= 1) {
        random = (random ^ random >> 29) * 0x9e3779b97f4a7c15u + 1;
        const int32_t next = (int32_t)(random >> 33) % left, id = ids[next];

        ids[next] = ids[left - 1];
        step(engine, id);
    }
    memset(due, 0, (size_t)agenda->words * sizeof *due);
    engine->clock.waiting -= count;
    free(ids);
}

/* Look at all that are due, in their order. One that asks for the cycle that it is looked at in is
 * not looked at again. */
static void look_at(struct engine *engine, enum actor actor, struct looks looks)
{
    const struct agenda *agenda = &engine->clock.agenda[actor];
    uint64_t *all = &agenda->due[engine->now % HORIZON * agenda->words];
    uint64_t *some = &agenda->some[engine->now % HORIZON * agenda->summaries];

    if (engine->layout->visits > 0) {
        look_in_disorder(engine, actor, looks.step);
        return;
    }
    for (int64_t k = 0; k < agenda->summaries; k += 1) {
        uint64_t *due = all + 64 * k, fetched = 0;

        for (uint64_t words = some[k]; words != 0; words &= words - 1) {
            const int word = __builtin_ctzll(words);

            if (!(fetched >> word & 1)) {
                fetched = find_together(due, words);
                fetch_all(engine, looks.reach, due, 64 * k, fetched);
                fetch_all(engine, looks.fetch, due, 64 * k, fetched);
            }
            visit_all(engine, looks.step, 64 * k + word, due[word]);
            engine->clock.waiting -= __builtin_popcountll(due[word]);
            due[word] = 0;
        }
        some[k] = 0;
    }
}

static void fetch_nothing(struct engine *engine, int32_t id)
{
    (void)engine;
    (void)id;
}

static void run_clock(struct engine *engine)
{
    const int64_t limit = engine->layout->cycle_limit < LAST_CYCLE - 1
                        ? engine->layout->cycle_limit : LAST_CYCLE - 1;

    while (engine->clock.waiting > 0 && engine->status == COMPLETE) {
        if (engine->now >= limit) {
            engine->status = OUT_OF_CYCLES;
            return;
        }
        if (engine->now % HORIZON == 0)
            ask_again(engine);
        if (engine->now == engine->binning->next)
            end_bin(engine);
        look_at(engine, SOURCES, (struct looks){ fetch_nothing, fetch_nothing, step_source });
        look_at(engine, NODES, (struct looks){ reach_node, fetch_node, step_node });
        look_at(engine, ROUTERS, (struct looks){ reach_router, fetch_router, step_router });
        record_cycle(engine);
        engine->now += 1;
        engine->outcome->now = engine->now;
    }
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void run_mains(struct engine *engine)
{
    engine->running_mains = true;
    for (int32_t i = 0; i < engine->size && engine->status == COMPLETE; i += 1)
        if (engine->node[i].role >= 0)
            run_main(&engine->node[i]);
    engine->running_mains = false;
    for (int32_t i = 0; i < engine->sources; i += 1)
        wake(engine, SOURCES, i, 0);
}

static void run_all(struct engine *engine)
{
    run_mains(engine);
    run_clock(engine);
}

/* What the driver takes for the size of its own structure. */
const size_t fabric_layout_size = sizeof(struct layout);

/* Run the layout from cycle 0 on, until nothing moves any more.
 *
 * Complete means: every PE with a program completed all its invocations, every outlet has all its
 * elements, and nothing is left that is under way, or waits. Returns a status; unless COMPLETE, the
 * outcome's report says why. */
int fabric_run(const struct layout *layout, struct outcome *outcome)
{
    struct engine engine = { .layout = layout, .outcome = outcome };

    memset(outcome, 0, sizeof *outcome);
    if (build(&engine))
        run_guarded(&engine, run_all);
    if (engine.status == OUT_OF_CYCLES && is_done(&engine) && !leaves_something(&engine))
        engine.status = COMPLETE;
    if (engine.status == OUT_OF_CYCLES
        || (engine.status == COMPLETE && (!is_done(&engine) || leaves_something(&engine))))
        report_stuck(&engine);
    if (layout->outlets == 0)
        outcome->cycles = engine.last_done;
    if (engine.damaged) {                      /* what it noted may be anything */
        engine.binning = NULL;
        engine.recorder = NULL;
    }
    if (engine.binning != NULL)
        tell_usage(&engine);
    if (engine.recorder != NULL)
        tell_record(&engine);
    if (!engine.damaged)                       /* else what is released may be anything */
        release(&engine);
    return engine.status;
}
