import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.data.Stat;

/** Curator's InterProcessMutex. One order a line, one answer a line. */
public final class CuratorPeer {
    private static final int SMALL_STACK = 256 * 1024;
    /** Each lists all that are there: without a bound, a server would have gigabytes of answers in its memory. */
    private static final int QUEUED_AT_ONCE = 200;
    private static String servers;
    private static final List<CuratorFramework> kept = new ArrayList<>();

    private final Map<String, String> values = new HashMap<>();
    private final String path;
    private final int count;

    private interface Work {
        void run() throws Exception;
    }

    private CuratorPeer(String[] words) {
        for (String word : words) {
            int sign = word.indexOf('=');
            if (sign > 0)
                values.put(word.substring(0, sign), word.substring(sign + 1));
        }
        path = values.getOrDefault("path", "/bench");
        count = number("count", 1);
    }

    private int number(String key, int fallback) {
        return Integer.parseInt(values.getOrDefault(key, Integer.toString(fallback)));
    }

    private CuratorFramework open() throws InterruptedException {
        CuratorFramework session =
            CuratorFrameworkFactory.newClient(servers, number("timeout", 10000), 30000, new RetryOneTime(100));
        session.start();
        session.blockUntilConnected();
        return session;
    }

    private void rest() throws InterruptedException {
        Thread.sleep(number("rest_ms", 5));
    }

    private static Thread thread(Work work) {
        Thread thread = new Thread(null, () -> {
            try {
                work.run();
            } catch (Exception failure) {
                fail(failure);
            }
        }, "bench", SMALL_STACK);
        thread.start();
        return thread;
    }

    private static void fail(Exception failure) {
        System.out.println("error " + failure.toString().replace('\n', ' '));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }

