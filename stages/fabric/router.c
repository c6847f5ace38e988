/* Routers, links and external ports: how wavelets move. */
#include "engine.h"

/* ---- Queues ---------------------------------------------------------------------------------- */

static uint64_t *busy_of(const struct router *router)
{
    return (uint64_t *)router->queues;
}

/* A parcel comes into a router that has space for it on this channel. */
void enter(struct engine *engine, int32_t node, int channel, struct parcel parcel)
{
    const struct router *router = &engine->router[node];
    const struct channel *into = &router->routing->channel[channel];

    push(queue_of(router, into), into->capacity, parcel);
    link_of(engine, node, into->side)->wavelets += 1;
    if (into->side == RAMP && queue_of(router, into)->count == into->capacity)
        engine->node[node].full |= 1u << into->colour;
    busy_of(router)[channel / 64] |= (uint64_t)1 << channel % 64;
}

/* The first channel from one on that has a wavelet; `end` if none before that has. */
static int32_t find_busy(const struct router *router, int32_t from, int32_t end)
{
    while (from < end) {
        const uint64_t rest = busy_of(router)[from / 64] >> from % 64;

        if (rest != 0) {
            from += __builtin_ctzll(rest);
            break;
        }
        from += 64 - from % 64;
    }
    return from < end ? from : end;
}

/* The channel has space from the next cycle on: tell who fills it. */
static void wake_upstream(struct engine *engine, int32_t node, int side, int colour)
{
    const int64_t next = engine->now + 1;

    if (side == RAMP) {
        engine->node[node].full &= ~(1u << colour);
        wake(engine, NODES, node, next);
    } else if (!is_outside(engine, node, side)) {
        wake(engine, ROUTERS, node + engine->step[side], next);
    } else {
        wake(engine, SOURCES, engine->source_of[number_border(engine, node, side)], next);
    }
}

/* ---- External ports -------------------------------------------------------------------------- */

static bool inject(struct engine *engine, int32_t i)
{
    const struct inlet *inlet = &engine->layout->inlet[i];
    const int64_t sent = engine->inlet_count[i];
    const int64_t item = inlet->first + sent % (inlet->count > 0 ? inlet->count : 1);
    const int64_t ready = engine->now + latency(&engine->layout->machine, inlet->side);
    const int channel = channel_of(engine, inlet->node, inlet->side, inlet->colour);
    struct parcel parcel;

    if (sent == inlet->total || !channel_has_space(engine, inlet->node, channel))
        return false;
    parcel = parcel_of(ready, engine->layout->sent[item], engine->layout->sent_control[item]);
    record_injected(engine, i, &parcel);
    enter(engine, inlet->node, channel, parcel);
    wake(engine, ROUTERS, inlet->node, ready);
    engine->inlet_count[i] += 1;
    engine->outcome->injected += 1;
    engine->outcome->entered += 1;
    engine->outcome->hops += 1;
    return true;
}

/* The number of the link between a router and the outside. */
int32_t number_border(const struct engine *engine, int32_t node, int side)
{
    const int32_t width = engine->layout->width, height = engine->layout->height;

    switch (side) {
    case NORTH: return node;
    case SOUTH: return width + node % width;
    case EAST: return 2 * width + node / width;
    default: return 2 * width + height + node / width;
    }
}

/* One wavelet of one of the colours on this external link, in turn. */
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

/* Of what an outlet takes, as many elements, or ends of sequences, are of each invocation. */
static void note_completed(struct engine *engine, const struct outlet *outlet, int64_t got)
{
    const int64_t all = outlet->ends > 0 ? outlet->ends : outlet->count;

    engine->layout->completed[got * engine->layout->invocations / all] = engine->outcome->cycles;
}

static void deliver_outside(struct engine *engine, int32_t i, int colour, struct parcel parcel)
{
    const struct outlet *outlet = &engine->layout->outlet[i];
    const int64_t got = engine->outlet_count[i];
    const bool sparse = outlet->ends > 0;

    if (parcel.control && !sparse)
        return;
    if (got == outlet->count || (sparse && engine->outlet_ends[i] == outlet->ends)) {
        fail(engine, "more than %lld %s left to the external PE beside PE[%d, %d]",
             (long long)got, sparse ? "elements and ends of sequences" : "elements",
             x_of(&engine->node[outlet->node]), y_of(&engine->node[outlet->node]));
        return;
    }
    engine->layout->received[outlet->first + got] = parcel.bits;
    engine->layout->received_kind[outlet->first + got] = parcel.control ? END : ELEMENT;
    engine->outlet_count[i] += 1;
    engine->outlet_ends[i] += parcel.control;
    engine->expected -= !sparse || parcel.control;
    engine->outcome->delivered += 1;
    engine->outcome->cycles = engine->now + latency(&engine->layout->machine, outlet->side);
    record_delivered(engine, outlet->node, colour, &parcel);
    note_completed(engine, outlet, sparse ? engine->outlet_ends[i] - parcel.control : got);
}

