#!/usr/bin/env node
'use strict';
// Starts the program where install scripts are not allowed. Otherwise install.js has replaced this file by the program,
// because starting Node takes longer than most commands.

const { spawnSync } = require('node:child_process');
const os = require('node:os');
const { find } = require('./program.js');

let program;
try {
  program = find('probity');
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' });
if (ended.error) {
  console.error(`probity: ${ended.error.message}`);
  process.exit(70);
}
process.exit(ended.signal ? 128 + os.constants.signals[ended.signal] : ended.status);
