# lease.c: heartbeats of the connection before count
/^void zkl_lease_connected/,/^}/ s/lease->beat_count = 0;//; /^void zkl_lease_disconnected/,/^}/ s/lease->beat_count = 0;//
