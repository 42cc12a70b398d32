# multi.c: a part that was lost while others are waited for is taken for held
s/^    int lost = first(parts, count, ZKL_PART_LOST);/    int lost = count;/
s/count_of(parts, count, ZKL_PART_HELD) == count/count_of(parts, count, ZKL_PART_HELD) + count_of(parts, count, ZKL_PART_LOST) == count/
