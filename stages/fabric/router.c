/* Routers, links and external ports: how wavelets move. */
#include "engine.h"

/* ---- Waking ---------------------------------------------------------------------------------- */

int32_t neighbour(const struct engine *engine, int32_t node, int side)
{
    const int32_t width = engine->layout->width;

    switch (side) {
    case NORTH: return node - width;
    case SOUTH: return node + width;
    case EAST: return node + 1;
    default: return node - 1;
    }
}

bool is_outside(const struct engine *engine, int32_t node, int side)
{
    const int32_t width = engine->layout->width, height = engine->layout->height;

    switch (side) {
    case NORTH: return node < width;
    case SOUTH: return node / width == height - 1;
    case EAST: return node % width == width - 1;
    default: return node % width == 0;
    }
}

/* The channel has space from the next cycle on: tell who fills it. */
void wake_upstream(struct engine *engine, const struct channel *channel)
{
    const int64_t next = engine->now + 1;

    if (channel->side == RAMP)
        wake(engine, NODES, channel->node, next);
    else if (!is_outside(engine, channel->node, channel->side))
        wake(engine, ROUTERS, neighbour(engine, channel->node, channel->side), next);
    else
        wake(engine, SOURCES, channel->source, next);
}

/* ---- External ports -------------------------------------------------------------------------- */

static bool inject(struct engine *engine, int32_t i)
{
    const struct inlet *inlet = &engine->layout->inlet[i];
    const int64_t sent = engine->inlet_count[i];
    const int64_t item = inlet->first + sent % (inlet->count > 0 ? inlet->count : 1);
    const int64_t ready = engine->now + latency(&engine->layout->machine, inlet->side);
    struct channel *channel =
        &engine->channel[engine->channel_of[slot_of(engine, inlet->node, inlet->side,
                                                    inlet->colour)]];

    if (sent == inlet->total || !has_space(&channel->queue, engine->now))
        return false;
    push(&channel->queue, (struct parcel){ ready, engine->layout->sent[item],
                                           engine->layout->sent_control[item] });
    wake(engine, ROUTERS, inlet->node, ready);
    engine->inlet_count[i] += 1;
    engine->outcome->injected += 1;
    engine->outcome->entered += 1;
    engine->outcome->hops += 1;
    return true;
}

/* One wavelet of one of the colours on this external link, in turn; or of as many as it carries. */
void step_source(struct engine *engine, int32_t id)
{
    struct source *source = &engine->source[id];
    const int32_t last = source->last;
    int32_t left = wavelets_at_once(&engine->layout->machine);

    if (!is_free(engine)) {
        wake(engine, SOURCES, id, engine->now + 1);
        return;
    }
    for (int32_t k = 1; k <= source->inlets && left > 0; k += 1) {
        const int32_t turn = (last + k) % source->inlets;

        if (inject(engine, source->first + turn)) {
            source->last = turn;
            left -= 1;
            wake(engine, SOURCES, id, engine->now + 1);
        }
    }
}

static void deliver_outside(struct engine *engine, int32_t i, struct parcel parcel)
{
    const struct outlet *outlet = &engine->layout->outlet[i];
    const int64_t got = engine->outlet_count[i];
    const bool sparse = outlet->ends > 0;

    if (parcel.control && !sparse)
        return;
    if (got == outlet->count || (sparse && engine->outlet_ends[i] == outlet->ends)) {
        fail(engine, "more than %lld %s left to the external PE beside PE[%d, %d]",
             (long long)got, sparse ? "elements and ends of sequences" : "elements",
             engine->node[outlet->node].pe.x, engine->node[outlet->node].pe.y);
        return;
    }
    engine->layout->received[outlet->first + got] = parcel.bits;
    engine->layout->received_kind[outlet->first + got] = parcel.control ? END : ELEMENT;
    engine->outlet_count[i] += 1;
    engine->outlet_ends[i] += parcel.control;
    engine->expected -= !sparse || parcel.control;
    engine->outcome->delivered += 1;
    engine->outcome->cycles = engine->now + latency(&engine->layout->machine, outlet->side);
}

/* ---- Routers --------------------------------------------------------------------------------- */

/* What a router fills: the queue of an intake, or what is before a FIFO. */
static struct queue *entrance_of(const struct engine *engine, const struct channel *channel)
{
    struct intake *intake = &engine->node[channel->node].intake[channel->colour];

    return intake->entrance != NULL ? intake->entrance : &intake->queue;
}

static bool accepts(const struct engine *engine, const struct channel *channel, int side)
{
    if (side == RAMP)
        return has_space(entrance_of(engine, channel), engine->now);
    return channel->target[side] < 0
        || has_space(&engine->channel[channel->target[side]].queue, engine->now);
}

