// Makes bundle.js out of src/: `npm ci && npm run build`. The first line holds a checksum of what it was made from, so that
// a test without Node can tell whether it is current (tests/viewer_is_current.rs).
import { build } from 'esbuild';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const here = new URL('.', import.meta.url).pathname;
const sources = readdirSync(here + 'src').sort().map((name) => 'src/' + name);
const read = (name) => readFileSync(here + name, 'utf8');
const sum = crc32(['package-lock.json', 'build.mjs', ...sources].map(read).join('')) >>> 0;

const made = await build({
  entryPoints: [here + 'src/main.js'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'eof',
  write: false,
});
const head = `/* Carom's viewer, made from viewer/src (checksum ${sum.toString(16).padStart(8, '0')}); contains three.js, MIT licence, see viewer/README.md */\n`;
writeFileSync(here + 'bundle.js', head + made.outputFiles[0].text);
