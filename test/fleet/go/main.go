// A go-zookeeper client that plays a part in the fleet tests.
//
// usage: go-peer mutex SERVERS PATH LIMIT; LIMIT: seconds, or "-" for ever. Prints "held" or "out"; holds until its
// input ends, then prints "released". go-zookeeper's lock knows no limit: at its end the program just goes.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const session = 4 * time.Second

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

func limitOf(text string) time.Duration {
	if text == "-" {
		return time.Duration(1<<63 - 1)
	}
	seconds, err := strconv.ParseFloat(text, 64)
	check(err)
	return time.Duration(seconds * float64(time.Second))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go-peer:", err)
		os.Exit(1)
	}
}

func main() {
	connection, _, err := zk.Connect(strings.Split(os.Args[2], ","), session, zk.WithLogger(quiet{}))
	check(err)
	defer connection.Close()
	lock := zk.NewLock(connection, os.Args[3], zk.WorldACL(zk.PermAll))
	result := make(chan error, 1)
	go func() { result <- lock.Lock() }()
	select {
	case err := <-result:
		check(err)
	case <-time.After(limitOf(os.Args[4])):
		fmt.Println("out")
		return
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	check(lock.Unlock())
	fmt.Println("released")
}
