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

/* Only the first failure is kept. */
void fail(struct engine *engine, const char *format, ...)
{
    va_list arguments;

    if (engine->status != COMPLETE)
        return;
    engine->status = FAILED;
    va_start(arguments, format);
    vsnprintf(engine->outcome->report, REPORT_SIZE, format, arguments);
    va_end(arguments);
}

/* Room for one more item than `space`; the items stay where they are if there is none. */
void *grow(struct engine *engine, void *items, int32_t *space, size_t size)
{
    const int32_t wanted = *space > 0 ? 2 * *space : 4;
    void *grown = realloc(items, (size_t)wanted * size);

    if (grown == NULL) {
        fail(engine, "out of memory after %d items of %zu bytes", *space, size);
        return items;
    }
    *space = wanted;
    return grown;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

void push(struct queue *queue, struct parcel parcel)
{
    queue->parcels[(queue->head + queue->count) % queue->capacity] = parcel;
    queue->count += 1;
}

struct parcel pop(struct queue *queue, int64_t now)
{
    const struct parcel parcel = queue->parcels[queue->head];

    queue->head = (queue->head + 1) % queue->capacity;
    queue->count -= 1;
    queue->popped = now;
    return parcel;
}

/* ---- The clock ------------------------------------------------------------------------------- */

static void append(struct engine *engine, struct wake_list *list, int32_t id)
{
    if (list->count == list->space)
        list->id = grow(engine, list->id, &list->space, sizeof *list->id);
    if (list->count == list->space)
        return;
    list->id[list->count] = id;
    list->count += 1;
    engine->clock.waiting += 1;
}

/* Ask again at the horizon. */
static void put_off(struct engine *engine, struct put_off item)
{
    struct put_off_list *list = &engine->clock.later[(engine->now + HORIZON - 1) % HORIZON];

    if (list->count == list->space)
        list->item = grow(engine, list->item, &list->space, sizeof *list->item);
    if (list->count == list->space)
        return;
    list->item[list->count] = item;
    list->count += 1;
    engine->clock.waiting += 1;
}

static void ask(struct engine *engine, enum actor actor, int32_t id, int64_t cycle)
{
    if (cycle - engine->now < HORIZON)
        append(engine, &engine->clock.list[cycle % HORIZON][actor], id);
    else
        put_off(engine, (struct put_off){ cycle, actor, id });
}

/* Look at the actor in that cycle. */
void wake(struct engine *engine, enum actor actor, int32_t id, int64_t cycle)
{
    int64_t *asked = &engine->clock.asked[actor][id];

    if (*asked == cycle)
        return;
    *asked = cycle;
    ask(engine, actor, id, cycle);
}

static void ask_again(struct engine *engine, struct put_off_list *list)
{
    for (int32_t i = 0; i < list->count; i += 1)
        ask(engine, list->item[i].actor, list->item[i].id, list->item[i].cycle);
    engine->clock.waiting -= list->count;
    list->count = 0;
}

static void look_at(struct engine *engine, enum actor actor,
                    void (*step)(struct engine *engine, int32_t id))
{
    struct clock *clock = &engine->clock;
    struct wake_list *list = &clock->list[engine->now % HORIZON][actor];

    for (int32_t i = 0; i < list->count; i += 1) {
        const int32_t id = list->id[i];

        if (clock->looked_at[actor][id] == engine->now)
            continue;
        clock->looked_at[actor][id] = engine->now;
        step(engine, id);
    }
    clock->waiting -= list->count;
    list->count = 0;
}

static void run_clock(struct engine *engine)
{
    while (engine->clock.waiting > 0 && engine->status == COMPLETE) {
        struct put_off_list *later = &engine->clock.later[engine->now % HORIZON];

        if (engine->now >= engine->layout->cycle_limit) {
            engine->status = OUT_OF_CYCLES;
            return;
        }
        if (later->count > 0)
            ask_again(engine, later);
        look_at(engine, SOURCES, step_source);
        look_at(engine, NODES, step_node);
        look_at(engine, ROUTERS, step_router);
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

/* What the driver takes for the size of its own structure. */
const size_t fabric_layout_size = sizeof(struct layout);

/* Run the layout from cycle 0 on, until nothing moves any more.
 *
 * Complete means: every PE with a program completed all its invocations and every outlet has all
 * its elements. Returns a status; unless COMPLETE, the outcome's report says why. */
int fabric_run(const struct layout *layout, struct outcome *outcome)
{
    struct engine engine = { .layout = layout, .outcome = outcome };
    bool complete;

    memset(outcome, 0, sizeof *outcome);
    if (build(&engine)) {
        run_mains(&engine);
        run_clock(&engine);
    }
    complete = engine.running == 0 && engine.expected == 0;
    if (engine.status == OUT_OF_CYCLES && complete)
        engine.status = COMPLETE;
    else if (engine.status == OUT_OF_CYCLES || (engine.status == COMPLETE && !complete))
        report_stuck(&engine);
    if (layout->outlets == 0)
        outcome->cycles = engine.last_done;
    release(&engine);
    return engine.status;
}
