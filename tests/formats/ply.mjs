// The particles of a frame as `tribo export --format ply` wrote them, object by object, for checks of other formats.
import { readFileSync } from "node:fs";

const readers = {
  float: [4, (view, at) => view.getFloat32(at, true)],
  double: [8, (view, at) => view.getFloat64(at, true)],
  int: [4, (view, at) => view.getInt32(at, true)],
  uint: [4, (view, at) => view.getUint32(at, true)],
  uchar: [1, (view, at) => view.getUint8(at)],
};

// Map from the name of each object that has particles to { points, velocities (flat lists of floats), ids }.
export function readPly(path) {
  const bytes = readFileSync(path);
  const end = bytes.indexOf("end_header\n") + "end_header\n".length;
  const objects = new Map(), names = [], properties = [];
  let count = 0;
  for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) {
    const words = line.split(" ");
    if (words[0] === "element") count = Number(words[2]);
    if (words[0] === "property") properties.push([words[2], ...readers[words[1]]]);
    if (words[0] === "comment" && words[1] === "object") names[Number(words[2])] = words.slice(3).join(" ");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + end);
  for (let row = 0, at = 0; row < count; ++row) {
    const value = {};
    for (const [name, size, read] of properties) {
      value[name] = read(view, at);
      at += size;
    }
    const name = names[value.object];
    if (!objects.has(name)) objects.set(name, { points: [], velocities: [], ids: [] });
    const object = objects.get(name);
    object.points.push(value.x, value.y, value.z);
    object.velocities.push(value.vx, value.vy, value.vz);
    object.ids.push(value.id);
  }
  return objects;
}

// Throws unless both lists hold the same numbers once rounded to float32.
export function sameFloats(what, actual, expected) {
  if (actual === undefined) throw new Error(`${what}: missing`);
  if (actual.length !== expected.length) throw new Error(`${what}: ${actual.length} numbers, not ${expected.length}`);
  for (let i = 0; i < expected.length; ++i) {
    if (!Object.is(Math.fround(actual[i]), Math.fround(expected[i]))) {
      throw new Error(`${what}: number ${i} is ${actual[i]}, not ${expected[i]}`);
    }
  }
}
