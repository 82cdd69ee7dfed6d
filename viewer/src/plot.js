// Curves over time on a canvas, with a line where we are.

import { HUES } from './colour.js';
import { number } from './fields.js';

const LEFT = 8, RIGHT = 8, TOP = 8, BOTTOM = 18;

export class Plot {
  constructor(canvas, onTime) {
    this.canvas = canvas;
    // the line lies over the canvas, so that curves are not drawn again when time goes on
    this.line = document.createElement('div');
    this.line.className = 'now';
    canvas.after(this.line);
    this.curves = [];
    this.time = 0;
    const pick = (event) => {
      const box = canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
      if (this.span) onTime(this.span[0] + Math.min(1, Math.max(0, share)) * (this.span[1] - this.span[0]));
    };
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId); pick(event); });
    canvas.addEventListener('pointermove', (event) => { if (event.buttons & 1) pick(event); });
  }

  /** Curves of { name, times, values }. */
  set(curves) {
    this.curves = curves.filter((c) => c.times.length > 0);
    this.draw();
  }

  at(time) {
    this.time = time;
    this.line.hidden = !this.curves.length || !this.place;
    if (!this.line.hidden) this.line.style.transform = `translateX(${this.place(time)}px)`;
  }

  draw() {
    const { canvas } = this;
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, line, panel] = ['--ink', '--soft', '--line', '--panel'].map((v) => style.getPropertyValue(v));
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = '11px system-ui, sans-serif';
    this.place = null;
    if (!this.curves.length) return this.at(this.time);
    let [t0, t1, lo, hi] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { times, values } of this.curves) {
      t0 = Math.min(t0, times[0]);
      t1 = Math.max(t1, times[times.length - 1]);
      for (const v of values) if (Number.isFinite(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    }
    if (!(t1 > t0)) t1 = t0 + 1;
    if (!(hi > lo)) { lo -= 0.5; hi += 0.5; }
    // what is below all others by round-off alone is nothing
    if (Math.abs(lo) < 1e-12 * hi) lo = 0;
    this.span = [t0, t1];
    const legend = 14 * Math.ceil(this.curves.length / 3);
    const top = TOP + legend;
    const x = (t) => LEFT + (t - t0) / (t1 - t0) * (width - LEFT - RIGHT);
    const y = (v) => height - BOTTOM - (v - lo) / (hi - lo) * (height - BOTTOM - top);
    g.strokeStyle = line;
    g.lineWidth = 1;
    g.strokeRect(LEFT, top, width - LEFT - RIGHT, height - BOTTOM - top);
    if (lo < 0 && hi > 0) { g.beginPath(); g.moveTo(LEFT, y(0)); g.lineTo(width - RIGHT, y(0)); g.stroke(); }
    this.curves.forEach(({ name, times, values }, k) => {
      g.strokeStyle = HUES[k % HUES.length];
      g.lineWidth = 1.4;
      g.beginPath();
      for (let i = 0; i < times.length; i++) g.lineTo(x(times[i]), y(values[i]));
      g.stroke();
      g.fillStyle = g.strokeStyle;
      const [column, row] = [k % 3, Math.floor(k / 3)];
      const at = LEFT + column * (width - LEFT - RIGHT) / 3;
      g.fillRect(at, TOP + 14 * row + 1, 9, 3);
      g.fillStyle = ink;
      g.fillText(name, at + 12, TOP + 14 * row + 6);
    });
    g.fillStyle = soft;
    g.textAlign = 'right';
    // curves stop short of the numbers
    g.strokeStyle = panel;
    g.lineWidth = 4;
    g.lineJoin = 'round';
    for (const [v, at] of [[hi, top + 11], [lo, height - BOTTOM - 4]]) {
      g.strokeText(number(v), width - RIGHT - 4, at);
      g.fillText(number(v), width - RIGHT - 4, at);
    }
    g.textAlign = 'left';
    g.fillText(number(t0) + ' s', LEFT, height - 5);
    g.textAlign = 'right';
    g.fillText(number(t1) + ' s', width - RIGHT, height - 5);
    g.textAlign = 'left';
    this.place = x;
    this.line.style.top = `${top}px`;
    this.line.style.height = `${height - BOTTOM - top}px`;
    this.at(this.time);
  }
}
