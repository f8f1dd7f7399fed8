package courant

import "time"

// Offer is a product of a catalogue. Prices are decimal numbers as strings, with the
// digits that the shop gave; "" is no price. Texts are plain except Description, which
// is cleaned HTML. URLs are absolute. Fields that only some kinds of catalogue have are
// omitted from JSON when empty.
type Offer struct {
	ID          string   `json:"id"`
	GroupID     string   `json:"group_id"` // variants of one product share it
	Type        string   `json:"type"`     // vendor.model, book, …; "" for the plain one
	Available   bool     `json:"available"`
	URL         string   `json:"url"`
	Name        string   `json:"name"`      // as shown to readers
	Price       string   `json:"price"`     // as of the reading; see PriceAt
	OldPrice    string   `json:"old_price"` // before the discount
	Currency    string   `json:"currency"`  // ISO 4217
	CategoryID  string   `json:"category_id"`
	Category    []string `json:"category"` // names from the root
	Pictures    []string `json:"pictures"`
	Vendor      string   `json:"vendor"`
	VendorCode  string   `json:"vendor_code"`
	Model       string   `json:"model"`
	Description string   `json:"description"`
	Barcodes    []string `json:"barcodes"`
	Params      []Param  `json:"params"`
	Hash        string   `json:"hash"` // of the content, hexadecimal; see read/catalog

	Sale            *Sale      `json:"sale,omitempty"`          // a discount with dates
	Availability    string     `json:"availability,omitempty"`  // out_of_stock, preorder, backorder, …; "" for in stock; unknown words as written
	CategoryPath    []string   `json:"category_path,omitempty"` // ids from the root, parallel to Category
	TypePrefix      string     `json:"type_prefix,omitempty"`
	PriceFrom       bool       `json:"price_from,omitempty"` // the price is the lowest of several
	Country         string     `json:"country,omitempty"`    // of origin
	SalesNotes      string     `json:"sales_notes,omitempty"`
	Condition       string     `json:"condition,omitempty"` // likenew, used, refurbished
	ConditionReason string     `json:"condition_reason,omitempty"`
	Age             string     `json:"age,omitempty"`        // minimum age, such as 6 year
	Weight          string     `json:"weight,omitempty"`     // with its unit
	Dimensions      string     `json:"dimensions,omitempty"` // length/width/height, cm
	Expiry          string     `json:"expiry,omitempty"`
	VAT             string     `json:"vat,omitempty"`
	Adult           bool       `json:"adult,omitempty"`
	Store           *bool      `json:"store,omitempty"` // can be bought in a shop
	Pickup          *bool      `json:"pickup,omitempty"`
	Delivery        *bool      `json:"delivery,omitempty"`
	DeliveryOptions []Shipping `json:"delivery_options,omitempty"`
	PickupOptions   []Shipping `json:"pickup_options,omitempty"`
	Outlets         []Outlet   `json:"outlets,omitempty"`
	MinQuantity     string     `json:"min_quantity,omitempty"`
	StepQuantity    string     `json:"step_quantity,omitempty"`
	Warranty        string     `json:"warranty,omitempty"`
	Recommended     []string   `json:"recommended,omitempty"` // offer ids
	Sets            []string   `json:"sets,omitempty"`        // ids of the catalogue's sets
	Details         []Param    `json:"details,omitempty"`     // specific to the offer's type (author, days, hall), or not known
}

// Sale is a price that applies for a time. Begins and Ends are zero if that side is open.
type Sale struct {
	Price   string `json:"price"`
	Regular string `json:"regular"` // the price before and after
	Begins  Time   `json:"begins"`
	Ends    Time   `json:"ends"` // the first moment at which it does not apply
}

// PriceAt returns the price and the old price at a time. They are Price and OldPrice
// unless the offer has a sale with dates.
func (o *Offer) PriceAt(now time.Time) (price, oldPrice string) {
	s := o.Sale
	switch {
	case s == nil:
		return o.Price, o.OldPrice
	case now.Before(s.Begins.Time), !s.Ends.IsZero() && !now.Before(s.Ends.Time):
		return s.Regular, ""
	}
	return s.Price, s.Regular
}

