# lock/flight_lease.c: who holds the guard takes its lease for one that holds
s/^    place->has_other_limit = flight->has_other_limit;/    place->has_other_limit = flight->has_other_limit;\n    if (flight->attempt->permit->guard)\n        place->ahead_count = 0;/
