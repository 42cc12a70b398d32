// Package peer is the loop and the workloads of a peer in Go: one order a line, one answer a line.
package peer

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lock is what the workloads need of a lock. Failures end the program, by Must.
type Lock interface {
	Acquire()
	Release()
}

// Session is a connection of its own.
type Session interface {
	NewLock(path string) Lock
	Close()
}

// Open makes a session that is connected.
type Open func(servers []string, timeout time.Duration) Session

// Must ends the program with an answer that says why.
func Must(err error) {
	if err != nil {
		fmt.Printf("error %v\n", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

type bench struct {
	open    Open
	servers []string
	path    string
	count   int
	timeout time.Duration
	values  map[string]string
	kept    *[]Session
}

// The machine's monotonic clock, which all peers share.
func nanotime() int64 {
	var now unix.Timespec
	Must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}

func (b *bench) number(key string, fallback int) int {
	text, isThere := b.values[key]
	if !isThere {
		return fallback
	}
	number, err := strconv.Atoi(text)
	Must(err)
	return number
}

func (b *bench) session() Session { return b.open(b.servers, b.timeout) }

func (b *bench) rest() { time.Sleep(time.Duration(b.number("rest_ms", 5)) * time.Millisecond) }

func cpuMicroseconds() int64 {
	var usage syscall.Rusage
	Must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano()/1000 + usage.Stime.Nano()/1000
}

func quantiles(name string, samples []float64) string {
	sort.Float64s(samples)
	return fmt.Sprintf(" %s=%.2f %s_p99=%.2f", name, samples[len(samples)/2], name, samples[len(samples)*99/100])
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func cycle(b *bench) string {
	if b.number("sent", 0) != 0 {
		return " unsupported=1"
	}
	session := b.session()
	defer session.Close()
	lock := session.NewLock(b.path)
	lock.Acquire()
	lock.Release()
	samples := make([]float64, b.count)
	cpu, begin := cpuMicroseconds(), time.Now()
	last := begin
	for i := range samples {
		lock.Acquire()
		lock.Release()
		now := time.Now()
		samples[i] = microseconds(now.Sub(last))
		last = now
	}
	n := float64(b.count)
	return fmt.Sprintf(" us=%.2f cpu_us=%.2f", microseconds(last.Sub(begin))/n, float64(cpuMicroseconds()-cpu)/n) +
		quantiles("median_us", samples)
}

func latency(b *bench) string {
	holding, waiting := b.session(), b.session()
	defer holding.Close()
	defer waiting.Close()
	holder, waiter := holding.NewLock(b.path), waiting.NewLock(b.path)
	wanted, granted := make(chan bool), make(chan time.Time)
	go func() {
		for range wanted {
			waiter.Acquire()
			now := time.Now()
			waiter.Release()
			granted <- now
		}
	}()
	samples := make([]float64, b.count)
	for i := range samples {
		holder.Acquire()
		wanted <- true
		b.rest()
		begin := time.Now()
		holder.Release()
		samples[i] = microseconds((<-granted).Sub(begin))
	}
	close(wanted)
	return quantiles("us", samples)
}

func handover(b *bench) string {
	rest := int64(b.count)
	var inside int32
	var end time.Time
	var ready, done sync.WaitGroup
	locks := make([]Lock, b.number("contenders", 2))
	for i := range locks {
		session := b.session()
		defer session.Close()
		locks[i] = session.NewLock(b.path)
	}
	ready.Add(1)
	done.Add(len(locks))
	for _, lock := range locks {
		go func(lock Lock) {
			defer done.Done()
			ready.Wait()
			for atomic.LoadInt64(&rest) > 0 {
				lock.Acquire()
				if atomic.AddInt32(&inside, 1) != 1 {
					Must(fmt.Errorf("two holders at once"))
				}
				if atomic.AddInt64(&rest, -1) == 0 {
					end = time.Now()
				}
				atomic.AddInt32(&inside, -1)
				lock.Release()
			}
		}(lock)
	}
	cpu, begin := cpuMicroseconds(), time.Now()
	ready.Done()
	done.Wait()
	return fmt.Sprintf(" rate=%.2f cpu_us=%.2f", float64(b.count)/end.Sub(begin).Seconds(),
		float64(cpuMicroseconds()-cpu)/float64(b.count))
}

func drain(b *bench) string {
	holding := b.session()
	defer holding.Close()
	holder := holding.NewLock(b.path)
	sessions := make([]Session, b.number("sessions", 1))
	for i := range sessions {
		sessions[i] = b.session()
		defer sessions[i].Close()
	}
	holder.Acquire()
	var served, released sync.WaitGroup
	var end int64
	served.Add(b.count)
	released.Add(b.count)
	queueing := time.Now()
	for i := 0; i < b.count; i++ {
		lock := sessions[i%len(sessions)].NewLock(b.path)
		go func() {
			lock.Acquire()
			atomic.StoreInt64(&end, nanotime())
			served.Done()
			lock.Release()
			released.Done()
		}()
		if (i+1)%queuedAtOnce == 0 {
			waitQueued(b, holding, i+1)
		}
	}
	waitQueued(b, holding, b.count)
	queued := time.Since(queueing)
	b.rest()
	begin := nanotime()
	holder.Release()
	served.Wait()
	released.Wait()
	n := float64(b.count)
	return fmt.Sprintf(" us=%.2f queue_us=%.2f", float64(atomic.LoadInt64(&end)-begin)/1000/n, microseconds(queued)/n)
}

// Counter is what a session can do whose queues can be counted.
type Counter interface{ Count(path string) int }

// Each lists all that are there: without a bound, a server would have gigabytes of answers in its memory.
const queuedAtOnce = 200

func waitQueued(b *bench, session Session, count int) {
	for session.(Counter).Count(b.path) < count+1 {
		time.Sleep(time.Millisecond)
	}
}

func locks(b *bench) string {
	if b.number("at_once", 0) != 0 {
		return " unsupported=1"
	}
	sessions := make([]Session, b.number("sessions", 1))
	for i := range sessions {
		sessions[i] = b.session()
	}
	all := make([]Lock, b.count)
	for i := range all {
		all[i] = sessions[i%len(sessions)].NewLock(fmt.Sprintf("%s/lock%d", b.path, i))
	}
	begin := time.Now()
	for _, lock := range all {
		lock.Acquire()
	}
	taken := time.Now()
	for _, lock := range all {
		lock.Release()
	}
	for _, session := range sessions {
		session.Close()
	}
	n := float64(b.count)
	return fmt.Sprintf(" us=%.2f release_us=%.2f", microseconds(taken.Sub(begin))/n, microseconds(time.Since(taken))/n)
}

type usage struct{ bytes, threads, descriptors float64 }

func readUsage() usage {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	Must(err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	Must(err)
	threads, _ := filepath.Glob("/proc/self/task/*")
	descriptors, _ := filepath.Glob("/proc/self/fd/*")
	return usage{float64(pages * os.Getpagesize()), float64(len(threads)), float64(len(descriptors))}
}

func growth(name string, before, after usage, count int) string {
	return fmt.Sprintf(" %s_bytes=%.1f %s_threads=%.1f %s_descriptors=%.1f", name,
		(after.bytes-before.bytes)/float64(count), name, after.threads-before.threads, name,
		after.descriptors-before.descriptors)
}

func footprint(b *bench) string {
	none := readUsage()
	holding, waiting := b.session(), b.session()
	open := readUsage()
	for i := 0; i < b.count; i++ {
		holding.NewLock(fmt.Sprintf("%s/held%d", b.path, i)).Acquire()
	}
	held := readUsage()
	for i := 0; i < b.count; i++ {
		lock := waiting.NewLock(fmt.Sprintf("%s/held%d", b.path, i))
		go lock.Acquire()
	}
	for i := 0; i < b.count; i++ {
		for holding.(Counter).Count(fmt.Sprintf("%s/held%d", b.path, i)) < 2 {
			time.Sleep(time.Millisecond)
		}
	}
	all := readUsage()
	answer := fmt.Sprintf(" session_bytes=%.0f session_threads=%.1f session_descriptors=%.1f",
		(open.bytes-none.bytes)/2, (open.threads-none.threads)/2, (open.descriptors-none.descriptors)/2)
	answer += growth("lock", open, held, b.count) + growth("waiter", held, all, b.count)
	// Goroutines that wait are not to be had back: the program answers, and ends.
	fmt.Println("ok" + answer)
	os.Exit(0)
	return ""
}

func hold(b *bench) string {
	for i := 0; i < b.count; i++ {
		session := b.session()
		*b.kept = append(*b.kept, session)
		if b.number("idle", 0) != 0 {
			continue
		}
		path := b.path
		if b.count > 1 {
			path = fmt.Sprintf("%s/hold%d", b.path, i)
		}
		session.NewLock(path).Acquire()
	}
	return ""
}

func drop(b *bench) string {
	for _, session := range *b.kept {
		session.Close()
	}
	*b.kept = nil
	return ""
}

func acquire(b *bench) string {
	session := b.session()
	defer session.Close()
	lock := session.NewLock(b.path)
	lock.Acquire()
	at := nanotime() / 1000
	lock.Release()
	return fmt.Sprintf(" at_us=%d", at)
}

func order(line string, open Open, servers []string, kept *[]Session, without map[string]bool) string {
	workloads := map[string]func(*bench) string{"cycle": cycle, "latency": latency, "handover": handover,
		"drain": drain, "locks": locks, "footprint": footprint, "hold": hold, "drop": drop, "acquire": acquire}
	words := strings.Fields(line)
	b := &bench{open: open, servers: servers, kept: kept, path: "/bench", values: map[string]string{}}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		b.values[key] = value
	}
	if path, isThere := b.values["path"]; isThere {
		b.path = path
	}
	b.count = b.number("count", 1)
	b.timeout = time.Duration(b.number("timeout", 10000)) * time.Millisecond
	run, isKnown := workloads[words[0]]
	if !isKnown || without[words[0]] {
		return "unsupported"
	}
	return "ok" + run(b)
}

// Main runs workloads until the input ends; those that are named in `without` are refused.
func Main(open Open, without ...string) {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: %s SERVERS\n", os.Args[0])
		os.Exit(64)
	}
	refused := map[string]bool{}
	for _, name := range without {
		refused[name] = true
	}
	var kept []Session
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		if strings.TrimSpace(input.Text()) != "" {
			fmt.Println(order(input.Text(), open, strings.Split(os.Args[1], ","), &kept, refused))
		}
	}
}
