/* PE program of role script: control wavelets from words in memory, then an element. If memory says
 * so, the words are taken for elements of another type. */
#include "pe.h"

enum { X };

struct memory {
    int32_t wrong, words[2];
    struct vector stream;
};

static void done(struct pe *pe)
{
    send_wavelet(pe, X, (wavelet){ 1 });
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->words[0] = control_word(pe, COMMANDS(NOP), 65535, 0);
    my->words[1] = control_word(pe, COMMANDS(ADVANCE), 0, 1);
    configure(pe, &my->stream, NO_COUNTER, COPY, SIZES(2), INT32_FABRIC,
              my->wrong ? FLOAT32_OPERAND(1) : INT32_OPERAND(1), NO_OPERAND);
    stream_send_control(pe, &my->stream, X, my->words, done);
}

const struct program program_script = {
    .name = "script", .memory = sizeof(struct memory), .main = pe_main
};
