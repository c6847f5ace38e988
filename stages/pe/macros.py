"""Macros of the headers that programs include: what C puts in the place of these names.

Source   `cc -std=c11 -dM -E` of pe.h: gcc 12, clang and zig 0.17 for glibc, musl, macOS and MinGW

Types and names of one kind, as `INT8_MAX`, are a pattern in identifiers.py; LAIR refuses names that
begin with an underscore and a capital.
"""

MACROS = frozenset([
    "CAST_USER_ADDR_T", "DOMAIN", "EDOM", "ERANGE", "FP_QNAN", "FP_SNAN", "FP_SUPERNORMAL",
    "HUGE", "MAXFLOAT", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E",
    "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2", "OVERFLOW", "PLOSS", "SING",
    "TARGET_IPHONE_SIMULATOR", "TARGET_OS_DRIVERKIT", "TARGET_OS_EMBEDDED", "TARGET_OS_IOS",
    "TARGET_OS_IPHONE", "TARGET_OS_LINUX", "TARGET_OS_MAC", "TARGET_OS_MACCATALYST",
    "TARGET_OS_NANO", "TARGET_OS_OSX", "TARGET_OS_SIMULATOR", "TARGET_OS_TV", "TARGET_OS_UEFI",
    "TARGET_OS_UIKITFORMAC", "TARGET_OS_UNIX", "TARGET_OS_VISION", "TARGET_OS_WATCH",
    "TARGET_OS_WIN32", "TARGET_OS_WINDOWS", "TLOSS", "UNALIGNED", "UNDERFLOW", "USER_ADDR_NULL",
    "USE___UUIDOF", "X_TLOSS", "bcopy", "bzero", "fpclassify", "isfinite", "isgreater",
    "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater", "isnan", "isnormal",
    "isunordered", "math_errhandling", "matherr", "memccpy", "memcpy", "memmove", "memset",
    "signbit", "stpcpy", "stpncpy", "strcat", "strcpy", "strlcat", "strlcpy", "strncat",
    "strncpy", "wcswcs",
])
