package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
)

func (f *flags) importFiles() *cobra.Command {
	var source, absence string
	c := &cobra.Command{
		Use: "import FILE…", Short: "Import local feeds and catalogues as if they had been fetched",
		Long: "Import local feeds and catalogues, compressed or not, as if they had been fetched. Each file is a source, named after the " +
			"file without folder and extensions (shop0001.yml.gz is shop0001) unless --source names it. A file that has not changed is not read again.",
		Example: "  courant import shop0001.yml.gz\n  courant import --source shop --absence kept prices.xml", Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			if source != "" && len(files) > 1 {
				return usageError{fmt.Errorf("--source names one source, but %d files are given; a file is the whole content of its source", len(files))}
			}
			r, err := f.connectToAdd(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			return f.importEach(cmd.Context(), r, files, source, absence)
		},
	}
	c.Flags().StringVar(&source, "source", "", "name of the source")
	c.Flags().StringVar(&absence, "absence", "", `of a new catalogue: "kept" keeps offers that disappear from it; otherwise they are withdrawn`)
	return c
}

// importEach sends the files one after the other and waits until their pages are
// live. If no courant is running, this process does the work.
func (f *flags) importEach(ctx context.Context, r *app.Remote, files []string, source, absence string) error {
	ctx, stop := context.WithCancelCause(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop(nil)
	working.Go(func() {
		if err := r.Work(ctx, "parse", "media", "pages"); err != nil {
			stop(err)
		}
	})
	failed := 0
	taken := map[string]string{} // the file of each source
	for _, name := range files {
		result, err := f.importOne(ctx, r, name, source, absence, taken)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			failed++
			result.Error = err.Error()
		}
		if err := f.showImported(result); err != nil {
			return err
		}
	}
	switch cause := context.Cause(ctx); {
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	case cause != nil:
		return fmt.Errorf("interrupted; pages that are not live yet continue with the next run or import")
	case failed > 0:
		return fmt.Errorf("%d of %d files could not be imported", failed, len(files))
	}
	return nil
}

// imported is what became of one file.
type imported struct {
	File      string  `json:"file"`
	Source    string  `json:"source"`
	Items     int     `json:"items"`
	Pages     int     `json:"pages"`
	Waiting   int     `json:"waiting"` // pages that are not live yet
	Unchanged bool    `json:"unchanged"`
	Warnings  int     `json:"warnings"`
	Seconds   float64 `json:"seconds"`
	Pictures  int     `json:"pictures"` // pages some of whose pictures are still to be fetched, by a running courant
	Error     string  `json:"error,omitempty"`

	renamed bool   // the source's name differs from the file's, which is not a valid one
	fetched string // says when pictures are fetched
}

func (f *flags) importOne(ctx context.Context, r *app.Remote, name, source, absence string, taken map[string]string) (out imported, err error) {
	start := time.Now()
	out = imported{File: name, Source: source, fetched: "are fetched while courant runs"}
	if r.Running {
		out.fetched = "are being fetched"
	}
	if source == "" {
		if isPipe(name) {
			return out, usageError{fmt.Errorf("%s has no file name; name the source with --source", name)}
		}
		out.Source, out.renamed = sourceName(name)
	}
	if other, ok := taken[out.Source]; ok && other != name {
		return out, fmt.Errorf("%s would replace the source %s, which %s is a file of; a file is the whole content of its source: import it alone and name its source with --source",
			name, out.Source, other)
	}
	taken[out.Source] = name
	body, done, err := spooled(name)
	if err != nil {
		return out, err
	}
	defer done()
	digest, err := digestOf(body)
	if err != nil {
		return out, err
	}
	q := url.Values{"name": {out.Source}, "digest": {digest}, "absence": {absence}}
	var answer desk.Imported
	if err := r.Upload(ctx, "/api/v1/imports?"+q.Encode(), body, &answer); err != nil {
		if strings.Contains(err.Error(), "not a valid source name") {
			err = fmt.Errorf("%w; set one with --source", err)
		}
		return out, err
	}
	out.Unchanged = answer.Unchanged
	state, err := f.awaitPages(ctx, r, out.Source, start)
	out.Items, out.Pages, out.Waiting, out.Pictures, out.Seconds = state.Items, state.Pages, state.Waiting, state.Pictures, time.Since(start).Seconds()
	if err != nil || len(state.Report) == 0 {
		return out, err
	}
	var report sourceReport
	if err := json.Unmarshal(state.Report, &report); err != nil {
		return out, err
	}
	out.Warnings = warnings(report)
	if report.Error == "" {
		return out, nil
	}
	err = fmt.Errorf("%s", report.Error)
	if answer.New { // a file that cannot be read leaves no source behind
		err = errors.Join(err, r.Do(ctx, http.MethodDelete, "/api/v1/sources/"+url.PathEscape(out.Source), nil, nil))
	}
	return out, err
}

