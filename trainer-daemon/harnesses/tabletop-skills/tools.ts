/** The tools a planner may call, and the words it is given at the start. Short on purpose: small planners have short contexts. */

interface Parameter {
  type: 'string' | 'number';
  enum?: string[];
}

function tool(name: string, description: string, properties: Record<string, Parameter>, optional: string[] = []) {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties,
        required: Object.keys(properties).filter((key) => !optional.includes(key)),
      },
    },
  };
}

const name: Parameter = { type: 'string' };
const centimetres: Parameter = { type: 'number' };

export const PLACES = ['on', 'in', 'left', 'right', 'front', 'behind'] as const;
export const GRASPS = ['top', 'rim'] as const;
export const CAMERAS = ['agent', 'side', 'wrist'] as const;
export const STATUSES = ['done', 'failed'] as const;

/** Tool specifications in the chat-completions form. */
export const TOOLS = [
  tool('detect', 'What the cameras see, from left to right: name, x,y in cm, and what it is in or on.', {}),
  tool('look', 'An image from a camera.', { camera: { type: 'string', enum: [...CAMERAS] } }),
  tool('pick', 'Grasp and lift an object of the last detect.', {
    object: name,
    grasp: { type: 'string', enum: [...GRASPS] },
  }),
  tool('place', 'Put down what is held: on, in or beside an object of the last detect.', {
    where: { type: 'string', enum: [...PLACES] },
    target: name,
  }),
  tool('place_at', 'Put down what is held on the table.', { x: centimetres, y: centimetres }),
  tool('move_to', 'Move the gripper.', { x: centimetres, y: centimetres, z: centimetres }),
  tool('open_drawer', 'Pull a drawer open.', { drawer: name }),
  tool('close_drawer', 'Push a drawer shut.', { drawer: name }),
  tool('release', 'Open the gripper.', {}),
  tool('finish', 'End the episode.', { status: { type: 'string', enum: [...STATUSES] } }),
];

export const SYSTEM_PROMPT =
  'You drive a robot arm at a table with tools. x points away from the robot, y to its left, z up, in cm. Detect before you act: names hold until the next detect. Detect again what was moved. Bowls are picked by the rim, other things by the top. Check the result, then finish.';

/** The first user message. */
export function taskMessage(instruction: string): string {
  return `Task: ${instruction}`;
}
