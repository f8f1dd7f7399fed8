package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/test/rig"
)

// town is a forward proxy to a web of a log, a podcast and a shop. The shop's sale
// begins and ends at the given times.
func town(t *testing.T, begins, ends time.Time) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		switch r.Host + r.URL.Path {
		case "log.test/feed": // no ids, one link and one date for all; one item has no link
			fmt.Fprint(w, `<rss version="2.0"><channel><title>The change log</title><link>http://log.test/</link>`)
			for _, n := range []string{"One", "Two", "Three"} {
				fmt.Fprintf(w, `<item><title>Release %s</title><link>http://log.test/log</link><pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate><description>What is new in %s</description></item>`, n, n)
			}
			fmt.Fprint(w, `<item><title>Without a link</title><description>It is found all the same</description></item></channel></rss>`)
		case "pod.test/feed":
			fmt.Fprint(w, `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>The pod</title><link>http://pod.test/</link>
<item><guid>e1</guid><link>http://pod.test/1</link><title>The &lt;video&gt; element</title><category>Talks</category><category>Web</category>
<enclosure url="http://cdn.test/a.m4a?x=1&amp;amp;y=2" type="audio/mp4" length="12345678"/>
<media:description>First line.
Second line: 5 &lt; 6.</media:description></item></channel></rss>`)
		case "shop.test/feed": // no prefix, no namespace: the fields say what it is
			fmt.Fprintf(w, `<rss version="2.0"><channel><title>The shop</title><link>http://shop.test/</link><description>d</description>
<item><id>1</id><title>Tom &amp;amp; Jerry cup</title><link>http://shop.test/1</link><description>A cup.</description><image_link>http://shop.test/1.jpg</image_link>
<availability>https://schema.org/InStock</availability><price>100.00 EUR</price><sale_price>80.00 EUR</sale_price>
<sale_price_effective_date>%s/%s</sale_price_effective_date></item>
<item><id>2</id><title>Kettle</title><link>http://shop.test/2</link><price>1 299,00 EUR</price><sale_price>0</sale_price></item></channel></rss>`,
				begins.UTC().Format(time.RFC3339), ends.UTC().Format(time.RFC3339))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// pagesOf returns the pages of a source by their titles.
func pagesOf(t *testing.T, c *rig.Courant, source string) map[string]string {
	t.Helper()
	var list struct{ Pages []struct{ Title, URL string } }
	if status, body := c.Get(t, "/api/v1/pages?source="+source); json.Unmarshal(body, &list) != nil {
		t.Fatalf("%s: %d %s", source, status, body)
	}
	out := map[string]string{}
	for _, p := range list.Pages {
		out[p.Title] = p.URL
	}
	return out
}

// shown returns the HTML of a page.
func shown(t *testing.T, c *rig.Courant, address string) string {
	t.Helper()
	status, body := c.Get(t, "/page?url="+url.QueryEscape(address))
	if status != http.StatusOK {
		t.Fatalf("%s: status %d", address, status)
	}
	_, after, _ := strings.Cut(string(body), "</style>")
	return after
}

// have fails the test for each of the texts that the page lacks.
func have(t *testing.T, c *rig.Courant, address string, texts ...string) {
	t.Helper()
	html := shown(t, c, address)
	for _, want := range texts {
		if !strings.Contains(html, want) {
			t.Errorf("%s: no %q in\n%s", address, want, html)
		}
	}
}

// TestWhatSourcesBringReachesPageAPIAndSearch follows real shapes of input to the end.
func TestWhatSourcesBringReachesPageAPIAndSearch(t *testing.T) {
	t.Parallel()
	begins, ends := time.Now().Add(12*time.Second).Truncate(time.Second), time.Now().Add(20*time.Second).Truncate(time.Second)
	c := programs.Courant(t, rig.Config(`robot.proxy = "`+town(t, begins, ends).URL+`"`, `robot.gap = "50ms"`))
	c.Start(t)
	for _, source := range []string{"log", "pod", "shop"} {
		if r := c.Do(t, "source", "add", "--name", source, "http://"+source+".test/feed"); r.Status != 0 {
			t.Fatalf("%s%s", r.Out, r.Err)
		}
	}
	if !rig.Until(settleTime, func() bool { return len(c.Newest(t)) == 7 }) {
		t.Fatalf("got %v", c.Newest(t))
	}
	logged := pagesOf(t, c, "log")
	for _, n := range []string{"Release One", "Release Two", "Release Three"} {
		have(t, c, logged[n], "<h1>"+n+"</h1>", "What is new in", `The original is at <a href="http://log.test/log"`, "The change log")
	}
	have(t, c, logged["Without a link"], "It is found all the same", "From The change log, which names no original page.")
	have(t, c, "http://pod.test/1", "The &lt;video&gt; element", "Talks · Web", `href="http://cdn.test/a.m4a?x=1&amp;y=2"`, "Audio at cdn.test", "12.3 MB", "First line.<br>", "5 &lt; 6.")
	var p struct {
		Title      string
		Categories []string
		Enclosures []courant.Enclosure
	}
	if _, body := c.Get(t, "/api/v1/page?url="+url.QueryEscape("http://pod.test/1")); json.Unmarshal(body, &p) != nil || len(p.Categories) != 2 || len(p.Enclosures) != 1 || p.Enclosures[0].Length != 12345678 {
		t.Errorf("the API has %s", body)
	}
	for text, want := range map[string]int{"release": 3, "found all the same": 1, "cup": 1, "kettle": 1} {
		if got := hits(t, c, text); !rig.Until(settleTime, func() bool { got = hits(t, c, text); return len(got) == want }) {
			t.Errorf("searching %q finds %v, want %d", text, got, want)
		}
	}
	have(t, c, "http://shop.test/2", `itemprop="price" content="1299.00"`)
	cup(t, c, "100.00", begins)
	cup(t, c, "80.00", ends)
	cup(t, c, "100.00", ends.Add(settleTime))
}

type hit struct{ URL, Title, Price string }

func hits(t *testing.T, c *rig.Courant, text string) []hit {
	t.Helper()
	var answer struct{ Hits []hit }
	if status, body := c.Get(t, "/api/v1/search?text="+url.QueryEscape(text)); json.Unmarshal(body, &answer) != nil {
		t.Fatalf("search: %d %s", status, body)
	}
	return answer.Hits
}

// cup fails the test unless page, API and search have the cup at a price before a time.
func cup(t *testing.T, c *rig.Courant, price string, before time.Time) {
	t.Helper()
	const address = "http://shop.test/1"
	var said string
	ok := rig.Until(time.Until(before), func() bool {
		var p struct{ Offer courant.Offer }
		if status, body := c.Get(t, "/api/v1/page?url="+url.QueryEscape(address)); json.Unmarshal(body, &p) != nil {
			t.Fatalf("page: %d %s", status, body)
		}
		found := hits(t, c, "cup")
		said = fmt.Sprintf("the API has %s, the search %+v, the page\n%s", p.Offer.Price, found, shown(t, c, address))
		return p.Offer.Price == price && p.Offer.Available && len(found) == 1 && found[0].Title == "Tom & Jerry cup" && found[0].Price == strings.TrimSuffix(price, ".00") &&
			strings.Contains(said, `itemprop="price" content="`+price+`"`)
	})
	if !ok {
		t.Errorf("not at %s before %v: %s", price, before, said)
	}
}
