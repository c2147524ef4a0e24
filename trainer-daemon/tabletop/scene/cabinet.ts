/** The cabinet at the robot's right and its drawer, which slides out to +y. */
import type { Vec3 } from '../types.ts';

export const CABINET = {
  /** Of the cabinet's footprint. */
  centre: [0.5, -0.42] as [number, number],
  halfWidth: [0.114, 0.104] as [number, number],
  top: 0.108,
};

export const DRAWER = {
  /** Body origin when closed: the middle of the box. */
  origin: [CABINET.centre[0], CABINET.centre[1], 0.05] as Vec3,
  travel: 0.15,
  /** From here on it counts as open, up to here as closed. */
  open: 0.1,
  closed: 0.02,
  /** The handle's middle in the drawer's frame. */
  handle: [0, 0.155, 0.027] as Vec3,
  /** In the drawer's frame: height of the floor and half extents inside. */
  floor: -0.034,
  inside: [0.093, 0.091] as [number, number],
  size: [0.2, 0.208, 0.084] as Vec3,
};

const [cx, cy] = CABINET.centre;

export const CABINET_XML = `<body name="cabinet" pos="${cx} ${cy} 0">
  <geom class="cabinet" type="box" size=".11 .004 .05" pos="0 -.10 .05"/>
  <geom class="cabinet" type="box" size=".004 .10 .05" pos="-.11 0 .05"/>
  <geom class="cabinet" type="box" size=".004 .10 .05" pos=".11 0 .05"/>
  <geom class="cabinet" type="box" size=".114 .104 .004" pos="0 0 .104"/>
  <body name="drawer" pos="0 0 .05">
    <joint name="drawer" type="slide" axis="0 1 0" range="0 ${DRAWER.travel}" damping="3" frictionloss="0.5" armature="0.1"/>
    <geom class="drawer" type="box" size=".10 .004 .042" pos="0 .10 0"/>
    <geom class="drawer" type="box" size=".10 .095 .004" pos="0 0 -.038"/>
    <geom class="drawer" type="box" size=".004 .095 .025" pos=".097 0 -.012"/>
    <geom class="drawer" type="box" size=".004 .095 .025" pos="-.097 0 -.012"/>
    <geom class="drawer" type="box" size=".10 .004 .025" pos="0 -.095 -.012"/>
    <geom class="drawer" type="capsule" fromto="-.04 .155 .027 .04 .155 .027" size=".008" rgba=".2 .2 .2 1"/>
    <geom class="drawer" type="capsule" fromto="-.04 .105 .027 -.04 .155 .027" size=".006"/>
    <geom class="drawer" type="capsule" fromto=".04 .105 .027 .04 .155 .027" size=".006"/>
  </body></body>`;
