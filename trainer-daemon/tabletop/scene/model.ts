/** The whole scene as MJCF, MuJoCo's model format. Solver settings are those under which friction grasps hold. */
import type { SceneSpec } from '../suites/spec.ts';
import { CABINET_XML } from './cabinet.ts';
import { cameraXml } from './cameras.ts';
import { objectXml } from './kinds.ts';
import { ROBOT_EQUALITY_XML, robotActuatorsXml, robotXml } from './robot.ts';

export const TIMESTEP = 1 / 300;

/** MJCF of a scene. Objects lie apart from each other until `Simulation.reset` places them. */
export function sceneXml(scene: SceneSpec): string {
  const objects = scene.objects.map((o, i) =>
    objectXml(o.id, o.kind, o.colour, [0.35 + 0.2 * (i % 3), -0.2 + 0.2 * Math.floor(i / 3), 0.08]),
  );
  return `<mujoco model="tabletop"><compiler angle="radian" autolimits="true"/>
<option timestep="${TIMESTEP}" solver="Newton" iterations="50" ls_iterations="100" tolerance="1e-8" cone="elliptic"
  impratio="10" integrator="implicitfast" noslip_iterations="0"><flag multiccd="enable" sleep="enable"/></option>
<size memory="1M"/><statistic extent="1.2" center=".45 0 .2"/>
<default>
 <default class="link"><geom type="capsule" mass="0" rgba=".88 .88 .9 1" contype="2" conaffinity="1"/></default>
 <default class="finger"><geom mass="0" rgba=".25 .25 .27 1" contype="2" conaffinity="1" friction="1 .01 .0005"/></default>
 <default class="pad"><geom mass="0" rgba=".12 .12 .13 1" contype="2" conaffinity="1" condim="4"
   friction="1.5 0.02 0.0005" priority="1" solref="0.01 1" solimp="0.9 0.95 0.001"/></default>
 <default class="object"><geom condim="3" friction="0.8 .005 .0005" solref="0.01 1"/></default>
 <default class="cabinet"><geom rgba=".55 .38 .22 1"/></default>
 <default class="drawer"><geom rgba=".72 .52 .33 1" mass=".08"/></default>
</default>
<worldbody>
 <geom name="table" type="plane" size=".55 .6 .05" pos=".35 0 0" rgba=".75 .7 .62 1" friction="0.8 .005 .0005"/>
 <geom name="floor" type="plane" size="3 3 .1" pos="0 0 -.7" rgba=".4 .45 .5 1"/>
 ${cameraXml('agent')}
 ${cameraXml('side')}
 ${robotXml()}
 ${scene.cabinet ? CABINET_XML : ''}
 ${objects.join('\n ')}
</worldbody>
<equality>${ROBOT_EQUALITY_XML}</equality>
<actuator>${robotActuatorsXml()}</actuator></mujoco>`;
}
