'use strict';
// Puts the program in the place of the script that would start it. What goes wrong leaves the script, which works too.

const fs = require('node:fs');
const path = require('node:path');
const { find } = require('./program.js');

const place = path.join(__dirname, 'probity.js');
const fresh = `${place}.new`;
try {
  const program = find('probity');
  try {
    fs.linkSync(program, fresh);
  } catch {
    fs.copyFileSync(program, fresh);
    fs.chmodSync(fresh, 0o755);
  }
  fs.renameSync(fresh, place);
} catch (error) {
  fs.rmSync(fresh, { force: true });
  console.warn(`probity: each call starts Node first: ${error.message}`);
}
