// What is seen: bodies in colour, their edges, obstacles one can look through, arrows, a cut.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { row } from './colour.js';

/** Arrows at most; the longest are drawn. */
const ARROWS = 4000;
/** Length of the longest arrow, of the size of the bodies. */
const LONGEST = 0.22;
/** What is left out of pictures in motion where they come too slowly: smooth rims and what looks away, then edges of elements, then rows and columns. */
const [ROUGH, BARE] = [1, 2];
/** Constant of the plane that cuts nothing. */
const UNCUT = 1e30;
/** Pixels in motion over pixels at rest, along each side, by what is left out. */
const PIXELS = [1, 1, 1, 1 / 2, 1 / 3];

// Numbers of colours are those of the page: nothing is converted.
THREE.ColorManagement.enabled = false;

const vertex = `
  #include <clipping_planes_pars_vertex>
  attribute float value;
  varying float number;
  varying vec3 place;
  void main() {
    vec4 mvPosition = modelViewMatrix * vec4(position, 1.0);
    place = mvPosition.xyz;
    number = value;
    gl_Position = projectionMatrix * mvPosition;
    gl_PointSize = 5.0;
    #include <clipping_planes_vertex>
  }`;

// Faces are flat as those of the elements are: their normal follows from the picture itself. Light comes from the eye.
const fragment = `
  #include <clipping_planes_pars_fragment>
  uniform vec2 range;
  uniform sampler2D map;
  uniform vec3 inside;
  uniform float shaded;
  varying float number;
  varying vec3 place;
  void main() {
    #include <clipping_planes_fragment>
    float t = clamp((number - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
    vec3 colour = texture2D(map, vec2(t * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
    if (shaded > 0.5) {
      vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
      if (shaded > 1.5 && !gl_FrontFacing) colour = mix(colour, inside, 0.6);
      float light = abs(dot(normal, normalize(vec3(0.25, 0.35, 1.0))));
      colour *= 0.55 + 0.5 * light;
    }
    gl_FragColor = vec4(colour, 1.0);
  }`;

export class Stage {
  constructor(canvas, mesh, onChange) {
    this.mesh = mesh;
    this.onChange = onChange;
    this.canvas = canvas;
    // nothing shines through: the browser need not blend the canvas with the page
    this.renderer = new THREE.WebGLRenderer({ canvas, context: canvas.getContext('webgl2', { alpha: false, antialias: false }) });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.localClippingEnabled = true;
    this.scene = new THREE.Scene();
    this.clip = new THREE.Plane(new THREE.Vector3(-1, 0, 0), UNCUT);
    this.closed = closed(mesh);
    this.positions = new THREE.BufferAttribute(Float32Array.from(mesh.reference), 3).setUsage(THREE.DynamicDrawUsage);
    this.values = new THREE.BufferAttribute(new Float32Array(mesh.nodes), 1).setUsage(THREE.DynamicDrawUsage);
    this.hidden = new Set();
    this.show = { edges: true, undeformed: false, arrows: true, obstacles: true };
    this.longest = 0;
    this.turning = this.playing = false;
    this.leftOut = 0;
    this.build();
    this.sheet = new Sheet();
    this.place();
  }

