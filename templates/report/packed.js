"use strict";
/* Arrays of a page: what `stages/picture/page.py` packed. */

const ARRAYS = { u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array };
const UNPACKED = new WeakMap();

/* Return a promise of { values, shape, least, step, block }: a number is least + step * value. */
function unpack(packed) {
  if (!UNPACKED.has(packed)) UNPACKED.set(packed, inflate(packed));
  return UNPACKED.get(packed);
}

async function inflate({ type, shape, deflated, least = 0, step = 1, block = 1 }) {
  const bytes = Uint8Array.from(atob(deflated), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const values = new ARRAYS[type](await new Response(stream).arrayBuffer());
  const width = shape[shape.length - 1];
  for (let at = 0; at < values.length; at++) {
    if (at % width) values[at] += values[at - 1]; /* each is the difference from its neighbour */
  }
  return { values, shape, least, step, block };
}
