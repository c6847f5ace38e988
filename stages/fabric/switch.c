/* Switches: the commands that control wavelets carry, and how a router obeys them. */
#include "engine.h"

/* ---- In a PE --------------------------------------------------------------------------------- */

static bool can_command(struct node *node, const struct commands *commands, int argument)
{
    const char *wrong = NULL;

    if (commands->count > 1 && argument != 0)
        wrong = "an argument beside several commands";
    if (argument < 0 || argument > UINT16_MAX)
        wrong = "an argument of more than 16 bits";
    for (int32_t k = 0; k < commands->count; k += 1)
        if (commands->command[k] == TEARDOWN)
            wrong = "TEARDOWN, which no router here obeys";
    if (wrong != NULL)
        fail(node->engine, "PE[%d, %d] (%s) sends a control wavelet with %s", node->pe.x,
             node->pe.y, node->engine->layout->programs[node->role]->name, wrong);
    return wrong == NULL;
}

void send_control(struct pe *pe, int colour, struct commands commands, int argument, int quiet)
{
    struct node *node = (struct node *)pe;
    uint32_t bits = (uint32_t)commands.command[0] << FIRST | (quiet ? QUIET : 0);

    if (!can_command(node, &commands, argument))
        return;
    for (int32_t k = 1; k < commands.count; k += 1)
        bits |= LISTED | (uint32_t)commands.command[k] << 2 * (k - 1);
    issue_wavelet(node, colour, bits | (uint32_t)argument, 1);
}

void send_end(struct pe *pe, int colour)
{
    send_control(pe, colour, COMMANDS(NOP), 0, 0);
}

void send_turn(struct pe *pe, int colour, int last)
{
    send_control(pe, colour, COMMANDS(last ? RESET : ADVANCE), 0, 1);
}

/* ---- In a router ----------------------------------------------------------------------------- */

static uint8_t reset(uint8_t switched)
{
    return (uint8_t)(switched & ~(3u << POSITION));
}

static uint8_t advanced(uint8_t switched)
{
    if (position_of(switched) < last_position(switched))
        return (uint8_t)(switched + (1u << POSITION));
    return switched >> RING & 1 ? reset(switched) : switched;
}

/* The wavelet without its first command; with the last one its argument goes, too. */
uint32_t popped(uint32_t bits)
{
    const uint32_t following = bits & LISTED ? bits & UINT16_MAX : 0;

    return (bits & (QUIET | LISTED)) | (following & 3) << FIRST | following >> 2;
}

/* Obey the first command of a control wavelet that goes on; return what is left of it. */
uint32_t obey(struct engine *engine, const struct channel *channel, uint32_t bits)
{
    uint8_t *switched = switch_of(engine, channel->node, channel->colour);
    const enum command command = bits >> FIRST & 3;
    const uint8_t before = *switched;
    const int mode = before >> POP & 3;
    bool moved;

    if (command == ADVANCE)
        *switched = advanced(before);
    else if (command == RESET)
        *switched = reset(before);
    moved = *switched != before;
    if (moved)
        wake(engine, ROUTERS, channel->node, engine->now + 1);
    if (mode == ALWAYS_POP || (mode >= POP_ON_ADVANCE && command == ADVANCE && moved)
        || (mode == POP_ON_ADVANCE_NOP && command == NOP))
        return popped(bits);
    return bits;
}
