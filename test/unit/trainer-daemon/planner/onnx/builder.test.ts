import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { GraphBuilder } from '../../../../../trainer-daemon/planner/onnx/builder.ts';
import { ropeTables } from '../../../../../trainer-daemon/planner/onnx/rope.ts';

const tensor = (data: number[], dims: number[]) => new Tensor('float32', Float32Array.from(data), dims);

describe('GraphBuilder', () => {
  it('runs a linear layer stored [out, in] with a dynamic row count', async () => {
    const g = new GraphBuilder();
    const x = g.input('x', ['rows', 3]);
    const w = g.initializer('w', [2, 3], Float32Array.of(1, 2, 3, 4, 5, 6));
    g.output(g.gemm(x, w, { transB: true, alpha: 0.5 }), 'y', ['rows', 2]);
    const session = await InferenceSession.create(g.build());
    const { y } = await session.run({ x: tensor([1, 0, 0, 1, 1, 1], [2, 3]) });
    expect(y.dims).toEqual([2, 2]);
    expect([...(y.data as Float32Array)]).toEqual([0.5, 2, 3, 7.5]);
    await session.release();
  });

  it('takes weights as external data from memory, at byte offsets', async () => {
    const g = new GraphBuilder();
    const x = g.input('x', [1, 2]);
    g.externalInitializer('w', [2, 2], 'weights', 8);
    g.output(g.matMul(x, 'w'), 'y', [1, 2]);
    const model = g.build();
    for (const scale of [1, 10]) {
      const flat = Float32Array.of(9, 9, 1, 2, 3, 4).map((v) => v * scale);
      const session = await InferenceSession.create(model, {
        externalData: [{ path: 'weights', data: new Uint8Array(flat.buffer) }],
      });
      const { y } = await session.run({ x: tensor([1, 1], [1, 2]) });
      expect([...(y.data as Float32Array)]).toEqual([4 * scale, 6 * scale]);
      await session.release();
    }
  });

  it('names outputs, also when one value is an output twice or still used inside', async () => {
    const g = new GraphBuilder();
    const x = g.input('x', [2]);
    const doubled = g.add(x, x);
    g.output(doubled, 'a', [2]);
    g.output(doubled, 'b', [2]);
    g.output(x, 'same', [2]);
    g.output(g.mul(doubled, g.constant(3)), 'c', [2]);
    const session = await InferenceSession.create(g.build());
    const out = await session.run({ x: tensor([1, 2], [2]) });
    const read = (name: string) => [...(out[name].data as Float32Array)];
    expect([read('a'), read('b'), read('same'), read('c')]).toEqual([
      [2, 4],
      [2, 4],
      [1, 2],
      [6, 12],
    ]);
    await session.release();
  });

  it('declares com.microsoft only where used, and passes every kind of attribute', async () => {
    const g = new GraphBuilder();
    const x = g.input('x', [1, 4]);
    const [left, right] = g.split(x, 2, 1);
    const fused = g.microsoft('FusedMatMul', [left, right], { transA: 0, transB: 1, alpha: { float: 2 } });
    g.output(g.concat([fused, g.transpose(g.slice(x, 1, 3, 4), [1, 0])], 0), 'y', [2, 1]);
    const session = await InferenceSession.create(g.build());
    const { y } = await session.run({ x: tensor([1, 2, 3, 4], [1, 4]) });
    expect([...(y.data as Float32Array)]).toEqual([22, 4]);
    await session.release();
  });
});

describe('ropeTables', () => {
  it('holds cos and sin of position * theta^(-2i/d)', () => {
    const t = ropeTables({ headDim: 4, ropeTheta: 10_000 }, 3);
    // d = 4: frequencies 10000^0 = 1 and 10000^(-1/2) = 0.01.
    expect(t.cos[2 * 2]).toBeCloseTo(Math.cos(2), 6);
    expect(t.sin[2 * 2 + 1]).toBeCloseTo(Math.sin(0.02), 6);
    expect([t.cos[0], t.sin[0]]).toEqual([1, 0]);
  });

  it('refuses an odd head size', () => {
    expect(() => ropeTables({ headDim: 5, ropeTheta: 10_000 }, 1)).toThrow(/even/);
  });
});
