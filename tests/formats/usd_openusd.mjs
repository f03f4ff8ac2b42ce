// Opens NAME.usda of `tribo export --format usd` with OpenUSD itself (a WebAssembly build of its version 22), which
// resolves the value clips: every attribute at every frame must be what the frame as PLY has, number by number. Checks
// both the flattened stage and what Hydra hands to a renderer.
//   node --require ./usd_browser_names.cjs usd_openusd.mjs MODULES USD_DIR PLY_DIR NAME FRAME_COUNT
// MODULES is the node_modules that has three-usdz-loader.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { readPly, sameFloats } from "./ply.mjs";

const [modules, usdDirectory, plyDirectory, name, frameCount] = process.argv.slice(2);
const frames = Array.from({ length: Number(frameCount) }, (_, i) => i);

// What OpenUSD complains about. Its plugin for volumes is not part of this build, which it says of any file.
const complaints = [];
const complain = (text) => /'UsdVol\w+'$/.test(text) || complaints.push(text);
console.warn = console.error = complain;

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

// Attributes of a flattened stage: "/path.name" to its text, or to a Map from time codes to texts.
function attributesOf(text) {
  const attributes = new Map(), path = [];
  let named = "", samples = null;
  for (const line of text.split("\n")) {
    const words = line.trim();
    const def = words.match(/^def \w+ "(\w+)"/);
    const value = words.match(/^(?:custom |uniform )*[\w[\]]+ ([\w:]+)(\.timeSamples)? = (.*)$/);
    const sample = words.match(/^(-?[\d.]+): (.*?),?$/);
    if (def) named = def[1];
    else if (words === "{") path.push(named);
    else if (words === "}") samples ? (samples = null) : path.pop();
    else if (value && path.length > 0) {
      const key = `/${path.join("/")}.${value[1]}`;
      if (value[2]) attributes.set(key, (samples = new Map()));
      else attributes.set(key, value[3]);
    } else if (sample && samples) samples.set(Number(sample[1]), sample[2]);
  }
  return attributes;
}

const numbersIn = (text) => (text === "[]" ? [] : text.replace(/[[\]()\s]/g, "").split(",").map(Number));

const usd = await openUsd();
for (const file of readdirSync(usdDirectory)) {
  usd.FS.createDataFile("/", file, new Uint8Array(readFileSync(join(usdDirectory, file))), true, true, true);
}
const expected = frames.map((frame) => readPly(join(plyDirectory, `${name}_${String(frame).padStart(6, "0")}.ply`)));

// The flattened stage.
const stage = usd.UsdStage.Open(`${name}.usda`);
const last = frames[frames.length - 1];
if (stage.GetStartTimeCode() !== 0 || stage.GetEndTimeCode() !== last) throw new Error("wrong range of time codes");
if (stage.GetTimeCodesPerSecond() !== 50) throw new Error("wrong time codes per second");
const attributes = attributesOf(stage.ExportToString());
let numbers = 0;
for (const frame of frames) {
  for (const [object, values] of expected[frame]) {
    for (const key of ["points", "velocities", "ids"]) {
      const path = `/${name}/${object}/particles.${key}`;
      const samples = attributes.get(path);
      if (!(samples instanceof Map) || samples.size !== frames.length) throw new Error(`${path}: wrong time samples`);
      sameFloats(`${path} at ${frame}`, numbersIn(samples.get(frame)), values[key]);
      numbers += values[key].length;
    }
  }
}
// Meshes keep their triangles: they have one value, and points that move have one a frame.
for (const key of ["faceVertexCounts", "faceVertexIndices"]) {
  if (typeof attributes.get(`/${name}/paddle/surface.${key}`) !== "string") throw new Error(`paddle: ${key} varies`);
}
const paddle = attributes.get(`/${name}/paddle/surface.extent`);
sameFloats("extent of the paddle at first", numbersIn(paddle.get(0)), [-0.325, 0, -0.2, -0.275, 0.4, 0.2]);
if (paddle.get(0) === paddle.get(last)) throw new Error("the paddle does not move");

// What a renderer is given.
const drawn = new Map(), types = new Map();
const driver = new usd.HdWebSyncDriver({
  createRPrim: (type, id) => {
    types.set(id, type);
    const receive = (call) => (data) => call === "updatePoints" && drawn.set(id, Float32Array.from(data));
    return new Proxy({}, { get: (_, call) => receive(call) });
  },
  createBPrim: () => ({}),
  createSPrim: () => ({}),
  CommitResources: () => {},
}, `${name}.usda`);
for (const frame of frames) {
  driver.SetTime(frame);
  driver.Draw();
  for (const [object, values] of expected[frame]) {
    const path = `/${name}/${object}/particles`;
    if (types.get(path) !== "points") throw new Error(`${path}: Hydra knows it as ${types.get(path)}`);
    sameFloats(`${path} in Hydra at ${frame}`, drawn.get(path), values.points);
  }
}
if (types.get(`/${name}/paddle/surface`) !== "mesh") throw new Error("Hydra has no paddle");
if (complaints.length > 0) throw new Error(`OpenUSD complains:\n${complaints.join("\n")}`);
console.log(`OpenUSD reads ${frames.length} frames through value clips, ${numbers} numbers as they are in the cache`);
process.exit(0);