static void hand_over(struct engine *engine, const struct channel *channel, int side)
{
    struct parcel parcel = channel->queue.parcels[channel->queue.head];
    const struct machine *machine = &engine->layout->machine;
    const int32_t target = side == RAMP ? 0 : channel->target[side];

    parcel.ready = engine->now + latency(machine, side);
    if (side == RAMP) {
        parcel.ready += 1;
        push(entrance_of(engine, channel), parcel);
        wake(engine, NODES, channel->node, parcel.ready);
        engine->outcome->delivered += 1;
        return;
    }
    engine->outcome->hops += 1;
    if (target < 0) {
        deliver_outside(engine, ~target, parcel);
        return;
    }
    push(&engine->channel[target].queue, parcel);
    wake(engine, ROUTERS, engine->channel[target].node, parcel.ready);
}

/* Whether the head can go to all the sides that it has to: no link is `used` up in this cycle, and
 * every queue has space. */
static bool can_go(const struct engine *engine, const struct channel *channel, unsigned wanted,
                   unsigned used)
{
    for (int side = 0; side < SIDES; side += 1)
        if (wanted >> side & 1 && (used >> side & 1 || !accepts(engine, channel, side)))
            return false;
    return true;
}

static void leave(struct engine *engine, struct channel *channel)
{
    const int64_t now = engine->now;
    const bool full = channel->queue.count == channel->queue.capacity;
    const int64_t ready = channel->queue.parcels[channel->queue.head].ready;

    pop(&channel->queue, now);
    engine->outcome->stalls += now - (ready > channel->since ? ready : channel->since);
    channel->since = now + 1;
    if (full)
        wake_upstream(engine, channel);
    if (channel->queue.count > 0) {
        const int64_t next = channel->queue.parcels[channel->queue.head].ready;

        wake(engine, ROUTERS, channel->node, next > now ? next : now + 1);
    }
}

static unsigned current_sides(const struct engine *engine, const struct channel *channel)
{
    const uint8_t switched = *switch_of(engine, channel->node, channel->colour);

    return is_down(switched) ? 0 : channel->out[position_of(switched)];
}

/* The sides that the head has to go to; its own PE is none if the filter drops the element, or if
 * it is quiet. */
static unsigned sides_to_go(const struct engine *engine, const struct channel *channel)
{
    const struct layout *layout = engine->layout;
    const struct parcel *head = &channel->queue.parcels[channel->queue.head];
    const struct filter *filter =
        &layout->filter[channel->colour * layout->width * layout->height + channel->node];
    const int32_t index = (int32_t)(head->bits >> 16);
    const unsigned out = current_sides(engine, channel);

    if (head->control & CONTROL ? head->bits & QUIET
                                : index < filter->least || index > filter->greatest)
        return out & ~(1u << RAMP);
    return out;
}

/* The links of a router that are used up in this cycle, and what the others still carry. */
struct links {
    unsigned used;
    int32_t left[SIDES];
};

static void cross(struct engine *engine, const struct channel *channel, int side,
                  struct links *links)
{
    hand_over(engine, channel, side);
    links->left[side] -= 1;
    if (links->left[side] <= 0)
        links->used |= 1u << side;
}

static void note(const struct engine *engine, const struct channel *channel)
{
    const int32_t i = engine->layout->probe_of[(int64_t)channel->colour * engine->size
                                               + channel->node];

    if (i < 0)
        return;
    if (engine->layout->probe[i].count == 0)
        engine->layout->probe[i].first = engine->now;
    engine->layout->probe[i].last = engine->now;
    engine->layout->probe[i].count += 1;
}

/* Serve one channel. */
static bool serve(struct engine *engine, struct channel *channel, struct links *links)
{
    struct parcel *head = &channel->queue.parcels[channel->queue.head];
    unsigned wanted;

    if (first_ready(&channel->queue, engine->now) == NULL || current_sides(engine, channel) == 0)
        return false;
    wanted = sides_to_go(engine, channel);
    if (!can_go(engine, channel, wanted, links->used)) {
        if (wanted & links->used)
            wake(engine, ROUTERS, channel->node, engine->now + 1);
        return false;
    }
    if (engine->layout->probe_of != NULL)
        note(engine, channel);
    if (head->control)
        obey(engine, channel, head);
    for (int side = 0; side < SIDES; side += 1)
        if (wanted >> side & 1)
            cross(engine, channel, side, links);
    leave(engine, channel);
    return true;
}

/* Every channel in turn, beginning after the one that was first served last time. */
void step_router(struct engine *engine, int32_t id)
{
    const int32_t first = engine->first_channel[id];
    const int32_t count = engine->first_channel[id + 1] - first, turn = engine->turn[id];
    const int32_t each = wavelets_at_once(&engine->layout->machine);
    struct links links = { 0, { each, each, each, each, each } };
    bool served = false;

    if (!is_free(engine)) {
        wake(engine, ROUTERS, id, engine->now + 1);
        return;
    }
    for (int32_t k = 0; k < count; k += 1) {
        const int32_t i = (turn + k) % count;

        if (serve(engine, &engine->channel[first + i], &links) && !served) {
            engine->turn[id] = (i + 1) % count;
            served = true;
        }
    }
}
