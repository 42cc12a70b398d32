# session/heartbeat.c: a heartbeat counts from when it was answered
s/answered->kind, call->sent_ns, now_ns)/answered->kind, now_ns, now_ns)/
