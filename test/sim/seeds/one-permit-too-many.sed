# queue.c: one more holds than there are permits
s/place->ahead_count < permits ? 0/place->ahead_count <= permits ? 0/
