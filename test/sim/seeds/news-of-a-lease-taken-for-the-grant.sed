# queue.c: the one whose turn is next takes any change among the leases for its grant
/^void zkl_place_allow/,/^}/s/^}/    place->ahead_is_plain = place->ahead_count == 1;\n}/