    private static long cpuMicroseconds() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                   .getProcessCpuTime() / 1000;
    }

    private static String figure(String name, double value) {
        return String.format(Locale.ROOT, " %s=%.2f", name, value);
    }

    private static String quantiles(String name, double[] samples) {
        Arrays.sort(samples);
        return figure(name, samples[samples.length / 2]) + figure(name + "_p99", samples[samples.length * 99 / 100]);
    }

    /* ---- workloads: see ../workload_*.c for what each means */

    private String cycle() throws Exception {
        if (number("sent", 0) != 0)
            return " unsupported=1";
        CuratorFramework session = open();
        InterProcessMutex lock = new InterProcessMutex(session, path);
        lock.acquire();
        lock.release();
        double[] samples = new double[count];
        long cpu = cpuMicroseconds();
        long begin = System.nanoTime();
        long last = begin;
        for (int i = 0; i < count; i++) {
            lock.acquire();
            lock.release();
            long now = System.nanoTime();
            samples[i] = (now - last) / 1e3;
            last = now;
        }
        String answer = figure("us", (last - begin) / 1e3 / count)
            + figure("cpu_us", (double) (cpuMicroseconds() - cpu) / count) + quantiles("median_us", samples);
        session.close();
        return answer;
    }

    private String latency() throws Exception {
        CuratorFramework holding = open();
        CuratorFramework waiting = open();
        InterProcessMutex holder = new InterProcessMutex(holding, path);
        InterProcessMutex waiter = new InterProcessMutex(waiting, path);
        SynchronousQueue<Boolean> wanted = new SynchronousQueue<>();
        SynchronousQueue<Long> granted = new SynchronousQueue<>();
        thread(() -> {
            while (wanted.take()) {
                waiter.acquire();
                long now = System.nanoTime();
                waiter.release();
                granted.put(now);
            }
        });
        double[] samples = new double[count];
        for (int i = 0; i < count; i++) {
            holder.acquire();
            wanted.put(true);
            rest();
            long begin = System.nanoTime();
            holder.release();
            samples[i] = (granted.take() - begin) / 1e3;
        }
        wanted.put(false);
        holding.close();
        waiting.close();
        return quantiles("us", samples);
    }

    private String handover() throws Exception {
        int contenders = number("contenders", 2);
        AtomicLong rest = new AtomicLong(count);
        AtomicLong end = new AtomicLong();
        AtomicInteger inside = new AtomicInteger();
        CountDownLatch ready = new CountDownLatch(1);
        List<CuratorFramework> sessions = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < contenders; i++) {
            CuratorFramework session = open();
            InterProcessMutex lock = new InterProcessMutex(session, path);
            sessions.add(session);
            threads.add(thread(() -> {
                ready.await();
                while (rest.get() > 0) {
                    lock.acquire();
                    if (inside.incrementAndGet() != 1)
                        throw new IllegalStateException("two holders at once");
                    if (rest.decrementAndGet() == 0)
                        end.set(System.nanoTime());
                    inside.decrementAndGet();
                    lock.release();
                }
            }));
        }
        long cpu = cpuMicroseconds();
        long begin = System.nanoTime();
        ready.countDown();
        for (Thread thread : threads)
            thread.join();
        String answer = figure("rate", count / ((end.get() - begin) / 1e9))
            + figure("cpu_us", (double) (cpuMicroseconds() - cpu) / count);
        for (CuratorFramework session : sessions)
            session.close();
        return answer;
    }

    private static int children(CuratorFramework session, String path) throws Exception {
        Stat stat = session.checkExists().forPath(path);
        return stat == null ? 0 : stat.getNumChildren();
    }

    private void waitQueued(CuratorFramework session, int waiters) throws Exception {
        while (children(session, path) < waiters + 1)
            Thread.sleep(1);
    }

    private String drain() throws Exception {
        CuratorFramework holding = open();
        InterProcessMutex holder = new InterProcessMutex(holding, path);
        CuratorFramework[] sessions = new CuratorFramework[number("sessions", 1)];
        for (int i = 0; i < sessions.length; i++)
            sessions[i] = open();
        holder.acquire();
        AtomicLong end = new AtomicLong();
        CountDownLatch served = new CountDownLatch(count);
        long queueing = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            InterProcessMutex lock = new InterProcessMutex(sessions[i % sessions.length], path);
            threads.add(thread(() -> {
                lock.acquire();
                end.set(System.nanoTime());
                served.countDown();
                lock.release();
            }));
            if ((i + 1) % QUEUED_AT_ONCE == 0)
                waitQueued(holding, i + 1);
        }
        waitQueued(holding, count);
        long queued = System.nanoTime();
        rest();
        long begin = System.nanoTime();
        holder.release();
        served.await();
        for (Thread thread : threads)
            thread.join();
        for (CuratorFramework session : sessions)
            session.close();
        holding.close();
        return figure("us", (end.get() - begin) / 1e3 / count) + figure("queue_us", (queued - queueing) / 1e3 / count);
    }

    private String locks() throws Exception {
        if (number("at_once", 0) != 0)
            return " unsupported=1";
        CuratorFramework[] sessions = new CuratorFramework[number("sessions", 1)];
        for (int i = 0; i < sessions.length; i++)
            sessions[i] = open();
        InterProcessMutex[] locks = new InterProcessMutex[count];
        for (int i = 0; i < count; i++)
            locks[i] = new InterProcessMutex(sessions[i % sessions.length], path + "/lock" + i);
        long begin = System.nanoTime();
        for (InterProcessMutex lock : locks)
            lock.acquire();
        long taken = System.nanoTime();
        for (InterProcessMutex lock : locks)
            lock.release();
        for (CuratorFramework session : sessions)
            session.close();
        return figure("us", (taken - begin) / 1e3 / count)
            + figure("release_us", (System.nanoTime() - taken) / 1e3 / count);
    }

    private static double entries(String directory) throws IOException {
        try (Stream<Path> all = Files.list(Path.of(directory))) {
            return all.count();
        }
    }

    /** The heap after a collection, since what a JVM has of the system says little; threads; descriptors. */
    private static double[] usage() throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return new double[] {
            runtime.totalMemory() - runtime.freeMemory(), entries("/proc/self/task"), entries("/proc/self/fd")};
    }

    private static String growth(String name, double[] before, double[] after, int count) {
        return figure(name + "_bytes", (after[0] - before[0]) / count) + figure(name + "_threads", after[1] - before[1])
            + figure(name + "_descriptors", after[2] - before[2]);
    }

    private String footprint() throws Exception {
        double[] none = usage();
        CuratorFramework holding = open();
        CuratorFramework waiting = open();
        double[] open = usage();
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            InterProcessMutex lock = new InterProcessMutex(holding, path + "/held" + i);
            lock.acquire();
            locks.add(lock);
        }
        double[] held = usage();
        for (int i = 0; i < count; i++) {
            InterProcessMutex lock = new InterProcessMutex(waiting, path + "/held" + i);
            thread(lock::acquire);
        }
        for (int i = 0; i < count; i++) {
            while (children(holding, path + "/held" + i) < 2)
                Thread.sleep(1);
        }
        double[] all = usage();
        /* Threads that wait are not to be had back: the program answers, and ends. */
        System.out.println("ok" + figure("session_bytes", (open[0] - none[0]) / 2)
            + figure("session_threads", (open[1] - none[1]) / 2)
            + figure("session_descriptors", (open[2] - none[2]) / 2) + growth("lock", open, held, locks.size())
            + growth("waiter", held, all, count));
        System.out.flush();
        Runtime.getRuntime().halt(0);
        return "";
    }

    private String hold() throws Exception {
        for (int i = 0; i < count; i++) {
            CuratorFramework session = open();
            kept.add(session);
            if (number("idle", 0) == 0)
                new InterProcessMutex(session, count > 1 ? path + "/hold" + i : path).acquire();
        }
        return "";
    }

    private String drop() {
        for (CuratorFramework session : kept)
            session.close();
        kept.clear();
        return "";
    }

    /** System.nanoTime() is the machine's monotonic clock here. */
    private String acquire() throws Exception {
        CuratorFramework session = open();
        InterProcessMutex lock = new InterProcessMutex(session, path);
        lock.acquire();
        long at = TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
        lock.release();
        session.close();
        return " at_us=" + at;
    }

    private static String order(String line) throws Exception {
        String[] words = line.trim().split(" +");
        CuratorPeer bench = new CuratorPeer(words);
        switch (words[0]) {
        case "cycle": return "ok" + bench.cycle();
        case "latency": return "ok" + bench.latency();
        case "handover": return "ok" + bench.handover();
        case "drain": return "ok" + bench.drain();
        case "locks": return "ok" + bench.locks();
        case "footprint": return "ok" + bench.footprint();
        case "hold": return "ok" + bench.hold();
        case "drop": return "ok" + bench.drop();
        case "acquire": return "ok" + bench.acquire();
        default: return "unsupported";
        }
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: CuratorPeer SERVERS");
            System.exit(64);
        }
        servers = arguments[0];
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.isBlank())
                continue;
            try {
                System.out.println(order(line));
            } catch (Exception failure) {
                fail(failure);
            }
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