/* ---- Routers --------------------------------------------------------------------------------- */

static void hand_down(struct engine *engine, int32_t node, int colour, struct parcel parcel)
{
    struct node *to = &engine->node[node];
    const int64_t ready = engine->now + latency(&engine->layout->machine, RAMP) + 1;
    int32_t capacity;
    struct queue *entrance = entrance_of(to, colour, &capacity);

    push(entrance, capacity, moved_on(parcel, ready));
    record_queue(to, colour, entrance->count);
    to->arrived |= (1u << colour) & ~to->filled;
    to->received += 1;
    wake(engine, NODES, node, ready);
    engine->outcome->delivered += 1;
}

static void hand_over(struct engine *engine, int32_t node, int colour, int side,
                      struct parcel parcel)
{
    const int64_t ready = engine->now + latency(&engine->layout->machine, side);
    int32_t next;

    if (side == RAMP) {
        hand_down(engine, node, colour, parcel);
        return;
    }
    engine->outcome->hops += 1;
    if (is_outside(engine, node, side)) {
        deliver_outside(engine, engine->outlet_of[number_border(engine, node, side)
                                                  * engine->layout->colours + colour], colour,
                        parcel);
        return;
    }
    next = node + engine->step[side];
    enter(engine, next, channel_of(engine, next, (side + 2) % 4, colour),
          moved_on(parcel, ready));
    wake(engine, ROUTERS, next, ready);
}

/* Whether the head can go to all the sides that it has to: no link is `used` up in this cycle, and
 * every queue has space. */
static bool can_go(const struct engine *engine, int32_t node, int colour, unsigned wanted,
                   unsigned used)
{
    if (wanted & used)
        return false;
    for (; wanted != 0; wanted &= wanted - 1)
        if (!accepts(engine, node, colour, __builtin_ctz(wanted)))
            return false;
    return true;
}

static void leave(struct engine *engine, int32_t node, int number)
{
    const int64_t now = engine->now;
    const struct router *router = &engine->router[node];
    const struct channel *channel = &router->routing->channel[number];
    struct queue *queue = queue_of(router, channel);
    const int32_t since = queue->since;
    const bool full = queue->count == channel->capacity;
    const struct parcel left = pop(queue, channel->capacity, now);
    const int64_t waited = now - ((int32_t)left.ready > since ? (int32_t)left.ready : since);

    if (waited > 0) {
        engine->outcome->stalls += waited;
        link_of(engine, node, channel->side)->stalls += (int32_t)waited;
    }
    if (full)
        wake_upstream(engine, node, channel->side, channel->colour);
    if (queue->count > 0) {
        const int64_t next = queue->parcels[queue->head].ready;

        wake(engine, ROUTERS, node, next > now ? next : now + 1);
    } else {
        busy_of(router)[number / 64] &= ~((uint64_t)1 << number % 64);
    }
}

static unsigned current_sides(const struct engine *engine, int32_t node,
                              const struct channel *channel)
{
    uint8_t switched;

    if (channel->positions == 1 && !engine->torn_down)
        return channel->out[0];
    switched = *switch_of(engine, node, channel->colour);
    return is_down(switched) ? 0 : channel->out[position_of(switched)];
}

/* The links of a router that are used up in this cycle, and what the others still carry. */
struct links {
    unsigned used;
    int32_t left[SIDES];
};

static void cross(struct engine *engine, int32_t node, int colour, int side, struct parcel parcel,
                  struct links *links)
{
    hand_over(engine, node, colour, side, parcel);
    links->left[side] -= 1;
    if (links->left[side] <= 0)
        links->used |= 1u << side;
}

static void note(const struct engine *engine, int32_t node, int colour)
{
    const int32_t i = engine->layout->probe_of[(int64_t)colour * engine->size + node];

    if (i < 0)
        return;
    if (engine->layout->probe[i].count == 0)
        engine->layout->probe[i].first = engine->now;
    engine->layout->probe[i].last = engine->now;
    engine->layout->probe[i].count += 1;
}

