# Size enumeration (Sec. 5.4), per task T that is a box, but not of fixed size.
# T_sizes: [PE_X, PE_Y] -> { [size] }, index projected out, eq. (42); T_offset: their offset.
# T_identifiers: { [size - offset] }, eq. (43), one SIMD configuration each; T_hull: their box.
