// The mutex of etcd's own client, as context.
package main

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"zklock-bench/peer"
)

type session struct {
	client *clientv3.Client
	inner  *concurrency.Session
}

func open(servers []string, timeout time.Duration) peer.Session {
	client, err := clientv3.New(clientv3.Config{Endpoints: servers, DialTimeout: 30 * time.Second, Logger: zap.NewNop()})
	peer.Must(err)
	inner, err := concurrency.NewSession(client, concurrency.WithTTL(int(timeout/time.Second)))
	peer.Must(err)
	return &session{client, inner}
}

func (s *session) Close() {
	peer.Must(s.inner.Close())
	peer.Must(s.client.Close())
}

func (s *session) Count(path string) int {
	answer, err := s.client.Get(context.Background(), path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	peer.Must(err)
	return int(answer.Count)
}

// Contenders of one session are one and the same to etcd: each lock is to have a session of its own in a queue.
func (s *session) NewLock(path string) peer.Lock { return &lock{concurrency.NewMutex(s.inner, path)} }

type lock struct{ inner *concurrency.Mutex }

func (l *lock) Acquire() { peer.Must(l.inner.Lock(context.Background())) }
func (l *lock) Release() { peer.Must(l.inner.Unlock(context.Background())) }

func main() { peer.Main(open, "drain") }
