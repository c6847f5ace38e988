/* Wavelets that wait in the memory of a PE: FIFOs, each filled by an instruction of its own. */
#include <stdlib.h>

#include "engine.h"

static bool can_give_room(struct node *node, int colour, const void *room, int64_t bytes)
{
    const struct layout *layout = node->engine->layout;
    const int64_t first = (const char *)room - (const char *)node->pe.memory;

    if (!is_colour(node, colour))
        return false;
    if (!node->engine->running_mains || node->intake[colour].room != NULL)
        fail(node->engine, "PE[%d, %d] gives room to %s twice, or after main", node->pe.x,
             node->pe.y, layout->colour_names[colour]);
    else if (first < 0 || bytes < 0
             || first + bytes > (int64_t)layout->programs[node->role]->memory)
        fail(node->engine, "PE[%d, %d] gives %s room that is not in its memory", node->pe.x,
             node->pe.y, layout->colour_names[colour]);
    return node->engine->status == COMPLETE;
}

/* The intake keeps its queue as an entrance, from which an instruction fills the room. */
static void make_fifo(struct node *node, struct intake *intake, int32_t capacity)
{
    intake->entrance = malloc(sizeof *intake->entrance);
    if (intake->entrance == NULL)
        return;
    *intake->entrance = intake->queue;
    intake->queue = (struct queue){ .parcels = intake->room, .popped = -1, .capacity = capacity };
    node->fifos += 1;
    node->filled |= 1u << (intake - node->intake);
}

/* The engine keeps the wavelets itself: each also has the cycle from which it can be taken. Where
 * FIFOs cost nothing the room is behind the queue, as a part of it. */
void give_room(struct pe *pe, int colour, int32_t (*room)[2], int32_t capacity)
{
    struct node *node = (struct node *)pe;
    struct engine *engine = node->engine;
    const bool fills = engine->layout->machine.fifo > 0;
    struct intake *intake;

    if (!can_give_room(node, colour, room, capacity * (int64_t)sizeof *room))
        return;
    intake = &node->intake[colour];
    capacity += fills ? 0 : intake->queue.capacity;
    intake->room = calloc((size_t)capacity, sizeof *intake->room);
    if (intake->room != NULL && fills)
        make_fifo(node, intake, capacity);
    else
        intake->queue.parcels = intake->room, intake->queue.capacity = capacity;
    if (intake->room == NULL || (fills && intake->entrance == NULL))
        fail(engine, "out of memory for %d wavelets that wait", capacity);
}

static bool fill(struct node *node, struct intake *intake)
{
    struct engine *engine = node->engine;
    struct parcel parcel;

    if (first_ready(intake->entrance, engine->now) == NULL
        || !has_space(&intake->queue, engine->now))
        return false;
    if (intake->entrance->count == intake->entrance->capacity)
        wake(engine, ROUTERS, node->id, engine->now + 1);
    parcel = pop(intake->entrance, engine->now);
    parcel.ready = engine->now + engine->layout->machine.fifo;
    push(&intake->queue, parcel);
    wake(engine, NODES, node->id, parcel.ready);
    return true;
}

/* One wavelet goes into one FIFO: that of the next colour, in turn, that can. Whether one does. */
bool fill_fifos(struct node *node)
{
    const int32_t colours = node->engine->layout->colours;

    for (int32_t k = 1; k <= colours; k += 1) {
        const int32_t colour = (node->last_filled + k) % colours;

        if (!(node->filled >> colour & 1) || !fill(node, &node->intake[colour]))
            continue;
        node->last_filled = colour;
        node->filled_at = node->engine->now;
        wake(node->engine, NODES, node->id, node->engine->now + 1);
        return true;
    }
    return false;
}
