// The page in a browser: `npm test` with CAROM (the program) and a Chromium (CHROMIUM, or one of the usual names).
// Without a browser it says so and passes. CAROM_SHOTS=DIR keeps screenshots, CAROM_PLAY=1 also plays 500 large frames.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const root = new URL('../..', import.meta.url).pathname;
const carom = process.env.CAROM ?? join(root, 'target/release/carom');
const names = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = names.find((name) => name && existsSync(name));
const skip = executablePath ? false : 'no Chromium: set CHROMIUM to one';
const shots = process.env.CAROM_SHOTS;
const scratch = mkdtempSync(join(tmpdir(), 'carom-view-'));

const DECK = `
title  = "Two blocks on a table"
method = "dcr"
end    = 0.03

[material.rubber]
law = "neo-hookean"
young = 1e6
poisson = 0.3
density = 1000

[body.left]
mesh = { shape = "box", size = [0.1, 0.1, 0.1], cells = [4, 4, 4], at = [-0.105, 0, 0.001] }
material = "rubber"
velocity = [4, 0, -1]

[body.right]
mesh = { shape = "box", size = [0.1, 0.1, 0.1], cells = [4, 4, 4], at = [0.005, 0.02, 0.001] }
material = "rubber"
velocity = [-4, 0, -1]

[body.table]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }

[contact]
friction = 0.2

[probe.push]
contact = "left"

[output]
history = 60
frames  = 20
`;

let browser;
const started = [];

function write(name, text) {
  const path = join(scratch, name);
  spawnSync('tee', [path], { input: text });
  return path;
}

function run(deck, out, ...more) {
  const done = spawnSync(carom, ['run', deck, '--out', out, '--quiet', '--threads', '1', ...more], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
}

/** Serves a folder; resolves with the address. */
function view(folder) {
  const server = spawn(carom, ['view', folder, '--no-browser', '--port', '0']);
  started.push(server);
  return new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (data) => {
      text += data;
      const url = text.match(/http:\S+/);
      if (url) resolve(url[0]);
    });
    server.on('exit', (code) => reject(new Error(`carom view ended with ${code}: ${text}`)));
  });
}

async function open(url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.complaints = [];
  page.on('console', (message) => { if (message.type() === 'error') page.complaints.push(message.text()); });
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => window.carom?.drawn > 0, null, { timeout: 30000 });
  return page;
}

async function shot(page, name) {
  if (shots) {
    mkdirSync(shots, { recursive: true });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(shots, name + '.png') });
  }
}

/** Share of pixels that are not paper, and the box they fill on the page. */
function covered(page) {
  return page.evaluate(() => {
    const { stage } = window.carom;
    stage.draw();
    const { width, height } = stage.canvas;
    const copy = new OffscreenCanvas(width, height).getContext('2d');
    copy.drawImage(stage.canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    const ratio = width / stage.canvas.clientWidth;
    const place = stage.canvas.getBoundingClientRect();
    let [count, x0, x1, y0, y1] = [0, Infinity, -Infinity, Infinity, -Infinity];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = 4 * (y * width + x);
        if ([0, 1, 2].some((k) => Math.abs(data[at + k] - data[k]) > 12)) {
          count++;
          x0 = Math.min(x0, x); x1 = Math.max(x1, x + 1); y0 = Math.min(y0, y); y1 = Math.max(y1, y + 1);
        }
      }
    }
    return { share: count / (width * height), box: [place.left + x0 / ratio, place.left + x1 / ratio, place.top + y0 / ratio, place.top + y1 / ratio] };
  });
}

/** The box of all nodes of shown bodies on the page. */
function projected(page) {
  return page.evaluate(() => {
    const { stage, mesh } = window.carom;
    const box = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < mesh.nodes; i++) {
      if (mesh.bodies[mesh.bodyOf[i]].rigid || stage.hidden.has(mesh.bodyOf[i])) continue;
      const [x, y] = stage.screen(i);
      box[0] = Math.min(box[0], x); box[1] = Math.max(box[1], x); box[2] = Math.min(box[2], y); box[3] = Math.max(box[3], y);
    }
    return box;
  });
}

