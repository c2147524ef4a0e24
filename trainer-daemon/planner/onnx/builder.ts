/**
 * A small builder of ONNX graphs. A value in the graph is its name (a string); every method that computes something
 * adds nodes and returns the new value. Shapes are not tracked: ONNX Runtime checks them when a session is created.
 */
import {
  type AttributeProto,
  encodeModel,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './model-proto.ts';

/** Name of a tensor in the graph. */
export type Value = string;
export type ElementType = 'float32' | 'int32' | 'int64' | 'bool';
/** A number, or a symbolic name for a dimension that is known only when the session runs. */
export type Dim = number | string;
/** Numbers are integer attributes; floats are written `{ float: 0.5 }`; undefined attributes are left out. */
export type Attribute = number | string | number[] | { float: number } | undefined;

const dataTypes: Record<ElementType, number> = { float32: 1, int32: 6, int64: 7, bool: 9 };
const OPSET = 18;
const microsoft = 'com.microsoft';

export class GraphBuilder {
  private readonly nodes: NodeProto[] = [];
  private readonly inputs: ValueInfoProto[] = [];
  private readonly outputs: ValueInfoProto[] = [];
  private readonly initializers: TensorProto[] = [];
  private readonly constants = new Map<string, Value>();
  private readonly renamed = new Map<Value, string>();
  private count = 0;

  /** Declares an input that is fed at every run. */
  input(name: string, dims: Dim[], type: ElementType = 'float32'): Value {
    this.inputs.push(valueInfo(name, dims, type));
    return name;
  }

  /** Makes a computed value an output under the given name. A value can be an output once. */
  output(value: Value, name: string, dims: Dim[], type: ElementType = 'float32'): void {
    if (value !== name) {
      if (this.renamed.has(value) || this.inputs.some((i) => i.name === value)) value = this.op('Identity', [value]);
      this.renamed.set(value, name);
    }
    this.outputs.push(valueInfo(name, dims, type));
  }

  /** A tensor stored in the model itself. */
  initializer(name: string, dims: number[], data: Float32Array | Int32Array | BigInt64Array): Value {
    const type = data instanceof Float32Array ? 'float32' : data instanceof Int32Array ? 'int32' : 'int64';
    const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.initializers.push({ name, dims, dataType: dataTypes[type], rawData });
    return name;
  }

  /**
   * A float32 tensor whose bytes come with the session options:
   * `InferenceSession.create(model, { externalData: [{ path, data }] })`. The runtime copies the data.
   * @param path the path given in the session options
   * @param byteOffset where the tensor starts in that data
   */
  externalInitializer(name: string, dims: number[], path: string, byteOffset: number): Value {
    const length = 4 * dims.reduce((a, b) => a * b, 1);
    this.initializers.push({
      name,
      dims,
      dataType: dataTypes.float32,
      dataLocation: 1,
      externalData: [
        { key: 'location', value: path },
        { key: 'offset', value: String(byteOffset) },
        { key: 'length', value: String(length) },
      ],
    });
    return name;
  }

  /** A constant: a scalar for a number, a vector for an array, or of the dims given. Equal constants are shared. */
  constant(value: number | number[], type: 'float32' | 'int32' | 'int64' = 'float32', dims?: number[]): Value {
    const key = JSON.stringify([type, value, dims]);
    const known = this.constants.get(key);
    if (known !== undefined) return known;
    const list = Array.isArray(value) ? value : [value];
    const data =
      type === 'float32'
        ? Float32Array.from(list)
        : type === 'int32'
          ? Int32Array.from(list)
          : BigInt64Array.from(list, (v) => BigInt(v));
    const name = this.initializer(this.fresh('c'), dims ?? (Array.isArray(value) ? [list.length] : []), data);
    this.constants.set(key, name);
    return name;
  }

  /** A node with one output. An empty string among the inputs leaves an optional input out. */
  op(type: string, inputs: Value[], attributes: Record<string, Attribute> = {}, domain = ''): Value {
    return this.ops(type, inputs, 1, attributes, domain)[0];
  }

  /** A node with several outputs. */
  ops(
    type: string,
    inputs: Value[],
    outputs: number,
    attributes: Record<string, Attribute> = {},
    domain = '',
  ): Value[] {
    const names = Array.from({ length: outputs }, () => this.fresh(type));
    const attribute = Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [attributeProto(name, value)],
    );
    this.nodes.push({ opType: type, domain, name: names[0], input: inputs, output: names, attribute });
    return names;
  }

  /** A node of ONNX Runtime's own operator set `com.microsoft` (CPU kernels are fused; portable graphs avoid it). */
  microsoft(type: string, inputs: Value[], attributes: Record<string, Attribute> = {}): Value {
    return this.op(type, inputs, attributes, microsoft);
  }

  /** {@link microsoft} with several outputs. */
  microsoftOps(type: string, inputs: Value[], outputs: number, attributes: Record<string, Attribute> = {}): Value[] {
    return this.ops(type, inputs, outputs, attributes, microsoft);
  }

  add(a: Value, b: Value): Value {
    return this.op('Add', [a, b]);
  }

  sub(a: Value, b: Value): Value {
    return this.op('Sub', [a, b]);
  }

  mul(a: Value, b: Value): Value {
    return this.op('Mul', [a, b]);
  }

  div(a: Value, b: Value): Value {
    return this.op('Div', [a, b]);
  }

  matMul(a: Value, b: Value): Value {
    return this.op('MatMul', [a, b]);
  }

  /** Gemm of 2-D values: alpha * op(a) op(b) + c. A linear layer of a checkpoint (weight [out, in]) is `transB`. */
  gemm(a: Value, b: Value, options: { transA?: boolean; transB?: boolean; alpha?: number; plus?: Value } = {}): Value {
    const { transA, transB, alpha, plus } = options;
    return this.op('Gemm', plus === undefined ? [a, b] : [a, b, plus], {
      transA: transA ? 1 : undefined,
      transB: transB ? 1 : undefined,
      alpha: alpha === undefined ? undefined : { float: alpha },
    });
  }

  /** Reshape to a fixed shape; one entry may be -1, 0 copies the input's dimension. */
  reshape(x: Value, shape: number[]): Value {
    return this.op('Reshape', [x, this.constant(shape, 'int64')]);
  }

  /** Reshape to a shape computed in the graph (int64 vector). */
  reshapeTo(x: Value, shape: Value): Value {
    return this.op('Reshape', [x, shape]);
  }

  transpose(x: Value, perm: number[]): Value {
    return this.op('Transpose', [x], { perm });
  }

  gather(x: Value, indices: Value, axis = 0): Value {
    return this.op('Gather', [x, indices], { axis });
  }

  concat(values: Value[], axis: number): Value {
    return values.length === 1 ? values[0] : this.op('Concat', values, { axis });
  }

  /** Elements start (included) to end (excluded) along one axis. */
  slice(x: Value, axis: number, start: number, end: number): Value {
    const vector = (v: number) => this.constant([v], 'int64');
    return this.op('Slice', [x, vector(start), vector(end), vector(axis)]);
  }

  /** Equal parts along an axis. */
  split(x: Value, parts: number, axis: number): Value[] {
    return this.ops('Split', [x], parts, { axis, num_outputs: parts });
  }

  reduceSum(x: Value, axes: number[], keepDims = true): Value {
    return this.op('ReduceSum', [x, this.constant(axes, 'int64')], { keepdims: keepDims ? 1 : 0 });
  }

  reduceMean(x: Value, axes: number[], keepDims = true): Value {
    return this.op('ReduceMean', [x, this.constant(axes, 'int64')], { keepdims: keepDims ? 1 : 0 });
  }

  reduceMax(x: Value, axes: number[], keepDims = true): Value {
    return this.op('ReduceMax', [x, this.constant(axes, 'int64')], { keepdims: keepDims ? 1 : 0 });
  }

  softmax(x: Value, axis = -1): Value {
    return this.op('Softmax', [x], { axis });
  }

  /** Serialises the graph for `InferenceSession.create`. */
  build(): Uint8Array {
    const actual = (value: Value) => this.renamed.get(value) ?? value;
    const node = this.nodes.map((n) => ({ ...n, input: n.input.map(actual), output: n.output.map(actual) }));
    const opsetImport = [{ domain: '', version: OPSET }];
    if (node.some((n) => n.domain === microsoft)) opsetImport.push({ domain: microsoft, version: 1 });
    return encodeModel({
      irVersion: 9,
      producerName: 'agentic-robo-rl',
      opsetImport,
      graph: {
        name: 'graph',
        node,
        initializer: this.initializers,
        input: this.inputs,
        output: this.outputs,
      },
    });
  }

  private fresh(prefix: string): string {
    return `${prefix}_${this.count++}`;
  }
}

function valueInfo(name: string, dims: Dim[], type: ElementType): ValueInfoProto {
  const dim = dims.map((d) => (typeof d === 'string' ? { dimParam: d } : { dimValue: d }));
  return { name, type: { tensorType: { elemType: dataTypes[type], shape: { dim } } } };
}

function attributeProto(name: string, value: Exclude<Attribute, undefined>): AttributeProto {
  if (typeof value === 'number') return { name, type: 2, i: value };
  if (typeof value === 'string') return { name, type: 3, s: new TextEncoder().encode(value) };
  if (Array.isArray(value)) return { name, type: 7, ints: value };
  return { name, type: 1, f: value.float };
}
