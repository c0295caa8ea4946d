'use strict';
// Finds the program in the package for this system.

const path = require('node:path');

exports.find = (name) => {
  const system = `@probity/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${system}/package.json`)), 'bin', name);
  } catch {
    throw new Error(`probity: there is no package ${system}; build it with \`cargo install probity\``);
  }
};
