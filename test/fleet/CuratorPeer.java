import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryForever;

/**
 * A Curator client that plays a part in the fleet tests.
 *
 * <p>usage: CuratorPeer MODE SERVERS PATH LIMIT; MODE: mutex, read, write, latch, semaphore:N; LIMIT: seconds, or "-" for
 * ever. Prints "held" or "out"; holds until its input ends, then prints "released".
 */
public final class CuratorPeer {
    private static final int SESSION_MS = 4000;
    private static final int CONNECTION_MS = 60000;
    private static final long FOR_EVER_S = 1000000;

    private CuratorPeer() {
    }

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = CuratorFrameworkFactory.newClient(
                arguments[1], SESSION_MS, CONNECTION_MS, new RetryForever(100))) {
            client.start();
            client.blockUntilConnected();
            long limitMs = (long) (1000 * (arguments[3].equals("-") ? FOR_EVER_S : Double.parseDouble(arguments[3])));
            play(client, arguments[0], arguments[2], limitMs);
        }
        System.exit(0);
    }

    private static void play(CuratorFramework client, String mode, String path, long limitMs) throws Exception {
        if (mode.startsWith("semaphore:")) {
            playSemaphore(client, Integer.parseInt(mode.substring("semaphore:".length())), path, limitMs);
        } else if (mode.equals("latch")) {
            playLatch(client, path, limitMs);
        } else {
            playLock(lockOf(client, mode, path), limitMs);
        }
    }

    private static InterProcessLock lockOf(CuratorFramework client, String mode, String path) {
        switch (mode) {
            case "read":
                return new InterProcessReadWriteLock(client, path).readLock();
            case "write":
                return new InterProcessReadWriteLock(client, path).writeLock();
            default:
                return new InterProcessMutex(client, path);
        }
    }

    private static void playLock(InterProcessLock lock, long limitMs) throws Exception {
        if (tellWhether(lock.acquire(limitMs, TimeUnit.MILLISECONDS))) {
            awaitEnd();
            lock.release();
            System.out.println("released");
        }
    }

    private static void playSemaphore(CuratorFramework client, int permits, String path, long limitMs)
            throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, permits);
        Lease lease = semaphore.acquire(limitMs, TimeUnit.MILLISECONDS);

        if (tellWhether(lease != null)) {
            awaitEnd();
            semaphore.returnLease(lease);
            System.out.println("released");
        }
    }

    private static void playLatch(CuratorFramework client, String path, long limitMs) throws Exception {
        try (LeaderLatch latch = new LeaderLatch(client, path, "curator")) {
            latch.start();
            if (!tellWhether(latch.await(limitMs, TimeUnit.MILLISECONDS))) {
                return;
            }
            awaitEnd();
        }
        System.out.println("released");
    }

    private static boolean tellWhether(boolean isHeld) {
        System.out.println(isHeld ? "held" : "out");
        return isHeld;
    }

    private static void awaitEnd() throws Exception {
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
