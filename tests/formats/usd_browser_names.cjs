// The WebAssembly build of OpenUSD expects a browser. Loaded by `node --require` into the main thread and its workers,
// this gives it the few names it looks for; files are handed to it directly (usd_openusd.mjs).
globalThis.location = { pathname: "/" };
globalThis.XMLHttpRequest = class {
  open() {}
  send() {}
};
delete globalThis.fetch;
