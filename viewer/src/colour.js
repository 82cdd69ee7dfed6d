// The colours of `carom render` and `carom plot`.

export const TIDE = [[47, 62, 140], [36, 107, 160], [30, 146, 148], [78, 180, 112], [172, 207, 76], [252, 231, 92]];
export const BODIES = [[86, 156, 214], [231, 138, 62], [74, 178, 140], [208, 135, 178], [226, 186, 70], [150, 198, 232], [176, 150, 122], [150, 150, 214]];
export const HUES = ['#0072b2', '#d55e00', '#00966e', '#be5f96', '#c48600', '#3096cd', '#8c6e50', '#7878c8'];

/** Bytes of a row of 256 colours: the map, or one colour for each body. */
export function row(bodies) {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    let rgb;
    if (bodies) {
      const last = Math.max(1, bodies - 1);
      rgb = BODIES[Math.round(i / 255 * last) % BODIES.length];
    } else {
      const s = i / 255 * (TIDE.length - 1);
      const k = Math.min(Math.floor(s), TIDE.length - 2);
      rgb = TIDE[k].map((a, c) => a + (TIDE[k + 1][c] - a) * (s - k));
    }
    bytes.set([...rgb.map(Math.round), 255], 4 * i);
  }
  return bytes;
}

export const css = (rgb) => `rgb(${rgb.join(',')})`;
