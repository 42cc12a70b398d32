# session/handle.c: of those who watch one node only the first hears of it
/^static void on_node/,/^}/ s/member->class->on_node(member, event, path);/{ member->class->on_node(member, event, path); break; }/
