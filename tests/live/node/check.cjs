// Checks projects of TypeScript as `tsc -p` does, each with the options of its own tsconfig.json, and
// prints which files it checked and what it found. Files outside of the folder of a project, which
// are those of installed packages, are read but not checked themselves: that would take most of the
// time.

const path = require("node:path");
const ts = require("typescript");

const host = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic(fault) {
    throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, "\n"));
  },
};

function check(project) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(project, {}, host);
  const program = ts.createProgram(fileNames, options);
  const folder = path.dirname(project) + path.sep;
  const own = program.getSourceFiles().filter((file) => file.fileName.startsWith(folder));
  const faults = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  for (const file of own) {
    faults.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
  }
  const found = faults.map((fault) => ts.formatDiagnostic(fault, ts.createCompilerHost(options)));
  return { checked: own.map((file) => file.fileName), found };
}

const projects = process.argv.slice(2).map(check);
const [checked, found] = ["checked", "found"].map((key) => projects.flatMap((each) => each[key]));
console.log(JSON.stringify({ checked, found }));
