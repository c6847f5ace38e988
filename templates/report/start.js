/* Read the page, and draw it. */

const page = JSON.parse(document.getElementById("data").textContent);

async function drawLayer() {
  const { results, fabric } = page, { width, height } = fabric.grid;
  addTitle(page.title, `a layer on ${results.machine}, on ${width} × ${height} PEs`);
  addFacts(factsOfLayer(results));
  await addGrid(fabric);
  await addRun(addTime(results), fabric);
  addTasks(page.tasks, results);
  addSweep(page.sweep);
  addTexts(page.texts);
}

/* What it takes to copy over the host's link, of a layer or a program. */
function factsOfHost(host) {
  return host ? [{ key: "host.into.cycles", value: asNumber(host.into.cycles), unit: " cycles",
    says: `to copy in from the host, ${asNumber(host.out.cycles)} to copy out` }] : [];
}

function factsOfLayer({ cycles, speedup, bound, check, pes, memory, fabric, host }) {
  const outputs = Object.entries(check), wrong = outputs.filter(([, { right }]) => !right);
  const exact = outputs.every(([, each]) => each.exact);
  return [
    { key: "cycles.simd", value: asNumber(cycles.simd), unit: " cycles",
      says: "with vector instructions" },
    { key: "speedup", value: String(speedup), unit: " ×",
      says: `as fast as loops, ${asNumber(cycles.loops)} cycles` },
    { key: "bound.cycles", value: asNumber(bound.cycles), unit: " cycles",
      says: `the bound, by ${bound.by}` },
    { key: "right", value: wrong.length ? "wrong" : "right", mood: wrong.length ? "bad" : "good",
      says: wrong.length ? wrong.map(([name]) => name).join(", ")
        : exact ? "all outputs, bit for bit" : "all outputs, within rounding" },
    { key: "pes.compute", value: asNumber(pes.compute), unit: ` of ${asNumber(pes.of)}`,
      says: "PEs of the target compute" },
    { key: "memory.bytes_per_pe", value: asNumber(memory.bytes_per_pe),
      unit: ` of ${asNumber(memory.of)}`, says: "bytes on the fullest PE" },
    { key: "fabric.wavelets", value: asNumber(fabric.wavelets), unit: " wavelets",
      says: `${asNumber(fabric.hops)} hops, ${asNumber(fabric.stalls)} stalls` },
    ...factsOfHost(host),
  ];
}

async function drawWhole() {
  const { results, parts, tiles, fabric } = page;
  addTitle(page.title, page.says);
  if (parts.length) addFacts(factsOfWhole(results, parts));
  if (fabric) await addGrid(fabric);
  if (tiles && tiles.length) addTiles(tiles, results.parts);
  if (parts.length) addParts(page);
  if (fabric) {
    await addRun(addSection("time", "Time", "What the PEs of the one fabric did."), fabric);
  }
  addSweep(page.sweep);
  addTexts(page.texts);
}

function factsOfWhole({ one_after_another: cycles, check, fabric, ...more }, parts) {
  const wrong = Object.entries(check).filter(([, { right }]) => !right);
  return [
    { key: "one_after_another.simd", value: asNumber(cycles.simd), unit: " cycles",
      says: "one part after another, with vector instructions" },
    { key: "one_after_another.loops", value: asNumber(cycles.loops), unit: " cycles",
      says: "with loops only" },
    { key: "right", value: wrong.length ? "wrong" : "right", mood: wrong.length ? "bad" : "good",
      says: more.against ? `against ${more.against}` : "from end to end" },
    { key: "parts", value: asNumber(parts.length), unit: " parts",
      says: `${new Set(Object.values(more.parts).map(({ like }) => like)).size} of them differ` },
    ...(fabric ? [{ key: "fabric.cycles", value: asNumber(fabric.cycles), unit: " cycles",
      says: `on one fabric of ${fabric.pes.join(" × ")} PEs` }] : []),
  ];
}

async function drawProgram() {
  const { results, fabric, nodes, lives, calls } = page;
  const field = results.field.join(" × ");
  addTitle(page.title, `a program in NumPy on ${field} workers, on ${results.machine}`);
  addFacts(factsOfProgram(results));
  await addGrid(fabric);
  await addRun(addShares(results), fabric);
  addSections(nodes, calls, results);
  addLives(lives, nodes);
  addSweep(page.sweep);
  addTexts(page.texts);
}

function factsOfProgram({ cycles, outputs, memory, operations, sums, set_up: setUp, host }) {
  const wrong = Object.entries(outputs).filter(([, { right }]) => !right);
  return [
    { key: "cycles", value: asNumber(cycles), unit: " cycles", says: "until all PEs are done" },
    { key: "right", value: wrong.length ? "wrong" : "right", mood: wrong.length ? "bad" : "good",
      says: "NumPy, graph and fabric, bit for bit" },
    { key: "operations", value: asNumber(d3.sum(Object.values(operations))), unit: " operations",
      says: Object.entries(operations).map(([name, count]) => `${count} ${name}`).join(", ") },
    { key: "set_up.center", value: setUp.center == null ? "–" : asNumber(setUp.center),
      unit: " cycles", says: "an operation takes besides its elements" },
    { key: "sums.count", value: asNumber(sums.count), unit: sums.count === 1 ? " sum" : " sums",
      says: sums.latency == null ? "over all workers" : `${sums.latency} cycles the last one` },
    { key: "memory.workers", value: asNumber(memory.workers), unit: ` of ${asNumber(memory.of)}`,
      says: "bytes on a worker" },
    ...factsOfHost(host),
  ];
}

const DRAW = { layer: drawLayer, whole: drawWhole, program: drawProgram, stop: drawStop };

DRAW[page.kind]().then(() => { document.documentElement.dataset.ready = "yes"; });