  build() {
    const { mesh } = this;
    const map = (bodies) => {
      const texture = new THREE.DataTexture(row(bodies), 256, 1);
      texture.magFilter = texture.minFilter = bodies ? THREE.NearestFilter : THREE.LinearFilter;
      texture.needsUpdate = true;
      return texture;
    };
    this.maps = { field: map(0), body: map(mesh.bodies.length) };
    this.uniforms = {
      range: { value: new THREE.Vector2(0, 1) },
      map: { value: this.maps.field },
      inside: { value: new THREE.Color() },
    };
    const coloured = (shaded) => new THREE.ShaderMaterial({
      vertexShader: vertex,
      fragmentShader: fragment,
      uniforms: { ...this.uniforms, shaded: { value: shaded } },
      side: THREE.DoubleSide,
      clipping: true,
      clippingPlanes: [this.clip],
      polygonOffset: true,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
    });
    const lines = (opacity) => new THREE.LineBasicMaterial({ transparent: true, opacity, clippingPlanes: [this.clip] });
    const geometry = (positions) => {
      const made = new THREE.BufferGeometry();
      made.setAttribute('position', positions);
      made.setAttribute('value', this.values);
      made.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
      return made;
    };
    const add = (object) => {
      object.frustumCulled = false;
      this.scene.add(object);
      return object;
    };
    const solid = mesh.dimension === 3 ? 2 : 1;
    this.faces = add(new THREE.Mesh(geometry(this.positions), coloured(solid)));
    this.bars = add(new THREE.LineSegments(geometry(this.positions), coloured(0)));
    this.beads = add(new THREE.Points(this.bars.geometry, coloured(0)));
    this.edges = add(new THREE.LineSegments(geometry(this.positions), lines(0.32)));
    const reference = new THREE.BufferAttribute(mesh.reference, 3);
    this.undeformed = add(new THREE.LineSegments(geometry(reference), lines(0.3)));
    this.walls = add(new THREE.Mesh(geometry(this.positions), new THREE.MeshBasicMaterial({
      transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthWrite: false, clippingPlanes: [this.clip],
    })));
    this.rims = add(new THREE.LineSegments(geometry(this.positions), lines(0.5)));
    this.arrows = add(new THREE.InstancedMesh(arrow(), new THREE.MeshBasicMaterial(), ARROWS));
    this.arrows.count = 0;
    const dot = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(3), 3));
    this.mark = add(new THREE.Points(dot, new THREE.PointsMaterial({ size: 11, sizeAttenuation: false, depthTest: false })));
    this.mark.visible = false;
    this.choose();
  }

  /** Faces, edges and bars of the bodies that are shown. */
  choose() {
    const { mesh, hidden } = this;
    const list = (what, rigid) => {
      const parts = mesh.bodies.filter((b, i) => b.rigid === rigid && !hidden.has(i)).map((b) => mesh[what].subarray(b[what][0], b[what][1]));
      const all = new Uint32Array(parts.reduce((sum, p) => sum + p.length, 0));
      let at = 0;
      for (const part of parts) { all.set(part, at); at += part.length; }
      return new THREE.BufferAttribute(all, 1);
    };
    const { show } = this;
    this.faces.geometry.setIndex(list('triangles', false));
    this.bars.geometry.setIndex(list('bars', false));
    this.edges.geometry.setIndex(list('edges', false));
    this.undeformed.geometry.setIndex(joined(list('edges', false), list('bars', false)));
    this.walls.geometry.setIndex(list('triangles', true));
    this.rims.geometry.setIndex(joined(list('edges', true), list('bars', true)));
    this.edges.visible = show.edges && this.less < BARE;
    this.undeformed.visible = show.undeformed;
    this.walls.visible = this.rims.visible = show.obstacles;
    this.arrows.visible = show.arrows;
    this.onChange();
  }

  /** The box of the bodies as they are [from the centre]. */
  box() {
    const { mesh } = this;
    const box = new THREE.Box3();
    const p = new THREE.Vector3();
    const soft = mesh.bodies.map((b, i) => !b.rigid && !this.hidden.has(i));
    for (let i = 0; i < mesh.nodes; i++) {
      if (soft[mesh.bodyOf[i]]) box.expandByPoint(p.fromBufferAttribute(this.positions, i));
    }
    return box.isEmpty() ? new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)) : box;
  }

  /** Where to stand: bodies in the plane are seen from above, others from a corner, z upwards. */
  place() {
    const box = this.box();
    const extent = box.getSize(new THREE.Vector3());
    this.size = extent.length() || 1;
    const middle = box.getCenter(new THREE.Vector3());
    this.flat = extent.z < 1e-6 * this.size;
    if (this.controls) this.controls.dispose();
    const far = 100 * this.size;
    this.camera = new THREE.PerspectiveCamera(30, 1, this.size / 500, far);
    this.camera.up.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
    const from = this.flat ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0.62, -0.72, 0.46).normalize();
    this.camera.position.copy(middle).addScaledVector(from, 1.85 * this.size);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.copy(middle);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener('change', this.onChange);
    this.controls.addEventListener('start', () => this.move(() => { this.turning = true; }));
    this.controls.addEventListener('end', () => this.move(() => { this.turning = false; }));
    this.controls.update();
    // who picks does not wait for a picture
    this.camera.updateMatrixWorld();
    this.resize();
  }

  get moving() {
    return this.turning || this.playing;
  }

  /** What is left out of the present picture. */
  get less() {
    return this.moving ? this.leftOut : 0;
  }

  /** Changes what moves, or how much is left out meanwhile. */
  move(change) {
    const before = this.less;
    change();
    if (this.less === before) return;
    this.edges.visible = this.show.edges && this.less < BARE;
    this.sides();
    if (PIXELS[this.less] !== PIXELS[before]) this.resize();
    this.onChange();
  }

  /** Of bodies that are closed only what looks at the eye can be seen from outside. */
  sides() {
    const side = this.less >= ROUGH && this.closed && this.clip.constant === UNCUT ? THREE.FrontSide : THREE.DoubleSide;
    const { material } = this.faces;
    if (material.side !== side) Object.assign(material, { side, needsUpdate: true });
  }

  /** Pictures come too slowly. */
  hurry() {
    this.move(() => { this.leftOut = Math.min(PIXELS.length - 1, this.leftOut + 1); });
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1) * PIXELS[this.less]);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.onChange();
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => new THREE.Color(style.getPropertyValue(name).trim());
    const [paper, ink, soft] = ['--paper', '--ink', '--soft'].map(colour);
    this.scene.background = paper;
    this.uniforms.inside.value.copy(soft);
    this.edges.material.color.copy(ink);
    this.undeformed.material.color.copy(ink);
    this.rims.material.color.copy(soft);
    this.walls.material.color.copy(soft);
    this.arrows.material.color.set('#d55e00');
    this.mark.material.color.set('#d55e00');
    this.onChange();
  }

  /** Positions and numbers of a frame. */
  set(positions, values, range, byBody) {
    this.positions.array.set(positions);
    this.positions.needsUpdate = true;
    this.values.array.set(values);
    this.values.needsUpdate = true;
    this.uniforms.range.value.set(...range);
    this.uniforms.map.value = byBody ? this.maps.body : this.maps.field;
    this.onChange();
  }

  /** Arrows of a vector at every node; lengths are told from the longest that was ever seen. */
  setArrows(vectors) {
    if (!vectors) { this.arrows.count = 0; return; }
    const { mesh, hidden } = this;
    const length = (i) => Math.hypot(vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2]);
    let nodes = [];
    for (let i = 0; i < mesh.nodes; i++) {
      const l = length(i);
      if (l > this.longest) this.longest = l;
      if (l > 0 && !hidden.has(mesh.bodyOf[i])) nodes.push(i);
    }
    nodes = nodes.filter((i) => length(i) > 0.01 * this.longest);
    if (nodes.length > ARROWS) nodes = nodes.sort((a, b) => length(b) - length(a)).slice(0, ARROWS);
    const [at, way, turn, matrix] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Matrix4()];
    const up = new THREE.Vector3(0, 1, 0);
    nodes.forEach((i, k) => {
      const long = LONGEST * this.size * length(i) / this.longest;
      turn.setFromUnitVectors(up, way.fromArray(vectors, 3 * i).normalize());
      const wide = Math.min(0.06 * LONGEST * this.size, 0.25 * long);
      // the arrow pushes: its tip is where the force acts
      at.fromBufferAttribute(this.positions, i).addScaledVector(way, -long);
      matrix.compose(at, turn, new THREE.Vector3(wide, long, wide));
      this.arrows.setMatrixAt(k, matrix);
    });
    this.arrows.count = nodes.length;
    this.arrows.instanceMatrix.needsUpdate = true;
    this.onChange();
  }

  /** Keeps what is below `share` of the way along an axis: 'x', '-x', …; nothing is cut without one. */
  cut(axis, share) {
    if (!axis) {
      this.clip.constant = UNCUT;
    } else {
      const k = 'xyz'.indexOf(axis.at(-1));
      const box = this.box();
      const [lo, hi] = [box.min.getComponent(k), box.max.getComponent(k)];
      const sign = axis[0] === '-' ? -1 : 1;
      this.clip.normal.set(0, 0, 0).setComponent(k, -sign);
      this.clip.constant = sign * (lo + share * (hi - lo));
    }
    this.sides();
    this.onChange();
  }

  /** The node under a point of the canvas, or −1. */
  pick(x, y) {
    const { mesh } = this;
    const box = this.canvas.getBoundingClientRect();
    const pointer = new THREE.Vector2((x - box.left) / box.width * 2 - 1, 1 - (y - box.top) / box.height * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(pointer, this.camera);
    const hit = ray.intersectObject(this.faces, false).find((h) => this.clip.distanceToPoint(h.point) >= 0);
    const p = new THREE.Vector3();
    let [best, nearest] = [-1, Infinity];
    const take = (i, within) => {
      p.fromBufferAttribute(this.positions, i).project(this.camera);
      const away = Math.hypot((p.x - pointer.x) * box.width / 2, (p.y - pointer.y) * box.height / 2);
      if (away < nearest && away < within) [best, nearest] = [i, away];
    };
    if (hit) [hit.face.a, hit.face.b, hit.face.c].forEach((i) => take(i, Infinity));
    // bars are thin, and a ray can slip through where faces meet: nodes within a few pixels that nothing hides count too
    for (let i = 0; i < mesh.nodes; i++) {
      if (mesh.bodies[mesh.bodyOf[i]].rigid || this.hidden.has(mesh.bodyOf[i])) continue;
      p.fromBufferAttribute(this.positions, i);
      if (this.clip.distanceToPoint(p) < 0 || hit?.distance < p.distanceTo(ray.ray.origin)) continue;
      take(i, 12);
    }
    return best;
  }

  /** Where a node is on the page, in pixels. */
  screen(node) {
    const box = this.canvas.getBoundingClientRect();
    const p = new THREE.Vector3().fromBufferAttribute(this.positions, node).project(this.camera);
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  }

  setMark(node) {
    this.mark.visible = node >= 0;
    if (node >= 0) {
      const at = this.mark.geometry.attributes.position;
      at.setXYZ(0, this.positions.getX(node), this.positions.getY(node), this.positions.getZ(node));
      at.needsUpdate = true;
      this.mark.geometry.boundingSphere = null;
    }
    this.onChange();
  }

  draw() {
    if (this.less < ROUGH) this.sheet.draw(this.renderer, this.scene, this.camera);
    else this.renderer.render(this.scene, this.camera);
  }
}

