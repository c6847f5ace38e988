/* What streams look like, and what they are called: on one fabric each part has its own names. */

/* Streams of one colour have other dashes, in as many patterns as a machine's colours need. */
const DASHES = [[], [5, 3], [1.5, 3], [9, 3, 1.5, 3]];
const streamDash = (at) => DASHES[Math.floor(at / STREAM_COLOURS) % DASHES.length];

/* Add the line that a stream is drawn as in the grid. */
function addStroke(holders, atOf) {
  const svg = holders.append("svg").attr("class", "stroke").attr("viewBox", "0 0 28 6")
    .attr("aria-hidden", "true");
  svg.append("line").attr("x1", 1).attr("x2", 27).attr("y1", 3).attr("y2", 3)
    .style("stroke", (each) => streamFill(atOf(each)))
    .attr("stroke-dasharray", (each) => streamDash(atOf(each)).join(" ") || null);
}

/* Return what the parts of a network call a stream: `conv1.x`; of what is no network its name. */
function namesOf(grid, { name, number }) {
  const known = framesOf(grid).filter(({ streams }) => streams && name in streams)
    .map(({ part, streams }) => `${part}.${streams[name]}`);
  return known.length ? known : [framesOf(grid).length ? `colour ${number}` : name];
}

/* Return what a stream is called where a PE is, [column, row]: by the part that it is of; between
   parts it is a colour of the fabric. */
function nameAt(grid, name, [column, row]) {
  if (!framesOf(grid).length) return name;
  const { streams } = frameAt(grid, grid.west + column, grid.north + row) || {};
  return (streams || {})[name] || name.replace(/^colour(\d+)$/, "colour $1");
}

/* Return a text of the fabric with the names that streams have where a PE is. */
const nameAllAt = (grid, text, at) =>
  text.replace(/\bcolour\d+\b/g, (name) => nameAt(grid, name, at));
