/* Where the cycles of a layer went: the bound, and the busiest PE. */

const CHARGED = [
  "lanes", "memory", "streams", "dispatch", "start_up", "configuration", "loop", "scalar",
  "address",
];

/* The last cycle of the busiest PE: it may have something to do after the last output. */
const restedAt = ({ cycles, busiest }, name) => Math.max(cycles[name], busiest[name].rested);

/* Return what the busiest PE did, and waited, as parts: { cause, name, cycles, colour }. */
function partsOfBusiest(busiest, end) {
  const parts = CHARGED.map((cause) => [cause, busiest[cause] || 0]);
  parts.push(["waiting", end - d3.sum(parts, ([, count]) => count)]);
  return parts.filter(([, count]) => count > 0).map(([cause, count]) => ({
    cause, name: causeName(cause), cycles: count, colour: causeFill(cause),
  }));
}

/* Add what the cycles of a layer went into; return the section. */
function addTime(results) {
  const section = addSection("time", "Time", "What the cycles of the busiest PE went into, " +
    "beside the bound: no programs take fewer cycles, for this placement, these arrivals and " +
    "this data.");
  const variants = [["simd", "with vector instructions"], ["loops", "with loops only"]];
  const most = d3.max(variants, ([name]) => restedAt(results, name));
  const compared = section.append("div").attr("class", "compared");
  const rows = variants.map(([name, says]) => [says, results.cycles[name],
    partsOfBusiest(results.busiest[name], restedAt(results, name))]);
  const bound = [{ name: `by ${results.bound.by}`, cycles: results.bound.cycles,
    colour: "var(--ink)" }];
  for (const [says, cycles, parts] of [["bound", results.bound.cycles, bound], ...rows]) {
    compared.append("span").text(says);
    addStack(compared.append("div"), parts, most);
    compared.append("b").text(asNumber(cycles));
  }
  drawWaterfall(section, results.bound, rows[0][2], results.cycles.simd);
  const rests = Object.entries(results.rests || {});
  if (rests.length) {
    section.append("p").attr("class", "rests").text("Not published: " + rests
      .map(([name, cycles]) =>
        `${asNumber(cycles)} cycles of these rest on ${name.replaceAll("_", " ")}`)
      .join(", ") + ". No source has that figure; the profile says what was chosen.");
  }
  return section;
}

/* Draw each cause as a bar that begins where the one before it ended, up to all cycles, and those
   after the last output. */
function drawWaterfall(section, bound, parts, cycles) {
  const rows = [{ name: `bound, by ${bound.by}`, begin: 0, cycles: bound.cycles,
    colour: "var(--ink)" }];
  let begin = 0;
  for (const part of parts) { rows.push({ ...part, begin }); begin += part.cycles; }
  rows.push({ name: "all cycles", begin: 0, cycles, colour: "var(--faint)" });
  if (begin > cycles) rows.push({ name: "after the last output", begin: cycles,
    cycles: begin - cycles, colour: "var(--faint)" });
  const width = WIDE, left = LEFT, tall = 26, height = rows.length * tall + 30;
  const x = d3.scaleLinear([0, Math.max(begin, cycles)], [left, width - 70]);
  const svg = addChart(section, "waterfall")
    .attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", "From the bound to the cycles: " +
      rows.map((row) => `${row.name} ${row.cycles}`).join(", "));
  svg.append("line").attr("class", "bound").attr("x1", x(bound.cycles)).attr("x2", x(bound.cycles))
    .attr("y2", rows.length * tall);
  const groups = svg.selectAll("g.row").data(rows).join("g").attr("class", "row")
    .attr("transform", (_, at) => `translate(0,${at * tall})`);
  groups.append("text").attr("x", left - 12).attr("y", 18).attr("text-anchor", "end")
    .text(({ name }) => name);
  groups.append("rect").attr("x", (row) => x(row.begin)).attr("y", 5).attr("height", tall - 9)
    .attr("rx", 3).style("fill", ({ colour }) => colour)
    .attr("width", (row) => Math.max(1.5, x(row.begin + row.cycles) - x(row.begin)));
  groups.append("text").attr("class", "count").attr("y", 18)
    .attr("x", (row) => x(row.begin + row.cycles) + 7).text((row) => asNumber(row.cycles));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${rows.length * tall + 2})`)
    .call(d3.axisBottom(x).ticks(8).tickSizeOuter(0));
}
