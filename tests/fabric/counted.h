/* Allocation that counts: what is included before an engine is compiled whose memory is measured. */
#ifndef COUNTED_H
#define COUNTED_H

#define _XOPEN_SOURCE 700                      /* as the engine has it where it needs that */
#include <stdlib.h>
#include <string.h>

enum { COUNTED_HEADER = 16 };                  /* bytes before each block, which hold its size */

__attribute__((weak)) long long counted_now, counted_most;

static inline void *counted_realloc(void *block, size_t size)
{
    char *const old = block == NULL ? NULL : (char *)block - COUNTED_HEADER;
    char *const made = realloc(old, size + COUNTED_HEADER);

    if (made == NULL)
        return NULL;
    counted_now += (long long)size - (old == NULL ? 0 : *(long long *)(void *)made);
    counted_most = counted_now > counted_most ? counted_now : counted_most;
    *(long long *)(void *)made = (long long)size;
    return made + COUNTED_HEADER;
}

static inline void *counted_calloc(size_t count, size_t size)
{
    void *const made = counted_realloc(NULL, count * size);

    return made == NULL ? NULL : memset(made, 0, count * size);
}

static inline void counted_free(void *block)
{
    if (block == NULL)
        return;
    counted_now -= *(long long *)(void *)((char *)block - COUNTED_HEADER);
    free((char *)block - COUNTED_HEADER);
}

#define realloc counted_realloc
#define calloc counted_calloc
#define malloc(size) counted_realloc(NULL, size)
#define free counted_free

#endif
