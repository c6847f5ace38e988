/* What routers do: the streams of a grid, by colour, merged over the positions of switches. */

const SIDES = ["N", "E", "S", "W", "ramp"];
const OUTWARD = [[0, -0.5], [0.5, 0], [0, 0.5], [-0.5, 0], [0, 0]];

/* Return a promise of streams: { name, number, lane, to: by side, where wavelets go, or null }. */
function readStreams(grid) {
  return Promise.all(grid.streams.map(async ({ name, number, lane, routes }, at) => {
    const to = SIDES.map(() => null);
    for (const route of routes) {
      const side = SIDES.indexOf(route.side);
      const { values } = await unpack(route.to);
      if (to[side] === null) to[side] = new Uint8Array(values);
      else values.forEach((bits, pe) => { to[side][pe] |= bits; });
    }
    return { name, number, lane, at, to };
  }));
}

const sidesOf = (bits) => SIDES.filter((_, side) => bits & (1 << side));

/* Return what one router does with a stream, as "N → S, ramp". */
function describeRoute(stream, pe) {
  return stream.to.flatMap((bits, side) =>
    bits && bits[pe] ? [`${SIDES[side]} → ${sidesOf(bits[pe]).join(", ")}`] : []);
}

/* Return the sides that a stream comes from, and goes to, at one router, as bits. */
function passingSides(stream, pe) {
  let from = 0, to = 0;
  stream.to.forEach((bits, side) => {
    if (bits && bits[pe]) { from |= 1 << side; to |= bits[pe]; }
  });
  return [from, to];
}
