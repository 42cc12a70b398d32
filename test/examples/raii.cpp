// zklock.hpp with what the standard library has for locks. Usage: raii SERVERS. Prints one line for each thing that holds.
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

#include <zklock.hpp>

using namespace std::chrono_literals;

static int failures;

static void expect(bool is_so, const char *what)
{
    std::cout << (is_so ? "ok: " : "NOT: ") << what << std::endl;
    failures += !is_so;
}

static void one_lock(zkl::session &session)
{
    zkl::mutex lock(session, "/cpp/one");
    zkl::mutex other(session, "/cpp/one");
    std::uint64_t token = 0;
    {
        std::lock_guard<zkl::mutex> guard(lock);
        token = lock.token();
        expect(lock.is_held() && lock.remaining() > 0ms, "lock_guard holds");
        expect(!std::unique_lock<zkl::mutex>(other, std::try_to_lock), "try_to_lock finds it held");
        expect(!std::unique_lock<zkl::mutex>(other, 50ms), "try_lock_for ends");
        expect(!other.try_lock_until(std::chrono::system_clock::now() + 50ms), "try_lock_until ends");
    }
    std::unique_lock<zkl::mutex> guard(other, 20s);
    expect(guard.owns_lock() && !lock.is_held(), "the next one holds as soon as the guard is gone");
    expect(other.token() > token, "tokens rise");
    guard.unlock();
    guard.lock();
    expect(guard.owns_lock(), "unique_lock unlocks and locks again");
    guard.release();
    expect(other.release(20s) == ZKLOCK_OK, "release is confirmed");
}

// std::scoped_lock takes one and tries the other, while another thread wants one of them.
static void several_locks(zkl::session &session)
{
    constexpr int rounds = 3;
    int inside = 0, violations = 0;

    std::thread thread([&] {
        zkl::mutex a(session, "/cpp/a");
        for (int i = 0; i < rounds; i++) {
            std::lock_guard<zkl::mutex> guard(a);
            violations += ++inside != 1;
            --inside;
        }
    });
    zkl::mutex a(session, "/cpp/a"), b(session, "/cpp/b");
    for (int i = 0; i < rounds; i++) {
        std::scoped_lock both(a, b);
        violations += ++inside != 1;
        --inside;
    }
    thread.join();
    expect(violations == 0, "scoped_lock of two locks");
}

static void all_or_nothing(zkl::session &session)
{
    zkl::multi_mutex multi(session);
    zkl::mutex lock(session, "/cpp/b");

    multi.add("/cpp/a").add("/cpp/b");
    {
        std::scoped_lock held(multi);
        expect(multi.is_held() && multi.token("/cpp/a") > 0, "multi_mutex holds all");
        expect(!lock.try_lock(), "each of them");
    }
    std::lock_guard<zkl::mutex> held(lock);
    expect(!multi.try_lock(), "and none if one is held");
}

static void errors(zkl::session &session)
{
    zklock_status status = ZKLOCK_OK;

    try {
        zkl::mutex lock(session, "no path");
    } catch (const zkl::error &error) {
        status = error.status();
    }
    expect(status == ZKLOCK_BAD_ARGUMENT, "a bad path throws");
    zkl::mutex lock(session, "/cpp/one");
    std::lock_guard<zkl::mutex> held(lock);
    try {
        lock.lock();
    } catch (const zkl::error &error) {
        status = error.status();
    }
    expect(status == ZKLOCK_ALREADY, "a second lock of one object throws");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: raii SERVERS\n";
        return 64;
    }
    try {
        zkl::session session{std::string(argv[1])};
        expect(session.wait_connected(20s), "connected");
        one_lock(session);
        several_locks(session);
        all_or_nothing(session);
        errors(session);
    } catch (const std::exception &problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
    return failures != 0;
}
