// Opens NAME.usda of a run with rigid bodies with OpenUSD (see usd_openusd.mjs): what Hydra is given, points that never
// change and a transform at each time, must put every vertex where the frame as PLY has it.
//   node --require ./usd_browser_names.cjs usd_rigid.mjs MODULES USD_DIR PLY_DIR NAME FRAME_COUNT OBJECT=BODIES...
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, usdDirectory, plyDirectory, name, frameCount, ...counts] = process.argv.slice(2);
const complaints = [];
const complain = (text) => /'UsdVol\w+'$/.test(text) || complaints.push(text);
console.warn = console.error = complain;

// Vertices of each object in a file of meshes: flat lists, by name.
function readMeshes(path) {
  const bytes = readFileSync(path), end = bytes.indexOf("end_header\n") + "end_header\n".length;
  const sizes = { float: 4, double: 8, int: 4, uint: 4, uchar: 1 };
  const names = [], fields = {};
  let element = "", count = 0, row = 0;
  for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) {
    const words = line.split(" ");
    if (words[0] === "comment" && words[1] === "object") names[Number(words[2])] = words.slice(3).join(" ");
    if (words[0] === "element") element = words[1];
    if (words[0] === "element" && element === "vertex") count = Number(words[2]);
    if (words[0] !== "property" || element !== "vertex") continue;
    fields[words[2]] = [words[1], row];
    row += sizes[words[1]];
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + end);
  const objects = new Map();
  for (let i = 0; i < count; ++i) {
    const get = (field) => {
      const [type, at] = fields[field], place = i * row + at;
      return type === "double" ? view.getFloat64(place, true) : type === "float" ? view.getFloat32(place, true)
        : view.getInt32(place, true);
    };
    const object = names[get("object")];
    if (!objects.has(object)) objects.set(object, []);
    objects.get(object).push(get("x"), get("y"), get("z"));
  }
  return objects;
}

const stem = (frame, what = "") => `${name}_${what}${String(frame).padStart(6, "0")}`;
const expected = Array.from({ length: Number(frameCount) }, (_, frame) =>
  readMeshes(join(plyDirectory, `${stem(frame, "meshes_")}.ply`)));

async function openUsd() {
  const folder = join(modules, "three-usdz-loader/external");
  const data = readFileSync(join(folder, "emHdBindings.data"));
  return createRequire(import.meta.url)(join(folder, "emHdBindings.js"))({
    wasmBinary: readFileSync(join(folder, "emHdBindings.wasm")),
    locateFile: (file) => (file.includes("/") ? file : join(folder, file)),
    getPreloadedPackage: () => data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
    print: complain,
    printErr: complain,
  }, folder);
}
const usd = await openUsd();
for (const file of readdirSync(usdDirectory)) {
  usd.FS.createDataFile("/", file, new Uint8Array(readFileSync(join(usdDirectory, file))), true, true, true);
}

let farthest = 0, placed = 0;
// The whole run, and each frame alone.
for (const opened of [`${name}.usda`, ...expected.map((_, frame) => `${stem(frame)}.usda`)]) {
  const whole = opened === `${name}.usda`;
  const points = new Map(), transforms = new Map(), updates = new Map();
  const driver = new usd.HdWebSyncDriver({
    createRPrim: (type, id) => new Proxy({}, {
      get: (_, call) => (data) => {
        if (call === "updatePoints") points.set(id, Float32Array.from(data)), updates.set(id, (updates.get(id) ?? 0) + 1);
        if (call === "setTransform") transforms.set(id, Float64Array.from(data));
      },
    }),
    createBPrim: () => ({}),
    createSPrim: () => ({}),
    CommitResources: () => {},
  }, opened);
  for (const [frame, objects] of expected.entries()) {
    if (!whole && opened !== `${stem(frame)}.usda`) continue;
    driver.SetTime(frame);
    driver.Draw();
    for (const [object, count] of counts.map((one) => one.split("="))) {
      const all = [];
      for (let body = 1; body <= Number(count); ++body) {
        const path = `/${name}/${object}/surface${body > 1 ? `_${body}` : ""}`;
        const own = points.get(path), m = transforms.get(path);
        if (own === undefined || m === undefined) throw new Error(`${opened} at ${frame}: Hydra has no ${path}`);
        for (let i = 0; i < own.length; i += 3) {
          for (let k = 0; k < 3; ++k) all.push(own[i] * m[k] + own[i + 1] * m[4 + k] + own[i + 2] * m[8 + k] + m[12 + k]);
        }
        ++placed;
      }
      const there = objects.get(object);
      if (there.length !== all.length) throw new Error(`${object}: ${all.length} numbers, not ${there.length}`);
      for (let i = 0; i < all.length; ++i) farthest = Math.max(farthest, Math.abs(all[i] - there[i]));
    }
  }
  for (const [path, times] of updates) {
    if (whole && times > 1 && counts.some((one) => path.startsWith(`/${name}/${one.split("=")[0]}/`))) {
      throw new Error(`${path}: points are new ${times} times, though the body is rigid`);
    }
  }
}
// Both are rounded to float, the points before they are turned.
if (!(farthest < 1e-6)) throw new Error(`a vertex is ${farthest} m from where it should be`);

// three.js, of a frame alone. It knows no references: copies are not drawn.
const loaders = join(modules, "three/examples/jsm/loaders");
const { USDLoader } = await import(pathToFileURL(join(loaders, "USDLoader.js")));
const last = Number(frameCount) - 1;
const scene = new USDLoader().parse(readFileSync(join(usdDirectory, `${stem(last)}.usda`), "utf8"));
scene.updateMatrixWorld(true);
let nearest = Infinity;
const first = expected[last].get(counts[0].split("=")[0]);
scene.traverse((node) => {
  if (!node.isMesh || node.geometry.attributes.position === undefined) return;
  const corner = node.geometry.attributes.position.clone().applyMatrix4(node.matrixWorld);
  for (let i = 0; i < first.length; i += 3) {
    nearest = Math.min(nearest, Math.hypot(...[0, 1, 2].map((k) => corner.array[k] - first[i + k])));
  }
});
if (!(nearest < 1e-5)) throw new Error(`three.js draws no body where it should be, by ${nearest} m`);
if (complaints.length > 0) throw new Error(`OpenUSD complains:\n${complaints.join("\n")}`);
console.log(`OpenUSD puts ${placed} bodies where they are, to ${farthest.toExponential(1)} m`);
process.exit(0);
