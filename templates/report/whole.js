/* What is made of parts: the graph of these, the fabric they share, the tiles of a result. */

/* Draw parts as boxes, each in a column to the right of those whose results it takes. */
function addParts({ parts, edges = [], results }) {
  const section = addSection("parts", "Parts", edges.length
    ? "Each takes what those before it give; its bar is its share of the cycles of the longest."
    : "None takes what another one gives.");
  if (!edges.length) return;
  const columns = columnsOf(parts, edges), wide = 200, tall = 92, apart = 150, between = 26;
  const place = new Map(), counts = new Map();
  for (const { name, isGiven } of columns.nodes) {
    const column = columns.depth.get(name), row = counts.get(column) || 0;
    counts.set(column, row + 1);
    place.set(name, { name, isGiven, x: column * (wide + apart), row });
  }
  const most = d3.max(counts.values()), height = most * (tall + between);
  const width = (d3.max(columns.depth.values()) + 1) * (wide + apart) - apart;
  for (const node of place.values()) {
    const own = counts.get(columns.depth.get(node.name));
    node.y = (node.row + (most - own) / 2) * (tall + between) + between / 2;
  }
  const svg = section.append("div").attr("class", "graph scroll").append("svg")
    .attr("width", width + 40).attr("height", height + 24)
    .attr("viewBox", `-20 -12 ${width + 40} ${height + 24}`).attr("role", "img")
    .attr("aria-label", `${parts.length} parts; ${edges.length} tensors cross between them`);
  drawEdges(svg, edges, place, wide, tall);
  const longest = d3.max(Object.values(results.parts || {}), ({ cycles }) => cycles.simd) || 1;
  const groups = svg.selectAll("g.node").data(place.values()).join("g")
    .attr("class", ({ isGiven }) => `node ${isGiven ? "given" : ""}`)
    .attr("data-part", ({ name }) => name)
    .attr("transform", ({ x, y }) => `translate(${x},${y})`);
  groups.append("rect").attr("width", wide).attr("height", tall).attr("rx", 10);
  groups.append("text").attr("class", "name").attr("x", 14).attr("y", 26).text(({ name }) => name);
  for (const [at, line] of [linesOfPart(0), linesOfPart(1)].entries()) {
    groups.append("text").attr("x", 14).attr("y", 47 + 18 * at).text(({ name }) =>
      line(results.parts && results.parts[name], parts.find((part) => part.name === name)));
  }
  groups.filter(({ isGiven }) => !isGiven).append("rect").attr("class", "bar").attr("x", 14)
    .attr("y", tall - 17).attr("height", 6).attr("rx", 3)
    .attr("width", ({ name }) => (wide - 28) * results.parts[name].cycles.simd / longest);
}

const linesOfPart = (at) => (found, part) => {
  if (!found || !part) return at ? "" : "given";
  return at ? `${part.columns} × ${part.rows} PEs, ${asNumber(found.memory.bytes_per_pe)} bytes`
    : `${asNumber(found.cycles.simd)} cycles, ${found.speedup.toFixed(2)} ×`;
};

/* Return all that is drawn, what is given from outside first, and by name how far to the right. */
function columnsOf(parts, edges) {
  const names = parts.map(({ name }) => name);
  const given = [...new Set(edges.map(({ source }) => source))].filter((n) => !names.includes(n));
  const depth = new Map(given.map((name) => [name, 0]));
  const find = (name) => {
    if (!depth.has(name)) {
      const before = edges.filter(({ target }) => target === name).map(({ source }) => source);
      depth.set(name, before.length ? 1 + d3.max(before, find) : 0);
    }
    return depth.get(name);
  };
  names.forEach(find);
  return {
    depth, nodes: [
      ...given.map((name) => ({ name, isGiven: true })), ...names.map((name) => ({ name })),
    ],
  };
}

function drawEdges(svg, edges, place, wide, tall) {
  const link = d3.linkHorizontal().source(({ source }) =>
    [place.get(source).x + wide, place.get(source).y + tall / 2])
    .target(({ target }) => [place.get(target).x - 6, place.get(target).y + tall / 2]);
  const groups = svg.selectAll("g.edge").data(edges).join("g").attr("class", "edge");
  groups.append("path").attr("d", link);
  groups.append("path").attr("class", "tip").attr("d", ({ target }) => {
    const { x, y } = place.get(target);
    return `M${x - 1},${y + tall / 2} l-9,-4.5 v9 z`;
  });
  const words = groups.append("text").attr("text-anchor", "middle")
    .attr("x", ({ target }) => place.get(target).x - 75)
    .attr("y", ({ source, target }) => (place.get(source).y + place.get(target).y + tall) / 2 - 8);
  words.append("tspan").attr("class", "tensor").text(({ tensor }) => tensor);
  words.filter(({ says }) => says).selectAll("tspan.how")
    .data(({ says }) => says.split(", ")).join("tspan").attr("class", "how")
    .attr("x", function () { return this.parentNode.getAttribute("x"); })
    .attr("dy", (_, at) => (at ? 13 : 24)).text((text) => text);
}

/* Draw where the results of tiles lie, in the two innermost dimensions of the result. */
function addTiles(tiles, parts) {
  const section = addSection("tiles", "Tiles", "What part of the result each tile gives, in its " +
    "two innermost dimensions, for the first elements of the others.");
  const ends = (tile, at) => tile.least[at] + tile.steps[at] * (tile.sizes[at] - 1) + 1;
  const count = tiles[0].least.length, [down, across] = [count - 2, count - 1];
  const height = down < 0 ? 1 : d3.max(tiles, (t) => ends(t, down));
  const width = d3.max(tiles, (t) => ends(t, across));
  const cell = Math.min(56, 620 / Math.max(width, height));
  const svg = section.append("div").attr("class", "graph scroll").append("svg")
    .attr("width", width * cell + 24).attr("height", height * cell + 24).attr("role", "img")
    .attr("aria-label", `${tiles.length} tiles of a result`).append("g")
    .attr("transform", "translate(12,12)");
  const first = tiles.filter((t) => t.least.slice(0, Math.max(0, down)).every((at) => at === 0));
  const groups = svg.selectAll("g").data(first).join("g").attr("class", "tile")
    .attr("transform", (t) =>
      `translate(${t.least[across] * cell},${down < 0 ? 0 : t.least[down] * cell})`);
  const long = (t, at) => (at < 0 ? 1 : ends(t, at) - t.least[at]) * cell - 2;
  groups.append("rect").attr("width", (t) => long(t, across)).attr("height", (t) => long(t, down))
    .attr("rx", 4).attr("fill", (_, at) => roleTint(at));
  groups.append("text").attr("x", 7).attr("y", 17).text(({ name, sizes }) =>
    (sizes[across] * cell > 70 ? name : name.replace(/^.*_/, "")));
  groups.filter((t) => parts[t.name] && t.sizes[across] * cell > 70).append("text").attr("x", 7)
    .attr("y", 34).text(({ name }) => `${asNumber(parts[name].cycles.simd)} cycles`);
  groups.append("title").text((t) => `${t.name}: [${t.least.map((from, at) =>
    `${from}:${ends(t, at)}`).join(", ")}]`);
}
