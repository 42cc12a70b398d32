/*
 * zklock.hpp - zklock.h for C++11 and later: objects that clean up after themselves, and locks that std::unique_lock,
 * std::lock_guard and std::scoped_lock take
 *
 *     zkl::session session("zk1:2181,zk2:2181");
 *     zkl::mutex backup(session, "/jobs/backup");
 *
 *     std::unique_lock<zkl::mutex> held(backup, std::chrono::seconds(5));
 *     if (held)
 *         write_with(backup.token());
 *
 * Header only; link the library as a C program does. The rules at the top of zklock.h are those of these objects, with two
 * differences from std::mutex: a lock can be lost while it is held, which is_held() and remaining() tell; and a lock
 * object is one contender, so that threads that are to exclude each other use an object each. A second lock() on one object
 * throws.
 *
 * What fails throws zkl::error; what ends waiting, and unlock(), never throw. A session has to outlive its locks. The
 * callbacks in the options are called from C: they must not throw, so declare them noexcept.
 */
#ifndef ZKLOCK_HPP
#define ZKLOCK_HPP

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <zklock.h>

namespace zkl {

class error : public std::runtime_error {
public:
    error(zklock_status status, const std::string &detail)
        : std::runtime_error(std::string(zklock_status_text(status)) + (detail.empty() ? "" : ": ") + detail),
          status_(status)
    {
    }

    zklock_status status() const noexcept { return status_; }

private:
    zklock_status status_;
};

namespace internal {

/* Rounded up, so that nobody waits for less than was asked for. Never "for ever", which is negative in C. */
template <class Rep, class Period>
std::int64_t milliseconds(const std::chrono::duration<Rep, Period> &span)
{
    using double_ms = std::chrono::duration<double, std::milli>;
    const double ms = std::chrono::duration_cast<double_ms>(span).count();
    if (!(ms > 0))
        return 0;
    return ms < 1e15 ? static_cast<std::int64_t>(ms) + (static_cast<double>(static_cast<std::int64_t>(ms)) < ms)
                     : static_cast<std::int64_t>(1e15);
}

/* What Lockable and TimedLockable ask of a C object whose calls are given as functions. */
template <class Derived>
class lockable {
public:
    /* Blocks until held; throws when that cannot be. */
    void lock()
    {
        const zklock_status status = self().acquire(-1);
        if (status != ZKLOCK_OK)
            throw error(status, self().detail());
    }

    /* False, here and below: not had in time. Somebody is ahead, or no server answers: detail() says which. */
    bool try_lock() { return is_had(self().acquire(0)); }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &span)
    {
        return is_had(self().acquire(milliseconds(span)));
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &end)
    {
        return try_lock_for(end - Clock::now());
    }

protected:
    ~lockable() = default;

private:
    Derived &self() { return static_cast<Derived &>(*this); }

    bool is_had(zklock_status status)
    {
        if (status == ZKLOCK_OK)
            return true;
        if (status == ZKLOCK_BUSY || status == ZKLOCK_TIMEOUT || status == ZKLOCK_NO_SERVER)
            return false;
        throw error(status, self().detail());
    }
};

} // namespace internal

/* Its options, with the defaults filled in. */
struct session_options : zklock_session_options {
    session_options() { zklock_session_options_init(this); }
};

struct lock_options : zklock_options {
    lock_options() { zklock_options_init(this); }
};

/* Connects in the background, for as long as it lives. */
class session {
public:
    explicit session(const zklock_session_options &options = session_options()) { open(options); }

    explicit session(const std::string &servers)
    {
        session_options options;
        options.servers = servers.c_str();
        open(options);
    }

    /* Ends it at the server, for some seconds at most; its locks have been destroyed before. */
    ~session() { zklock_session_close(session_, -1); }

    session(session &&other) noexcept : session_(other.session_) { other.session_ = nullptr; }
    session &operator=(session &&) = delete;

    template <class Rep, class Period>
    bool wait_connected(const std::chrono::duration<Rep, Period> &span)
    {
        return zklock_session_wait_connected(session_, internal::milliseconds(span)) == ZKLOCK_OK;
    }

    std::string detail() const
    {
        char text[512];
        zklock_session_detail(session_, text, sizeof text);
        return text;
    }

    zklock_session *native_handle() const noexcept { return session_; }

private:
    void open(const zklock_session_options &options)
    {
        const zklock_status status = zklock_session_open(&options, &session_);
        if (status != ZKLOCK_OK)
            throw error(status, options.servers ? options.servers : "");
    }

