# machine_step.c: the deletion of the one ahead is the grant, however many are ahead
s/place->ahead_count == 1/place->ahead_count >= 1/
