import com.fasterxml.jackson.databind.*;
import java.io.*;
import java.lang.management.*;
import java.nio.file.*;
import java.util.*;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.*;
import org.apache.lucene.util.Version;

/** Measures Lucene on the output of export.py: one segment, one thread, BM25 queries with filters. */
public class Peer {
  static final ObjectMapper JSON = new ObjectMapper();

  static double cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e6;
  }

  public static void main(String[] args) throws Exception {
    Path data = Path.of(args[0]), where = Path.of(args[1]), out = Path.of(args[2]);
    double began = cpu();
    try (Directory dir = new MMapDirectory(where)) {
      IndexWriterConfig c = new IndexWriterConfig(new WhitespaceAnalyzer());
      c.setRAMBufferSizeMB(500);
      c.setMergeScheduler(new SerialMergeScheduler());
      try (IndexWriter w = new IndexWriter(dir, c); BufferedReader in = Files.newBufferedReader(data.resolve("offers.jsonl"))) {
        for (String line; (line = in.readLine()) != null; ) w.addDocument(document(JSON.readTree(line)));
        w.forceMerge(1);
      }
      System.out.println("{\"indexed\": " + (cpu() - began) / 1000 + "}");
      try (DirectoryReader r = DirectoryReader.open(dir); Writer to = Files.newBufferedWriter(out)) {
        IndexSearcher s = new IndexSearcher(r);
        s.setQueryCache(null); // otherwise one round's filters would be answered from the cache in the next
        List<String> lines = Files.readAllLines(data.resolve("queries.jsonl"));
        for (int turn = 0; turn < 3; turn++) {
          for (String line : lines) {
            JsonNode q = JSON.readTree(line);
            Query query = query(q);
            double t = cpu();
            TopDocs top = s.search(query, new TopScoreDocCollectorManager(48, null, Integer.MAX_VALUE));
            double ms = cpu() - t;
            if (turn < 2) continue; // the JIT compiler is warm after two rounds
            List<String> ids = new ArrayList<>();
            for (ScoreDoc d : top.scoreDocs) ids.add(s.storedFields().document(d.doc).get("id"));
            to.write(JSON.writeValueAsString(Map.of("id", q.get("id").asText(), "total", top.totalHits.value(), "ms", ms, "offers", ids)) + "\n");
          }
        }
      }
      long size = 0;
      for (String f : dir.listAll()) size += dir.fileLength(f);
      System.out.println("{\"disk\": " + size + ", \"version\": \"" + Version.LATEST + "\"}");
    }
  }

  static Document document(JsonNode o) {
    Document d = new Document();
    d.add(new StoredField("id", o.get("id").asText()));
    d.add(new TextField("words", o.get("words").asText(), Field.Store.NO));
    for (JsonNode c : o.get("cats")) d.add(new StringField("cats", c.asText(), Field.Store.NO));
    for (JsonNode p : o.get("params")) d.add(new StringField("params", p.asText(), Field.Store.NO));
    for (JsonNode n : o.get("regions")) d.add(new StringField("regions", n.asText(), Field.Store.NO));
    d.add(new StringField("vendor", o.get("vendor").asText(), Field.Store.NO));
    d.add(new StringField("available", o.get("available").asText(), Field.Store.NO));
    d.add(new LongField("price", o.get("price").asLong(), Field.Store.NO)); // points and doc values
    return d;
  }

  static Query anyOf(String field, Iterable<JsonNode> values) {
    BooleanQuery.Builder b = new BooleanQuery.Builder();
    List<org.apache.lucene.util.BytesRef> terms = new ArrayList<>();
    for (JsonNode v : values) terms.add(new org.apache.lucene.util.BytesRef(v.asText()));
    return new TermInSetQuery(field, terms);
  }

  static Query query(JsonNode q) {
    BooleanQuery.Builder b = new BooleanQuery.Builder();
    for (JsonNode group : q.get("words")) {
      BooleanQuery.Builder any = new BooleanQuery.Builder();
      for (JsonNode w : group) any.add(new TermQuery(new Term("words", w.asText())), BooleanClause.Occur.SHOULD);
      b.add(any.build(), BooleanClause.Occur.MUST);
    }
    if (!q.get("category").asText().isEmpty()) b.add(new TermQuery(new Term("cats", q.get("category").asText())), BooleanClause.Occur.FILTER);
    if (q.get("vendors").size() > 0) b.add(anyOf("vendor", q.get("vendors")), BooleanClause.Occur.FILTER);
    for (JsonNode values : q.get("params")) b.add(anyOf("params", values), BooleanClause.Occur.FILTER);
    long min = q.get("min").asLong(), max = q.get("max").asLong();
    if (min > 0 || max > 0) b.add(LongField.newRangeQuery("price", Math.max(min, 1), max > 0 ? max : Long.MAX_VALUE), BooleanClause.Occur.FILTER);
    if (q.get("available").asBoolean()) b.add(new TermQuery(new Term("available", "true")), BooleanClause.Occur.FILTER);
    if (q.get("region").asInt() > 0) b.add(new TermQuery(new Term("regions", q.get("region").asText())), BooleanClause.Occur.FILTER);
    return b.build();
  }
}
