// Runs a file of Python with Python 3.14: node run.mjs SOURCE FILE, where the packages of SOURCE can be imported.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [source, file] = process.argv.slice(2);
const { loadPyodide } = createRequire(process.env.NODE_PATH + "/")("pyodide");
const python = await loadPyodide();
python.mountNodeFS("/source", source);
python.runPython("import sys; sys.path.insert(0, '/source'); sys.dont_write_bytecode = True");
python.runPython(readFileSync(file, "utf8"));
