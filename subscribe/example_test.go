package subscribe_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/courant-platform/courant/subscribe"
)

// A service that counts the bytes of every changed feed.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client := subscribe.Client{
		Server: "http://127.0.0.1:8080",
		Token:  os.Getenv("COURANT_TOKEN"),
		Name:   "counter",
		Kinds:  []string{"feed"},
		Failed: func(err error) { fmt.Fprintln(os.Stderr, err) },
	}
	err := client.Run(ctx, func(ctx context.Context, d subscribe.Download) error {
		body, err := d.Body(ctx)
		if err != nil {
			return err
		}
		defer body.Close()
		n, err := io.Copy(io.Discard, body)
		fmt.Println(d.Source, d.URL, n, "bytes")
		return err
	})
	if ctx.Err() == nil { // it was not interrupted
		fmt.Fprintln(os.Stderr, err)
	}
}
