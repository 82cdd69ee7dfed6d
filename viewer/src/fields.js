// What can be shown as a colour: every field of the nodes, its components and sizes, and what follows from positions.

const XYZ = ['x', 'y', 'z'];
const STRESS = ['xx', 'yy', 'zz', 'xy', 'yz', 'xz'];
const UNITS = { mises: 'Pa', stress: 'Pa', velocity: 'm/s', displacement: 'm', contact_force: 'N' };

const size = (a, i, n) => {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += a[n * i + k] * a[n * i + k];
  return Math.sqrt(sum);
};

/** Principal stresses, largest first, of xx yy zz xy yz xz: roots of the characteristic polynomial by the cosine. */
export function principal(xx, yy, zz, xy, yz, xz) {
  const mean = (xx + yy + zz) / 3;
  const [a, b, c] = [xx - mean, yy - mean, zz - mean];
  const p = Math.sqrt((a * a + b * b + c * c + 2 * (xy * xy + yz * yz + xz * xz)) / 6);
  if (p === 0) return [mean, mean, mean];
  const det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
  const angle = Math.acos(Math.min(1, Math.max(-1, det / (2 * p * p * p)))) / 3;
  const first = mean + 2 * p * Math.cos(angle);
  const last = mean + 2 * p * Math.cos(angle + 2 * Math.PI / 3);
  return [first, 3 * mean - first - last, last];
}

/** A list of { name, label, unit, needs, of }: `of(array, i)` is the number at node i of the array that is needed. */
export function choices(mesh) {
  const list = [];
  const add = (name, label, unit, needs, of) => list.push({ name, label, unit, needs, of });
  const has = new Map(mesh.fields.map((f) => [f.name, f.components]));
  const vector = (name, label, unit) => {
    add(name, label, unit, name, (a, i) => size(a, i, 3));
    XYZ.forEach((c, k) => add(`${name}.${c}`, `${label} ${c}`, unit, name, (a, i) => a[3 * i + k]));
  };
  if (has.has('mises')) add('mises', 'von Mises stress', 'Pa', 'mises', (a, i) => a[i]);
  if (has.has('velocity')) vector('velocity', 'speed', 'm/s');
  const X = mesh.reference;
  add('displacement', 'displacement', 'm', 'position', (a, i) => Math.hypot(a[3 * i] - X[3 * i], a[3 * i + 1] - X[3 * i + 1], a[3 * i + 2] - X[3 * i + 2]));
  XYZ.forEach((c, k) => add(`displacement.${c}`, `displacement ${c}`, 'm', 'position', (a, i) => a[3 * i + k] - X[3 * i + k]));
  if (has.has('contact_force')) vector('contact_force', 'contact force', 'N');
  if (has.get('stress') === 6) {
    STRESS.forEach((c, k) => add(`stress.${c}`, `stress ${c}`, 'Pa', 'stress', (a, i) => a[6 * i + k]));
    add('pressure', 'pressure', 'Pa', 'stress', (a, i) => -(a[6 * i] + a[6 * i + 1] + a[6 * i + 2]) / 3);
    ['first', 'second', 'third'].forEach((word, k) => add(`principal.${k + 1}`, `${word} principal stress`, 'Pa', 'stress', (a, i) => principal(...a.subarray(6 * i, 6 * i + 6))[k]));
  }
  for (const [name, components] of has) {
    if (['mises', 'velocity', 'contact_force', 'stress'].includes(name)) continue;
    const label = name.replaceAll('_', ' ');
    if (components === 1) add(name, label, UNITS[name] ?? '', name, (a, i) => a[i]);
    else if (components === 3) vector(name, label, '');
    else for (let k = 0; k < components; k++) add(`${name}.${k}`, `${label} ${k}`, '', name, (a, i) => a[components * i + k]);
  }
  add('body', 'body', '', null, (_, i) => mesh.bodyOf[i]);
  return list;
}

/** Three or four digits, as short as can be. */
export function number(x) {
  if (!Number.isFinite(x)) return '–';
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e5)) return x.toExponential(3).replace('e+', 'e');
  return String(Number(x.toPrecision(4)));
}
