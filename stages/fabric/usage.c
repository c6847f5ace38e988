/* What PEs and links were used for: cycles of each PE by its state, and of all of them over time. */
#include "engine.h"

struct binning *make_binning(struct engine *engine)
{
    struct binning *binning = zeros(engine, 1, sizeof *binning);

    engine->layout->bins->width = 1;
    if (binning != NULL)
        binning->next = 1;
    return binning;
}

/* ---- Over time ------------------------------------------------------------------------------- */

/* From a cycle on, one PE more, or less, is in the state. */
static void step_at(const struct engine *engine, enum state state, int64_t cycle, int sign)
{
    struct bins *bins = engine->layout->bins;
    const int shift = engine->binning->shift;
    const int64_t bin = cycle >> shift;

    bins->cycles[state][bin] += sign * (((bin + 1) << shift) - cycle);
    engine->binning->step[state][bin + 1] += sign;
}

/* Two bins become one: a step between them is half of it in the new bin, and whole from the next. */
static void widen_state(struct bins *bins, enum state state, int32_t step[BINS + 1])
{
    int64_t *part = bins->cycles[state];

    for (int i = 0; i < BINS / 2; i += 1) {
        part[i] = part[2 * i] + part[2 * i + 1] + step[2 * i + 1] * bins->width;
        step[i] = step[2 * i] + (i > 0 ? step[2 * i - 1] : 0);
    }
    step[BINS / 2] = step[BINS] + step[BINS - 1];
    memset(part + BINS / 2, 0, BINS / 2 * sizeof *part);
    memset(step + BINS / 2 + 1, 0, BINS / 2 * sizeof *step);
}

static void widen(const struct engine *engine)
{
    struct bins *bins = engine->layout->bins;

    for (int state = IDLE + 1; state < STATES; state += 1)
        widen_state(bins, state, engine->binning->step[state]);
    for (int i = 0; i < BINS / 2; i += 1)
        bins->hops[i] = bins->hops[2 * i] + bins->hops[2 * i + 1];
    memset(bins->hops + BINS / 2, 0, BINS / 2 * sizeof *bins->hops);
    bins->width *= 2;
    engine->binning->shift += 1;
}

/* A cycle begins which is the first one of a bin. */
void end_bin(struct engine *engine)
{
    struct bins *bins = engine->layout->bins;
    struct binning *binning = engine->binning;

    bins->hops[(binning->next - 1) / bins->width] += engine->outcome->hops - binning->hops;
    binning->hops = engine->outcome->hops;
    if (binning->next / bins->width == BINS)
        widen(engine);
    binning->next += bins->width;
}

/* ---- By PE ----------------------------------------------------------------------------------- */

static void add_up(struct node *node, int64_t until)
{
    const struct engine *engine = node->engine;
    struct activity *activity = &engine->layout->activity[node->id];

    record_state(node, until);
    if (node->state == IDLE)
        return;
    activity->cycles[node->state - 1] += (int32_t)(until - node->since);
    step_at(engine, node->state, node->since, 1);
    step_at(engine, node->state, until, -1);
    if (node->state == BUSY || node->state == MOVING)
        activity->last = (int32_t)until;
}

/* From this cycle on the PE is in another state. */
void change_state(struct node *node, enum state state)
{
    struct activity *activity = &node->engine->layout->activity[node->id];

    add_up(node, node->engine->now);
    node->since = (int32_t)node->engine->now;
    node->state = (uint8_t)state;
    if (activity->first < 0 && (state == BUSY || state == MOVING))
        activity->first = node->since;
}

static void tell_node(struct engine *engine, int32_t id)
{
    struct node *node = &engine->node[id];
    struct activity *activity = &engine->layout->activity[id];

    add_up(node, engine->outcome->until);
    activity->received = node->received;
}

static void add_steps(const int32_t step[BINS + 1], int64_t width, int64_t cycles[BINS])
{
    int64_t pes = 0;

    for (int i = 0; i < BINS; i += 1) {
        pes += step[i];
        cycles[i] += pes * width;
    }
}

/* The run is over. */
void tell_usage(struct engine *engine)
{
    struct outcome *outcome = engine->outcome;
    struct bins *bins = engine->layout->bins;

    outcome->until = engine->now > outcome->cycles ? engine->now : outcome->cycles;
    while (engine->binning->next <= outcome->until)
        end_bin(engine);
    bins->hops[(engine->binning->next - 1) / bins->width] += outcome->hops - engine->binning->hops;
    for (int32_t id = 0; id < engine->size; id += 1)
        tell_node(engine, id);
    for (int state = IDLE + 1; state < STATES; state += 1)
        add_steps(engine->binning->step[state], bins->width, bins->cycles[state]);
}