// awaitPages waits until all pages of the source are live.
func (f *flags) awaitPages(ctx context.Context, r *app.Remote, source string, start time.Time) (state api.SourceState, err error) {
	show := progress{quiet: f.json, name: source, start: start}
	defer show.clear()
	path := "/api/v1/sources/" + url.PathEscape(source)
	var last api.Progress
	moved := time.Now()
	for {
		var p api.Progress
		if err := r.Do(ctx, http.MethodGet, path+"/progress", nil, &p); err != nil {
			return state, err
		}
		if p != last {
			last, moved = p, time.Now()
		}
		if p.Read && (p.Waiting == 0 || time.Since(moved) > stuckAfter) {
			return state, r.Do(ctx, http.MethodGet, path, nil, &state)
		}
		show.line(p)
		select {
		case <-ctx.Done():
			return state, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stuckAfter is how long pages of a file that has been read may make no progress before
// they are taken to wait for a process that does not run.
const stuckAfter = 20 * time.Second

// progress is a line on a terminal that shows the progress of an import.
type progress struct {
	quiet bool
	name  string
	start time.Time
	shown bool
}

func (p *progress) line(s api.Progress) {
	if p.quiet || !isTerminal(os.Stderr) {
		return
	}
	p.shown = true
	text := fmt.Sprintf("%d read", s.Reading)
	if s.Read {
		text = fmt.Sprintf("%d read, %d parts left", s.Items, s.Waiting)
	}
	fmt.Fprintf(os.Stderr, "\r\033[K%s: %s, %.0f s", p.name, text, time.Since(p.start).Seconds())
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (f *flags) showImported(i imported) error {
	if f.json {
		return writeJSON(os.Stdout, i)
	}
	switch {
	case i.Error != "":
		fmt.Printf("%s: %s\n", cmp.Or(named(i.Source), printable(i.File)), printable(i.Error))
	case i.Unchanged:
		fmt.Printf("%s: unchanged, %s\n", i.Source, count(i.Pages, "page"))
	default:
		fmt.Printf("%s: %d read, %s, %.1f s\n", i.Source, i.Items, count(i.Pages, "page"), i.Seconds)
		if i.Items > 0 && i.Pages == 0 && i.Waiting == 0 {
			fmt.Println("  no item became a page: the file withdraws them, or another source has pages at their addresses")
		}
	}
	if i.renamed && i.Error == "" {
		fmt.Printf("  the source of %[2]s is named %[1]s; choose another name with --source\n", i.Source, printable(i.File))
	}
	if i.Waiting > 0 {
		fmt.Printf("  %s wait: no process with the role pages or media takes them up\n", count(i.Waiting, "more page"))
	}
	if i.Pictures > 0 {
		fmt.Printf("  %s still without some pictures, which %s\n", count(i.Pictures, "page"), i.fetched)
	}
	if i.Warnings > 0 {
		fmt.Printf("  %s; see: courant source show %s\n", count(i.Warnings, "warning"), named(i.Source))
	}
	return nil
}

// isPipe says whether a file's name tells nothing about its content.
func isPipe(name string) bool {
	return name == "-" || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/")
}

// spooled opens a file that can be read twice: a pipe is copied into a temporary
// file first.
func spooled(name string) (f *os.File, done func(), err error) {
	in, err := openFile(name)
	if err != nil {
		return nil, nil, err
	}
	f, ok := in.(*os.File)
	if ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, func() { f.Close() }, nil
		}
	}
	defer in.Close()
	if f, err = os.CreateTemp("", "courant-import-"); err != nil {
		return nil, nil, err
	}
	done = func() { f.Close(); os.Remove(f.Name()) }
	if _, err = io.Copy(f, in); err != nil {
		done()
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	return f, done, nil
}

// digestOf is the SHA-256 of a file in hexadecimal. It rewinds the file.
func digestOf(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	_, err := f.Seek(0, io.SeekStart)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// sourceName is the name of a file without folder and extensions, as a valid name of
// a source, and whether it had to be changed.
func sourceName(file string) (plain string, renamed bool) {
	name := filepath.Base(file)
	for {
		ext := strings.ToLower(filepath.Ext(name))
		switch ext {
		case ".gz", ".zip", ".zst", ".yml", ".yaml", ".xml", ".rss", ".atom", ".rdf", ".json", ".feed", ".txt":
			name = name[:len(name)-len(ext)]
			continue
		}
		break
	}
	plain = plainName(norm.NFC.String(name))
	return plain, plain != norm.NFC.String(name)
}

// plainName makes a name of letters, digits, dots and dashes. If more than spaces is
// replaced, a digest of the name is added, so that two files do not become one source.
func plainName(name string) string {
	lost := false
	plain := strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsMark(c), unicode.IsDigit(c), c == '.', c == '_', c == '-':
			return c
		case c != ' ':
			lost = true
		}
		return '-'
	}, name), "-._")
	plain = strings.TrimLeftFunc(plain, unicode.IsMark)
	if letters := []rune(plain); len(letters) > longestName {
		plain, lost = string(letters[:longestName]), true
	}
	if lost || plain == "" {
		sum := sha256.Sum256([]byte(name))
		plain = strings.TrimLeft(plain+"-"+hex.EncodeToString(sum[:3]), "-")
	}
	return plain
}

const longestName = 80 // letters
