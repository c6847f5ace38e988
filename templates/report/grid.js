/* The grid on a canvas: tiles of colour where PEs are small, cells with streams where they are
   not. */

const STREAMS_FROM = 18, HEADS_FROM = 26, AROUND_FROM = 36, WORDS_FROM = 56;
const PORT_NAMES_FROM = 26;

function draw(view) {
  const { ctx, width, height, transform } = view, ratio = window.devicePixelRatio || 1;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  if (!view.colours) return;
  view.seen = seenPart(view);
  if (transform.k < CELLS_FROM) drawTiles(view); else drawCells(view);
  if (view.links && transform.k >= CELLS_FROM) drawLinks(view);
  if (transform.k >= STREAMS_FROM) drawStreams(view);
  drawPath(view);
  if (transform.k >= WORDS_FROM) drawWords(view);
  drawFrames(view);
  drawPorts(view);
  drawBusiest(view);
  if (view.waiting) drawWaiting(view);
  if (view.cursor) drawFrame(view, view.cursor, cssColour("--ink"), [3, 2]);
  if (view.chosen) drawFrame(view, view.chosen, cssColour("--accent"), []);
  view.canvas.dataset.drawn = "yes";
}

/* Return the columns and rows that are seen: [first, last] of each. */
function seenPart({ grid, width, height, transform: { k, x, y } }) {
  const part = (from, extent, count) => [
    Math.max(0, Math.floor(-from / k)), Math.min(count - 1, Math.floor((extent - from) / k)),
  ];
  return { columns: part(x, width, grid.width), rows: part(y, height, grid.height) };
}

function eachSeen({ grid, seen: { columns, rows } }, visit) {
  for (let row = rows[0]; row <= rows[1]; row++) {
    for (let column = columns[0]; column <= columns[1]; column++) {
      visit(column, row, row * grid.width + column);
    }
  }
}

function drawTiles({ ctx, levels, grid, transform: { k, x, y } }) {
  if (!levels.length) return;
  const at = Math.max(0, Math.min(levels.length - 1, Math.floor(-Math.log2(Math.max(k, 1e-6)))));
  ctx.imageSmoothingEnabled = k < 1;
  ctx.drawImage(levels[at], x, y, k * grid.width, k * grid.height);
}

function drawCells(view) {
  const { ctx, transform: { k, x, y }, colours } = view;
  const gap = Math.min(4, k * 0.07), size = k - gap, round = Math.min(8, k * 0.1);
  const none = cssColour("--line");
  eachSeen(view, (column, row, pe) => {
    const left = x + k * column + gap / 2, top = y + k * row + gap / 2, colour = colours(pe);
    ctx.fillStyle = colour ? `rgb(${colour.r},${colour.g},${colour.b})` : "transparent";
    ctx.strokeStyle = none;
    if (k < 24) {
      if (colour) ctx.fillRect(left, top, size, size);
      return;
    }
    ctx.beginPath();
    ctx.roundRect(left, top, size, size, round);
    if (colour) ctx.fill(); else ctx.stroke();
  });
}

/* Write coordinates, and roles or numbers, into cells: behind the letters, the cell's colour. */
function drawWords(view) {
  const { ctx, grid, role, quantity, colours, transform: { k, x, y } } = view;
  const small = `${k >= 90 ? 11 : 9.5}px ${cssColour("--mono")}`;
  const large = `600 ${k >= 90 ? 15 : 11}px ${cssColour("--sans")}`;
  ctx.textAlign = "left";
  eachSeen(view, (column, row, pe) => {
    const left = x + k * column + 8, top = y + k * row + 8, low = y + k * (row + 1) - 8;
    const colour = colours(pe);
    const isBright = colour && (0.3 * colour.r + 0.59 * colour.g + 0.11 * colour.b) > 140;
    const ink = !colour ? cssColour("--faint") : isBright ? "#39424d" : "#e8ebee";
    const behind = colour ? `rgb(${colour.r},${colour.g},${colour.b})` : cssColour("--panel");
    const write = (text, at, size) => writeWord(ctx, text, [left, at], size, ink, behind);
    write(`${grid.west + column}, ${grid.north + row}`, top, small);
    if (quantity) {
      const value = Math.round(valueAt(quantity, grid, pe));
      write(asNumber(value), low - (k >= 90 ? 15 : 11), large);
    } else if (k >= 84 && role[pe] >= 0) {
      write(shorten(grid.roles[role[pe]].name, Math.floor((k - 18) / 6.6)), low - 11, small);
    }
  });
}

