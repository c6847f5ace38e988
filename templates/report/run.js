/* What a run on a fabric did, whatever it is of: states over time, cycles by cause, the critical
   path. */

async function addRun(section, { bins, path = [] }) {
  if (bins) await addBins(section, bins);
  if (path.length) addPath(section, path);
}

/* Add cycles by cause, the most first, where results.json has them. */
function addCauses(section, title, causes = {}) {
  const parts = d3.sort(Object.entries(causes), ([, cycles]) => -cycles)
    .filter(([, cycles]) => cycles > 0).map(([cause, cycles]) => ({
      name: causeName(cause), cycles, colour: causeFill(cause),
    }));
  if (!parts.length) return;
  section.append("h3").text(title);
  addStack(section, parts, d3.sum(parts, ({ cycles }) => cycles));
  addKeys(section, parts);
}

/* Draw how many PEs are in which state, against cycles. */
async function addBins(section, bins) {
  const names = Object.keys(bins.states), width = 1180, height = 240;
  const holder = section.append("div");
  const columns = await Promise.all(names.map((name) => unpack(bins.states[name])));
  const rows = d3.range(columns[0].values.length).map((at) =>
    Object.fromEntries(names.map((name, k) => [name, columns[k].values[at] / bins.width])));
  const x = d3.scaleLinear([0, rows.length * bins.width], [50, width - 10]);
  const most = d3.max(rows, (row) => d3.sum(Object.values(row)));
  const y = d3.scaleLinear([0, most], [height - 24, 8]);
  holder.append("h3").text("PEs in each state, over time");
  const svg = holder.append("svg").attr("class", "bins").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", `PEs in the states ${names.join(", ")} over time`);
  const area = d3.area().curve(d3.curveStepAfter).x((_, at) => x(at * bins.width))
    .y0(([low]) => y(low)).y1(([, high]) => y(high));
  svg.selectAll("path").data(d3.stack().keys(names)(rows)).join("path")
    .style("fill", ({ key }) => causeFill(key)).attr("d", area)
    .append("title").text(({ key }) => causeName(key));
  svg.append("g").attr("transform", `translate(0,${height - 24})`).call(d3.axisBottom(x).ticks(8));
  svg.append("g").attr("transform", "translate(50,0)").call(d3.axisLeft(y).ticks(5));
  addKeys(holder, names.map((name) => ({
    name: causeName(name), colour: causeFill(name),
  })));
}

/* List the critical path, from the last output back to the first arrival. */
function addPath(section, path) {
  section.append("h3").text("The critical path, from the last output back");
  addTable(section, ["cycles", "from", "at", "why", "what"], path.map((each) => [
    each.end - each.begin, each.begin, `PE ${each.x}, ${each.y}`, causeName(each.cause),
    [each.name, each.colour].filter(Boolean).join(", on "),
  ])).attr("class", "path");
}
