// The page: what is asked for on it, and what it shows.

import { css, TIDE, BODIES } from './colour.js';
import { choices, number } from './fields.js';
import { Plot } from './plot.js';
import { open, readMesh } from './source.js';
import { Stage } from './stage.js';

/** Frames a second while playing. */
const SPEED = 30;
/** Frames that are asked for ahead of the one that plays. */
const AHEAD = 10;
/** How often the server is asked for more [ms]. */
const POLL = 1000;
/** Pictures in motion should not take longer [ms]: the mean of so many is looked at. */
const SLOW = 45;
const LOOKED_AT = 4;

const $ = (id) => document.getElementById(id);
const GROUPS = {
  energies: ['kinetic', 'strain', 'contact', 'total', 'external', 'friction', 'restitution', 'damping', 'plastic', 'error'],
  'linear momentum': ['px', 'py', 'pz'],
  'angular momentum': ['lx', 'ly', 'lz'],
  contacts: ['contacts'],
  penetration: ['penetration'],
  step: ['dt'],
};

class Page {
  constructor(source) {
    this.source = source;
    this.frame = 0;
    this.playing = false;
    this.picked = -1;
    this.seen = new Map();
    this.drawn = 0;
    this.dirty = true;
    this.took = [];
  }

  async begin() {
    this.progress = await this.source.progress();
    this.tell();
    while (!this.progress.times.length) {
      $('note').textContent = 'Waiting for the first frame …';
      await new Promise((done) => setTimeout(done, POLL));
      this.progress = await this.source.progress();
    }
    this.mesh = readMesh(await this.source.mesh());
    this.choices = choices(this.mesh).filter((c) => !this.source.run || c.needs === null || c.needs === 'position' || this.source.run.fields.includes(c.needs));
    this.field = this.choices[0];
    this.stage = new Stage($('scene'), this.mesh, () => { this.dirty = true; });
    this.stage.theme();
    this.plot = new Plot($('plot'), (time) => this.toTime(time));
    this.nodePlot = new Plot($('node-plot'), (time) => this.toTime(time));
    this.controls();
    this.bodies();
    await this.readHistory();
    this.tell();
    await this.show(this.progress.times.length - 1);
    this.stage.place();
    requestAnimationFrame((now) => this.tick(now));
    if (this.source.follows) setTimeout(() => this.follow(), POLL);
  }

  /** Title, state and what was left out. */
  tell() {
    const { title, method, status, warnings } = this.progress;
    document.title = title ? `${title} · Carom` : 'Carom';
    $('title').textContent = title || 'Carom';
    $('method').textContent = method;
    $('status').textContent = status;
    $('status').className = status;
    const notes = [...(warnings ?? []).map((w) => '⚠ ' + w)];
    const thin = this.source.thinned;
    if (thin) {
      const [kept, all] = thin.frames;
      if (kept < all) notes.push(`${kept} of ${all} frames are in this file, to keep it small.`);
      if (thin.without.length) notes.push(`Left out, to keep it small: ${thin.without.join(', ')}.`);
      notes.push('Numbers here have 16 bits; the folder of the run has all digits.');
    }
    $('note').textContent = notes.join('\n');
    const last = this.progress.times.length - 1;
    $('slider').max = Math.max(0, last);
  }