/* Serve one channel. */
static bool serve(struct engine *engine, int32_t node, int number, struct links *links)
{
    const struct router *router = &engine->router[node];
    const struct channel *channel = &router->routing->channel[number];
    const int colour = channel->colour;
    struct queue *queue = queue_of(router, channel);
    struct parcel *head = &queue->parcels[queue->head];
    unsigned wanted = current_sides(engine, node, channel);

    if (wanted == 0 || first_ready(queue, engine->now) == NULL)
        return false;
    if (wanted >> RAMP & 1 && !goes_down(engine, node, colour, head))
        wanted &= ~(1u << RAMP);
    if (!can_go(engine, node, colour, wanted, links->used)) {
        /* Of a link nobody says that it is free again; of a full queue, whoever takes from it. */
        if (wanted & links->used)
            wake(engine, ROUTERS, node, engine->now + 1);
        return false;
    }
    if (engine->layout->probe_of != NULL)
        note(engine, node, colour);
    record_wait(head, engine->now);
    if (head->control)
        obey(engine, node, colour, head);
    for (; wanted != 0; wanted &= wanted - 1)
        cross(engine, node, colour, __builtin_ctz(wanted), *head, links);
    leave(engine, node, number);
    return true;
}

static void fetch_queues(const struct router *router)
{
    for (int32_t at = 0; at < router->routing->intakes_at; at += 64)
        __builtin_prefetch(router->queues + at, 1);
}

/* Let the processor fetch the router, that to the south, and what is noted of their links: in rows
 * from the north it is far away, others were, or will be, looked at with this one, */
void reach_router(struct engine *engine, int32_t id)
{
    const int32_t below = id + engine->step[SOUTH], south = below < engine->size ? below : id;

    __builtin_prefetch(&engine->router[id], 1);
    __builtin_prefetch(&engine->router[south]);
    __builtin_prefetch(link_of(engine, id, NORTH), 1);
    __builtin_prefetch(link_of(engine, id, RAMP), 1);
    __builtin_prefetch(link_of(engine, south, NORTH), 1);
}

/* and what else `step_router` needs. */
void fetch_router(struct engine *engine, int32_t id)
{
    fetch_queues(&engine->router[id]);
    if (!is_outside(engine, id, SOUTH))
        fetch_queues(&engine->router[id + engine->step[SOUTH]]);
}

/* Every channel in turn, beginning after the one that was first served last time.
 *
 * The order within a cycle, as invariants that every phase keeps; docs/machines.md has them, too:
 * 1. First all ports inject, then all PEs step, then all routers: each that is due, once.
 * 2. A PE moves elements of its streams, by which colours are restarted, too, then starts a task.
 * 3. Ports and PEs write to their own router only. What they do to its queues and switches it sees
 *    in the same cycle: a parcel without latency, and a colour that is restarted.
 * 4. A router writes to its neighbours and to its PE. Nobody reads that in the same cycle: a parcel
 *    is `ready` a hop later at least, and PEs step before routers.
 * 5. Space that a queue gains counts from the next cycle on, for whoever fills the queue: `since`.
 * 6. Of a router's channels those behind in turn see in the same cycle how one turned their switch.
 * 7. Whoever changes what another one waits for wakes it for the first cycle in which it can see
 *    the change. A visit in vain changes nothing.
 * So nobody sees what another one of its phase does in that cycle: no order of visits matters. */
void step_router(struct engine *engine, int32_t id)
{
    struct router *router = &engine->router[id];
    const int32_t count = router->routing->channels, turn = router->turn;
    const int32_t each = wavelets_at_once(&engine->layout->machine);
    struct links links = { 0, { each, each, each, each, each } };
    int32_t first = -1;

    if (!is_free(engine)) {
        wake(engine, ROUTERS, id, engine->now + 1);
        return;
    }
    for (int32_t i = find_busy(router, turn, count); i < count;
         i = find_busy(router, i + 1, count))
        if (serve(engine, id, i, &links) && first < 0)
            first = i;
    for (int32_t i = find_busy(router, 0, turn); i < turn; i = find_busy(router, i + 1, turn))
        if (serve(engine, id, i, &links) && first < 0)
            first = i;
    if (first >= 0)
        router->turn = first + 1 < count ? first + 1 : 0;
}
