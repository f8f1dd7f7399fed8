package explain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/courant-platform/courant"
)

// plain rephrases errors of the standard library's networking packages.
func plain(err error) error {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	var dns *net.DNSError
	text := err.Error()
	switch {
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.Invalid), errors.Is(err, courant.NotFound), errors.Is(err, courant.Busy),
		errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "connection refused: nothing listens there"
	case errors.As(err, &certificate), errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.HostnameError)):
		text = "invalid TLS certificate: " + after(text, "x509: ")
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		text = "the server does not speak HTTPS"
	case strings.Contains(text, "tls: "):
		text = "TLS handshake failed: " + after(text, "tls: ")
	case strings.Contains(text, "malformed MIME header"), strings.Contains(text, "invalid header"):
		text = "the response has a header that is not valid"
	case strings.Contains(text, "malformed"), strings.Contains(text, "HTTP/1.x transport connection broken"):
		text = "the server does not speak HTTP"
	case strings.Contains(text, "headers exceeded"):
		text = "the response header is too large"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		text = "the server closed the connection before the response was complete"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		text = "no route to the host"
	case errors.As(err, &dns):
		text = "the host name could not be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		text = "timeout: no response in time"
	}
	return errors.New(text)
}

// after is the text after a mark, or the whole text.
func after(text, mark string) string {
	if _, rest, ok := strings.Cut(text, mark); ok {
		return rest
	}
	return text
}
