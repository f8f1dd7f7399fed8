package catalog

import "strings"

// The words for the availability of an offer. In stock has none.
const (
	outOfStock = "out_of_stock"
	preorder   = "preorder"
	backorder  = "backorder"
)

// availability returns whether an offer can be bought now, and the word for it, "" if
// there is nothing to add. It accepts the words of Google Merchant and of schema.org in
// any spelling, booleans, numbers of pieces and common words in other languages. known
// is false for other words, which are then the word.
func availability(text string) (available bool, word string, known bool) {
	switch text {
	case "true", "in stock", "in_stock":
		return true, "", true
	case "false":
		return false, "", true
	}
	text = strings.ToLower(strings.TrimSpace(text))
	key := text
	if i := strings.LastIndexAny(key, "/#"); i >= 0 && strings.Contains(key, "schema.org") {
		key = key[i+1:]
	}
	key = strings.TrimPrefix(key, "schema:")
	switch key = letters.Replace(key); key {
	case "instock", "available", "true", "1", "yes", "y", "да", "есть", "вналичии", "наскладе", "естьвналичии", "внаявності", "auflager", "lieferbar",
		"sofortlieferbar", "enstock", "disponible", "disponibile", "skladem", "dostępny", "dostepny":
		return true, "", true
	case "availablefororder":
		return true, "available_for_order", true
	case "limitedavailability", "limitedstock", "lowstock":
		return true, "limited_availability", true
	case "onlineonly":
		return true, "online_only", true
	case "instoreonly":
		return true, "in_store_only", true
	case "outofstock", "soldout", "notavailable", "unavailable", "нетвналичии", "отсутствует", "немаєвнаявності", "распродано", "продано", "ausverkauft",
		"nichtlieferbar", "épuisé", "agotado", "vyprodáno", "niedostępny":
		return false, outOfStock, true
	case "discontinued", "снятспроизводства":
		return false, "discontinued", true
	case "preorder", "presale", "предзаказ":
		return false, preorder, true
	case "backorder", "backordered", "onorder", "madetoorder", "подзаказ", "назаказ", "ожидается", "підзамовлення":
		return false, backorder, true
	case "false", "no", "n", "нет", "ні":
		return false, "", true
	}
	if key != "" && strings.Trim(key, "0123456789") == "" { // a number of pieces
		return !isZero(key), "", true
	}
	return false, line(text), false
}

var letters = strings.NewReplacer(" ", "", "_", "", "-", "", "\u00a0", "", ".", "", "!", "")

// readAvailability sets whether an offer is available from the current value.
func (d *draft) readAvailability(r *reader, text string) {
	if text == "" {
		return
	}
	available, word, known := availability(text)
	if !known {
		r.here("unknown-availability", "the availability is not a known word, so the offer is not shown as in stock; write in_stock, out_of_stock, preorder or backorder")
	}
	if word == "" && !available && r.merchant { // in YML it means that the shop orders it
		word = outOfStock
	}
	d.Available, d.Availability = available, word
}
