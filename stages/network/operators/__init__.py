"""Operations on volumes of known sizes, from which operators of frameworks are made."""
