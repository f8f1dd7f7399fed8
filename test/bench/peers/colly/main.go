// Command colly is a small web on loopback and a crawler built on Colly that downloads
// it, for comparison with the robot.
//
// It is a separate module, so that Courant does not depend on Colly.
//
//	colly serve 127.0.0.1:9300          is a forward proxy that answers for every host
//	colly crawl 127.0.0.1:9300 200 100  downloads 100 pages from each of 200 hosts
//	colly save 127.0.0.1:9300 200 100   does the same and saves each page in a file
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	log.SetFlags(0)
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		log.Fatal(serve(os.Args[2]))
	case len(os.Args) == 5 && (os.Args[1] == "crawl" || os.Args[1] == "save"):
		hosts, err := strconv.Atoi(os.Args[3])
		if err != nil {
			log.Fatal(err)
		}
		pages, err := strconv.Atoi(os.Args[4])
		if err != nil {
			log.Fatal(err)
		}
		if err := crawl(os.Args[2], hosts, pages, os.Args[1] == "save"); err != nil {
			log.Fatal(err)
		}
	default:
		log.Fatal("usage: colly serve ADDR | colly crawl ADDR HOSTS PAGES | colly save ADDR HOSTS PAGES")
	}
}

// serve answers each address with a page of 20 KB, gzipped if the client accepts that.
func serve(addr string) error {
	page := []byte("<html><body>" + strings.Repeat("<p>What is new today, and what was it yesterday?</p>\n", 380) + "</body></html>")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(page)
	z.Close()
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
			return
		}
		w.Write(page)
	}))
}

// crawl downloads all pages as fast as possible; it obeys robots.txt.
func crawl(addr string, hosts, pages int, save bool) error {
	dir, err := os.MkdirTemp("", "colly")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := colly.NewCollector(colly.Async(true), colly.UserAgent("colly-peer"))
	c.IgnoreRobotsTxt = false
	c.WithTransport(&http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: addr}), MaxIdleConnsPerHost: 512, MaxIdleConns: 512})
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 256}); err != nil {
		return err
	}
	var got, failed atomic.Int64
	c.OnResponse(func(r *colly.Response) {
		n := got.Add(1)
		if !save {
			return
		}
		if err := r.Save(fmt.Sprintf("%s/%d", dir, n)); err != nil {
			log.Fatal(err)
		}
	})
	c.OnError(func(*colly.Response, error) { failed.Add(1) })
	before, began := cpu(), time.Now()
	for p := range pages {
		for h := range hosts {
			if err := c.Visit(fmt.Sprintf("http://h%d.example/%d", h, p)); err != nil {
				return err
			}
		}
	}
	c.Wait()
	took, used := time.Since(began).Seconds(), (cpu() - before).Seconds()
	fmt.Printf("colly, saving %v: %d pages, %d failed: %.0f per second, %.0f per CPU second\n", save, got.Load(), failed.Load(), float64(got.Load())/took, float64(got.Load())/used)
	return nil
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
