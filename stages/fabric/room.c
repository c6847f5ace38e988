/* Wavelets that wait in the memory of a PE: FIFOs, each filled by an instruction of its own. */
#include "engine.h"

static bool has_room(const struct node *node, int colour)
{
    const struct intake *intake = intake_of(node, colour);

    return intake != NULL && intake->has_room;
}

static bool can_give_room(struct node *node, int colour, const void *room, int64_t bytes)
{
    const struct layout *layout = node->engine->layout;
    const int64_t first = (const char *)room - (const char *)node->pe.memory;

    if (!is_colour(node, colour))
        return false;
    if (!node->engine->running_mains || has_room(node, colour))
        fail(node->engine, "PE[%d, %d] gives room to %s twice, or after main", x_of(node),
             y_of(node), layout->colour_names[colour]);
    else if (bytes == 0)
        fail(node->engine, "PE[%d, %d] gives %s room for nothing", x_of(node),
             y_of(node), layout->colour_names[colour]);
    else if (bytes / (int64_t)sizeof(int32_t[2]) >= MAX_ROOM)
        fail(node->engine, "PE[%d, %d] gives %s room for %lld wavelets, at most %d", x_of(node),
             y_of(node), layout->colour_names[colour],
             (long long)(bytes / (int64_t)sizeof(int32_t[2])), MAX_ROOM - 1);
    else if (first < 0 || bytes < 0
             || first + bytes > (int64_t)program_of(node)->memory)
        fail(node->engine, "PE[%d, %d] gives %s room that is not in its memory", x_of(node),
             y_of(node), layout->colour_names[colour]);
    return node->engine->status == COMPLETE;
}

static size_t bytes_of(int32_t capacity)
{
    return (size_t)capacity * sizeof(struct parcel);
}

/* The entrance lies behind the room. */
static void make_fifo(struct node *node, int colour, struct room *room, int32_t capacity)
{
    room->entrance = (struct queue *)(room->queue.parcels + capacity);
    room->entrance_capacity = intake_of(node, colour)->capacity;
    node->fifos += 1;
    node->filled |= 1u << colour;
}

/* The engine keeps the wavelets itself: each also has the cycle from which it can be taken. Where
 * FIFOs cost nothing the room is behind the queue, as a part of it; else what comes waits at an
 * entrance, from which an instruction fills the room. */
void give_room(struct pe *pe, int colour, int32_t (*place)[2], int32_t capacity)
{
    struct node *node = (struct node *)pe;
    const bool fills = node->engine->layout->machine.fifo > 0;
    struct intake *intake;
    struct room *room;
    size_t bytes;

    if (!can_give_room(node, colour, place, capacity * (int64_t)sizeof *place))
        return;
    intake = intake_of(node, colour);
    if (intake == NULL)
        return;
    capacity += fills ? 0 : intake->capacity;
    bytes = sizeof *room + bytes_of(capacity);
    bytes += fills ? sizeof(struct queue) + bytes_of(intake->capacity) : 0;
    room = zeros(node->engine, 1, bytes);
    if (room == NULL)
        return;
    if (fills)
        make_fifo(node, colour, room, capacity);
    intake->capacity = (uint32_t)capacity;
    intake->has_room = true;
    memcpy(intake->queue.parcels, &room, sizeof room);
}

static bool fill(struct node *node, int colour)
{
    struct engine *engine = node->engine;
    struct intake *intake = intake_of(node, colour);
    struct room *room = room_of(intake);
    const int64_t ready = engine->now + engine->layout->machine.fifo;
    struct parcel parcel;

    if (first_ready(room->entrance, engine->now) == NULL)
        return false;
    if (!has_space(&room->queue, intake->capacity, engine->now)) {
        wait_in(node, FULL_QUEUE);
        return false;
    }
    if (room->entrance->count == room->entrance_capacity)
        wake(engine, ROUTERS, node->id, engine->now + 1);
    parcel = pop(room->entrance, room->entrance_capacity, engine->now);
    push(&room->queue, intake->capacity, moved_on(parcel, ready));
    node->arrived |= 1u << colour;
    wake(engine, NODES, node->id, ready);
    return true;
}

/* One wavelet goes into one FIFO: that of the next colour, in turn, that can. Whether one does. */
bool fill_fifos(struct node *node)
{
    const int32_t colours = node->engine->layout->colours;

    for (int32_t k = 1; k <= colours; k += 1) {
        const int32_t colour = (node->last_filled + k) % colours;

        if (!(node->filled >> colour & 1) || !fill(node, colour))
            continue;
        node->last_filled = (int8_t)colour;
        node->filled_at = (int32_t)node->engine->now;
        wake(node->engine, NODES, node->id, node->engine->now + 1);
        return true;
    }
    return false;
}
