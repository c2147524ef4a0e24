/** The world in three dimensions, drawn by three: only when something has changed, never by itself. */
import {
  Box3,
  Box3Helper,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  MeshStandardMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Spherical,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { StageDetection } from '../../extension/replay/stage/data.ts';
import { poseAt } from '../../protocol/poses.ts';
import { currentTheme } from '../panel/theme.ts';
import { labelOf } from './labels.ts';
import { heldAt, type Motion } from './motion.ts';
import { bodiesOf, discard } from './shapes.ts';
import type { ViewName, WorldView } from './world-view.ts';

/** Distance between two worlds, along y. Metres. */
const APART = 1.5;
const HELD = new Color(0x664400);
const DARK = new Color(0x000000);
/** Where each view looks from, as seen from the middle of the table. */
const FROM: Record<ViewName, [number, number, number]> = {
  free: [1.3, 0.8, 0.85],
  front: [1.6, 0, 0.75],
  side: [0, 1.7, 0.6],
  above: [0.001, 0, 1.7],
};
const MIDDLE: [number, number, number] = [0.3, 0, 0.22];

interface Drawn {
  motion: Motion;
  root: Group;
  bodies: Group[];
}

export class SpaceView implements WorldView {
  readonly element: HTMLElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(42, 1, 0.02, 30);
  private readonly controls: OrbitControls;
  private readonly sizes: ResizeObserver;
  private readonly marks = new Group();
  private drawn: Drawn[] = [];
  private marked: readonly StageDetection[] = [];
  private time = 0;

  /** Whether the editor can draw it. */
  static possible(): boolean {
    return document.createElement('canvas').getContext('webgl2') !== null;
  }

  /** @param onLost called when the graphics card takes the picture away. @throws Error when there is none. */
  constructor(into: HTMLElement, onLost: () => void) {
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.element = this.renderer.domElement;
    this.element.tabIndex = 0;
    this.element.setAttribute('role', 'img');
    this.element.addEventListener('webglcontextlost', onLost);
    this.camera.up.set(0, 0, 1);
    into.append(this.element);
    this.controls = new OrbitControls(this.camera, this.element);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => this.paint());
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(0.9, 1.1, 2.2);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, { left: -2, right: 2, top: 2, bottom: -2, near: 0.2, far: 6 });
    sun.shadow.bias = -0.0006;
    sun.shadow.normalBias = 0.01;
    this.scene.add(new HemisphereLight(0xffffff, 0x8d8d99, 1.15), sun, this.marks);
    this.sizes = new ResizeObserver(() => this.refit());
    this.sizes.observe(into);
    this.look('free');
  }

  setMotions(motions: readonly Motion[]): void {
    for (const { root } of this.drawn) {
      this.scene.remove(root);
      discard(root);
    }
    this.drawn = motions.map((motion, place) => {
      const bodies = bodiesOf(motion);
      const root = new Group();
      root.position.y = -place * APART;
      root.add(...bodies);
      if (motions.length > 1) {
        const label = labelOf(motion.label, currentTheme(), 1.6);
        label.position.set(0.35, 0, 0.95);
        root.add(label);
      }
      this.scene.add(root);
      return { motion, root, bodies };
    });
    this.look('free');
  }

  draw(time: number, detections: readonly StageDetection[]): void {
    this.time = time;
    for (const { motion, bodies } of this.drawn) {
      const held = heldAt(motion, time);
      bodies.forEach((body, at) => {
        const { position, quaternion } = poseAt(motion.track, time, at);
        body.position.set(...position);
        body.quaternion.set(quaternion[1], quaternion[2], quaternion[3], quaternion[0]);
        const glow = body.name === held ? HELD : DARK;
        for (const one of body.children)
          if (one instanceof Mesh && one.material instanceof MeshStandardMaterial) one.material.emissive.copy(glow);
      });
    }
    if (detections !== this.marked) this.mark(detections);
    this.paint();
  }

  refit(): void {
    const { clientWidth, clientHeight } = this.element.parentElement ?? this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.scene.background = new Color(currentTheme().background);
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.mark(this.marked);
    this.draw(this.time, this.marked);
  }

  look(from: ViewName): void {
    const worlds = Math.max(1, this.drawn.length);
    const [x, y, z] = MIDDLE;
    const target = new Vector3(x, y - ((worlds - 1) * APART) / 2, z);
    const offset = new Vector3(...FROM[from]).multiplyScalar(1 + 0.55 * (worlds - 1));
    this.controls.target.copy(target);
    this.camera.position.copy(target).add(offset);
    this.controls.update();
    this.paint();
  }

  turn(left: number, up: number): void {
    this.move((way) => {
      way.theta += left;
      way.phi -= up;
    });
  }

  zoom(factor: number): void {
    this.move((way) => {
      way.radius = Math.max(0.15, Math.min(8, way.radius * factor));
    });
  }

  dispose(): void {
    this.sizes.disconnect();
    this.controls.dispose();
    for (const { root } of this.drawn) discard(root);
    discard(this.marks);
    this.renderer.dispose();
    this.element.remove();
  }

  /** Moves the camera on the sphere around what it looks at; three's sphere has its poles on y, ours on z. */
  private move(change: (way: Spherical) => void): void {
    const { target } = this.controls;
    const offset = this.camera.position.clone().sub(target);
    const way = new Spherical().setFromVector3(new Vector3(offset.y, offset.z, offset.x));
    change(way);
    way.makeSafe();
    const turned = new Vector3().setFromSpherical(way);
    this.camera.position.copy(target).add(new Vector3(turned.z, turned.x, turned.y));
    this.controls.update();
    this.paint();
  }

  /** A frame and a name where each thing was thought to be. */
  private mark(detections: readonly StageDetection[]): void {
    discard(this.marks);
    this.marks.clear();
    this.marked = detections;
    const theme = currentTheme();
    for (const { name, position, size, yaw, confidence } of detections) {
      const half = new Vector3(...size).multiplyScalar(0.5);
      const frame = new Box3Helper(new Box3(half.clone().negate(), half), new Color(theme.curves[1]));
      const turned = new Group();
      turned.position.set(...position);
      turned.rotation.z = yaw;
      turned.add(frame);
      const label = labelOf(`${name} ${Math.round(confidence * 100)}%`, theme);
      label.position.set(position[0], position[1], position[2] + half.z + 0.035);
      this.marks.add(turned, label);
    }
  }

  private paint(): void {
    if (this.renderer.domElement.width > 0) this.renderer.render(this.scene, this.camera);
  }
}
