//go:build unix

package xmlscan_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// hostile holds documents in proportion to n that make a naive scanner search to the end
// again and again.
var hostile = map[string]func(n int) string{
	"deep":       func(n int) string { return strings.Repeat("<a>", 10*n) },
	"deep ends":  func(n int) string { return strings.Repeat("<a>", 300) + strings.Repeat("</b>", 10*n) },
	"attributes": func(n int) string { return "<a " + strings.Repeat("b ", 20*n) + ">" },
	"quotes":     func(n int) string { return strings.Repeat(`<a b="`, 5*n) },
	"quotes2":    func(n int) string { return strings.Repeat(`<a b="><c d='>`, 5*n) },
	"open":       func(n int) string { return strings.Repeat("<", 40*n) },
	"cdata":      func(n int) string { return strings.Repeat("<![CDATA[", 5*n) },
	"comments":   func(n int) string { return strings.Repeat("<!--", 10*n) },
	"pi2":        func(n int) string { return strings.Repeat("<?a>", 10*n) },
	"pi":         func(n int) string { return strings.Repeat("<?", 20*n) },
	"doctype":    func(n int) string { return strings.Repeat("<!DOCTYPE [", 5*n) },
	"doctype2":   func(n int) string { return strings.Repeat(`<!DOCTYPE "`, 5*n) },
	"doctype3":   func(n int) string { return strings.Repeat("<!DOCTYPE [>", 5*n) },
	"prefixes":   func(n int) string { return "<r>" + strings.Repeat(`<a xmlns:p="u">`, 5*n) },
	"spaces": func(n int) string {
		return strings.Repeat("<a"+strings.Repeat(` xmlns:p="u"`, 250)+">", n/16) + strings.Repeat("<b/>", 5*n)
	},
	"references": func(n int) string { return "<r>" + strings.Repeat("&a", 20*n) },
	"ends":       func(n int) string { return strings.Repeat("</a", 10*n) },
	"names":      func(n int) string { return strings.Repeat("<a\xc3b:c", 5*n) },
}

// Four times the document takes four times the CPU time if the scanner is linear and
// sixteen times if it is quadratic. The minimum of several runs excludes other load on
// the machine.
func TestHostileDocumentsCostLinearTime(t *testing.T) {
	const n, few, many = 800, 3, 10
	for name, document := range hostile {
		small, large := document(n), document(4*n)
		short, long := time.Hour, time.Hour
		for i := range many {
			short, long = min(short, cost(t, small)), min(long, cost(t, large))
			if i >= few-1 && long < 8*short {
				break
			}
		}
		if long >= 8*short {
			t.Errorf("%s: %v for %d bytes, %v for %d", name, short, len(small), long, len(large))
		}
	}
}

// cost returns the CPU time of reading a document, by tokens and as one element. It
// repeats the reading until the time is long enough to measure.
func cost(t *testing.T, src string) time.Duration {
	start, n, spent := cpu(t), 0, time.Duration(0)
	for ; spent < 10*time.Millisecond; spent = cpu(t) - start {
		tokens := xmlscan.Scanner{Source: src, Report: func(xmlscan.Fault) {}}
		for tokens.Next() != xmlscan.EOF {
		}
		whole := xmlscan.Scanner{Source: src}
		whole.Next()
		whole.Inner(nil)
		n++
	}
	return spent / time.Duration(n)
}

// cpu returns the CPU time of this process.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
