package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/web"
)

// Remote calls the API for commands: of a running courant or, if none is running, of
// this process, which opens the data folder under its lock.
type Remote struct {
	Running bool // a courant is running, so that work is done at once

	base  string
	token string
	send  func(*http.Request) (*http.Response, error)
	close func() error

	platform *Platform // over the folder, if none is running
}

// Work runs roles in this process until ctx ends, if no courant is running.
func (r *Remote) Work(ctx context.Context, names ...string) error {
	if r.platform == nil {
		<-ctx.Done()
		return nil
	}
	roles, err := Named(names)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close() // the server has closed it, or never got it
	b, err := r.platform.build(roles)
	if err != nil {
		return err
	}
	return r.platform.run(ctx, b, l)
}

// Running finds a running courant: the server, else the one that holds the data
// folder. The error is of kind NotFound if there is none.
func Running(server, token, data string) (*Remote, error) {
	client := &http.Client{}
	if server != "" {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" {
			return nil, courant.Errorf(courant.Invalid, "--server must be a URL such as http://127.0.0.1:8080, not %q", server)
		}
		return &Remote{Running: true, base: strings.TrimSuffix(server, "/"), token: token, send: client.Do, close: func() error { return nil }}, nil
	}
	s, err := readSession(data)
	if err != nil {
		return nil, err
	}
	return &Remote{Running: true, base: s.Address, token: s.Token, send: client.Do, close: func() error { return nil }}, nil
}

// Connect finds the courant to talk to: a running one, else the data folder.
func Connect(ctx context.Context, server, token, data string, c Config) (*Remote, error) {
	r, err := Running(server, token, data)
	if !errors.Is(err, courant.NotFound) {
		return r, err
	}
	if _, err := os.Stat(data); err != nil && c.Store.URL == "" {
		return nil, courant.Errorf(courant.NotFound, "the data folder %s does not exist and no courant is running on it: start one with `courant run`, or set --data or --server", data)
	}
	return local(ctx, data, c)
}

// local serves the API over the folder within this process.
func local(ctx context.Context, data string, c Config) (*Remote, error) {
	held, err := OpenFolder(data)
	if err != nil {
		return nil, err
	}
	c.Bus.Kind = "memory"
	p, err := Open(ctx, c, data, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	p.gate.Session = "local"
	mux := http.NewServeMux()
	p.api.Register(mux)
	return &Remote{base: "http://localhost", token: p.gate.Session, platform: p,
		send: func(r *http.Request) (*http.Response, error) {
			w := &recorder{header: http.Header{}}
			mux.ServeHTTP(w, r)
			return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Body: io.NopCloser(&w.body)}, nil
		},
		close: func() error { return errors.Join(p.Close(), held.Close()) },
	}, nil
}

// recorder keeps an answer for the caller in the same process.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// Close releases the folder.
func (r *Remote) Close() error { return r.close() }

// Do calls the API: in is sent as JSON if it is not nil, the answer is read into
// out. A problem comes back as an error of its kind.
func (r *Remote) Do(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	return r.call(ctx, method, path, body, out)
}

// answerTime is how long a call of the API may take.
const answerTime = 2 * time.Minute

// Upload sends a file, without a time limit.
func (r *Remote) Upload(ctx context.Context, path string, body io.Reader, out any) error {
	return r.call(ctx, http.MethodPost, path, body, out)
}

func (r *Remote) call(ctx context.Context, method, path string, body io.Reader, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := r.send(req)
	if err != nil {
		return courant.Errorf(courant.Busy, "%s does not answer: %w", r.base, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return problem(resp)
	}
	if out == nil {
		return nil
	}
	if text, ok := out.(*[]byte); ok { // not JSON
		*text, err = io.ReadAll(resp.Body)
		return err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", r.base, err)
	}
	return nil
}

func problem(resp *http.Response) error {
	var p web.Problem
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p); err != nil || p.Title == "" {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	kinds := map[int]error{400: courant.Invalid, 401: courant.Forbidden, 403: courant.Forbidden, 404: courant.NotFound,
		409: courant.Conflict, 410: courant.NotFound, 503: courant.Busy}
	if kind := kinds[resp.StatusCode]; kind != nil {
		return courant.Errorf(kind, "%s", text)
	}
	return errors.New(text)
}
