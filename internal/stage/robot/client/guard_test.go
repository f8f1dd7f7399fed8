package client_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

func loopback(t *testing.T) (port int, reached *atomic.Int64) {
	t.Helper()
	reached = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port, reached
}

var spellings = []string{
	"127.0.0.1", "127.1", "127.0.1", "2130706433", "0177.0.0.1", "0x7f000001", "0x7f.1", "017700000001", "127.0.0.1.",
	"localhost", "localhost.", "LOCALHOST", "a.localhost", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
	"[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "x@127.0.0.1", "site.example@127.0.0.1", "a@b@127.0.0.1", "intranet",
}

func TestNoSpellingOfALoopbackAddressIsFetched(t *testing.T) {
	port, reached := loopback(t)
	c, err := client.New(client.Config{Guard: &guard.Guard{Ports: []int{port}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, host := range append(spellings, "①②⑦.0.0.1", "127。0。0。1") {
		_, err := c.Get(t.Context(), client.Request{URL: "http://" + host + ":" + strconv.Itoa(port) + "/"})
		if !errors.Is(err, courant.Forbidden) && !errors.Is(err, courant.Invalid) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests came through", n)
	}
}

func TestANameIsJudgedByTheAddressThatIsDialled(t *testing.T) {
	port, reached := loopback(t)
	// With an exemption names that are not public may be asked for, and the dial decides.
	exempt, err := guard.ParseExempt("10.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Guard: &guard.Guard{Allow: []guard.Exempt{exempt}, Ports: []int{port}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Get(t.Context(), client.Request{URL: "http://localhost:" + strconv.Itoa(port) + "/"})
	if !errors.Is(err, courant.Forbidden) || reached.Load() != 0 {
		t.Errorf("got %v; %d requests came through", err, reached.Load())
	}
}

func TestBehindAProxyTheAddressIsJudgedAsItIsWritten(t *testing.T) {
	port, reached := loopback(t)
	c, err := client.New(client.Config{Guard: &guard.Guard{}, Proxy: "http://127.0.0.1:" + strconv.Itoa(port)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, host := range append(spellings, "10.0.0.1", "169.254.169.254", "site.example:22") {
		if _, err := c.Get(t.Context(), client.Request{URL: "http://" + host + "/"}); !errors.Is(err, courant.Forbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	if _, err := c.Get(t.Context(), client.Request{URL: "http://site.example/"}); err != nil || reached.Load() != 1 {
		t.Errorf("a public name: %v", err)
	}
}
