/** The subset of ONNX's protobuf schema (onnx.proto3, IR version 9) that our graphs use, as a protobufjs descriptor. */
import protobuf from 'protobufjs/light.js';

type Field = [type: string, id: number, rule?: 'repeated'];

const message = (fields: Record<string, Field>) => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, [type, id, rule]]) => [name, rule ? { type, id, rule } : { type, id }]),
  ),
});

const root = protobuf.Root.fromJSON({
  nested: {
    Model: message({
      irVersion: ['int64', 1],
      producerName: ['string', 2],
      graph: ['Graph', 7],
      opsetImport: ['OperatorSetId', 8, 'repeated'],
    }),
    OperatorSetId: message({ domain: ['string', 1], version: ['int64', 2] }),
    Graph: message({
      node: ['Node', 1, 'repeated'],
      name: ['string', 2],
      initializer: ['Tensor', 5, 'repeated'],
      input: ['ValueInfo', 11, 'repeated'],
      output: ['ValueInfo', 12, 'repeated'],
    }),
    Node: message({
      input: ['string', 1, 'repeated'],
      output: ['string', 2, 'repeated'],
      name: ['string', 3],
      opType: ['string', 4],
      attribute: ['Attribute', 5, 'repeated'],
      domain: ['string', 7],
    }),
    Attribute: message({
      name: ['string', 1],
      f: ['float', 2],
      i: ['int64', 3],
      s: ['bytes', 4],
      ints: ['int64', 8, 'repeated'],
      type: ['int32', 20],
    }),
    Tensor: message({
      dims: ['int64', 1, 'repeated'],
      dataType: ['int32', 2],
      name: ['string', 8],
      rawData: ['bytes', 9],
      externalData: ['Entry', 13, 'repeated'],
      dataLocation: ['int32', 14],
    }),
    Entry: message({ key: ['string', 1], value: ['string', 2] }),
    ValueInfo: message({ name: ['string', 1], type: ['Type', 2] }),
    Type: message({ tensorType: ['TensorType', 1] }),
    TensorType: message({ elemType: ['int32', 1], shape: ['Shape', 2] }),
    Shape: message({ dim: ['Dimension', 1, 'repeated'] }),
    Dimension: message({ dimValue: ['int64', 1], dimParam: ['string', 2] }),
  },
});

const modelType = root.lookupType('Model');

export interface AttributeProto {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  ints?: number[];
}

export interface NodeProto {
  opType: string;
  domain: string;
  name: string;
  input: string[];
  output: string[];
  attribute: AttributeProto[];
}

export interface TensorProto {
  name: string;
  dims: number[];
  dataType: number;
  rawData?: Uint8Array;
  externalData?: { key: string; value: string }[];
  dataLocation?: number;
}

export interface ValueInfoProto {
  name: string;
  type: { tensorType: { elemType: number; shape: { dim: { dimValue?: number; dimParam?: string }[] } } };
}

export interface ModelProto {
  irVersion: number;
  producerName: string;
  opsetImport: { domain: string; version: number }[];
  graph: {
    name: string;
    node: NodeProto[];
    initializer: TensorProto[];
    input: ValueInfoProto[];
    output: ValueInfoProto[];
  };
}

/** Serialises a model; the bytes go to `InferenceSession.create`. */
export function encodeModel(model: ModelProto): Uint8Array {
  return modelType.encode(modelType.create(model)).finish();
}
