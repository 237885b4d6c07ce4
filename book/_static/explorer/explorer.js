/* The explorer: charts and tables of the networks that a reader picks, from the numbers in data.js
   (scripts/explorer_data.py). The part of the address behind # holds the choice. */

(() => {
  const data = window.AFFSCORE;
  const byName = new Map(data.networks.map((network, number) => [network.name, { ...network, number }]));
  const shown = [{ name: "score", title: "affinity score" }, ...data.criteria];
  const $ = (id) => document.getElementById(`explorer-${id}`);
  const page = document.documentElement;
  let names, show;

  const colour = (word) => (word === "#000000" ? "currentColor" : word);
  const digits = (value, count = 2) =>
    value == null ? "–" : value.toFixed(Math.abs(value) < 100 ? count : 0).replace(/^-(0\.0+)$/, "$1").replace("-", "\u2212");
  const known = (values) => values.filter((value) => value != null);
  const titleOf = (one) => (one.change ? `change of ${one.title}` : one.title);
  const chosen = () => names.map((name) => byName.get(name));

  /* ---- the choice, and the address ---- */

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const asked = (given.get("networks") ?? "").split(",").filter((name) => byName.has(name));
    names = [...new Set(asked)].slice(0, data.most);
    if (!names.length) names = ["resnet56", "plainnet56"].filter((name) => byName.has(name));
    show = shown.find((one) => one.name === given.get("show")) ?? shown[0];
  }

  function link(of) {
    return `#networks=${of.map(encodeURIComponent).join(",")}${show === shown[0] ? "" : `&show=${show.name}`}`;
  }

  function choose(of) {
    names = [...new Set(of)].slice(0, data.most);
    history.replaceState(null, "", link(names));
    draw();
  }

  function form() {
    const choices = d3.select($("choice")).on("submit", (event) => event.preventDefault());
    const fields = choices.selectAll("div").data(d3.range(data.most)).join("div");
    fields.append("label").attr("for", (k) => `explorer-network-${k}`).text((k) => `Network ${k + 1}`);
    const lists = fields.append("select").attr("id", (k) => `explorer-network-${k}`);
    lists.filter((k) => k > 0).append("option").attr("value", "").text("none");
    const parts = lists.selectAll("optgroup").data(data.groups).join("optgroup").attr("label", (group) => group);
    parts
      .selectAll("option")
      .data((group) => data.networks.filter((network) => data.groups[network.group] === group))
      .join("option")
      .attr("value", (network) => network.name)
      .text((network) => network.title);
    lists.on("change", () => choose(lists.nodes().map((list) => list.value).filter(Boolean)));
    d3.select($("show"))
      .on("change", (event) => {
        show = shown[event.target.selectedIndex];
        choose(names);
      })
      .selectAll("option")
      .data(shown)
      .join("option")
      .attr("value", (one) => one.name)
      .text(titleOf);
  }

  /* ---- tables ---- */

  /* A row is the cell that names it, and further cells: words, or numbers as words. A cell may be a function that fills it. */
  function table(place, heads, rows, caption) {
    const left = (cell) => cell.call !== undefined || !/^[-–−\d]/.test(cell);
    const whole = place.append("div").attr("class", "explorer-table").append("table");
    if (caption) whole.append("caption").text(caption);
    const columns = whole.append("thead").append("tr").selectAll("th").data(heads).join("th");
    columns.attr("scope", "col").classed("word", (_, k) => left(rows[0][k])).text((head) => head);
    for (const row of rows) {
      const line = whole.append("tbody").append("tr");
      row.forEach((cell, k) => {
        const at = line.append(k ? "td" : "th").attr("scope", k ? null : "row").classed("word", left(cell));
        left(cell) && cell.call ? cell(at) : at.text(cell);
      });
    }
    const frame = whole.node().parentNode;
    if (frame.scrollWidth <= frame.clientWidth) return;
    d3.select(frame).attr("tabindex", 0).attr("role", "region").attr("aria-label", `${caption ?? heads[0]}, a wide table`);
  }

  function mark(place, number) {
    const { path, colour: own } = data.series[number];
    place.append("svg").attr("class", "explorer-mark").attr("viewBox", "-.6 -.6 1.2 1.2").attr("aria-hidden", true)
      .append("path").attr("d", path).attr("fill", colour(own));
  }

  function about() {
    const rows = chosen().map((network, k) => {
      const scores = known(network.score);
      const name = (place) => { mark(place, k); place.append("span").text(network.title); };
      return [name, digits(d3.mean(scores), 3), `${digits(d3.min(scores))} to ${digits(d3.max(scores))}`,
        `${network.score.length}`, network.family, data.groups[network.group], digits(network.accuracy, 1)];
    });
    const heads = ["network", "mean score", "range", "activations", "family", "data", "accuracy (%)"];
    table(d3.select($("about")).html(""), heads, rows);
  }

  function criteria() {
    const rows = data.criteria.map((one, k) => [
      titleOf(one),
      ...chosen().map((net) => `${digits(d3.mean(known(net[one.name])))} (${digits(net.correlations[k])})`),
    ]);
    table(d3.select($("criteria")).html(""), ["criterion", ...chosen().map((network) => network.title)], rows);
  }

  function neighbours() {
    const distance = (a, b) => data.distances[Math.max(a, b)][Math.min(a, b)];
    const place = d3.select($("neighbours")).html("");
    for (const network of chosen()) {
      const others = data.networks.map((other, number) => [distance(network.number, number), other]);
      const near = others.filter(([, other]) => other.name !== network.name).sort((a, b) => a[0] - b[0]).slice(0, 5);
      const rows = near.map(([far, other]) => [
        (cell) => {
          const more = [...names.slice(0, data.most - 1), other.name];
          cell.append("a").attr("href", link(names.includes(other.name) ? names : more)).text(other.title);
        },
        other.family, digits(far, 3),
      ]);
      table(place.append("div"), ["network", "family", "distance"], rows, `nearest to ${network.title}`);
    }
  }

  /* ---- charts ---- */

  /* An SVG as wide as its place, with both axes; returns it and its scales. */
  function chart(place, words, height, x, y, labels, left) {
    const width = place.node().clientWidth;
    const edge = { left, right: 20, top: 8, bottom: 40 }; // the last tick is half as wide as its number
    const svg = place.append("svg").attr("class", "explorer-chart").attr("role", "group").attr("aria-label", words)
      .attr("viewBox", `0 0 ${width} ${height}`).attr("height", height).style("max-width", "none");
    x.range([edge.left, width - edge.right]);
    svg.append("g").attr("transform", `translate(0,${height - edge.bottom})`)
      .call(d3.axisBottom(x).ticks(Math.min(8, width / 60)).tickSizeOuter(0));
    if (y) {
      y.range([height - edge.bottom, edge.top]);
      svg.append("g").attr("transform", `translate(${edge.left},0)`).call(d3.axisLeft(y).ticks(5).tickSizeOuter(0));
      svg.append("text").attr("transform", `translate(12,${(height - edge.bottom) / 2}) rotate(-90)`)
        .attr("text-anchor", "middle").text(labels[1]);
    }
    svg.append("text").attr("x", (edge.left + width - edge.right) / 2).attr("y", height - 6)
      .attr("text-anchor", "middle").text(labels[0]);
    svg.selectAll(".domain, .tick line, .tick text").attr("color", "currentColor");
    return svg;
  }

  function point(place, x, y, size, look, words) {
    const one = place.append("g").attr("class", "point").attr("role", "img").attr("aria-label", words);
    one.append("path").attr("d", look.path).attr("fill", colour(look.colour))
      .attr("transform", `translate(${x},${y}) scale(${size})`);
  }

  const fitted = (values) => {
    const [low, high] = d3.extent(values);
    const room = 0.04 * (high - low || 1);
    return [low - room, high + room];
  };

  function signatures() {
    const place = d3.select($("signatures")).html("");
    const all = chosen().flatMap((network) => known(network[show.name]));
    const y = d3.scaleLinear().domain(fitted(all)).nice();
    const axis = titleOf(show) + (y.domain()[0] > 0 ? ` (axis from ${y.domain()[0]})` : "");
    const panels = chosen().map((network) => [network, place.append("div")]); // all of them, for their widths
    for (const [network, panel] of panels) {
      panel.append("h3").text(network.title);
      const x = d3.scaleLinear().domain(fitted(network.depth));
      const words = `${titleOf(show)} of ${network.title} over depth`;
      const svg = chart(panel, words, 260, x, y, ["depth (activations on the longest path)", axis], 52);
      const values = network[show.name];
      const line = d3.line((k) => x(network.depth[k]), (k) => y(values[k])).defined((k) => values[k] != null);
      svg.append("path").attr("class", "line").attr("d", line(d3.range(values.length)));
      const points = svg.append("g");
      values.forEach((value, k) => {
        if (value == null) return;
        const look = data.looks[network.look[k]];
        const spread = show.name === "score" && network.spread.length ? ` ± ${digits(network.spread[k], 3)}` : "";
        const words = `${data.layers[network.layer[k]]}: ${look.words}, depth ${network.depth[k]}, ` +
          `${network.width[k]} channels, ${titleOf(show)} ${digits(value, 3)}${spread}`;
        point(points, x(network.depth[k]), y(value), 9, look, words);
      });
      window.affscoreFollow(svg.node());
    }
    const every = chosen().flatMap((network) => network.look).map((look) => data.looks[look]);
    const looks = new Map(every.map((look) => [look.place, look])).values(); // a place once, whatever its functions
    d3.select($("legend")).html("").selectAll("li").data(looks).join("li").each(function (look) {
      const item = d3.select(this);
      item.append("svg").attr("viewBox", "-.6 -.6 1.2 1.2").attr("aria-hidden", true)
        .append("path").attr("d", look.path).attr("fill", colour(look.colour));
      item.append("span").text(look.place);
    });
  }

  function specifications() {
    const place = d3.select($("specifications")).html("");
    const means = chosen().map((network) => network.means);
    const rows = d3.range(data.specifications.length).filter((row) => means.some((of) => of[row] != null));
    if (!rows.length) return place.append("p").text("These networks were measured under the default only.");
    rows.sort((a, b) => (means[0][b] ?? -1) - (means[0][a] ?? -1));
    const x = d3.scaleLinear().domain(fitted(known(means.flat()))).nice();
    const [step, top] = [34, 16];
    const words = `Mean score of ${chosen().map((network) => network.title).join(", ")} under each specification`;
    const svg = chart(place, words, top + step * rows.length + 40, x, null, [`mean affinity score (axis from ${x.domain()[0]})`], 12);
    rows.forEach((row, k) => {
      const at = top + step * k;
      const usual = row === data.default;
      svg.append("text").attr("x", 12).attr("y", at).classed("default", usual)
        .text(data.specifications[row] + (usual ? " (default)" : ""));
      svg.append("path").attr("class", "line").attr("d", `M${x.range()[0]} ${at + 11}H${x.range()[1]}`);
      chosen().forEach((network, number) => {
        const mean = network.means[row];
        if (mean == null) return;
        const words = `${network.title}: ${digits(mean, 3)} with ${data.specifications[row]}`;
        point(svg, x(mean), at + 11, 11, data.series[number], words);
      });
    });
    window.affscoreFollow(svg.node());
  }

  function draw() {
    const lists = document.querySelectorAll("#explorer-choice select");
    lists.forEach((list, k) => (list.value = names[k] ?? ""));
    $("show").value = show.name;
    [about, signatures, specifications, neighbours, criteria].forEach((part) => part());
  }

  form();
  read();
  draw();
  $("missing").remove();
  window.addEventListener("hashchange", () => (read(), draw()));
  let width = 0;
  new ResizeObserver(([{ contentRect: box }]) => {
    if (box.width === width) return; // only the height changed, as a chart or a phone's address bar does
    width = box.width;
    draw();
  }).observe($("specifications"));
})();
