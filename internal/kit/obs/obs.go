// Package obs exports metrics to Prometheus. A nil Set records nothing, so tests need
// no Set.
package obs

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Set holds the metrics of one process. Names of counters end in _total; histograms
// are in seconds. Every use of a metric must have the same label names.
type Set struct {
	registry *prometheus.Registry
	// mu guards counters, times and gauges.
	mu       sync.RWMutex
	counters map[string]*prometheus.CounterVec
	times    map[string]*prometheus.HistogramVec
	gauges   map[string]*prometheus.GaugeVec
	helps    map[string]string
}

// Metric names of which the buckets are not the usual ones.
var buckets = map[string][]float64{
	"courant_pages_fetched_to_live_seconds": {.05, .1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600, 6 * 3600, 24 * 3600},
}

var usualBuckets = []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 2, 5, 10, 30, 60}

// Explain sets the help texts of metrics by name. It must be called before they are used.
func (s *Set) Explain(helps map[string]string) { s.helps = helps }

// Func adds a gauge that is read when the metrics are; labels alternate names and values.
func (s *Set) Func(name string, value func() float64, labels ...string) {
	names, values := split(labels)
	fixed := prometheus.Labels{}
	for i := range names {
		fixed[names[i]] = values[i]
	}
	s.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: s.help(name), ConstLabels: fixed}, value))
}

// New returns a Set with the metrics of the Go runtime and the process.
func New() *Set {
	s := &Set{registry: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}, times: map[string]*prometheus.HistogramVec{},
		gauges: map[string]*prometheus.GaugeVec{}}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Add adds n to a counter; labels alternate names and values.
func (s *Set) Add(name string, n float64, labels ...string) {
	if s == nil {
		return
	}
	names, values := split(labels)
	s.mu.RLock()
	c := s.counters[name]
	s.mu.RUnlock()
	if c == nil {
		c = s.counter(name, names)
	}
	c.WithLabelValues(values...).Add(n)
}

// Gauge sets a gauge.
func (s *Set) Gauge(name string, value float64, labels ...string) {
	if s == nil {
		return
	}
	names, values := split(labels)
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gauges[name]
	if g == nil {
		g = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: s.help(name)}, names)
		s.registry.MustRegister(g)
		s.gauges[name] = g
	}
	g.WithLabelValues(values...).Set(value)
}

// Observe records a duration in a histogram.
func (s *Set) Observe(name string, d time.Duration, labels ...string) {
	if s == nil {
		return
	}
	names, values := split(labels)
	s.mu.RLock()
	h := s.times[name]
	s.mu.RUnlock()
	if h == nil {
		h = s.time(name, names)
	}
	h.WithLabelValues(values...).Observe(d.Seconds())
}

// Handler serves the metrics.
func (s *Set) Handler() http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{Registry: s.registry})
}

func (s *Set) counter(name string, labels []string) *prometheus.CounterVec {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.counters[name]; c != nil {
		return c
	}
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: s.help(name)}, labels)
	s.registry.MustRegister(c)
	s.counters[name] = c
	return c
}

func (s *Set) time(name string, labels []string) *prometheus.HistogramVec {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.times[name]; h != nil {
		return h
	}
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: s.help(name),
		Buckets: bucketsOf(name)}, labels)
	s.registry.MustRegister(h)
	s.times[name] = h
	return h
}

func bucketsOf(name string) []float64 {
	if b := buckets[name]; b != nil {
		return b
	}
	return usualBuckets
}

// help is the text of a metric; without one it is made from the name: courant_a_b gives
// "a b".
func (s *Set) help(name string) string {
	if text := s.helps[name]; text != "" {
		return text
	}
	return strings.ReplaceAll(strings.TrimPrefix(name, "courant_"), "_", " ")
}

func split(labels []string) (names, values []string) {
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	return names, values
}
