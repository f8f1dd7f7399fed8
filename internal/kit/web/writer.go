package web

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Writer is a ResponseWriter that tells when its response begins, counts it, and gives up
// a client that does not receive it.
type Writer struct {
	http.ResponseWriter
	Begin    func()        // called before the first byte is sent; may be nil
	Patience time.Duration // how long a client may take for each MiB; forever if zero

	Status int   // 0 if nothing was sent
	Bytes  int64 // of the body

	until time.Time // write deadline that was set last
}

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the status.
func (w *Writer) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *Writer) begin(status int) {
	if w.Status == 0 {
		w.Status = status
		if w.Begin != nil {
			w.Begin()
		}
	}
}

// Write sends a part of the body.
func (w *Writer) Write(part []byte) (int, error) {
	w.begin(http.StatusOK)
	w.extend()
	n, err := w.ResponseWriter.Write(part)
	w.Bytes += int64(n)
	return n, err
}

// ReadFrom sends a body from a file without copying it through this process.
func (w *Writer) ReadFrom(from io.Reader) (sent int64, err error) {
	w.begin(http.StatusOK)
	for err == nil {
		w.extend()
		var n int64
		n, err = io.CopyN(w.ResponseWriter, from, 1<<20)
		sent += n
		w.Bytes += n
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return sent, err
}

// extend moves the write deadline when half of it has passed.
func (w *Writer) extend() {
	if now := time.Now(); w.Patience > 0 && w.until.Sub(now) < w.Patience/2 {
		w.until = now.Add(w.Patience)
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.until) // a test has none
	}
}
