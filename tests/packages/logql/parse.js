// Parses LogQL by Grafana's grammar: node parse.js <FILE, one expression in each line.
// Prints the number and the place of each expression with an error.
const path = require("node:path"), fs = require("node:fs");
const { parser } = require(path.join(process.env.NODE_PATH, "@grafana/lezer-logql"));

fs.readFileSync(0, "utf8").split("\n").filter(Boolean).forEach((expression, index) => {
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) console.log(`${index}:${node.from}`);
    },
  });
});
