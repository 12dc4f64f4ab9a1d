// Prints the members of each interface in a file of types: its parameters, or null for a property.

const ts = require("typescript");

const [file] = process.argv.slice(2);
const text = require("node:fs").readFileSync(file, "utf8");
const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
const interfaces = new Map();
const classes = [];
source.forEachChild((node) => {
  if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, node);
  if (ts.isClassDeclaration(node)) classes.push(node.name.text);
});

function parent(node) {
  const types = (node.heritageClauses ?? []).flatMap((clause) => [...clause.types]);
  return types.map((type) => interfaces.get(type.expression.text)).find(Boolean);
}

function keys(node) {
  const above = parent(node);
  const own = node.members.map((member) => member.name.getText(source));
  return [...(above === undefined ? [] : keys(above)), ...own];
}

function parameters(method) {
  return method.parameters.map((each) => {
    const type = each.type?.typeName?.text;
    // Of a union, the first of its types that is an object.
    const names = [type, ...(each.type?.types ?? []).map((one) => one.typeName?.text)];
    const options = names.map((name) => interfaces.get(name)).find(Boolean);
    return { name: each.name.text, type, keys: options === undefined ? null : keys(options) };
  });
}

const found = {};
for (const [name, node] of interfaces) {
  found[name] = {};
  for (const member of node.members) {
    const isMethod = ts.isMethodSignature(member);
    found[name][member.name.getText(source)] = isMethod ? parameters(member) : null;
  }
}
console.log(JSON.stringify({ interfaces: found, classes }));
