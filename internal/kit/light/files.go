package light

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// file is a link to a file that is attached to the item: a page plays and loads
// nothing from other sites.
type file struct {
	URL, Label string
	Play       bool
	About      string // length and size, such as 42:10 · 12.3 MB; "" if unknown
}

// files returns the attached files that neither the text links to nor the page shows.
func (p Page) files(text string) []file {
	var out []file
	for _, e := range p.Document.Item.Enclosures {
		if link.Host(e.URL) == "" || strings.Contains(text, `"`+escape(e.URL)+`"`) || strings.HasPrefix(e.Type, "image/") && p.show(e.URL) != nil {
			continue
		}
		out = append(out, file{URL: e.URL, Label: fileLabel(e), Play: isPlayed(e.Type), About: strings.Trim(duration(e.Duration)+" · "+size(e.Length), " ·")})
	}
	return out
}

func isPlayed(mediaType string) bool {
	return strings.HasPrefix(mediaType, "audio/") || strings.HasPrefix(mediaType, "video/")
}

// fileLabel is the text of the link to a file.
func fileLabel(e courant.Enclosure) string {
	host := link.Host(e.URL)
	switch {
	case e.Title != "":
		return e.Title + " (" + host + ")"
	case strings.HasPrefix(e.Type, "audio/"):
		return "Audio at " + host
	case strings.HasPrefix(e.Type, "video/"):
		return "Video at " + host
	}
	plain, _, _ := strings.Cut(e.URL, "?")
	if name := unescaped(path.Base(plain)); path.Ext(name) != "" && len(name) <= 80 && plain != "" {
		return name
	}
	return "File at " + host
}

// unescaped is a file name as people write it.
func unescaped(name string) string {
	if plain, err := url.PathUnescape(name); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return name
}

// duration is a number of seconds for people: 7:05, 1:02:03.
func duration(seconds int64) string {
	switch {
	case seconds <= 0:
		return ""
	case seconds < 3600:
		return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

// size is a number of bytes for people: 512 bytes, 1.5 kB, 12.3 MB.
func size(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1000:
		return fmt.Sprint(n, " bytes")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
