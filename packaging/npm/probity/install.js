'use strict';
// Puts the program in the place of the script that would start it, and the program of hooks beside it, where `probity init`
// looks for it. What goes wrong leaves the script, which works too.

const fs = require('node:fs');
const path = require('node:path');
const { find } = require('./program.js');

const put = (name, place) => {
  const fresh = `${place}.new`;
  try {
    const program = find(name);
    try {
      fs.linkSync(program, fresh);
    } catch {
      fs.copyFileSync(program, fresh);
      fs.chmodSync(fresh, 0o755);
    }
    fs.renameSync(fresh, place);
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    throw error;
  }
};

try {
  put('probity-hook', path.join(__dirname, 'probity-hook'));
  put('probity', path.join(__dirname, 'probity.js'));
} catch (error) {
  console.warn(`probity: each call starts Node first: ${error.message}`);
}