const frameIs = (page, frame) => page.waitForFunction((f) => window.carom.frame === f, frame);

async function slide(page, frame) {
  await page.locator('#slider').fill(String(frame));
  await frameIs(page, frame);
}

let url;
before(async () => {
  if (skip) return;
  const flags = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--no-sandbox'];
  browser = await chromium.launch({ executablePath, args: flags });
  run(write('blocks.toml', DECK), join(scratch, 'blocks'));
  url = await view(join(scratch, 'blocks'));
});
after(async () => {
  await browser?.close();
  started.forEach((server) => server.kill());
  rmSync(scratch, { recursive: true, force: true });
});

test('the picture covers the pixels that its nodes project to', { skip }, async () => {
  const page = await open(url);
  await shot(page, 'light');
  await page.locator('#arrows').uncheck();
  await page.locator('#obstacles').uncheck();
  for (const frame of [0, 12, 20]) {
    await slide(page, frame);
    const [seen, nodes] = [await covered(page), await projected(page)];
    seen.box.forEach((edge, k) => assert.ok(Math.abs(edge - nodes[k]) < 3, `frame ${frame}: ${seen.box} for ${nodes}`));
    assert.ok(seen.share > 0.02 && seen.share < 0.6, `${seen.share}`);
  }
  // alone, the left block fills its own box
  await page.locator('.body', { hasText: 'left' }).getByText('only').click();
  const [seen, nodes] = [await covered(page), await projected(page)];
  seen.box.forEach((edge, k) => assert.ok(Math.abs(edge - nodes[k]) < 3, `${seen.box} for ${nodes}`));
  await shot(page, 'alone');
  // cut in the middle, less of it is left
  await page.locator('#cut-axis').selectOption('x');
  const half = await covered(page);
  assert.ok(half.share < 0.85 * seen.share && half.share > 0.2 * seen.share, `${half.share} of ${seen.share}`);
  await shot(page, 'cut');
  await page.locator('#cut-axis').selectOption('');
  await page.locator('#all').click();
  // nothing at all without bodies
  for (const body of ['left', 'right']) await page.locator('.body', { hasText: body }).locator('input').uncheck();
  assert.equal((await covered(page)).share, 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('slider, keys and the plot go to the same frame, and colours have the numbers of the history', { skip }, async () => {
  const page = await open(url);
  await slide(page, 0);
  const still = await page.evaluate(() => window.carom.numbers && window.carom.stage.positions.array.every((x, i) => x === window.carom.mesh.reference[i]));
  assert.ok(still, 'the first frame is the undeformed one');
  assert.match(await page.locator('#time').textContent(), /^t = 0 s +1 \/ 21$/);
  await slide(page, 7);
  assert.match(await page.locator('#time').textContent(), /8 \/ 21$/);
  const plot = await page.locator('#plot').boundingBox();
  await page.mouse.click(plot.x + plot.width - 8, plot.y + plot.height / 2);
  await frameIs(page, 20);
  await page.locator('#field').selectOption('velocity');
  // numbers and legend come together, when the field is here
  await page.waitForFunction(() => document.getElementById('legend-name').textContent === 'speed [m/s]');
  const fastest = await page.evaluate(() => Math.max(...window.carom.numbers));
  assert.ok(fastest > 0.5 && fastest < 10, `${fastest} m/s`);
  await page.locator('#high').fill('2');
  assert.equal(await page.locator('#legend-high').textContent(), '2');
  await page.locator('#low').fill('0.5');
  assert.equal(await page.locator('#legend-low').textContent(), '0.5');
  assert.deepEqual(await page.evaluate(() => window.carom.stage.uniforms.range.value.toArray()), [0.5, 2]);
  await page.locator('#range-auto').click();
  await page.waitForFunction((most) => Math.abs(window.carom.stage.uniforms.range.value.y - most) <= 1e-6 * most || window.carom.stage.uniforms.range.value.y > most, fastest);
  for (const option of await page.locator('#field option').evaluateAll((all) => all.map((o) => o.value))) {
    await page.locator('#field').selectOption(option);
    await page.waitForFunction((name) => window.carom.field.name === name && window.carom.numbers.every(Number.isFinite), option);
  }
  await page.locator('#undeformed').check();
  await page.locator('#play').click();
  await page.waitForFunction(() => window.carom.playing && window.carom.frame > 3);
  await page.locator('#play').click();
  assert.equal(await page.evaluate(() => window.carom.playing), false);
  await page.locator('#play').blur();
  for (const playing of [true, false]) {
    await page.keyboard.press(' ');
    assert.equal(await page.evaluate(() => window.carom.playing), playing);
  }
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('a click picks the node under it and tells its values', { skip }, async () => {
  const page = await open(url);
  await slide(page, 20);
  // the node nearest to the eye can be seen
  const [node, at, expected] = await page.evaluate(() => {
    const { stage, mesh, source } = window.carom;
    const p = stage.positions;
    const away = (i) => stage.camera.position.distanceTo({ x: p.getX(i), y: p.getY(i), z: p.getZ(i) });
    let best = -1;
    for (let i = 0; i < mesh.nodes; i++) if (!mesh.bodies[mesh.bodyOf[i]].rigid && (best < 0 || away(i) < away(best))) best = i;
    return [best, stage.screen(best), source.cache.now(20, 'mises')[best]];
  });
  await page.mouse.click(at[0], at[1]);
  await page.waitForFunction(() => document.querySelectorAll('#node tr').length > 8);
  assert.equal(await page.evaluate(() => window.carom.picked), node);
  const rows = await page.locator('#node tr').evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
  const mises = Number(rows.find(([name]) => name.startsWith('von Mises'))[1]);
  assert.ok(Math.abs(mises - expected) <= 1e-3 * Math.abs(expected), `${mises} for ${expected}`);
  // its history comes from all frames
  await page.waitForFunction(() => window.carom.nodePlot.curves[0]?.times.length === 21);
  await shot(page, 'picked');
  // beside the bodies there is nothing to pick
  const stage = await page.locator('#scene').boundingBox();
  await page.mouse.click(stage.x + stage.width - 5, stage.y + 5);
  assert.equal(await page.evaluate(() => window.carom.picked), -1);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('dragging turns it, the wheel goes nearer, and Fit comes back', { skip }, async () => {
  const page = await open(url);
  await slide(page, 12);
  await page.locator('#home').click();
  const eye = () => page.evaluate(() => { const { camera, controls } = window.carom.stage; return [...camera.position.toArray(), camera.position.distanceTo(controls.target)]; });
  const before = await eye();
  const box = await page.locator('#scene').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 120, y + 10, { steps: 5 });
  assert.ok(await page.evaluate(() => window.carom.stage.moving));
  await page.mouse.up();
  const turned = await eye();
  // about the vertical through the middle: as far away as before, somewhere else
  assert.ok(Math.abs(turned[3] / before[3] - 1) < 1e-6 && Math.hypot(turned[0] - before[0], turned[1] - before[1]) > 0.2 * before[3], `${before} ${turned}`);
  assert.equal(await page.evaluate(() => window.carom.stage.moving || window.carom.picked >= 0), false);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction((d) => window.carom.stage.camera.position.distanceTo(window.carom.stage.controls.target) < 0.97 * d, turned[3]);
  await page.locator('#home').click();
  (await eye()).forEach((c, k) => assert.ok(Math.abs(c - before[k]) < 1e-6 * before[3], `${before}`));
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('edges, the undeformed state, obstacles and forces are drawn where they are asked for', { skip }, async () => {
  const page = await open(url);
  const pressed = await page.evaluate(async () => {
    const { source, progress } = window.carom;
    const forces = await Promise.all(progress.times.map((_, k) => source.cache.get(k, 'contact_force')));
    const most = forces.map((f) => f.reduce((a, x) => Math.max(a, Math.abs(x)), 0));
    return most.indexOf(Math.max(...most));
  });
  await slide(page, pressed);
  /** Pixels that differ between the present picture and the same after a box was ticked or cleared. */
  const change = async (id) => {
    await page.locator(id).click();
    const counted = await page.evaluate(() => {
      const { stage } = window.carom;
      const { width, height } = stage.canvas;
      const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
      stage.draw();
      copy.drawImage(stage.canvas, 0, 0);
      const now = copy.getImageData(0, 0, width, height).data;
      const before = window.before ?? now;
      window.before = now;
      let count = 0;
      for (let i = 0; i < now.length; i += 4) if ([0, 1, 2].some((k) => Math.abs(now[i + k] - before[i + k]) > 6)) count++;
      return count;
    });
    return counted;
  };
  // the first call only keeps a picture
  await change('#undeformed');
  await shot(page, 'undeformed');
  for (const id of ['#undeformed', '#edges', '#edges', '#arrows', '#arrows', '#obstacles', '#obstacles']) {
    const pixels = await change(id);
    assert.ok(pixels > 300, `${id}: ${pixels} pixels`);
  }
  // one can look through the table: bodies behind it are seen, in other colours than without it
  const walls = await page.evaluate(() => { const { material } = window.carom.stage.walls; return [material.transparent, material.opacity]; });
  assert.ok(walls[0] && walls[1] < 0.5, `${walls}`);
  // where blocks press on each other arrows are as long as forces are, tips where these act, along them
  const arrows = await page.evaluate(() => {
    const { stage, source, frame } = window.carom;
    const force = source.cache.now(frame, 'contact_force');
    const size = (i) => Math.hypot(force[3 * i], force[3 * i + 1], force[3 * i + 2]);
    const nodes = [...Array(force.length / 3).keys()].filter((i) => size(i) > 0.01 * stage.longest);
    let worst = 0;
    nodes.forEach((i, k) => {
      const m = stage.arrows.instanceMatrix.array.subarray(16 * k, 16 * k + 16);
      for (let c = 0; c < 3; c++) {
        const way = m[4 + c];
        worst = Math.max(worst, Math.abs(m[12 + c] + way - stage.positions.array[3 * i + c]) / stage.size);
        worst = Math.max(worst, Math.abs(way - 0.22 * stage.size * force[3 * i + c] / stage.longest) / stage.size);
      }
    });
    return [nodes.length, stage.arrows.count, worst];
  });
  assert.ok(arrows[0] > 0 && arrows[0] === arrows[1] && arrows[2] < 1e-5, `${arrows}`);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('where it is slow less is drawn in motion, and everything at rest', { skip }, async () => {
  const page = await open(url);
  await slide(page, 12);
  await page.locator('#arrows').uncheck();
  await page.locator('#obstacles').uncheck();
  const [seen, nodes] = [await covered(page), await projected(page)];
  // blocks are closed: what looks away is hidden by what looks at the eye, and the picture fills the same pixels
  assert.ok(await page.evaluate(() => window.carom.stage.closed));
  const state = () => page.evaluate(() => { const { stage } = window.carom; return [stage.less, stage.edges.visible, stage.faces.material.side, stage.canvas.width / stage.canvas.clientWidth]; });
  const whole = await state();
  assert.deepEqual(whole.slice(0, 2), [0, true]);
  await page.evaluate(() => { const { stage } = window.carom; stage.move(() => { stage.playing = true; }); });
  for (const [edges, pixels] of [[true, 1], [false, 1], [false, 1 / 2], [false, 1 / 3], [false, 1 / 3]]) {
    await page.evaluate(() => window.carom.stage.hurry());
    const now = await state();
    assert.ok(now[1] === edges && now[2] !== whole[2] && Math.abs(now[3] / whole[3] - pixels) < 0.01, `${now}`);
    const there = await covered(page);
    there.box.forEach((side, k) => assert.ok(Math.abs(side - nodes[k]) < 3 / pixels, `${there.box} for ${nodes}`));
    assert.ok(Math.abs(there.share / seen.share - 1) < 0.06, `${there.share} for ${seen.share}`);
  }
  // cut open, the inside is seen
  await page.locator('#cut-axis').selectOption('x');
  assert.equal((await state())[2], whole[2]);
  await page.locator('#cut-axis').selectOption('');
  await page.evaluate(() => { const { stage } = window.carom; stage.move(() => { stage.playing = false; }); });
  assert.deepEqual(await state(), whole);
  assert.equal((await covered(page)).share, seen.share);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('the line in the plot of energies follows the time', { skip }, async () => {
  const page = await open(url);
  const line = async () => { const box = await page.locator('#plot + .now').boundingBox(); return box.x; };
  const plot = await page.locator('#plot').boundingBox();
  for (const frame of [0, 10, 20]) {
    await slide(page, frame);
    const share = (await line() - plot.x - 8) / (plot.width - 16);
    assert.ok(Math.abs(share - frame / 20) < 0.01, `${frame}: ${share}`);
  }
  const names = await page.evaluate(() => window.carom.plot.curves.map((c) => c.name));
  assert.ok(['kinetic', 'strain', 'total'].every((name) => names.includes(name)), `${names}`);
  await page.locator('#curves').selectOption({ index: 1 });
  assert.notDeepEqual(await page.evaluate(() => window.carom.plot.curves.map((c) => c.name)), names);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('it is dark where the system is, and can be changed', { skip }, async () => {
  const page = await open(url, { colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await paper(), 'rgb(16, 20, 27)');
  await slide(page, 6);
  await shot(page, 'dark');
  await page.locator('#theme').click();
  assert.equal(await paper(), 'rgb(255, 255, 255)');
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('the page grows with a run that goes on', { skip }, async () => {
  const out = join(scratch, 'growing');
  const deck = write('growing.toml', DECK.replace('frames  = 20', 'frames  = 400').replaceAll('cells = [4, 4, 4]', 'cells = [8, 8, 8]').replace('end    = 0.03', 'end    = 0.3'));
  const runner = spawn(carom, ['run', deck, '--out', out, '--quiet', '--threads', '1']);
  started.push(runner);
  while (!existsSync(join(out, 'frames.pvd'))) await new Promise((done) => setTimeout(done, 50));
  const page = await open(await view(out));
  const count = () => page.evaluate(() => [window.carom.progress.times.length, window.carom.history.get('time').length, window.carom.frame]);
  const [frames, rows] = await count();
  await page.waitForFunction((n) => window.carom.progress.times.length > n + 3 && window.carom.frame > n + 2, frames, { timeout: 60000 });
  const [more, moreRows, at] = await count();
  assert.ok(more > frames && moreRows >= rows && at >= more - 2, `${frames} ${more} ${rows} ${moreRows} ${at}`);
  assert.equal(await page.locator('#status').textContent(), 'running');
  runner.kill('SIGINT');
  await page.waitForFunction(() => window.carom.progress.status === 'interrupted', null, { timeout: 30000 });
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('one file holds a whole run, and says what it left out', { skip }, async () => {
  const file = join(scratch, 'run.html');
  const html = (limit, folder = 'blocks') => {
    const done = spawnSync(carom, ['render', join(scratch, folder), '--html', file, '--limit', String(limit)], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    assert.ok(statSync(file).size <= limit * 1e6, `${statSync(file).size}`);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /(src|href)="?https?:/);
    return done.stdout;
  };
  html(25);
  const page = await open('file://' + file);
  assert.equal(await page.evaluate(() => window.carom.progress.times.length), 21);
  await page.locator('#arrows').uncheck();
  await page.locator('#obstacles').uncheck();
  await slide(page, 12);
  const [seen, nodes] = [await covered(page), await projected(page)];
  seen.box.forEach((edge, k) => assert.ok(Math.abs(edge - nodes[k]) < 3, `${seen.box} for ${nodes}`));
  // as served, to sixteen bits
  const served = await open(url);
  await slide(served, 12);
  const positions = (p) => p.evaluate(() => [...window.carom.source.cache.now(12, 'position')]);
  const [ours, theirs] = [await positions(page), await positions(served)];
  const worst = Math.max(...ours.map((x, i) => Math.abs(x - theirs[i])));
  assert.ok(worst < 0.3 / 65535, `${worst} m`);
  assert.deepEqual([...page.complaints, ...served.complaints], []);
  await page.close();
  await served.close();
  const fine = ['body.left', 'body.right'].flatMap((b) => ['--set', `${b}.mesh.cells=[9, 9, 9]`]);
  run(join(scratch, 'blocks.toml'), join(scratch, 'fine'), '--set', 'end=0.004', '--set', 'output.frames=60', ...fine);
  assert.match(html(1, 'fine'), /\d+ of 61 frames|left out/);
  const thin = await open('file://' + file);
  assert.match(await thin.locator('#note').textContent(), /to keep it small/);
  await shot(thin, 'thinned');
  await thin.close();
});

/** What a server says to raw text. */
function raw(address, text) {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(text));
    let answer = '';
    socket.on('data', (data) => { answer += data; });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('foreign hosts and paths that lead elsewhere are refused', { skip }, async () => {
  const { host } = new URL(url);
  const ask = async (path, as, method = 'GET') => (await raw(url, `${method} ${path} HTTP/1.1\r\nHost: ${as}\r\nConnection: close\r\n\r\n`)).split(' ')[1];
  assert.equal(await ask('/progress', host), '200');
  assert.equal(await ask('/progress', 'evil.example'), '403');
  assert.equal(await ask('/progress', host, 'POST'), '405');
  for (const path of ['/../summary.json', '/frame/../../x', '/%2e%2e/summary.json']) assert.equal(await ask(path, host), '400', path);
  for (const path of ['/summary.json', '/frame/0/nothing', '/frame/99/mises', '/etc/passwd']) assert.equal(await ask(path, host), '404', path);
});

test('bars and plane bodies show too', { skip }, async () => {
  for (const [name, field] of [['two-bars', 'mises'], ['ten-cylinders', 'mises']]) {
    const out = join(scratch, name);
    run(name, out, '--set', 'output.frames=4', ...(name === 'ten-cylinders' ? ['--set', 'end=0.002'] : []));
    const page = await open(await view(out));
    if (await page.locator('#obstacles').isEnabled()) await page.locator('#obstacles').uncheck();
    await page.locator('#field').selectOption(field);
    const { share } = await covered(page);
    assert.ok(share > 1e-4, `${name}: ${share}`);
    await shot(page, name);
    assert.deepEqual(page.complaints, []);
    await page.close();
  }
});

test('large runs play', { skip: skip || (process.env.CAROM_PLAY ? false : 'set CAROM_PLAY=1: it takes a minute and 1 GB') }, async () => {
  const out = join(scratch, 'large');
  const deck = write('large.toml', `method = "verlet"
end = 1e-3
[body.plate]
mesh = { shape = "box", size = [1, 1, 0.02], cells = [112, 112, 1] }
material = { law = "st-venant-kirchhoff", young = 2e11, poisson = 0.3, density = 7800 }
velocity = [0, 0, 10]
fix = ["xmin"]
[output]
history = 500
frames = 500
`);
  run(deck, out);
  const page = await open(await view(out));
  await page.waitForFunction(() => window.carom.progress.times.length === 501, null, { timeout: 120000 });
  const triangles = await page.evaluate(() => window.carom.mesh.triangles.length / 3);
  const play = () => page.evaluate(async () => {
    const page = window.carom;
    await page.show(0);
    const begin = performance.now();
    const drawn = page.drawn;
    page.play(true);
    while (page.playing) await new Promise((done) => setTimeout(done, 20));
    return (page.drawn - drawn) / (performance.now() - begin) * 1000;
  });
  const [first, again] = [await play(), await play()];
  const less = await page.evaluate(() => [window.carom.stage.leftOut, window.carom.stage.less]);
  console.log(`${triangles} triangles, 501 frames: ${first.toFixed(1)} frames/s as they come, ${again.toFixed(1)} when they are there; left out ${less}`);
  assert.ok(triangles >= 50000 && again > 5, `${triangles} ${again}`);
  assert.equal(less[1], 0, 'at rest everything is drawn');
  await shot(page, 'large');
  await page.close();
});