/** A picture with smooth rims: four samples a pixel, laid on the canvas. The canvas itself has one, so that pictures can do without. */
class Sheet {
  constructor() {
    this.target = new THREE.WebGLRenderTarget(1, 1, { samples: 4 });
    const corners = new THREE.BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3);
    this.lay = new THREE.Mesh(new THREE.BufferGeometry().setAttribute('position', corners), new THREE.ShaderMaterial({
      uniforms: { picture: { value: this.target.texture } },
      vertexShader: 'varying vec2 at; void main() { at = 0.5 * position.xy + 0.5; gl_Position = vec4(position, 1.0); }',
      fragmentShader: 'uniform sampler2D picture; varying vec2 at; void main() { gl_FragColor = texture2D(picture, at); }',
      depthTest: false,
    }));
    this.lay.frustumCulled = false;
    this.camera = new THREE.Camera();
  }

  draw(renderer, scene, camera) {
    const { width, height } = renderer.domElement;
    if (this.target.width !== width || this.target.height !== height) this.target.setSize(width, height);
    renderer.setRenderTarget(this.target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
    renderer.render(this.lay, this.camera);
  }
}

/** Whether triangles close every body and look outwards: each edge is gone along as often in both directions, and the volume is positive. */
function closed({ bodies, triangles, reference: x }) {
  // a number for each edge: where all cancel, they do so in pairs
  const edge = (i, j) => {
    const mixed = Math.imul(Math.min(i, j) + 1, 0x9e3779b1) ^ Math.imul(Math.max(i, j) + 1, 0x85ebca6b);
    return Math.sign(j - i) * Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
  };
  return bodies.filter((b) => !b.rigid && b.triangles[1] > b.triangles[0]).every((body) => {
    let [left, volume] = [0, 0];
    for (let t = body.triangles[0]; t < body.triangles[1]; t += 3) {
      const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
      left = (left + edge(a, b) + edge(b, c) + edge(c, a)) | 0;
      for (let k = 0; k < 3; k++) {
        const [l, m] = [(k + 1) % 3, (k + 2) % 3];
        volume += x[3 * a + k] * (x[3 * b + l] * x[3 * c + m] - x[3 * b + m] * x[3 * c + l]);
      }
    }
    return left === 0 && volume > 0;
  });
}

function joined(a, b) {
  const all = new Uint32Array(a.count + b.count);
  all.set(a.array);
  all.set(b.array, a.count);
  return new THREE.BufferAttribute(all, 1);
}

/** An arrow of length and width one along y, from the origin. */
function arrow() {
  const points = [[0, 0], [0.35, 0], [0.35, 0.7], [1, 0.7], [0, 1]].map(([r, y]) => new THREE.Vector2(r, y));
  return new THREE.LatheGeometry(points, 8);
}
