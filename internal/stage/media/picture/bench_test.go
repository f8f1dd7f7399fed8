//go:build unix

package picture_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"syscall"
	"testing"
	"time"

	"golang.org/x/image/draw"

	"github.com/courant-platform/courant/internal/stage/media/picture"
)

// BenchmarkResize compares Resize with the usual method, both from JPEG to JPEG, by
// the CPU time of the same run.
func BenchmarkResize(b *testing.B) {
	body := jpegOf(b, photo(1200, 800))
	var s picture.Scaler
	var ours, usual time.Duration
	for b.Loop() {
		start := cpu(b)
		if small, _, err := s.Resize(b.Context(), body, 640); err != nil || small == nil {
			b.Fatal(err)
		}
		between := cpu(b)
		catmullRom(b, body)
		ours, usual = ours+between-start, usual+cpu(b)-between
	}
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "ms-ours/op")
	b.ReportMetric(float64(usual.Microseconds())/1000/float64(b.N), "ms-CatmullRom/op")
	b.ReportMetric(float64(usual)/float64(ours), "times-faster")
}

func catmullRom(b *testing.B, body []byte) {
	m, err := jpeg.Decode(bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	small := image.NewRGBA(image.Rect(0, 0, 640, 427))
	draw.CatmullRom.Scale(small, small.Rect, m, m.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: 80}); err != nil {
		b.Fatal(err)
	}
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