function writeWord(ctx, text, [x, y], size, ink, behind) {
  ctx.font = size;
  ctx.textBaseline = "top";
  ctx.fillStyle = behind;
  const tall = parseFloat(size.match(/[\d.]+px/)[0]);
  ctx.fillRect(x - 2, y - 2, text.length * tall * 0.61 + 4, tall + 3);
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/* Return how far from the middle of a PE a stream runs, in PEs: beside those that it meets. */
const laneOf = ({ lanes }, stream) =>
  (stream ? (stream.lane - (lanes - 1) / 2) * widthOfLane(lanes) : 0);

const widthOfLane = (lanes) => Math.min(0.11, 0.56 / lanes);

function drawStreams(view) {
  view.ctx.globalAlpha = view.waiting ? 0.4 : 1; /* below arrows */
  for (const stream of view.streams) {
    if (!view.hidden.has(stream.name)) drawStream(view, stream, laneOf(view, stream));
  }
  view.ctx.globalAlpha = 1;
}

function drawStream(view, stream, lane) {
  const { ctx, transform: { k } } = view, size = Math.max(2, Math.min(5, k * 0.05));
  ctx.beginPath();
  addLines(view, stream, lane, 1, [0, 2]);
  addLines(view, stream, lane, 0, [3, 1]);
  ctx.strokeStyle = ctx.fillStyle = streamColour(stream.at);
  ctx.lineWidth = Math.max(1, Math.min(2.2, k * 0.028));
  ctx.lineCap = streamDash(stream.at).length ? "butt" : "round";
  if (view.quantity && k >= AROUND_FROM) strokeAround(ctx);
  ctx.setLineDash(streamDash(stream.at));
  ctx.stroke();
  ctx.setLineDash([]);
  if (k >= HEADS_FROM) drawEnds(view, stream, lane, size);
}

/* Add the lines of a stream along x, 0, or y, 1, from side to side, as long as can be. */
function addLines({ ctx, grid, seen, transform }, { from, out }, lane, along, [before, behind]) {
  const { k } = transform, [lines, cells] = along ? [seen.columns, seen.rows]
    : [seen.rows, seen.columns];
  const [start, across] = along ? [transform.y, transform.x] : [transform.x, transform.y];
  for (let line = lines[0]; line <= lines[1]; line++) {
    const at = across + k * (line + 0.5 + lane);
    let begin = null, end = null;
    const add = () => {
      if (begin === null) return;
      const [b, e] = [start + k * begin, start + k * end];
      ctx.moveTo(...(along ? [at, b] : [b, at]));
      ctx.lineTo(...(along ? [at, e] : [e, at]));
    };
    for (let cell = cells[0]; cell <= cells[1]; cell++) {
      const pe = along ? cell * grid.width + line : line * grid.width + cell;
      const sides = from[pe] | out[pe], pivot = cell + 0.5 + lane;
      const first = sides & (1 << before) ? cell : pivot;
      const last = sides & (1 << behind) ? cell + 1 : pivot;
      if (first === last) continue;
      if (first !== end) { add(); begin = first; }
      end = last;
    }
    add();
  }
}

/* Draw heads of arrows where a stream leaves PEs, dots where it is handed to them, and rings where
   it is taken from them. */
function drawEnds(view, { from, out }, lane, size) {
  const { ctx, transform: { k, x, y } } = view;
  const heads = new Path2D(), given = new Path2D(), taken = new Path2D();
  eachSeen(view, (column, row, pe) => {
    if (!from[pe]) return;
    const cx = x + k * (column + 0.5), cy = y + k * (row + 0.5), px = k * lane;
    for (let side = 0; side < 4; side++) {
      if (!(out[pe] & (1 << side))) continue;
      const [dx, dy] = OUTWARD[side];
      addHead(heads, cx + (k * dx || px), cy + (k * dy || px), OUTWARD[side], size);
    }
    if (out[pe] & 16) addCircle(given, cx + px, cy + px, size * 0.85);
    if (from[pe] & 16) addCircle(taken, cx + px, cy + px, size * 0.85);
  });
  ctx.fill(heads);
  ctx.fill(given);
  ctx.lineWidth = Math.max(1, size * 0.4);
  ctx.fillStyle = cssColour("--panel");
  ctx.fill(taken);
  ctx.stroke(taken);
}

/* Stroke what a line is drawn over, so that it is seen on any colour. */
function strokeAround(ctx) {
  const { strokeStyle, lineWidth } = ctx;
  ctx.strokeStyle = cssColour("--panel");
  ctx.lineWidth = lineWidth + 2;
  ctx.stroke();
  Object.assign(ctx, { strokeStyle, lineWidth });
}

function addCircle(path, x, y, radius) {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, 2 * Math.PI);
}

