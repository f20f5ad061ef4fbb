// What an editor's TOML language server says of a file: node ask.js FILE LINE:COLUMN...
// Prints one JSON object: the diagnostics, and for each place the completions and the hover text.
const fs = require("node:fs"), path = require("node:path"), url = require("node:url");
const { TaploLsp } = require(path.join(process.env.NODE_PATH, "@taplo/lsp"));

const [file, ...places] = process.argv.slice(2);
const uri = url.pathToFileURL(file).href, folder = url.pathToFileURL(path.dirname(file)).href;
const found = { diagnostics: [], places: places.map(() => ({})) };

const world = {
  now: () => new Date(),
  envVar: () => undefined,
  envVars: () => [],
  stdErrAtty: () => false,
  stdin: process.stdin,
  stdout: async (bytes) => bytes.length,
  stderr: async (bytes) => bytes.length,
  glob: () => [file],
  readFile: (name) => fs.promises.readFile(name),
  writeFile: async () => {},
  urlToFilePath: (text) => (text.startsWith("file:") ? url.fileURLToPath(text) : "/"),
  isAbsolute: path.isAbsolute,
  cwd: () => path.dirname(file),
  findConfigFile: () => undefined,
  fetch: { fetch, Headers, Request, Response },
};

let server;
const send = (message) => server.send({ jsonrpc: "2.0", ...message });

function ask() {
  places.forEach((place, number) => {
    const [line, character] = place.split(":").map(Number);
    const params = { textDocument: { uri }, position: { line, character } };
    send({ id: `completion ${number}`, method: "textDocument/completion", params });
    send({ id: `hover ${number}`, method: "textDocument/hover", params });
  });
}

function answered(message) {
  const [what, number] = message.id.split(" ");
  const place = found.places[number], result = message.result;
  if (what === "hover") place.hover = (result && result.contents.value) || "";
  else place.completions = [...new Set(((result && (result.items || result)) || []).map((item) => item.label))];
  if (found.places.every((one) => "hover" in one && "completions" in one)) {
    fs.writeSync(1, JSON.stringify(found)); // process.exit() cuts off what console.log() has not written yet
    process.exit(0);
  }
}

function received(message) {
  if (message.method === "workspace/configuration") {
    const settings = message.params.items.map(() => ({ schema: { enabled: true, catalogs: [] } }));
    send({ id: message.id, result: settings });
  } else if (message.method === "textDocument/publishDiagnostics") {
    found.diagnostics = message.params.diagnostics.map((one) => one.message);
  } else if (message.method === "taplo/didChangeSchemaAssociation") {
    ask();
  } else if (message.id === 1 && !message.method) {
    send({ method: "initialized", params: {} });
    const text = fs.readFileSync(file, "utf8");
    const textDocument = { uri, languageId: "toml", version: 1, text };
    send({ method: "textDocument/didOpen", params: { textDocument } });
  } else if (typeof message.id === "string") {
    answered(message);
  }
}

(async () => {
  server = await TaploLsp.initialize(world, { onMessage: received });
  const workspaceFolders = [{ uri: folder, name: "profiles" }];
  const params = { processId: null, rootUri: folder, workspaceFolders, capabilities: {} };
  send({ id: 1, method: "initialize", params });
  setTimeout(() => process.exit(1), 40000);
})();
