// go-zookeeper's lock.
package main

import (
	"time"

	"github.com/go-zookeeper/zk"

	"zklock-bench/peer"
)

type session struct{ connection *zk.Conn }

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

func open(servers []string, timeout time.Duration) peer.Session {
	connection, events, err := zk.Connect(servers, timeout, zk.WithLogger(silent{}))
	peer.Must(err)
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	go func() {
		for range events {
		}
	}()
	return &session{connection}
}

func (s *session) Close() { s.connection.Close() }

func (s *session) Count(path string) int {
	isThere, stat, err := s.connection.Exists(path)
	peer.Must(err)
	if !isThere {
		return 0
	}
	return int(stat.NumChildren)
}

func (s *session) NewLock(path string) peer.Lock {
	return &lock{zk.NewLock(s.connection, path, zk.WorldACL(zk.PermAll))}
}

type lock struct{ inner *zk.Lock }

func (l *lock) Acquire() { peer.Must(l.inner.Lock()) }
func (l *lock) Release() { peer.Must(l.inner.Unlock()) }

func main() { peer.Main(open) }