/* Add the head of an arrow, with its tip at a point, in the direction of [dx, dy]. */
function addHead(path, x, y, [dx, dy], size) {
  path.moveTo(x, y);
  path.lineTo(x - 2 * size * 2 * dx - size * 2 * dy, y - 2 * size * 2 * dy - size * 2 * dx);
  path.lineTo(x - 2 * size * 2 * dx + size * 2 * dy, y - 2 * size * 2 * dy + size * 2 * dx);
  path.closePath();
}

function drawPorts(view) {
  const { ctx, grid, transform: { k, x, y }, width, height } = view;
  ctx.font = `600 ${Math.max(9, Math.min(12, k * 0.16))}px ${cssColour("--sans")}`;
  for (const port of view.ports) {
    const stream = view.streams.find(({ name }) => port.colours.includes(name));
    const side = SIDES.indexOf(port.side), [dx, dy] = OUTWARD[side];
    const colour = stream ? streamColour(stream.at) : cssColour("--ink");
    for (let at = 0; at < port.xs.length; at++) {
      const cx = x + k * (port.xs[at] - grid.west + 0.5);
      const cy = y + k * (port.ys[at] - grid.north + 0.5);
      if (cx < -k || cy < -k || cx > width + k || cy > height + k) continue;
      drawPort(view, port, stream, colour, [cx - k * dx, cy - k * dy], [dx, dy]);
    }
  }
}

/* Draw one port at the point where its middle meets the grid. */
function drawPort(view, port, stream, colour, [bx, by], [dx, dy]) {
  const { ctx, transform: { k } } = view, lane = k * laneOf(view, stream);
  const sx = bx + (dx ? 0 : lane), sy = by + (dy ? 0 : lane);
  const far = Math.min(34, k * 0.42), size = Math.max(1.5, Math.min(5, k * 0.06));
  const heads = new Path2D(), isIn = port.way === "arrives";
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = Math.max(1, Math.min(2.2, k * 0.028));
  ctx.beginPath();
  ctx.moveTo(sx, sy);
  ctx.lineTo(sx + 2 * far * dx, sy + 2 * far * dy);
  ctx.stroke();
  if (isIn) addHead(heads, sx, sy, [-dx, -dy], size);
  else addHead(heads, sx + 2 * far * dx, sy + 2 * far * dy, [dx, dy], size);
  ctx.fill(heads);
  if (k < PORT_NAMES_FROM) return;
  const most = ctx.measureText(port.tensor).width + 12, tall = 18;
  const middle = far + 4 + (dx ? most : tall) / 2;
  const mx = sx + 2 * middle * dx, my = sy + 2 * middle * dy;
  ctx.fillStyle = cssColour("--panel");
  ctx.beginPath();
  ctx.roundRect(mx - most / 2, my - tall / 2, most, tall, 9);
  ctx.fill();
  ctx.stroke();
  ctx.fillStyle = colour;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(port.tensor, mx, my + 0.5);
}

function drawFrame({ ctx, transform: { k, x, y } }, [column, row], colour, dash) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.roundRect(x + k * column, y + k * row, k, k, Math.min(9, k * 0.12));
  ctx.stroke();
  ctx.setLineDash([]);
}
