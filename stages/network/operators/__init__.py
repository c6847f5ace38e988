"""Operations on volumes of known sizes, as the operators of frameworks are made of them."""
