#include "words.h"

#include <string.h>

static const char *const kinds[] = {"heartbeat", "write", "read", "sync"};

static void say_letter(FILE *out, const struct server *follower, const struct queue *queue, int number)
{
    switch ((enum message)queue->letters[0].message) {
    case MESSAGE_PING:
        fprintf(out, "server %d gets the ping%s", number, follower->is_touched ? " and tells of the client" : "");
        break;
    case MESSAGE_COMMIT:
        fprintf(out, "server %d learns that request %d is done", number, queue->letters[0].serial);
        break;
    case MESSAGE_VALID: fprintf(out, "server %d learns that the session is valid", number); break;
    case MESSAGE_TOUCH: fprintf(out, "the leader hears from server %d that the client lives", number); break;
    case MESSAGE_REQUEST:
    case MESSAGE_SYNC: fprintf(out, "request %d reaches the leader", queue->letters[0].serial); break;
    case MESSAGE_REVALIDATE: fprintf(out, "the leader hears that the session is at server %d", number); break;
    case MESSAGE_NONE: break;
    }
}

static void say_callback(FILE *out, const struct note *note)
{
    switch ((enum callback)note->callback) {
    case CALLBACK_OK: fprintf(out, "%s answered", kinds[note->kind]); break;
    case CALLBACK_FAILED: fprintf(out, "%s failed", kinds[note->kind]); break;
    case CALLBACK_CONNECTED: fprintf(out, "CONNECTED"); break;
    case CALLBACK_DISCONNECTED: fprintf(out, "DISCONNECTED"); break;
    }
}

static void say(FILE *out, const struct world *world, struct move move)
{
    const struct server *server = &world->servers[move.subject % MOST_SERVERS];

    switch ((enum move_type)move.type) {
    case MOVE_SEND: fprintf(out, "sends %s %d", kinds[move.subject], world->client.serial + 1); break;
    case MOVE_ANSWER: fprintf(out, "the answer to %d arrives", world->client.requests[0].serial); break;
    case MOVE_CALLBACK: say_callback(out, &world->client.notes[0]); break;
    case MOVE_FORWARD: fprintf(out, "the server goes on with what it heard"); break;
    case MOVE_FORGET: fprintf(out, "server %d forgets that the client lives", move.subject); break;
    case MOVE_PING: fprintf(out, "server %d pings", move.subject); break;
    case MOVE_DOWN: say_letter(out, server, &server->down, move.subject); break;
    case MOVE_UP: say_letter(out, server, &server->up, move.subject); break;
    case MOVE_TAKE: fprintf(out, "the leader takes the session's bucket to end it"); break;
    case MOVE_CLOSE: fprintf(out, "the session is closed"); break;
    case MOVE_LOSE: fprintf(out, "the connection breaks"); break;
    case MOVE_CONNECT: fprintf(out, "asks server %d for a connection", move.subject); break;
    case MOVE_ELECT:
        fprintf(out, "server 2 leads now; server 0 does not know%s", move.subject ? "" : ", nor does server 1");
        break;
    }
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void say_setting(FILE *out, const struct setting *setting)
{
    fprintf(out, "      T %.3f s, tick %.3f s, client's clock %+.2f %%, connected to server %d%s%s",
            seconds(setting->timeout_ms * MS), seconds(setting->tick_ms * MS), setting->rate_ppm / 1e4,
            setting->home, setting->home == 0 ? ", the leader" : "",
            setting->begins_lapsed ? ", after a lapse" : "");
}

void words_print(FILE *out, const struct finding *finding)
{
    struct world world;
    int64_t at_ns = -1;

    memset(&world, 0, sizeof world);
    world_begin(&finding->setting, &world);
    say_setting(out, &finding->setting);
    for (int i = 0; i < finding->step_count; i++) {
        const struct timed_move *step = &finding->steps[i];
        if (step->at_ns != at_ns) {
            fprintf(out, "\n      %8.4f s  ", seconds(step->at_ns));
            world_wait(&world, step->at_ns);
        } else {
            fprintf(out, "; ");
        }
        at_ns = step->at_ns;
        say(out, &world, step->move);
        world_move(&finding->setting, &world, step->move);
    }
    fprintf(out, "\n      lease until %.4f s, session until %.4f s\n",
            seconds(world_time_of(&finding->setting, world.lease.until_ns)),
            seconds(world_session_end(&finding->setting, &world)));
}
