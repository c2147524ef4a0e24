/**
 * A seven-joint arm with a parallel gripper, of plain shapes. Joint frames, ranges and torque limits are the published
 * ones of a Panda-like arm (Craig's convention); the shapes are our own.
 */
const HALF = Math.SQRT1_2;
const TWIST = { none: '1 0 0 0', plus: `${HALF} ${HALF} 0 0`, minus: `${HALF} ${-HALF} 0 0` };

interface Link {
  /** Denavit-Hartenberg (Craig) a, d and the twist alpha. */
  a: number;
  d: number;
  twist: keyof typeof TWIST;
  range: [number, number];
  torque: number;
  mass: number;
  /** Position servo. */
  stiffness: number;
  damping: number;
  /** Capsules: from, to, radius. */
  capsules: string[];
}

const LINKS: Link[] = [
  {
    a: 0,
    d: 0.333,
    twist: 'none',
    range: [-2.8973, 2.8973],
    torque: 87,
    mass: 3,
    stiffness: 4000,
    damping: 200,
    capsules: ['0 0 -0.19 0 0 -0.06 0.06', '0 0 0 0 -0.10 0 0.055'],
  },
  {
    a: 0,
    d: 0,
    twist: 'minus',
    range: [-1.7628, 1.7628],
    torque: 87,
    mass: 3,
    stiffness: 4000,
    damping: 200,
    capsules: ['0 0 -0.05 0 0 0.05 0.06', '0 -0.06 0 0 -0.20 0 0.055'],
  },
  {
    a: 0,
    d: 0.316,
    twist: 'plus',
    range: [-2.8973, 2.8973],
    torque: 87,
    mass: 2.6,
    stiffness: 3000,
    damping: 150,
    capsules: ['0 0 -0.10 0 0 -0.03 0.052', '0.06 0 0 0.0825 0.03 0 0.05'],
  },
  {
    a: 0.0825,
    d: 0,
    twist: 'plus',
    range: [-3.0718, -0.0698],
    torque: 87,
    mass: 2.6,
    stiffness: 3000,
    damping: 150,
    capsules: ['0 0 -0.045 0 0 0.045 0.055', '-0.0825 0.06 0 -0.0825 0.12 0 0.05'],
  },
  {
    a: -0.0825,
    d: 0.384,
    twist: 'minus',
    range: [-2.8973, 2.8973],
    torque: 12,
    mass: 2.4,
    stiffness: 1500,
    damping: 60,
    capsules: ['0 0 -0.22 0 0 -0.11 0.052', '0 0.03 -0.10 0 0.07 -0.03 0.035'],
  },
  {
    a: 0,
    d: 0,
    twist: 'plus',
    range: [-0.0175, 3.7525],
    torque: 12,
    mass: 1.5,
    stiffness: 1500,
    damping: 60,
    capsules: ['0 0 -0.04 0 0 0.05 0.048', '0.02 0 0 0.088 0 0 0.042'],
  },
  {
    a: 0.088,
    d: 0,
    twist: 'plus',
    range: [-2.8973, 2.8973],
    torque: 12,
    mass: 0.7,
    stiffness: 1000,
    damping: 40,
    capsules: ['0 0 -0.02 0 0 0.06 0.042'],
  },
];

export const JOINTS = LINKS.length;
/** Joint angles at the start of an episode; also the posture the arm leans to. */
export const HOME = [0, -0.3, 0, -2.2, 0, 1.9, Math.PI / 4];
/** How far each finger opens. */
export const FINGER_OPEN = 0.04;
/** Grip force of a finger, in newtons. */
const GRIP_FORCE = 20;

const text = (...numbers: number[]): string => numbers.map((n) => Number(n.toFixed(6))).join(' ');

const finger = (name: string, side: number): string => `<body name="${name}" pos="0 0 0.0584" gravcomp="1">
  <inertial pos="0 0 0.02" mass="0.03" diaginertia="1e-5 1e-5 1e-5"/>
  <joint name="${name}" type="slide" axis="0 ${side} 0" range="0 ${FINGER_OPEN}" armature="0.05" damping="10"/>
  <geom class="finger" type="box" pos="0 ${side * 0.012} 0.018" size="0.010 0.007 0.018"/>
  <geom class="pad" type="box" pos="0 ${side * 0.006} 0.044" size="0.0105 0.006 0.0105"/></body>`;

/** The hand: tool centre point (`tcp`) between the pads, wrist camera looking along the fingers. */
function hand(): string {
  const turn = -Math.PI / 8;
  return `<body name="hand" pos="0 0 0.107" quat="${text(Math.cos(turn), 0, 0, Math.sin(turn))}" gravcomp="1">
  <inertial pos="0 0 0.03" mass="0.73" diaginertia="0.001 0.0025 0.0017"/>
  <geom class="link" type="box" size="0.032 0.10 0.028" pos="0 0 0.03" rgba=".92 .92 .94 1"/>
  <site name="tcp" pos="0 0 0.1034" size="0.004"/>
  <camera name="wrist" pos="0.06 0 0.02" quat="0 ${HALF} ${HALF} 0" fovy="75"/>
  ${finger('finger1', 1)}${finger('finger2', -1)}</body>`;
}

/** MJCF of the arm's bodies. */
export function robotXml(): string {
  let open = '';
  LINKS.forEach((link, i) => {
    const sine = link.twist === 'none' ? 0 : link.twist === 'plus' ? 1 : -1;
    const cosine = link.twist === 'none' ? 1 : 0;
    const inertia = link.mass > 2 ? '.03 .03 .02' : '.008 .008 .006';
    open +=
      `<body name="link${i + 1}" pos="${text(link.a, -sine * link.d, cosine * link.d)}" quat="${TWIST[link.twist]}" gravcomp="1">` +
      `<inertial pos="0 0 0" mass="${link.mass}" diaginertia="${inertia}"/>` +
      `<joint name="joint${i + 1}" axis="0 0 1" range="${text(...link.range)}" armature="0.1" damping="1"/>` +
      link.capsules
        .map((c) => c.split(' '))
        .map((c) => `<geom class="link" fromto="${c.slice(0, 6).join(' ')}" size="${c[6]}"/>`)
        .join('');
  });
  return `<body name="base"><geom class="link" type="cylinder" size="0.075 0.07" pos="0 0 0.07"/>${open}${hand()}${'</body>'.repeat(JOINTS)}</body>`;
}

/** The fingers move as one: without this a light touch of one would push the object aside. */
export const ROBOT_EQUALITY_XML = '<joint joint1="finger1" joint2="finger2" polycoef="0 1 0 0 0" solref="0.005 1"/>';

/** Position servos: joints 0-6, then both fingers. */
export function robotActuatorsXml(): string {
  const joints = LINKS.map(
    (l, i) =>
      `<position joint="joint${i + 1}" kp="${l.stiffness}" kv="${l.damping}" ctrlrange="${text(...l.range)}" forcerange="${-l.torque} ${l.torque}"/>`,
  );
  const fingers = ['finger1', 'finger2'].map(
    (f) =>
      `<position joint="${f}" kp="1000" kv="40" ctrlrange="${-FINGER_OPEN} ${FINGER_OPEN}" forcerange="${-GRIP_FORCE} ${GRIP_FORCE}"/>`,
  );
  return joints.join('') + fingers.join('');
}
