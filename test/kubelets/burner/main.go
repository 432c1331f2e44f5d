// Burner is a service that uses a given share of a core, takes its time to start and to stop, and logs both.
//
// Environment: MILLICORES (what it uses, at most 1000), START (a Go duration until it is ready), DRAIN (a duration after SIGTERM
// during which it still answers), IGNORE_TERM (anything: SIGTERM is logged and not followed) and LOGS (a folder that outlives the
// pod, for its log: that on stdout goes with it).
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Of which so many thousandths are spent burning.
const period = 50 * time.Millisecond

func say(event string) {
	pod := os.Getenv("HOSTNAME")
	line, _ := json.Marshal(map[string]string{
		"event": event,
		"time":  time.Now().UTC().Format(time.RFC3339Nano),
		"pod":   pod,
	})
	file, err := os.OpenFile(os.Getenv("LOGS")+"/"+pod, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}

func duration(name string) time.Duration {
	value, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return value
}

func burn(millicores int) {
	busy := period * time.Duration(millicores) / 1000
	for {
		began := time.Now()
		for time.Since(began) < busy {
		}
		time.Sleep(period - time.Since(began))
	}
}

func main() {
	say("started")
	var ready atomic.Bool
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	millicores, _ := strconv.Atoi(os.Getenv("MILLICORES"))
	go burn(millicores)
	go func() {
		time.Sleep(duration("START"))
		ready.Store(true)
		say("ready")
	}()
	go func() {
		for range terms {
			say("terminating")
			if os.Getenv("IGNORE_TERM") != "" {
				continue
			}
			time.Sleep(duration("DRAIN"))
			say("ended")
			os.Exit(0)
		}
	}()
	_ = http.ListenAndServe(":8080", http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			answer.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
}
