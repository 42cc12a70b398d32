"""One lock under one fault."""
import os
import traceback

import judge
from faults import NotHere
from processes import now_ns
from servers import Missing
from workers import Story, Worker
from worlds import addresses

TTL_MS = 3000


class Cell:
    def __init__(self, place, world, lock, fault_name):
        self.place, self.world, self.lock = place, world, lock
        self.name = "%s-%s" % (lock.name, fault_name)
        self.directory = os.path.join(place.directory, self.name)
        os.makedirs(self.directory)
        self.store = os.path.join(self.directory, "store")
        self.ttl_ms = TTL_MS
        self.story = Story()
        self.workers = []
        self.own_servers = []  # of this cell alone
        self.last_servers = ""

    def worker(self, name, servers=None, is_renewed=True, is_awaited=True):
        self.last_servers = servers or addresses(self.world.servers(self.lock))
        worker = Worker(self, name, self.last_servers, is_renewed)
        self.workers.append(worker)
        if is_awaited and not worker.wait("opened"):
            raise Missing(worker.last_word())
        return worker

    def mark(self, text):
        self.story.add("server", "mark", text)

    def final_value(self):
        """What the resource has in the end."""
        if self.lock.is_optimistic:
            reader = self.worker("reader", self.last_servers)
            reader.send("take 0")
            reader.wait("value")
            found = reader.has("value")
            self.story.events = [entry for entry in self.story.events if entry[1] != "reader"]
            return int(found[-1][3])
        if not os.path.exists(self.store):
            return 0
        with open(self.store, encoding="utf-8") as store:
            return int((store.read().split() or ["0"])[0])

    def run(self, function):
        """The figures, or a note that says why there are none."""
        try:
            function(self)
            end_ns = now_ns()
            figures = judge.judge(self.story.events, self.final_value(), end_ns)
            if self.lock.is_optimistic:
                figures["is_optimistic"] = True
            return figures, end_ns
        except NotHere as reason:
            return {"note": "- " + str(reason)}, None
        except Missing as reason:
            return {"note": "not run: " + str(reason)}, None
        except (TimeoutError, OSError) as error:
            with open(os.path.join(self.directory, "failure"), "w", encoding="utf-8") as file:
                file.write(traceback.format_exc())
            return {"note": "the laboratory failed: " + str(error)}, None
        finally:
            for worker in self.workers:
                worker.end()
            for server in self.own_servers:
                server.kill()
