/* What comes into routers, and where it goes: once for all that have the same role and routes. */
#include <stdlib.h>

#include "engine.h"

/* The sides to go to in a position of a router's switch; none in those that it has not. */
static unsigned route(const struct engine *engine, int position, int colour, int side,
                      int32_t node)
{
    const struct layout *layout = engine->layout;
    const int64_t row = ((int64_t)position * layout->colours + colour) * SIDES + side;

    return position <= last_position(*switch_of(engine, node, colour))
        ? layout->routes[row * engine->size + node] : 0;
}

/* ---- Which are the same ---------------------------------------------------------------------- */

static int positions_of(const struct engine *engine)
{
    int last = 0;

    for (int32_t node = 0; node < engine->size; node += 1)
        for (int colour = 0; colour < engine->layout->colours; colour += 1)
            if (last_position(*switch_of(engine, node, colour)) > last)
                last = last_position(*switch_of(engine, node, colour));
    return last + 1;
}

/* A number for each node, the same for the same role and routes. */
static void make_keys(const struct engine *engine, int positions, uint64_t *key)
{
    const int rows = positions * engine->layout->colours * SIDES;

    for (int row = 0; row < rows; row += 1) {
        const int colour = row / SIDES % engine->layout->colours;
        const int position = row / SIDES / engine->layout->colours;

        for (int32_t node = 0; node < engine->size; node += 1) {
            key[node] ^= route(engine, position, colour, row % SIDES, node)
                       | (unsigned)last_position(*switch_of(engine, node, colour)) << SIDES;
            key[node] = (key[node] ^ key[node] >> 29) * 0x9e3779b97f4a7c15u;
        }
    }
    for (int32_t node = 0; node < engine->size; node += 1)
        key[node] = (key[node] ^ (uint32_t)engine->layout->role[node]) * 0x9e3779b97f4a7c15u;
}

static bool is_alike(const struct engine *engine, int positions, int32_t node, int32_t other)
{
    for (int colour = 0; colour < engine->layout->colours; colour += 1) {
        if (last_position(*switch_of(engine, node, colour))
            != last_position(*switch_of(engine, other, colour)))
            return false;
        for (int position = 0; position < positions; position += 1)
            for (int side = 0; side < SIDES; side += 1)
                if (route(engine, position, colour, side, node)
                    != route(engine, position, colour, side, other))
                    return false;
    }
    return engine->layout->role[node] == engine->layout->role[other];
}

/* ---- One routing ----------------------------------------------------------------------------- */

static struct channel channel_from(const struct engine *engine, int32_t node, int colour, int side)
{
    const int last = last_position(*switch_of(engine, node, colour));
    struct channel channel = {
        .colour = (uint8_t)colour, .side = (uint8_t)side, .positions = (uint8_t)(last + 1),
        .capacity = channel_capacity(engine, node, colour, side),
    };

    for (int position = 0; position <= last; position += 1) {
        channel.out[position] = (uint8_t)route(engine, position, colour, side, node);
        channel.sides |= channel.out[position];
    }
    return channel;
}

static int64_t queue_size(int32_t capacity)
{
    return (int64_t)(sizeof(struct queue) + (size_t)capacity * sizeof(struct parcel));
}

/* It has space for a pointer at least. */
static int64_t intake_size(int32_t capacity)
{
    return (int64_t)sizeof(struct intake) + queue_size(capacity > 1 ? capacity : 1)
         - (int64_t)sizeof(struct queue);
}

static int64_t aligned(int64_t size)
{
    return (size + 7) / 8 * 8;
}

/* Where the queues lie: a bit for each channel, then one behind the other. */
static void place(struct engine *engine, int32_t node, struct routing *routing)
{
    int64_t at = (routing->channels + 63) / 64 * 8;

    for (int i = 0; i < routing->channels; i += 1) {
        routing->channel[i].at = (int32_t)at;
        at += queue_size(routing->channel[i].capacity);
    }
    routing->intakes_at = (int32_t)aligned(at);
    at = aligned(at);
    for (int i = 0; i < routing->channels; i += 1) {
        const struct channel *channel = &routing->channel[i];

        if (!(channel->sides >> RAMP & 1) || routing->intake_at[channel->colour] > 0)
            continue;
        routing->intake_at[channel->colour] = (int32_t)at;
        at += aligned(intake_size(intake_capacity(engine, node, channel->colour)));
    }
    routing->size = (int32_t)at;
}

static struct routing *make_routing(struct engine *engine, int32_t node)
{
    struct routing *routing;
    struct channel found[MAX_CHANNELS];
    int channels = 0;

    for (int colour = 0; colour < engine->layout->colours; colour += 1)
        for (int side = 0; side < SIDES; side += 1) {
            found[channels] = channel_from(engine, node, colour, side);
            channels += found[channels].sides != 0;
        }
    routing = zeros(engine, 1, sizeof *routing + (size_t)channels * sizeof *found);
    if (routing == NULL)
        return NULL;
    routing->channels = channels;
    memset(routing->channel_of, NO_CHANNEL, sizeof routing->channel_of);
    memcpy(routing->channel, found, (size_t)channels * sizeof *found);
    for (int i = 0; i < channels; i += 1)
        routing->channel_of[found[i].side][found[i].colour] = (uint8_t)i;
    place(engine, node, routing);
    return routing;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void add_routing(struct engine *engine, int32_t node, int32_t *entry)
{
    struct routing *routing = make_routing(engine, node);

    if (engine->routings == engine->routing_space)
        engine->routing = grow(engine, engine->routing, &engine->routing_space,
                               sizeof *engine->routing);
    if (routing == NULL || engine->routings == engine->routing_space) {
        free(routing);
        return;
    }
    engine->routing[engine->routings++] = routing;
    engine->router[node].routing = routing;
    *entry = node + 1;
}

/* `entry` is a table of nodes + 1 of which no two are alike, by key; it is twice as long as needed
 * at least, a power of two. */
static void share(struct engine *engine, const uint64_t *key, int32_t *entry, int64_t entries)
{
    const int positions = positions_of(engine);

    for (int32_t node = 0; node < engine->size && engine->status == COMPLETE; node += 1) {
        int64_t at = (int64_t)(key[node] >> 32) & (entries - 1);

        while (entry[at] != 0 && (key[entry[at] - 1] != key[node]
                                  || !is_alike(engine, positions, node, entry[at] - 1)))
            at = (at + 1) & (entries - 1);
        if (entry[at] != 0)
            engine->router[node].routing = engine->router[entry[at] - 1].routing;
        else
            add_routing(engine, node, &entry[at]);
    }
}

/* Give each router its routing. */
void make_routings(struct engine *engine)
{
    int64_t entries = 2;
    uint64_t *key = zeros(engine, engine->size, sizeof *key);
    int32_t *entry;

    while (entries < 2 * (int64_t)engine->size)
        entries *= 2;
    entry = zeros(engine, entries, sizeof *entry);
    if (key != NULL && entry != NULL) {
        make_keys(engine, positions_of(engine), key);
        share(engine, key, entry, entries);
    }
    free(entry);
    free(key);
}
