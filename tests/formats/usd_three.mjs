// Reads frames of `tribo export --format usd` with the USD parser of three.js and compares them with the same frames as
// PLY, number by number; then has its loader build the meshes.
//   node usd_three.mjs MODULES USD_DIR PLY_DIR NAME FRAME_COUNT
// MODULES is the node_modules that has three.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { readPly, sameFloats } from "./ply.mjs";

const [modules, usdDirectory, plyDirectory, name, frameCount] = process.argv.slice(2);
const loaders = join(modules, "three/examples/jsm/loaders");
const { USDAParser } = await import(pathToFileURL(join(loaders, "usd/USDAParser.js")));
const { USDLoader } = await import(pathToFileURL(join(loaders, "USDLoader.js")));

let numbers = 0;
for (let frame = 0; frame < Number(frameCount); ++frame) {
  const stem = `${name}_${String(frame).padStart(6, "0")}`;
  const text = readFileSync(join(usdDirectory, `${stem}.usda`), "utf8");
  const { specsByPath: specs } = new USDAParser().parseData(text);
  const stage = specs["/"].fields;
  if (stage.defaultPrim !== name) throw new Error(`${stem}: default prim is ${stage.defaultPrim}`);
  if (stage.metersPerUnit !== 1 || stage.timeCodesPerSecond !== 50 || stage.upAxis !== "Y") {
    throw new Error(`${stem}: ${JSON.stringify(stage)}`);
  }
  const sample = (path) => {
    const samples = specs[path]?.fields.timeSamples;
    if (samples?.times.length !== 1 || samples.times[0] !== frame) {
      throw new Error(`${stem}: ${path} has no sample at ${frame} alone`);
    }
    return samples.values[0];
  };
  for (const [object, expected] of readPly(join(plyDirectory, `${stem}.ply`))) {
    const prim = `/${name}/${object}/particles`;
    if (specs[prim]?.fields.typeName !== "Points") throw new Error(`${stem}: no Points at ${prim}`);
    for (const key of ["points", "velocities", "ids"]) {
      sameFloats(`${stem}: ${prim}.${key}`, sample(`${prim}.${key}`), expected[key]);
      numbers += expected[key].length;
    }
    for (const key of ["primvars:J", "primvars:strain"]) {
      if (sample(`${prim}.${key}`).length !== expected.ids.length) throw new Error(`${stem}: ${prim}.${key}`);
    }
  }

  // What the loader draws: the triangles of every mesh, corner by corner.
  const drawn = [];
  new USDLoader().parse(text).traverse((node) => node.isMesh && drawn.push(node.geometry.attributes.position.array));
  let found = 0;
  for (const [path, spec] of Object.entries(specs)) {
    if (spec.fields.typeName !== "Mesh") continue;
    const points = sample(`${path}.points`), corners = sample(`${path}.faceVertexIndices`);
    const expected = corners.flatMap((i) => points.slice(3 * i, 3 * i + 3));
    sameFloats(`${stem}: what the loader draws of ${path}`, drawn[found], expected);
    if (sample(`${path}.velocities`).length !== points.length) throw new Error(`${stem}: ${path}.velocities`);
    ++found;
  }
  if (found === 0) throw new Error(`${stem}: no meshes`);
}
if (numbers === 0) throw new Error("no particles");
console.log(`three.js reads ${frameCount} frames, ${numbers} numbers as they are in the cache`);
