/* Whose memory may be touched: under the address sanitizer, that of the PE at work and no other. */
#ifndef GUARD_H
#define GUARD_H

#include "engine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* The PE is about to run a task or to move an element; its program knows how much is its own. */
static inline void open_memory(const struct node *node)
{
    const struct program *program = node->engine->layout->programs[node->role];

    ASAN_UNPOISON_MEMORY_REGION(node->pe.memory, program->memory);
}

/* All of it, what aligns the next PE's memory included. */
static inline void close_memory(const struct node *node)
{
    const int64_t size = node->engine->layout->memory_stride[node->role];

    ASAN_POISON_MEMORY_REGION(node->pe.memory, (size_t)size);
}

/* The run is over: whoever gave the memory may touch all of it again. */
static inline void return_memory(const struct node *node)
{
    const int64_t size = node->engine->layout->memory_stride[node->role];

    ASAN_UNPOISON_MEMORY_REGION(node->pe.memory, (size_t)size);
}

#endif