  async readHistory() {
    const { names, columns } = await this.source.history();
    this.history = new Map(names.map((n, i) => [n, columns[i]]));
    const groups = { ...GROUPS };
    for (const name of names.filter((n) => n.includes('.'))) {
      const [probe, component] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)];
      const kind = /^[uvwfj]/.test(component) && component.length === 2 ? component[0] : component;
      (groups[`${probe}: ${{ u: 'displacement', v: 'velocity', w: 'spin', f: 'force', j: 'impulse' }[kind] ?? kind}`] ??= []).push(name);
    }
    this.groups = groups;
    const select = $('curves');
    if (select.options.length !== Object.keys(groups).length) {
      select.replaceChildren(...Object.keys(groups).map((g) => new Option(g, g)));
    }
    this.curves();
  }

  curves() {
    const times = this.history.get('time') ?? [];
    const varies = (v) => v && v.some((x) => x !== 0);
    const names = this.groups[$('curves').value].filter((n) => varies(this.history.get(n)));
    this.plot.set(names.map((n) => ({ name: n.slice(n.lastIndexOf('.') + 1), times, values: this.history.get(n) })));
  }

  controls() {
    const { stage } = this;
    $('field').replaceChildren(...this.choices.map((c) => new Option(c.unit ? `${c.label} [${c.unit}]` : c.label, c.name)));
    $('field').onchange = () => {
      this.field = this.choices.find((c) => c.name === $('field').value);
      $('low').value = $('high').value = '';
      this.show(this.frame);
      if (this.picked >= 0) this.loadNode();
    };
    $('low').oninput = $('high').oninput = () => this.show(this.frame);
    $('range-auto').onclick = () => { $('low').value = $('high').value = ''; this.show(this.frame); };
    $('range-frame').onclick = () => {
      [$('low').value, $('high').value] = this.extent(this.numbers);
      this.show(this.frame);
    };
    for (const name of ['edges', 'undeformed', 'arrows', 'obstacles']) {
      $(name).onchange = () => { stage.show[name] = $(name).checked; stage.choose(); this.show(this.frame); };
    }
    $('arrows').disabled = !this.mesh.fields.some((f) => f.name === 'contact_force');
    $('obstacles').disabled = !this.mesh.bodies.some((b) => b.rigid);
    $('exaggerate').oninput = () => this.show(this.frame);
    const cut = () => { $('cut').disabled = !$('cut-axis').value; stage.cut($('cut-axis').value, Number($('cut').value)); };
    $('cut-axis').onchange = $('cut').oninput = cut;
    cut();
    $('all').onclick = () => { stage.hidden.clear(); this.bodies(); stage.choose(); this.show(this.frame); };
    $('curves').onchange = () => this.curves();
    $('home').onclick = () => stage.place();
    $('theme').onclick = () => {
      const dark = getComputedStyle(document.documentElement).getPropertyValue('--paper').trim() !== '#fff';
      document.documentElement.dataset.theme = dark ? 'light' : 'dark';
      this.retheme();
    };
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.retheme());
    $('slider').oninput = () => { this.play(false); this.show(Number($('slider').value)); };
    $('play').onclick = () => this.play(!this.playing);
    document.addEventListener('keydown', (event) => {
      if (['INPUT', 'SELECT', 'BUTTON'].includes(event.target.tagName) && event.target.id !== 'slider') return;
      if (event.key === ' ') { this.play(!this.playing); event.preventDefault(); }
    });
    let down = null;
    const canvas = $('scene');
    canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
    canvas.addEventListener('pointerup', (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) this.pick(event.clientX, event.clientY);
    });
    new ResizeObserver(() => { stage.resize(); this.plot.draw(); this.nodePlot.draw(); }).observe($('stage'));
  }

  retheme() {
    this.stage.theme();
    this.plot.draw();
    this.nodePlot.draw();
  }

  /** The list of bodies, each to be hidden or shown alone. */
  bodies() {
    const { stage, mesh } = this;
    $('bodies').replaceChildren(...mesh.bodies.map((body, i) => {
      const line = document.createElement('div');
      line.className = 'body';
      const label = document.createElement('label');
      const box = document.createElement('input');
      box.type = 'checkbox';
      box.checked = !stage.hidden.has(i);
      box.onchange = () => { box.checked ? stage.hidden.delete(i) : stage.hidden.add(i); stage.choose(); this.show(this.frame); };
      const swatch = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.background = body.rigid ? 'var(--soft)' : css(BODIES[i % BODIES.length]);
      label.append(box, swatch, body.name);
      const only = document.createElement('button');
      only.textContent = 'only';
      only.title = `Show ${body.name} alone`;
      only.onclick = () => {
        stage.hidden = new Set(mesh.bodies.keys());
        stage.hidden.delete(i);
        this.bodies();
        stage.choose();
        this.show(this.frame);
      };
      line.append(label, only);
      return line;
    }));
  }

  /** Smallest and largest number of the bodies that are shown. */
  extent(numbers) {
    const { mesh, stage } = this;
    const shown = mesh.bodies.map((b, i) => !b.rigid && !stage.hidden.has(i));
    let [lo, hi] = [Infinity, -Infinity];
    for (let i = 0; i < numbers.length; i++) {
      const x = numbers[i];
      if (shown[mesh.bodyOf[i]] && x === x) { if (x < lo) lo = x; if (x > hi) hi = x; }
    }
    return lo <= hi ? [lo, hi] : [0, 1];
  }

  /** Everything that a frame needs, or nothing if it is not all here yet. */
  ready(frame) {
    const { cache } = this.source;
    const position = cache.now(frame, 'position');
    const array = this.field.needs ? cache.now(frame, this.field.needs) : position;
    const force = this.wantsArrows() ? cache.now(frame, 'contact_force') : position;
    return position && array && force ? { position, array, force } : null;
  }

  wantsArrows() {
    return $('arrows').checked && !$('arrows').disabled;
  }

  load(frame) {
    const { cache } = this.source;
    const wanted = ['position', this.field.needs ?? 'position', ...(this.wantsArrows() ? ['contact_force'] : [])];
    return Promise.all(wanted.map((name) => cache.get(frame, name)));
  }

  /** Shows a frame as soon as it is here. */
  async show(frame) {
    this.wanted = frame;
    if (!this.ready(frame)) {
      try {
        await this.load(frame);
      } catch (error) {
        $('note').textContent = String(error.message ?? error);
        return;
      }
    }
    // another one may have been asked for meanwhile
    if (this.wanted === frame) this.put(frame);
  }

  put(frame) {
    const here = this.ready(frame);
    if (!here) return;
    this.frame = frame;
    const { mesh, stage, field } = this;
    const numbers = this.numbers ??= new Float32Array(mesh.nodes);
    for (let i = 0; i < mesh.nodes; i++) numbers[i] = field.of(here.array, i);
    const times = Number($('exaggerate').value);
    let { position } = here;
    if (times !== 1) position = position.map((x, i) => mesh.reference[i] + times * (x - mesh.reference[i]));
    const byBody = field.name === 'body';
    const range = byBody ? [0, Math.max(1, mesh.bodies.length - 1)] : this.range(numbers);
    stage.set(position, numbers, range, byBody);
    stage.setArrows(this.wantsArrows() ? here.force : null);
    stage.setMark(this.picked);
    this.legend(range, byBody);
    const time = this.progress.times[frame];
    $('slider').value = frame;
    $('time').textContent = `t = ${number(time)} s   ${frame + 1} / ${this.progress.times.length}`;
    this.plot.at(time);
    if (this.picked >= 0) this.tellNode();
    this.drawn++;
  }

  /** What the user says, else the extremes of all frames seen with this field so far. */
  range(numbers) {
    const now = this.extent(numbers);
    const seen = this.seen.get(this.field.name) ?? now;
    const all = [Math.min(seen[0], now[0]), Math.max(seen[1], now[1])];
    this.seen.set(this.field.name, all);
    const said = [$('low').value, $('high').value].map((v, k) => (v === '' ? all[k] : Number(v)));
    return said;
  }

  legend(range, byBody) {
    // what has not changed is not laid out again
    const told = [this.field.name, ...range].join();
    if (told === this.told) return;
    this.told = told;
    $('legend-name').textContent = this.field.unit ? `${this.field.label} [${this.field.unit}]` : this.field.label;
    $('legend-bar').style.background = byBody ? 'none' : `linear-gradient(to right, ${TIDE.map(css).join(', ')})`;
    $('legend-low').textContent = byBody ? '' : number(range[0]);
    $('legend-high').textContent = byBody ? '' : number(range[1]);
  }

  toTime(time) {
    const { times } = this.progress;
    let best = 0;
    times.forEach((t, i) => { if (Math.abs(t - time) < Math.abs(times[best] - time)) best = i; });
    this.play(false);
    this.show(best);
  }

  play(on) {
    this.playing = on;
    $('play').textContent = on ? '▮▮' : '▶';
    if (on && this.frame >= this.progress.times.length - 1) this.show(0);
    this.last = performance.now();
    this.stage.move(() => { this.stage.playing = on; });
  }

  /** Counts what a picture in motion took [ms]; less is drawn where it is too much. */
  price(took) {
    this.took.push(took);
    if (this.took.length < LOOKED_AT) return;
    if (this.took.reduce((sum, t) => sum + t) > LOOKED_AT * SLOW) this.stage.hurry();
    this.took = [];
  }

  /** Once for every picture of the screen: the next frame if it is time for it, and a new picture if anything has changed. */
  tick(now) {
    // while it is turned a picture is due at once, while it plays when its frame is
    if (this.stage.turning && !this.playing && this.drewBefore) this.price(now - this.before);
    this.before = now;
    this.drewBefore = this.dirty;
    if (this.playing) {
      const count = this.progress.times.length;
      const next = this.frame + 1;
      if (next >= count) {
        this.play(false);
      } else if (now - this.last >= 1000 / SPEED - 4) {
        if (this.ready(next)) {
          this.put(next);
          if (!this.waited) this.price(now - this.last);
          this.last = now;
          this.waited = false;
        } else {
          this.waited = true;
        }
        for (let k = next; k < Math.min(count, next + AHEAD); k++) if (!this.ready(k)) this.load(k).catch(() => {});
      }
    }
    if (this.dirty) {
      this.dirty = false;
      this.stage.draw();
    }
    requestAnimationFrame((then) => this.tick(then));
  }

  pick(x, y) {
    this.picked = this.stage.pick(x, y);
    this.stage.setMark(this.picked);
    $('node-box').hidden = this.picked < 0;
    if (this.picked >= 0) {
      this.tellNode().then(() => $('node-box').scrollIntoView({ block: 'end' }));
      this.loadNode();
    }
  }

  /** The numbers of the picked node in this frame, of all fields. */
  async tellNode() {
    const { mesh, picked: i, frame } = this;
    const { cache } = this.source;
    const rows = [['node', mesh.ids[i]], ['body', mesh.bodies[mesh.bodyOf[i]].name]];
    const position = cache.now(frame, 'position');
    const at = [0, 1, 2].map((k) => position[3 * i + k] + mesh.centre[k]);
    rows.push(['position [m]', at.map(number).join(', ')]);
    for (const needs of new Set(this.choices.map((c) => c.needs).filter((n) => n))) {
      let array = cache.now(frame, needs);
      if (!array && !this.playing) array = await cache.get(frame, needs).catch(() => null);
      if (i !== this.picked || frame !== this.frame) return;
      if (!array) continue;
      for (const c of this.choices.filter((c) => c.needs === needs)) rows.push([c.unit ? `${c.label} [${c.unit}]` : c.label, number(c.of(array, i))]);
    }
    $('node').replaceChildren(...rows.map(([name, text]) => {
      const row = document.createElement('tr');
      for (const words of [name, text]) row.insertCell().textContent = words;
      return row;
    }));
    this.nodeCurve();
  }

  /** The field over time at the picked node, as far as frames are here. */
  nodeCurve() {
    const { picked: i, field } = this;
    const [times, values] = [[], []];
    this.progress.times.forEach((t, frame) => {
      const array = field.needs ? this.source.cache.now(frame, field.needs) : null;
      if (array) { times.push(t); values.push(field.of(array, i)); }
    });
    this.nodePlot.set([{ name: field.label, times, values }]);
    this.nodePlot.at(this.progress.times[this.frame]);
  }

  async loadNode() {
    const { picked, field } = this;
    if (!field.needs) return;
    for (let frame = 0; frame < this.progress.times.length; frame++) {
      if (this.picked !== picked || this.field !== field) return;
      if (this.source.cache.now(frame, field.needs)) continue;
      await this.source.cache.get(frame, field.needs).catch(() => null);
      if (frame % 20 === 19) this.nodeCurve();
    }
    this.nodeCurve();
  }

  /** A run that goes on: more frames, more rows. Who looks at the last frame goes on looking at the last one. */
  async follow() {
    try {
      const before = this.progress;
      const now = await this.source.progress();
      if (now.run !== before.run || now.times.length < before.times.length) {
        // another run, or one that was taken up before where it had been
        location.reload();
        return;
      }
      const atEnd = this.frame === before.times.length - 1 && !this.playing;
      this.progress = now;
      if (now.history !== before.history) await this.readHistory();
      this.tell();
      if (now.times.length > before.times.length) await this.show(atEnd ? now.times.length - 1 : this.frame);
      this.lost = false;
    } catch (error) {
      if (!this.lost) $('note').textContent = 'The server does not answer any more.';
      this.lost = true;
    }
    setTimeout(() => this.follow(), POLL);
  }
}

const errors = [];
window.addEventListener('error', (event) => errors.push(String(event.message)));
window.addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
// the data of a file stand behind this script
document.addEventListener('DOMContentLoaded', () => {
  const page = new Page(open());
  page.errors = errors;
  window.carom = page;
  page.begin().catch((error) => {
    errors.push(String(error));
    $('note').textContent = String(error.message ?? error);
  });
});
