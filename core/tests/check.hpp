// How the native tests state a fact: a false one names itself and ends the run with an error.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(fact)                                                                                          \
    do {                                                                                                     \
        if (!(fact)) {                                                                                       \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #fact);                        \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (false)
