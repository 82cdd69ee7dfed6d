// Where the numbers of a run come from: a server on this machine that follows the folder, or this very file.
//
// Both answer with the same: progress and history as objects, the mesh as bytes, and arrays of a frame as Float32Array.

/** Positions and fields in memory at most [bytes]; the oldest go first. */
const ROOM = 700e6;

/** Keeps arrays that were asked for. */
class Cache {
  constructor(fetch) {
    this.fetch = fetch;
    this.kept = new Map();
    this.asked = new Map();
    this.bytes = 0;
  }

  /** The array if it is here. */
  now(frame, name) {
    return this.kept.get(frame + '/' + name);
  }

  /** The array, asked for if need be. */
  get(frame, name) {
    const key = frame + '/' + name;
    const kept = this.kept.get(key);
    if (kept) return Promise.resolve(kept);
    let asked = this.asked.get(key);
    if (!asked) {
      asked = this.fetch(frame, name).then((array) => {
        this.kept.set(key, array);
        this.bytes += array.byteLength;
        for (const [old, value] of this.kept) {
          if (this.bytes <= ROOM || old === key) break;
          this.kept.delete(old);
          this.bytes -= value.byteLength;
        }
        return array;
      }).finally(() => this.asked.delete(key));
      this.asked.set(key, asked);
    }
    return asked;
  }
}

async function answer(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(await response.text());
  return response;
}

class Served {
  constructor() {
    this.follows = true;
    this.thinned = null;
    this.cache = new Cache(async (frame, name) => new Float32Array(await (await answer(`frame/${frame}/${name}`)).arrayBuffer()));
  }

  async progress() { return (await answer('progress')).json(); }
  async history() { return (await answer('history')).json(); }
  async mesh() { return (await answer('mesh')).arrayBuffer(); }
}

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).arrayBuffer();
}

/** Undoes look/page/pack.rs: sixteen bits, component after component, high bytes before low ones. */
async function unpack({ scale, data }) {
  const bytes = new Uint8Array(await inflate(data));
  const count = bytes.length / 2;
  const nodes = count / scale.length;
  const numbers = new Float32Array(count);
  for (let c = 0; c < scale.length; c++) {
    const [low, step] = scale[c];
    for (let i = 0; i < nodes; i++) {
      const at = c * nodes + i;
      numbers[i * scale.length + c] = low + step * (256 * bytes[at] + bytes[count + at]);
    }
  }
  return numbers;
}

class Embedded {
  constructor(run) {
    this.run = run;
    this.follows = false;
    this.thinned = run.thinned;
    this.cache = new Cache(async (frame, name) => {
      const packed = run.frames[frame];
      if (name !== 'position' || packed.position) return unpack(packed[name]);
      const position = await unpack(packed.displacement);
      const reference = this.reference;
      for (let i = 0; i < position.length; i++) position[i] += reference[i];
      return position;
    });
  }

  async progress() { return this.run.progress; }
  async history() { return this.run.history; }
  async mesh() {
    const bytes = await inflate(this.run.mesh);
    this.reference = readMesh(bytes).reference;
    return bytes;
  }
}

/** The mesh as look/page/mod.rs writes it. */
export function readMesh(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const mesh = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const take = (kind, count) => {
    const array = new kind(buffer, at, count);
    at += array.byteLength;
    return array;
  };
  mesh.reference = take(Float32Array, 3 * mesh.nodes);
  mesh.ids = take(Uint32Array, mesh.nodes);
  mesh.triangles = take(Uint32Array, mesh.triangles);
  mesh.edges = take(Uint32Array, mesh.edges);
  mesh.bars = take(Uint32Array, mesh.bars);
  mesh.bodyOf = new Uint16Array(mesh.nodes);
  mesh.bodies.forEach((body, b) => {
    for (const list of ['triangles', 'bars']) {
      for (let i = body[list][0]; i < body[list][1]; i++) mesh.bodyOf[mesh[list][i]] = b;
    }
  });
  return mesh;
}

export function open() {
  const here = document.getElementById('run');
  return here ? new Embedded(JSON.parse(here.textContent)) : new Served();
}
