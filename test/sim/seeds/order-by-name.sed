# name.c: contenders are ordered by the beginning of their names
s/parsed.kind = kind;/parsed.kind = kind, parsed.number = (unsigned char)name[3] << 8 | (unsigned char)name[4];/
