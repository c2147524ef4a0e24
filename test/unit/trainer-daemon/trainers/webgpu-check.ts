/** Program of webgpu.test.ts: prints the differences from the golden values as one JSON line. */
import { freshAdamState } from '../../../../trainer-daemon/trainers/onnx/adamw.ts';
import { chooseDevice } from '../../../../trainer-daemon/trainers/onnx/device.ts';
import { OnnxEngine } from '../../../../trainer-daemon/trainers/onnx/engine.ts';
import { golden, largestDifference, worstTensor } from './golden.ts';

const g = golden('tied');
const weights = g.weights();
const device = await chooseDevice('webgpu');
const engine = new OnnxEngine(weights, freshAdamState(weights.flat.length), { device, threads: 1 });
const sft = await engine.sftGradients(g.sftItems);
const sftGradients = worstTensor(g.architecture, engine.gradientsOfLastPass, g.sftGradients).error;
const rl = await engine.rlGradients(g.rlItems, g.rlOptions);
const rlGradients = worstTensor(g.architecture, engine.gradientsOfLastPass, g.rlGradients).error;
const logprobs = largestDifference(await engine.score(g.sftItems), g.logprobs);
await engine.close();
console.log(
  JSON.stringify({
    device,
    sftLoss: Math.abs(sft.loss - g.sftLoss),
    sftGradients,
    rlLoss: Math.abs(rl.loss - g.rlLoss),
    rlGradients,
    logprobs,
  }),
);
