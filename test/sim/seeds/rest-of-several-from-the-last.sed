# multi.c: the rest is taken without regard to the order, and nothing is left beyond
s/is_alone ? ZKL_MULTI_WAIT : ZKL_MULTI_STAND/is_alone ? ZKL_MULTI_WAIT : ZKL_MULTI_WAIT/
s/return (struct zkl_multi_plan){ZKL_MULTI_START, first(parts, count, ZKL_PART_IDLE)};/{\n        int last = count - 1;\n        while (parts[last] != ZKL_PART_IDLE)\n            last--;\n        return (struct zkl_multi_plan){ZKL_MULTI_START, last};\n    }/