    zklock_session *session_ = nullptr;
};

/* One contender for a path. BasicLockable, Lockable and TimedLockable. */
class mutex : public internal::lockable<mutex> {
public:
    mutex(session &owner, const std::string &path, const zklock_options &options = lock_options())
    {
        const zklock_status status = zklock_new(owner.native_handle(), path.c_str(), &options, &lock_);
        if (status != ZKLOCK_OK)
            throw error(status, path);
    }

    /* Lets go, in the background. */
    ~mutex() { zklock_free(lock_); }

    mutex(mutex &&other) noexcept : lock_(other.lock_) { other.lock_ = nullptr; }
    mutex &operator=(mutex &&) = delete;

    /* Lets go, and does not wait for the server: see release(). */
    void unlock() noexcept { zklock_release_send(lock_); }

    /* Lets go and waits until the server has confirmed it. LOST: it had been lost before. */
    template <class Rep, class Period>
    zklock_status release(const std::chrono::duration<Rep, Period> &span)
    {
        return zklock_release(lock_, internal::milliseconds(span));
    }

    bool is_held() const noexcept { return zklock_is_held(lock_); }

    std::chrono::milliseconds remaining() const noexcept
    {
        return std::chrono::milliseconds(zklock_remaining_ms(lock_));
    }

    /* The fencing token of the present or latest grant. */
    std::uint64_t token() const
    {
        std::uint64_t token = 0;
        const zklock_status status = zklock_token(lock_, &token);
        if (status != ZKLOCK_OK)
            throw error(status, "");
        return token;
    }

    std::string detail() const
    {
        char text[256];
        zklock_detail(lock_, text, sizeof text);
        return text;
    }

    zklock *native_handle() const noexcept { return lock_; }

private:
    friend class internal::lockable<mutex>;
    zklock_status acquire(std::int64_t timeout_ms) { return zklock_acquire(lock_, timeout_ms); }

    zklock *lock_ = nullptr;
};

/* Several locks as one, all or nothing; the same concepts. Paths that are free take one round trip. std::scoped_lock over
 * several locks takes one round trip for each, and lets go and begins again whenever one is held: of two who do so in
 * step, with locks in common, neither may get on for long. This one queues. */
class multi_mutex : public internal::lockable<multi_mutex> {
public:
    explicit multi_mutex(session &owner)
    {
        const zklock_status status = zklock_multi_new(owner.native_handle(), &multi_);
        if (status != ZKLOCK_OK)
            throw error(status, "");
    }

    ~multi_mutex() { zklock_multi_free(multi_); }

    multi_mutex(multi_mutex &&other) noexcept : multi_(other.multi_) { other.multi_ = nullptr; }
    multi_mutex &operator=(multi_mutex &&) = delete;

    multi_mutex &add(const std::string &path, const zklock_options &options = lock_options())
    {
        const zklock_status status = zklock_multi_add(multi_, path.c_str(), &options);
        if (status != ZKLOCK_OK)
            throw error(status, path);
        return *this;
    }

    void unlock() noexcept { zklock_multi_release_send(multi_); }

    template <class Rep, class Period>
    zklock_status release(const std::chrono::duration<Rep, Period> &span)
    {
        return zklock_multi_release(multi_, internal::milliseconds(span));
    }

    bool is_held() const noexcept { return zklock_multi_is_held(multi_); }

    std::chrono::milliseconds remaining() const noexcept
    {
        return std::chrono::milliseconds(zklock_multi_remaining_ms(multi_));
    }

    /* Of one of its paths. */
    std::uint64_t token(const std::string &path) const
    {
        std::uint64_t token = 0;
        const zklock_status status = zklock_token(zklock_multi_lock(multi_, path.c_str()), &token);
        if (status != ZKLOCK_OK)
            throw error(status, path);
        return token;
    }

    std::string detail() const
    {
        char text[1200];
        zklock_multi_detail(multi_, text, sizeof text);
        return text;
    }

    zklock_multi *native_handle() const noexcept { return multi_; }

private:
    friend class internal::lockable<multi_mutex>;
    zklock_status acquire(std::int64_t timeout_ms) { return zklock_multi_acquire(multi_, timeout_ms); }

    zklock_multi *multi_ = nullptr;
};

} // namespace zkl

#endif
