package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
)

// origin is what is known of an item besides its contents.
type origin struct {
	given  bool // the feed gives its id
	offset int  // of its end
}

// identify makes the ids of distinct items distinct. Of items with the same id and link,
// repetitions and older versions are left out; the others get the id with a digest.
func (r *reader) identify() {
	items := r.out.Items
	if !repeatedIDs(items) {
		return
	}
	groups := groupsOf(items)
	out := make([]bool, len(items))
	for i := range items {
		if group := groups[i]; group != nil {
			r.separate(r.versions(group, out))
		}
	}
	kept := items[:0]
	for i := range items {
		if !out[i] {
			kept = append(kept, items[i])
		}
	}
	r.out.Items = kept
}

// repeatedIDs reports whether two items have the same id.
func repeatedIDs(items []courant.Item) bool {
	ids := make(map[string]struct{}, len(items))
	for i := range items {
		ids[items[i].ID] = struct{}{}
	}
	return len(ids) < len(items)
}

// groupsOf returns the items that share id and link, by the first of them. The address is
// the identity of Turbo pages and of withdrawals, so these are in no group.
func groupsOf(items []courant.Item) map[int][]int {
	type key struct{ id, link string }
	first := make(map[key]int, len(items))
	groups := map[int][]int{}
	for i := range items {
		it := &items[i]
		if it.Withdrawn || it.Turbo != nil || it.Cut {
			continue
		}
		k := key{it.ID, it.Link}
		at, seen := first[k]
		if !seen {
			first[k] = i
			continue
		}
		if groups[at] == nil {
			groups[at] = []int{at}
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// content is what makes items equal: a digest and the dates.
type content struct {
	digest, language   string
	published, updated int64
}

// versions marks the repetitions and older versions of a group as left out and returns
// the items that remain.
func (r *reader) versions(group []int, out []bool) (rest []int) {
	known, newest := make(map[content]int, 2*len(group)), make(map[string]int, len(group))
	for _, i := range group {
		it := &r.out.Items[i]
		whole := content{digest: it.Hash, language: it.Language, updated: it.Updated.UnixNano()} // the hash is at hand and finds most
		if _, ok := known[whole]; ok {
			r.leaveOut(i, out, true)
			continue
		}
		exact := content{r.hasher.digest(it, true), it.Language, it.Published.UnixNano(), it.Updated.UnixNano()}
		if at, ok := known[exact]; ok {
			r.leaveOut(i, out, true)
			r.merge(&r.out.Items[at], it)
			continue
		}
		known[whole], known[exact] = i, i
		if lost, ok := r.older(newest, r.version(i, exact.digest), i); ok {
			r.leaveOut(lost, out, false)
		}
	}
	for _, i := range group {
		if !out[i] {
			rest = append(rest, i)
		}
	}
	return rest
}

// older returns which of two versions of an item is older: item i, or the newest one so
// far. It reports false if there are not two, or nothing tells which one is older.
func (r *reader) older(newest map[string]int, version string, i int) (int, bool) {
	at, ok := newest[version]
	if !ok {
		newest[version] = i
		return 0, false
	}
	old, now := changed(&r.out.Items[at]), changed(&r.out.Items[i])
	if now.After(old.Time) {
		newest[version] = i
		return at, true
	}
	return i, now.Before(old.Time)
}

// label names an item in a warning.
func label(it *courant.Item) string { return strconv.Quote(bounded(firstOf(it.Title, it.Link, it.ID))) }

// leaveOut marks an item as left out, because it repeats another one or is an older
// version of it, and warns of that.
func (r *reader) leaveOut(i int, out []bool, repeats bool) {
	out[i] = true
	code, text := "older-version", "is an older version of another one"
	if repeats {
		code, text = "duplicate-item", "repeats an earlier one"
	}
	if r.counts[code] < maxPerCode {
		text = "the item " + label(&r.out.Items[i]) + " " + text + " and was left out; list each item once"
	}
	r.warn(code, r.origins[i].offset, "", text)
}

// version returns what the versions of one item have in common, if their dates differ:
// in Atom the id, as RFC 4287 says; elsewhere the id and the title; without an id the
// whole content, of which digest is the digest.
func (r *reader) version(i int, digest string) string {
	switch it := &r.out.Items[i]; {
	case !r.origins[i].given || changed(it).IsZero():
	case strings.HasPrefix(r.out.Format, "atom"):
		return "id"
	case it.Title != "":
		return "title " + it.Title
	}
	return digest
}

// changed is the date of the last change of an item.
func changed(it *courant.Item) courant.Time {
	if it.Updated.After(it.Published.Time) {
		return it.Updated
	}
	return it.Published
}

// merge adds the categories of a repetition: some feeds repeat an item in each of its
// categories.
func (r *reader) merge(it, other *courant.Item) {
	n := len(it.Categories)
	for _, c := range other.Categories {
		if !slices.Contains(it.Categories, c) && len(it.Categories) < maxList {
			it.Categories = append(it.Categories, c)
		}
	}
	if len(it.Categories) > n {
		it.Hash = r.hasher.hash(it)
	}
}

// separate gives the items of a group ids of their own: the id that they share, and a
// digest of the title if no other item of the group has it, else of title and content.
func (r *reader) separate(group []int) {
	if len(group) < 2 {
		return
	}
	titles := make(map[string]int, len(group))
	for _, i := range group {
		titles[r.out.Items[i].Title]++
	}
	for _, i := range group {
		it := &r.out.Items[i]
		alone := it.Title != "" && titles[it.Title] == 1
		it.ID = r.hasher.ownID(it, !alone)
	}
}

// OtherIDs returns the ids that an item would have beside other items: alone is its id
// where no other item has the same id and link, among that where several have them. One of
// the two is empty. Items with the titles of others are not found this way.
func OtherIDs(it *courant.Item) (alone, among string) {
	if i := strings.LastIndexByte(it.ID, '#'); i >= 0 {
		if _, err := hex.DecodeString(it.ID[i+1:]); err == nil && len(it.ID)-i-1 == idDigits {
			return it.ID[:i], ""
		}
	}
	var h hasher
	return "", h.ownID(it, it.Title == "")
}

// idDigits is the length of a digest in an id.
const idDigits = 16

// ownID is the id of an item that shares its id and link with others.
func (h *hasher) ownID(it *courant.Item, whole bool) string {
	return courant.ShortID(it.ID + "#" + h.digest(it, whole))
}

// digest returns idDigits hexadecimal digits of a digest of an item's title and, if whole
// is set, of its language, texts and files. Like the hash it ignores counters,
// advertisements and parameters of addresses that change by themselves.
func (h *hasher) digest(it *courant.Item, whole bool) string {
	h.buf = h.buf[:0]
	h.text(it.Title)
	if whole {
		h.text(it.Language)
		h.html(it.Summary)
		h.html(it.Content)
		h.set(len(it.Enclosures), func(i int) { h.text(stable(it.Enclosures[i].URL)) })
	}
	sum := sha256.Sum256(h.buf)
	return hex.EncodeToString(sum[:idDigits/2])
}