// PriceChanges returns the next moment after now at which PriceAt returns another price,
// the zero time if there is none.
func (o *Offer) PriceChanges(now time.Time) time.Time {
	if o.Sale == nil {
		return time.Time{}
	}
	for _, t := range [...]Time{o.Sale.Begins, o.Sale.Ends} {
		if t.After(now) {
			return t.Time
		}
	}
	return time.Time{}
}

// Param is a property of an offer. A name may occur several times.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit"`
}

// Shipping is one way to get an offer. Days is a number, a range such as "2-4", or "".
type Shipping struct {
	Cost        string `json:"cost"`
	Days        string `json:"days"`
	OrderBefore string `json:"order_before,omitempty"` // hour of the day
	Where       string `json:"where,omitempty"`        // country and region
	Service     string `json:"service,omitempty"`
}

// Outlet is a shop where an offer is available.
type Outlet struct {
	ID      string `json:"id"`
	InStock string `json:"in_stock"`
	Booking string `json:"booking,omitempty"`
}

// Category is a node of a catalogue's tree. Parent is "" at the root.
type Category struct {
	ID     string `json:"id"`
	Parent string `json:"parent"`
	Name   string `json:"name"`
}

// Currency is a currency of a catalogue's prices. Rate is a number, or the bank whose
// rate applies.
type Currency struct {
	ID   string `json:"id"`
	Rate string `json:"rate"`
	Plus string `json:"plus,omitempty"` // percent added to the rate
}

// Set is a named group of offers.
type Set struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Gift is a gift of a promotion that is not an offer itself.
type Gift struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Pictures []string `json:"pictures"`
}

// Promo is a promotion of a shop.
type Promo struct {
	ID          string         `json:"id"`
	Type        string         `json:"type"` // gift with purchase, n plus m, promo code, flash discount, bonus card
	Start       Time           `json:"start"`
	End         Time           `json:"end"`
	Description string         `json:"description"`
	URL         string         `json:"url"`
	Code        string         `json:"code,omitempty"`
	Discount    string         `json:"discount,omitempty"` // with its unit or currency
	Required    string         `json:"required_quantity,omitempty"`
	Free        string         `json:"free_quantity,omitempty"`
	Products    []PromoProduct `json:"products"`
	Gifts       []PromoGift    `json:"gifts"`
}

// PromoProduct is what a promotion applies to: an offer or a category.
type PromoProduct struct {
	Offer    string `json:"offer,omitempty"`
	Category string `json:"category,omitempty"`
	Price    string `json:"price,omitempty"` // with the discount
	Currency string `json:"currency,omitempty"`
}

// PromoGift is what a promotion gives: an offer or a gift.
type PromoGift struct {
	Offer string `json:"offer,omitempty"`
	Gift  string `json:"gift,omitempty"`
}

// Shop is what a catalogue says about the shop, apart from its offers.
type Shop struct {
	Company         string     `json:"company,omitempty"`
	Phone           string     `json:"phone,omitempty"`
	Email           string     `json:"email,omitempty"`
	Platform        string     `json:"platform,omitempty"`
	Currencies      []Currency `json:"currencies,omitempty"`
	DeliveryOptions []Shipping `json:"delivery_options,omitempty"`
	PickupOptions   []Shipping `json:"pickup_options,omitempty"`
	Sets            []Set      `json:"sets,omitempty"`
	Gifts           []Gift     `json:"gifts,omitempty"`
	Promos          []Promo    `json:"promos,omitempty"`
	Details         []Param    `json:"details,omitempty"` // version, agency, store, local_delivery_cost, …
}

// SitemapURL is an entry of a sitemap.
type SitemapURL struct {
	Loc       string   `json:"loc"`
	Modified  Time     `json:"lastmod"`
	Changes   string   `json:"changefreq,omitempty"`
	Priority  string   `json:"priority,omitempty"`
	Title     string   `json:"title,omitempty"` // of news
	Name      string   `json:"publication,omitempty"`
	Language  string   `json:"language,omitempty"`
	Published Time     `json:"published"`
	Images    []string `json:"images,omitempty"`
	Videos    []string `json:"videos,omitempty"`
}
